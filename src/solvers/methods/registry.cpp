#include "solvers/friction_solver.hpp"

#define SCREE_REGISTRY_BASE FrictionSolver
#define SCREE_REGISTRY_LIST "solvers/methods/methods.def"
#include "core/registry.inc"
