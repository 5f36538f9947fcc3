#include "particles/initial_packing.hpp"

#define SCREE_REGISTRY_BASE RadiusDistribution
#define SCREE_REGISTRY_LIST "particles/distributions/distributions.def"
#include "core/registry.inc"
