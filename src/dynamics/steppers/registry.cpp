#include "dynamics/stepper.hpp"

#define SCREE_REGISTRY_BASE Stepper
#define SCREE_REGISTRY_LIST "dynamics/steppers/steppers.def"
#include "core/registry.inc"
