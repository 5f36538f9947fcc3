#pragma once
#include <vector>

#include "schemes/nonsmooth/contact_step.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "state/state.hpp"

namespace scree {

/// Where the energy of a step comes from and goes (docs/method.md, eq. E.1-E.5). Call note_start(),
/// note_moved() and book() in this order in a step. Cost: O(bodies + contacts).
template <int D>
class StepEnergy {
 public:
  /// Before bodies move. Local.
  void note_start(const State<D>& state);
  /// After they moved with their velocities, before positions are corrected. Local.
  void note_moved(const State<D>& state);
  /// At the end of the step: adds to state.energy_balance. Collective.
  void book(State<D>& state, const FreeMotion<D>& motion, const ContactStep<D>& contacts, Real dt);
  std::size_t bytes() const;

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  static constexpr std::size_t n_parts = 3;
  void find_contact_work(const ContactStep<D>& contacts);
  void find_body_work(const State<D>& state, const FreeMotion<D>& motion, Real dt);

  std::vector<Real> contact_work_, body_work_;  // n_contacts * n_parts, n_owned * n_parts
  // Of each owned body in the forces; empty without forces.
  std::vector<Real> potential_before_, potential_moved_, potential_now_;
};

}  // namespace scree
