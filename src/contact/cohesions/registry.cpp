#include "contact/cohesion.hpp"

#define SCREE_REGISTRY_BASE Cohesion
#define SCREE_REGISTRY_LIST "contact/cohesions/cohesions.def"
#include "core/registry.inc"
