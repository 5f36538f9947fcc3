#include "events/inlet.hpp"

#define SCREE_REGISTRY_BASE Inlet
#define SCREE_REGISTRY_LIST "events/inlets/inlets.def"
#include "core/registry.inc"
