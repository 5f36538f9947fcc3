#include "schemes/dem/integrator.hpp"

#define SCREE_REGISTRY_BASE Integrator
#define SCREE_REGISTRY_LIST "schemes/dem/integrators/integrators.def"
#include "core/registry.inc"
