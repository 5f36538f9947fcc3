#include "particles/initial_packing.hpp"

#define SCREE_REGISTRY_BASE InitialPacking
#define SCREE_REGISTRY_LIST "particles/packing/packing.def"
#include "core/registry.inc"
