#include "schemes/event/impact_law.hpp"

#define SCREE_REGISTRY_BASE ImpactLaw
#define SCREE_REGISTRY_LIST "schemes/event/impact_laws/impact_laws.def"
#include "core/registry.inc"
