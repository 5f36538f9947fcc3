#include "dynamics/impact_law.hpp"

#define SCREE_REGISTRY_BASE ImpactLaw
#define SCREE_REGISTRY_LIST "dynamics/impact_laws/impact_laws.def"
#include "core/registry.inc"
