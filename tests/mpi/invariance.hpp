#pragma once
#include "mpi/simulate.hpp"

namespace scree {

/// Compares all ranks together with each one alone; returns what all found together.
template <int D>
Outcome check_invariant(const std::string& text, const Overrides& overrides, int n_steps) {
  std::string what;
  for (const std::string& o : overrides) what += o + " ";
  CAPTURE(D, what);
  const Comm world;
  const Outcome alone = simulate<D>(Comm(MPI_COMM_SELF), text, overrides, n_steps);
  const Outcome together = simulate<D>(world, text, overrides, n_steps);
  CAPTURE(alone, together);
  CHECK(together.same_result(alone));
  return together;
}

}  // namespace scree
