#include "run/output.hpp"

#define SCREE_REGISTRY_BASE Output
#define SCREE_REGISTRY_LIST "run/outputs/outputs.def"
#include "core/registry.inc"
