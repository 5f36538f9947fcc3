#include "crowd/multiplier_memory.hpp"

#include <array>
#include <map>

namespace scree {

void MultiplierMemory::get(const NearContacts& near, Neighborhood<2>& neighborhood,
                           std::vector<Real>& multiplier) {
  field_.inherit(near, neighborhood);
  multiplier.resize(near.size());
  for (std::size_t c = 0; c < near.size(); ++c) multiplier[c] = field_.of(near, c);
}

void MultiplierMemory::set(const NearContacts& near, std::span<const Real> multiplier) {
  field_.clear();
  for (std::size_t c = 0; c < near.size(); ++c) field_.of(near, c) = multiplier[c];
}

void MultiplierMemory::keep_while(const Neighborhood<2>& neighborhood, const std::function<void()>& relist) {
  const SweepSchedule<2>& schedule = neighborhood.schedule();
  // Calls f(multiplier, who) for all candidates, who being two people and the shift, or an obstacle and a
  // person.
  const auto for_each = [&](const auto& f) {
    schedule.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
      f(field_.pairs()[place], std::array{Index{0}, low, high, shift});
    });
    for (const auto& wall : schedule.walls())
      for (std::size_t place = wall.first; place < static_cast<std::size_t>(wall.last); ++place)
        f(field_.walls()[place],
          std::array{Index{1}, wall.constraint, schedule.wall_bodies()[place], Index{0}});
  };
  std::map<std::array<Index, 4>, Real> known;
  for_each([&](Real multiplier, const auto& who) {
    if (multiplier != 0) known[who] = multiplier;
  });
  relist();
  field_.resize(neighborhood);
  field_.clear();
  for_each([&](Real& multiplier, const auto& who) {
    if (const auto found = known.find(who); found != known.end()) multiplier = found->second;
  });
}

}  // namespace scree
