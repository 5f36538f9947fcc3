#include "schemes/nonsmooth/position_correction.hpp"

#include <algorithm>
#include <cmath>

#include "core/timing.hpp"
#include "schemes/nonsmooth/move.hpp"

namespace scree {

template <int D>
Real PositionCorrection<D>::apply(Real radius) {
  if (settings_.correction != NonsmoothSettings<D>::Correction::projection ||
      !state_.materials.has_rigid_pairs())
    return 0;
  Scope timer("correction");
  // A pile whose overlaps are all below `worth_it` is left alone. More than `most` in one step would throw
  // other bodies about; what is thin and turns overlaps by more, and is taken apart at once.
  const Real worth_it = 5e-3 * radius, negligible = 1e-3 * radius,
             most = (state_.bodies.carries_shapes() ? 0.3 : 0.03) * radius;
  const Real deepest = change_bias(negligible, most);
  acts_ = deepest > worth_it;
  if (acts_) {
    solve();
    limit(2 * most);
    if (laws_.walls()) move_walls(2 * most);
  }
  separate_centres(state_, solve_.velocity(), velocity(), laws_.step().law.dt);
  return acts_ ? deepest : 0;
}

/// Lets contacts of rigid bodies that overlap by more than `negligible` part. Returns the deepest overlap.
template <int D>
Real PositionCorrection<D>::change_bias(Real negligible, Real most) {
  const StepContacts<D> step = laws_.step();
  const LoadedWalls<D>* walls = laws_.walls();
  Real deepest = 0;
  for (std::size_t c = 0; c < step.contacts.size(); ++c) {
    const Real overlap = -(step.contacts.gap[c] + step.allowed_overlap(c));
    if (overlap <= negligible || !step.is_rigid(c)) continue;
    deepest = std::max(deepest, overlap);
    Real& bias = laws_.problem().bias[c * D];
    const Real given_way = walls ? walls->compliance_velocity(c) : 0;
    bias = std::min(bias, step.obstacle_velocity[c * D] - std::min(overlap, most) / step.law.dt - given_way);
  }
  return state_.comm.max(deepest);
}

template <int D>
void PositionCorrection<D>::solve() {
  const std::span<const Real> found = solve_.impulse();
  impulse_.resize(found.size());
  std::ranges::copy(found, impulse_.begin());
  velocity_.resize(solve_.velocity().size());
  StopRule stop = settings_.solver.stop_rule();
  stop.tolerance *= 0.01;  // few contacts overlap, and the residual is that of all
  stop.most_iterations = settings_.correction_sweeps;
  stop.takes_last = true;
  solve_.run_with_bias(laws_.problem(), *sweeps_, stop, impulse_, velocity_);
}

/// Where bodies have no room, impulses grow without end: none moves on by more than `most` [m].
template <int D>
void PositionCorrection<D>::limit(Real most) {
  const std::span<const Real> uncorrected = solve_.velocity();
  const Real dt = laws_.step().law.dt;
  for (std::size_t i = 0; i < velocity_.size(); i += q) {
    Real squared = 0;
    for (std::size_t k = i; k < i + D; ++k)
      squared += (velocity_[k] - uncorrected[k]) * (velocity_[k] - uncorrected[k]);
    const Real moved = dt * std::sqrt(squared);
    if (moved <= most) continue;
    for (std::size_t k = i; k < i + q; ++k)
      velocity_[k] = uncorrected[k] + most / moved * (velocity_[k] - uncorrected[k]);
  }
}

/// Bodies that have no room under a wall under load lift it: it goes by as much as its contacts give way in
/// the separation, at most by `most` [m].
template <int D>
void PositionCorrection<D>::move_walls(Real most) {
  const Real dt = laws_.step().law.dt;
  const auto reactions = laws_.walls()->react(impulse_);
  const auto walls = state_.obstacles.driven();
  for (std::size_t k = 0; k < walls.size(); ++k)
    walls[k].position -= std::clamp(dt * reactions[k].deflection, -most, most);
  state_.obstacles.place(state_.clock.time + dt);
}

template class PositionCorrection<2>;
template class PositionCorrection<3>;

}  // namespace scree
