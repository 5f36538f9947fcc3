// Here, above all who bring measures: those of tenants, too.
#include "analysis/measure.hpp"

#define SCREE_REGISTRY_BASE Measure
#define SCREE_REGISTRY_LIST "run/measures.def"
#include "core/registry.inc"
