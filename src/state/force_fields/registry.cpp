#include "state/force_field.hpp"

#define SCREE_REGISTRY_BASE ForceField
#define SCREE_REGISTRY_LIST "state/force_fields/force_fields.def"
#include "core/registry.inc"
