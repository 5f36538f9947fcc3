#include "analysis/continuum/kernel.hpp"

#define SCREE_REGISTRY_BASE SmoothingKernel
#define SCREE_REGISTRY_LIST "analysis/continuum/kernels/kernels.def"
#include "core/registry.inc"
