#include "dynamics/velocity_field.hpp"

#define SCREE_REGISTRY_BASE VelocityField
#define SCREE_REGISTRY_LIST "dynamics/velocity_fields/velocity_fields.def"
#include "core/registry.inc"
