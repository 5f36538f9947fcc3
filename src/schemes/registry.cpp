#include "schemes/common/stepper.hpp"

#define SCREE_REGISTRY_BASE Stepper
#define SCREE_REGISTRY_LIST "schemes/schemes.def"
#include "core/registry.inc"
