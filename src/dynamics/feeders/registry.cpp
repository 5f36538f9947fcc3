#include "dynamics/events/feeder.hpp"

#define SCREE_REGISTRY_BASE Feeder
#define SCREE_REGISTRY_LIST "dynamics/feeders/feeders.def"
#include "core/registry.inc"
