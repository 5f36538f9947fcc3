#include "events/feeder.hpp"

#define SCREE_REGISTRY_BASE Feeder
#define SCREE_REGISTRY_LIST "events/feeders/feeders.def"
#include "core/registry.inc"
