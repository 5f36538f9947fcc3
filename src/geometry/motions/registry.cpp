#include "geometry/obstacle.hpp"

#define SCREE_REGISTRY_BASE Motion
#define SCREE_REGISTRY_LIST "geometry/motions/motions.def"
#include "core/registry.inc"
