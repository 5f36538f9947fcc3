#include "state/velocity_field.hpp"

#define SCREE_REGISTRY_BASE VelocityField
#define SCREE_REGISTRY_LIST "state/velocity_fields/velocity_fields.def"
#include "core/registry.inc"
