#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "crowd/start_space.hpp"
#include "particles/fill.hpp"

namespace scree {

/// Who is to be placed: people first_id to first_id + count - 1.
struct PlacementTask {
  const Comm& comm;
  const Box<2>& domain;
  std::uint64_t seed = 0;
  GlobalId first_id = 0;
  std::int64_t count = 0;
  std::function<Real(GlobalId)> radius;  ///< [m]; the same on all ranks
  /// Who is there already, as ranks have them: they stay where they are.
  std::span<const NewBody<2>> earlier = {};
};

/// Places that no two people, nor people and obstacles, overlap; the same, union over ranks, for any number
/// of ranks. Fewer than task.count in all: not everybody found a place.
///
/// At random: by random sequential addition, if people take up to 45 % of the area; beyond, or if that fails,
/// people start on the sites of a hexagonal lattice, each moved at random, and are pushed apart until nobody
/// overlaps. Collective; O(people / ranks) and an all-to-all exchange per round of either, some 10 to 100
/// rounds, up to 3000 near 80 % of the area.
std::vector<NewBody<2>> place_at_random(const PlacementTask& task, const StartSpace& space);

/// On the sites of the widest hexagonal lattice that has enough of them in the space; the surplus is left out
/// evenly. Ids go row by row. No two sites are nearer than the largest of these people is wide. Collective.
std::vector<NewBody<2>> place_on_lattice(const PlacementTask& task, const StartSpace& space);

}  // namespace scree
