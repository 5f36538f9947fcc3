#pragma once
#include "verify/grain_cases.hpp"

namespace scree {

// One function per line of rigs.def: verify_rig_NAME(table, options). Each adds the rows of its cases and is
// collective.
#define SCREE_RIG(name) void verify_rig_##name(GrainTable& table, const VerifyOptions& options);
#include "verify/rigs.def"
#undef SCREE_RIG

}  // namespace scree
