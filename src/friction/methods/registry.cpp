#include "friction/friction_solver.hpp"

#define SCREE_REGISTRY_BASE FrictionSolver
#define SCREE_REGISTRY_LIST "friction/methods/methods.def"
#include "core/registry.inc"
