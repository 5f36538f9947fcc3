#pragma once
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/timing.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/common/tunnelling_guard.hpp"
#include "schemes/dem/body_motion.hpp"
#include "schemes/dem/soft_laws.hpp"

namespace scree {

/// Square of the largest distance [m2] between the reference position of an owned body and where its free
/// displacement in the next dt takes it. Local.
template <int D>
Real find_farthest(const State<D>& state, Real dt) {
  Scope timer("move");
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  Real max = 0;
  if (!state.deformation.is_given()) {
    for (std::size_t i = 0; i < n; ++i) max = farthest_with(max, bodies, i, dt);
    return max;
  }
  // In a deforming domain displacements count against its flow.
  const auto affine = state.deformation.affine_displacement(state.box, dt);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec<D>& reference = bodies.reference_position()[i];
    max = farther(max,
                  (bodies.position()[i] - reference) + free_displacement(bodies, i, dt) - affine(reference));
  }
  return max;
}

/// A way of moving soft bodies in time: what it does about friction decides how it integrates. Works on one
/// State and its Neighborhood, which outlive it.
template <int D>
class DemMotion {
 public:
  virtual ~DemMotion() = default;
  virtual const SoftLaws<D>& laws() const = 0;
  /// After a list build: fits all arrays and restores what contacts remember from state.memory. Local.
  virtual void prepare() = 0;
  /// Before the first step of a run or a restart, after prepare(). Collective.
  virtual void start(Real dt) = 0;
  /// An owned body that can move and was made after the last step: nothing touches it yet. Local.
  virtual void set_free(std::size_t body) = 0;
  /// What contacts remember, for the owned bodies. Collective.
  virtual ContactMemory remember() = 0;
  /// Bodies from state.clock.time to dt later, obstacles with them; candidates cover the step. Collective.
  virtual void step(Real dt) = 0;
  /// find_farthest() of the present state.
  virtual Real farthest_after(Real dt) const = 0;
  /// The widest gap of a contact [m].
  virtual Real reach() const { return 0; }
  /// Bodies or obstacles came or went after the last step: what their contacts had stored flows out. After
  /// prepare(). Collective.
  virtual void contacts_changed() {}
  /// Which candidates are contacts now, with those nearer than `tolerance` [m]. Good until the next step.
  virtual ContactRules<D> contact_rules(Real tolerance) { return {.tolerance = tolerance}; }
  /// Writes the forces of `contacts` (found by Neighborhood::detect) at the present positions and velocities.
  /// Collective.
  virtual void export_forces(ContactGraph<D>& contacts) = 0;

  /// Of the last step, over all ranks.
  struct StepResult {
    std::int64_t n_contacts = 0;
    Real overlap = 0;                   ///< deepest [m]
    Real beyond = -HUGE_VAL;            ///< by how much overlaps exceed what is allowed, the most [m]
    std::int64_t n_passed_through = 0;  ///< centres that passed through thin obstacles
  };
  const StepResult& result() const { return result_; }
  /// Those of this rank.
  virtual const PassedThrough& passed_through() const = 0;
  /// What it can prove about the step beyond these two.
  virtual std::vector<CertificateEntry> certificate() const { return {}; }

 protected:
  StepResult result_;
};

}  // namespace scree
