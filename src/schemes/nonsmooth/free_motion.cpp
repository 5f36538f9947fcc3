#include "schemes/nonsmooth/free_motion.hpp"

#include <algorithm>

#include "state/force_field.hpp"

namespace scree {

template <int D>
void FreeMotion<D>::predict(const State<D>& state, Real dt) {
  dt_ = dt;
  const BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  start_velocity_.resize(n * q);
  displacement_.resize(bodies.n_local());
  for (std::size_t i = 0; i < n; ++i) {
    const Vec<D> velocity = velocity_about_flow(state, i);
    for (std::size_t k = 0; k < D; ++k) start_velocity_[i * q + k] = velocity[static_cast<int>(k)];
    for (std::size_t k = D; k < q; ++k)
      start_velocity_[i * q + k] = bodies.angular_velocity()[i][static_cast<int>(k - D)];
  }
  velocity_ = start_velocity_;
  turn_.resize(bodies.carries_shapes() ? displacement_.size() : 0);
  evaluate_forces(state);
  for (std::size_t i = 0; i < n; ++i) {
    const bool fixed = bodies.mobility()[i] == 0;
    for (std::size_t k = 0; k < q; ++k) {
      if (fixed) start_velocity_[i * q + k] = velocity_[i * q + k] = 0;
      if (!fixed && k < D) velocity_[i * q + k] += dt * state.gravity[static_cast<int>(k)];
      if (!fixed && k < D && !state.forces.empty())
        velocity_[i * q + k] +=
            dt / bodies.mass()[i] * (potential_force_[i] + other_force_[i])[static_cast<int>(k)];
      if (k < D) displacement_[i][static_cast<int>(k)] = dt * velocity_[i * q + k];
      if (k >= D && !turn_.empty()) turn_[i][static_cast<int>(k - D)] = dt * velocity_[i * q + k];
    }
  }
}

template <int D>
void FreeMotion<D>::evaluate_forces(const State<D>& state) {
  if (state.forces.empty()) return;
  const std::size_t n = state.bodies.n_owned();
  potential_force_.assign(n, {});
  other_force_.assign(n, {});
  for (const auto& field : state.forces)
    field->add(state, state.clock.time, field->has_potential() ? potential_force_ : other_force_);
}

template <int D>
Real FreeMotion<D>::fall_speed(const State<D>& state) const {
  if (state.forces.empty()) return norm(state.gravity) * dt_;
  Real max = 0;
  for (std::size_t i = 0; i < potential_force_.size(); ++i)
    if (state.bodies.mobility()[i] != 0)
      max = std::max(
          max, norm(state.gravity + 1 / state.bodies.mass()[i] * (potential_force_[i] + other_force_[i])));
  return state.comm.max(max) * dt_;
}

template <int D>
Real FreeMotion<D>::farthest(const State<D>& state) const {
  Real farthest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    farthest = std::max(farthest, norm(displacement_[i]));
  return state.comm.max(farthest);
}

template <int D>
Vec<D> FreeMotion<D>::displacement(std::size_t i, Real dt) const {
  // v(t) and its change in proportion to the step.
  Vec<D> moved;
  for (int k = 0; k < D; ++k) {
    const std::size_t at = i * q + static_cast<std::size_t>(k);
    moved[k] = dt * (start_velocity_[at] + dt / dt_ * (velocity_[at] - start_velocity_[at]));
  }
  return moved;
}

template class FreeMotion<2>;
template class FreeMotion<3>;

}  // namespace scree
