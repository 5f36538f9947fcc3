#include "crowd/multiplier_memory.hpp"

#include <array>
#include <map>

namespace scree {

namespace {

/// Calls f(place, who) for all candidates at walls, who being obstacle, person and -1.
template <class F>
void for_each_wall(const SweepSchedule<2>& schedule, const F& f) {
  for (const auto& wall : schedule.walls())
    for (Index place = wall.first; place < wall.last; ++place)
      f(static_cast<std::size_t>(place),
        std::array{wall.constraint, schedule.wall_bodies()[static_cast<std::size_t>(place)], Index{-1}});
}

}  // namespace

void MultiplierMemory::recall(const State<2>& state, const Neighborhood<2>& neighborhood) {
  field_.recall(state, neighborhood);
  note_loaded(field_.pairs(), loaded_pairs_);
  note_loaded(field_.walls(), loaded_walls_);
}

void MultiplierMemory::note_loaded(std::span<const Real> multipliers, std::vector<Index>& places) {
  places.clear();
  for (std::size_t place = 0; place < multipliers.size(); ++place)
    if (multipliers[place] != 0) places.push_back(static_cast<Index>(place));
}

void MultiplierMemory::get(const NearContacts& near, Neighborhood<2>& neighborhood,
                           std::vector<Real>& multiplier) {
  field_.inherit(near, neighborhood);
  multiplier.resize(near.size());
  for (std::size_t c = 0; c < near.size(); ++c) multiplier[c] = field_.of(near, c);
}

void MultiplierMemory::set(const NearContacts& near, std::span<const Real> multiplier) {
  for (const Index place : loaded_pairs_) field_.pairs()[static_cast<std::size_t>(place)] = 0;
  for (const Index place : loaded_walls_) field_.walls()[static_cast<std::size_t>(place)] = 0;
  loaded_pairs_.clear();
  loaded_walls_.clear();
  for (std::size_t c = 0; c < near.size(); ++c) {
    field_.of(near, c) = multiplier[c];
    if (multiplier[c] != 0) (near.b[c] < 0 ? loaded_walls_ : loaded_pairs_).push_back(near.place[c]);
  }
}

void MultiplierMemory::keep_walls(std::span<const Index> kept) {
  field_.keep_walls(kept);
  note_loaded(field_.walls(), loaded_walls_);
}

void MultiplierMemory::keep_while(const Neighborhood<2>& neighborhood, const std::function<void()>& relist) {
  const SweepSchedule<2>& schedule = neighborhood.schedule();
  std::map<std::array<Index, 3>, Real> pairs, walls;  // by both people and the shift, or as for_each_wall
  schedule.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
    if (const Real known = field_.pairs()[place]; known != 0) pairs[{low, high, shift}] = known;
  });
  for_each_wall(schedule, [&](std::size_t place, const auto& who) {
    if (const Real known = field_.walls()[place]; known != 0) walls[who] = known;
  });
  relist();
  field_.fit(neighborhood);
  field_.clear();
  schedule.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
    if (const auto known = pairs.find({low, high, shift}); known != pairs.end())
      field_.pairs()[place] = known->second;
  });
  for_each_wall(schedule, [&](std::size_t place, const auto& who) {
    if (const auto known = walls.find(who); known != walls.end()) field_.walls()[place] = known->second;
  });
  note_loaded(field_.pairs(), loaded_pairs_);
  note_loaded(field_.walls(), loaded_walls_);
}

}  // namespace scree
