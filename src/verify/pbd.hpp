#pragma once
#include <functional>
#include <string>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

struct PbdVerification {
  std::string only = "all";  ///< "sliding", "disks40" or "all"
  bool quick = false;        ///< leaves out what takes long
  std::string source;        ///< folder that holds inputs/verification and tests/reference/pbd
  std::string csv;           ///< table to write; empty: none
};

/// Runs both published experiments on position-based dynamics with many methods and steps, and compares
/// errors, orders of convergence and the law of warm starts with what is known (docs/verification.md). `show`
/// gets the lines of the report as they become known. Returns whether all checks hold; the numbers do not
/// depend on the number of ranks. Throws InputError for missing or damaged files. Collective.
bool verify_pbd(const Comm& comm, const PbdVerification& options,
                const std::function<void(const std::string&)>& show);

/// Exact position [m] at time t [s] of the point that slides on both balls of
/// inputs/verification/sliding.toml: on the circle in which they intersect until t* = -ln tan(a/2), a =
/// pi/16, then straight down beside it. Local.
Vec<3> sliding_exact(Real t);

}  // namespace scree
