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

/// check_invariant() for runs that would prove nothing if bodies did not push each other, also across ranks.
template <int D>
void check_pushing(const std::string& text, const Overrides& overrides, int n_steps) {
  const Outcome together = check_invariant<D>(text, overrides, n_steps);
  CAPTURE(together);
  CHECK(together.n_pushing > 20);
  CHECK(together.n_rebuilds > 2);
  if (Comm().size() > 1) {
    CHECK(together.n_shared_contacts > 0);
    CHECK(together.n_migrated > 0);
  }
}

}  // namespace scree
