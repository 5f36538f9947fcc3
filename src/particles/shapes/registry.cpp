#include "particles/shape_table.hpp"

#define SCREE_REGISTRY_BASE ShapeKind
#define SCREE_REGISTRY_LIST "particles/shapes/shapes.def"
#include "core/registry.inc"
