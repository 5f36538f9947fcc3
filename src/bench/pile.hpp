#pragma once

#include "run/simulation.hpp"
#include "schemes/common/assembler.hpp"

namespace scree {

struct PileOptions {
  std::int64_t bodies = 1000;
  Real diameter = 0.01;  ///< mean [m]; +-20 %, evenly spread
  Real density = 2500;   ///< [kg/m3]
  Real mu = 0.5;
  Real dt = 5e-3;  ///< [s]
  Real gravity = 9.81;
  std::int64_t seed = 1;
  Real speculative_margin = 5e-5;  ///< a pair with gap <= speculative_margin (R_a + R_b) is a contact
  /// All contacts count as closed; else a gap may close in the step: about every fifth contact has one of
  /// some 1e-7 m, which is what makes rigid piles hard (docs/performance-friction.md).
  bool closed = true;
};

/// A pile of spheres in a box without a lid, about a cube, settled by position-based dynamics, as a friction
/// problem: the benchmark of solvers on dense, wall-confined, frictional contact. About 2.8 contacts per
/// body.
class Pile {
 public:
  /// Lets the bodies settle: the same pile, bit by bit, on any number of ranks. Cost grows with
  /// bodies^(4/3): 0.3 s for 1000, 30 s for 20 000 on one core. Collective.
  Pile(const Comm& comm, const PileOptions& options);
  /// Throws InputError for too few bodies, as construction would.
  static void validate(const PileOptions& options);

  /// The step under gravity from rest with contacts of scaled compliance m_c g along N and T; 0: rigid, as
  /// after construction. 1e-2 is the softness of usual soft-sphere runs
  /// (docs/performance-friction.md). Collective.
  const FrictionProblem<3>& assemble(Real along_normal, Real along_tangents);
  const FrictionProblem<3>& problem() const { return assembler_.problem(); }
  const ContactGraph<3>& contacts() const { return assembler_.contacts(); }
  const State<3>& state() const { return simulation_.state(); }

  std::int64_t n_bodies() const { return n_bodies_; }
  std::int64_t n_contacts() const { return n_contacts_; }    ///< of all ranks
  Real mean_mass() const { return mean_mass_; }              ///< m_c [kg]
  Real deepest_overlap() const { return deepest_overlap_; }  ///< share of the mean radius
  Real settling_seconds() const { return settling_seconds_; }

 private:
  void settle();

  PileOptions options_;
  Simulation<3> simulation_;
  FrictionAssembler<3> assembler_;
  std::int64_t n_bodies_ = 0, n_contacts_ = 0;
  Real mean_mass_ = 0;
  Real deepest_overlap_ = 0;
  Real settling_seconds_ = 0;
};

}  // namespace scree
