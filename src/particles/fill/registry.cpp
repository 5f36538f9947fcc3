#include "particles/fill.hpp"

#define SCREE_REGISTRY_BASE Fill
#define SCREE_REGISTRY_LIST "particles/fill/fill.def"
#include "core/registry.inc"
