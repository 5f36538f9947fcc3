// What ScaledProblem does with walls that loads move.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "friction/scaled_problem.hpp"

namespace scree {

template <int D>
void ScaledProblem<D>::move_wall(std::size_t k, Real velocity) const {
  if (walls_[k].velocity == velocity) return;
  walls_[k].velocity = velocity;
  for (const Index contact : walls_.contacts_along(k)) {
    const std::size_t c = contact;
    Real w[D];
    for (std::size_t i = 0; i < D; ++i) w[i] = bias(c, i) / velocity_scale_;
    if (has_spheres_) spheres_.set_bias(c, w);
    if (contacts_built_) std::copy_n(w, D, contacts_[c].w);
    if (general_built_ && !general_.empty()) general_.set_bias(c, w);
    if (has_spheres_ && problem_->rolls()) set_spin_bias(c, velocity_scale_);
  }
}

template <int D>
Real ScaledProblem<D>::impulse_of_row(std::size_t c, std::size_t row, const Real* r, const Real* s) const {
  Real of_contact = 0;
  for (std::size_t i = 0; i < D; ++i) of_contact += problem_->at_walls.row[row * D + i] * r[i];
  if (s != nullptr)
    for (std::size_t i = 0; i < n_turns<D>; ++i)
      of_contact += problem_->rolling[2 * c + 1] * problem_->at_walls.turn[row * n_turns<D> + i] * s[i];
  return mass_scale_ * velocity_scale_ * of_contact;
}

template <int D>
Real ScaledProblem<D>::place_walls(std::span<const Real> impulse) const {
  constexpr Real negligible = 1e-6;  // of what contacts give: sums do not resolve much smaller loads
  Real worst = 0;
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    const WallUnknown& given = problem_->walls[k];
    typename WallRows<D>::Direction& wall = walls_[k];
    wall.impulse = impulse[k];
    if (given.is_known) continue;
    const Real pushed = given.impulse + wall.impulse;
    if (wall.limit == 0 && given.inertia > 0)
      move_wall(k, given.velocity_before + pushed / given.inertia);
    else if (wall.limit != 0)
      move_wall(k, wall.limit * given.max_speed);
    wall.excess = pushed - given.inertia * (wall.velocity - given.velocity_before);
    const Real by_itself = mass_scale_ * velocity_scale_,
               unit = std::max(given.scale, by_itself * (given.scale > 0 ? negligible : 1));
    if (wall.limit != 0)
      worst = std::max(worst, -wall.limit * wall.excess / unit);
    else
      worst = std::max(worst, given.inertia > 0 ? 0 : std::abs(wall.excess) / unit);
    if (std::abs(wall.velocity) > given.max_speed) worst = std::max(worst, 1.0);
  }
  return worst;
}

template <int D>
bool ScaledProblem<D>::keep_walls_within_speeds() const {
  // Impulses of other contacts may still be far off, which says little of where a wall will go.
  constexpr Real roughly_solved = 0.1, round_off = 1e-9;
  constexpr int max_changes = 8, max_unsolved = 5;
  const bool is_solved = walls_.contact_residual <= roughly_solved;
  bool changed = false;
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    typename WallRows<D>::Direction& wall = walls_[k];
    const WallUnknown& given = problem_->walls[k];
    if (given.is_known || wall.n_changes >= max_changes) continue;
    if (wall.limit == 0) {
      if (!is_solved || std::abs(wall.velocity) <= given.max_speed) continue;
      wall.limit = wall.velocity > 0 ? 1 : -1;
      move_wall(k, wall.limit * given.max_speed);
    } else {
      // Where bodies jam, impulses at a given speed grow from sweep to sweep.
      wall.n_unsolved = is_solved ? 0 : wall.n_unsolved + 1;
      const Real pushed_back = -wall.limit * wall.excess, load = std::abs(given.impulse);
      if (pushed_back <= (is_solved ? round_off : 1) * load && wall.n_unsolved < max_unsolved) continue;
      wall.limit = 0;
    }
    wall.n_unsolved = 0;
    ++wall.n_changes;
    changed = true;
  }
  return changed;
}

template <int D>
void ScaledProblem<D>::restore_walls() const {
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    const typename WallRows<D>::Direction best = walls_.best(k);
    move_wall(k, best.velocity);
    walls_[k] = best;
  }
}

template <int D>
void ScaledProblem<D>::release_walls() const {
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    const WallUnknown& given = problem_->walls[k];
    if (given.is_known) continue;
    const Real far =
        given.impulse == 0 ? given.velocity_before : std::copysign(given.max_speed, given.impulse);
    const Real free = given.inertia > 0 ? given.velocity_before + given.impulse / given.inertia : far;
    walls_[k].velocity = std::clamp(free, -given.max_speed, given.max_speed);
    walls_[k].impulse = 0;
  }
}

#define SCREE_SCALED_WALLS(D)                                                                               \
  template void ScaledProblem<D>::move_wall(std::size_t, Real) const;                                       \
  template Real ScaledProblem<D>::impulse_of_row(std::size_t, std::size_t, const Real*, const Real*) const; \
  template Real ScaledProblem<D>::place_walls(std::span<const Real>) const;                                 \
  template bool ScaledProblem<D>::keep_walls_within_speeds() const;                                         \
  template void ScaledProblem<D>::restore_walls() const;                                                    \
  template void ScaledProblem<D>::release_walls() const;
SCREE_SCALED_WALLS(2)
SCREE_SCALED_WALLS(3)
#undef SCREE_SCALED_WALLS

}  // namespace scree
