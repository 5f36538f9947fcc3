#include "geometry/obstacle.hpp"

#define SCREE_REGISTRY_BASE Shape
#define SCREE_REGISTRY_LIST "geometry/shapes/shapes.def"
#include "core/registry.inc"
