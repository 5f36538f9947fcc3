#include "analysis/measure.hpp"

#define SCREE_REGISTRY_BASE Measure
#define SCREE_REGISTRY_LIST "analysis/measures/measures.def"
#include "core/registry.inc"
