#pragma once
#include <span>
#include <vector>

#include "friction/friction_problem.hpp"
#include "state/state.hpp"

namespace scree {

/// The motion of the owned bodies in a step if no contact acted (docs/method.md, eq. D.1):
///     v_free = v(t) + dt (g + F(x(t), v(t), t) / m)
/// with the forces of the start of the step. In a deforming domain v is the velocity about its flow, c of
/// (H.21), and so is all that follows from it. Units: SI. Local, but where it says collective; O(bodies).
template <int D>
class FreeMotion {
 public:
  /// For a step of dt from state.clock.time.
  void predict(const State<D>& state, Real dt);

  /// The speed that gravity and forces give to a body in the step, at most [m/s]. Collective.
  Real fall_speed(const State<D>& state) const;
  /// The longest displacement [m]. Collective.
  Real farthest(const State<D>& state) const;
  /// Displacement of owned body i in the first `dt` of the step [m].
  Vec<D> displacement(std::size_t i, Real dt) const;

  Real dt() const { return dt_; }
  /// n_owned * n_velocities<D>: at the start of the step, and without contacts at its end [m/s, rad/s]; 0 for
  /// local bodies.
  std::span<const Real> start_velocity() const { return start_velocity_; }
  std::span<const Real> velocity() const { return velocity_; }
  /// n_local [m]; those of ghosts are left to the caller.
  std::span<Vec<D>> displacement() { return displacement_; }
  std::span<const Vec<D>> displacement() const { return displacement_; }
  /// n_local [rad]; the same. Empty if all bodies are spheres.
  std::span<Spin<D>> turn() { return turn_; }
  std::span<const Spin<D>> turn() const { return turn_; }
  /// n_owned, at the start of the step: forces with and without a potential [N]. Empty if the deck has none.
  std::span<const Vec<D>> potential_force() const { return potential_force_; }
  std::span<const Vec<D>> other_force() const { return other_force_; }

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  void evaluate_forces(const State<D>& state);

  Real dt_ = 0;
  std::vector<Real> start_velocity_, velocity_;
  std::vector<Vec<D>> potential_force_, other_force_;
  std::vector<Vec<D>> displacement_;
  std::vector<Spin<D>> turn_;
};

}  // namespace scree
