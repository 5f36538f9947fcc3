#include "schemes/pbd/frozen_sweeper.hpp"

#include <algorithm>

#include "core/timing.hpp"

namespace scree {

template <int D>
void FrozenSweeper<D>::freeze() {
  frozen_.resize(sweeper_.held_records().size());
  std::ranges::transform(sweeper_.records(), frozen_.begin(), position_of<D>);
  sweeper_.neighborhood().ghosts().copy_to_ghosts(frozen_);
}

template <int D>
void FrozenSweeper<D>::freeze(std::span<const Vec<D>> positions) {
  frozen_.resize(sweeper_.held_records().size());
  std::copy_n(positions.begin(), sweeper_.records().size(), frozen_.begin());
  sweeper_.neighborhood().ghosts().copy_to_ghosts(frozen_);
}

template <int D>
void FrozenSweeper<D>::clear_records() {
  for (SweepRecord& record : sweeper_.held_records()) std::fill_n(record.x, 3, 0.0);
}

/// Calls treat(i, j, normal, frozen gap, multiplier) for every candidate of a block; j is null for a wall.
template <int D>
template <class Treat>
void FrozenSweeper<D>::for_each_contact(const State<D>& state, const Block& block, const Treat& treat) {
  const Neighborhood<D>& neighborhood = sweeper_.neighborhood();
  const SweepSchedule<D>& schedule = neighborhood.schedule();
  const auto shift_table = neighborhood.list().shift_table();
  const auto radius = state.bodies.radius();
  schedule.for_each_pair(block, [&](std::size_t place, Index low, Index high, Index shift) {
    const auto i = static_cast<std::size_t>(low);
    const auto j = static_cast<std::size_t>(high);
    Vec<D> d = frozen_[i] - frozen_[j];
    if (shift >= 0)
      for (int k = 0; k < D; ++k) d[k] += shift_table[static_cast<std::size_t>(3 * shift + k)];
    Real distance = norm(d);
    const Real contact_distance = radius[i] + radius[j];
    const Real gap = distance - contact_distance;
    if (distance < 1e-12 * contact_distance) {
      const Vec<3> direction = coincident_direction(state.bodies.id()[i], state.bodies.id()[j], D);
      for (int k = 0; k < D; ++k) d[k] = direction[k];
      distance = 1;
    }
    treat(i, &j, d * (1 / distance), gap, sweeper_.multipliers().pairs()[place]);
  });
  for (const auto& wall : schedule.walls(block)) {
    const auto which = schedule.wall_bodies(wall);
    at_.clear();
    from_.clear();
    for (const Index i : which) {
      at_.push_back(frozen_[static_cast<std::size_t>(i)]);
      from_.push_back(state.bodies.step_start()[static_cast<std::size_t>(i)]);
    }
    surface_.resize(which.size());
    state.obstacles.nearest(wall.constraint, at_, from_, surface_);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<std::size_t>(which[k]);
      const std::size_t* const none = nullptr;
      treat(i, none, surface_[k].normal, surface_[k].distance - radius[i],
            sweeper_.multipliers().walls()[static_cast<std::size_t>(wall.first) + k]);
    }
  }
}

template <int D>
void FrozenSweeper<D>::count_contacts(const State<D>& state) {
  clear_records();
  const auto records = sweeper_.held_records();
  sweeper_.run_colours({}, [&](const Block& block) {
    for_each_contact(state, block,
                     [&](std::size_t i, const std::size_t* j, const Vec<D>&, Real gap, const Real&) {
                       if (gap >= 0) return;
                       ++records[i].x[0];
                       if (j) ++records[*j].x[0];
                     });
  });
  n_contacts_.resize(records.size());
  for (std::size_t i = 0; i < sweeper_.records().size(); ++i) n_contacts_[i] = records[i].x[0];
  sweeper_.neighborhood().ghosts().copy_to_ghosts(n_contacts_, 1);
}

template <int D>
Real FrozenSweeper<D>::sweep(const State<D>& state, FrozenMode mode, Real factor, SweepTurn turn) {
  Scope timer("sweeps");
  const auto records = sweeper_.held_records();
  Real deepest = 0;
  const auto treat = [&](std::size_t i, const std::size_t* j, const Vec<D>& normal, Real frozen_gap,
                         Real& multiplier) {
    const Real total = sweeper_.mobility(i) + (j ? sweeper_.mobility(*j) : 0);
    if (total == 0) return;
    const auto moved = [&](std::size_t body) { return position_of<D>(records[body]) - frozen_[body]; };
    Real push = 0, gap = frozen_gap;
    switch (mode) {
      case FrozenMode::halfspaces:
      case FrozenMode::halfspaces_dual:
        gap += dot(normal, j ? moved(i) - moved(*j) : moved(i));
        push = mode == FrozenMode::halfspaces ? std::max(-gap, 0.0) / total
                                              : std::max(-gap / total, -multiplier);
        break;
      case FrozenMode::jacobi: {
        const Real n = j ? std::max(n_contacts_[i], n_contacts_[*j]) : n_contacts_[i];
        push = n > 0 ? std::max(-gap, 0.0) / total / n : 0.0;
        break;
      }
      case FrozenMode::penalty:
        push = factor * std::max(-gap, 0.0) / total;
        break;
    }
    deepest = std::max(deepest, -gap);
    multiplier += push;
    const auto add = [&](std::size_t body, Real change) {
      for (int k = 0; k < D; ++k) records[body].x[k] += change * normal[k];
    };
    add(i, sweeper_.mobility(i) * push);
    if (j) add(*j, -sweeper_.mobility(*j) * push);
  };
  sweeper_.run_colours(turn, [&](const Block& block) { for_each_contact(state, block, treat); });
  return deepest;
}

template <int D>
Real FrozenSweeper<D>::displace(const State<D>& state, FrozenMode mode, std::span<const Vec<D>> start,
                                Real factor) {
  if (mode == FrozenMode::jacobi) count_contacts(state);
  clear_records();
  const Real deepest = sweep(state, mode, factor, {});
  const auto records = sweeper_.records();
  for (std::size_t i = 0; i < records.size(); ++i)
    for (int k = 0; k < D; ++k) records[i].x[k] += start[i][k];
  return deepest;
}

template class FrozenSweeper<2>;
template class FrozenSweeper<3>;

}  // namespace scree
