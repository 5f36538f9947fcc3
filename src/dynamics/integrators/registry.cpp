#include "dynamics/integrator.hpp"

#define SCREE_REGISTRY_BASE Integrator
#define SCREE_REGISTRY_LIST "dynamics/integrators/integrators.def"
#include "core/registry.inc"
