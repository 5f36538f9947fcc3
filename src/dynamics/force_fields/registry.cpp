#include "dynamics/force_field.hpp"

#define SCREE_REGISTRY_BASE ForceField
#define SCREE_REGISTRY_LIST "dynamics/force_fields/force_fields.def"
#include "core/registry.inc"
