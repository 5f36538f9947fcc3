#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "crowd/people/start_space.hpp"
#include "particles/initial_packing.hpp"

namespace scree {

/// Somebody with a place, and where that may be: the number of its space.
struct PlacedPerson {
  NewBody<2> body;
  std::int32_t space = 0;
};

/// Who is to be placed: people first_id to first_id + count - 1, in spaces.back().
struct PlacementTask {
  const Comm& comm;
  const Box<2>& domain;
  std::uint64_t seed = 0;
  GlobalId first_id = 0;
  std::int64_t count = 0;
  std::function<Real(GlobalId)> radius;       ///< [m]; the same on all ranks
  std::span<const StartSpace* const> spaces;  ///< of people placed before, and of these
  std::span<const NewBody<2>> fixed = {};     ///< bodies that stay where they are, as ranks have them
  bool back_and_forth =
      false;  ///< ids on a lattice go along every second row backwards: neighbours stay near

  const StartSpace& space() const { return *spaces.back(); }
};

/// Adds people at places such that no two of all people, nor people and obstacles, overlap: the same, union
/// over ranks, for any number of ranks. False, on all ranks, if they found no room; `people` is then of no
/// use.
///
/// At random: by random sequential addition, if people take up to 45 % of the area; beyond, or if that fails,
/// they start on the sites of a hexagonal lattice, each moved at random, and all people, also those placed
/// before, are pushed apart until nobody overlaps. Collective; O(people / ranks) and an all-to-all exchange
/// per round of either, some 10 to 100 rounds, up to 3000 near 80 % of the area.
bool place_at_random(const PlacementTask& task, std::vector<PlacedPerson>& people);

/// The second way of place_at_random() alone. Ids go row by row. Collective.
bool place_pushed_apart(const PlacementTask& task, std::vector<PlacedPerson>& people);
/// Moves people who overlap each other, `task.fixed` or obstacles until nobody does, by little more than that
/// takes; their spaces must hold them. Afterwards they are on other ranks. False, on all ranks, if that does
/// not end. Collective; some 10 to 3000 passes, each O(people / ranks) and an all-to-all exchange.
bool push_apart(const PlacementTask& task, std::vector<PlacedPerson>& people);

/// On the sites of the widest hexagonal lattice that has enough of them in the space; the surplus is left out
/// evenly. Ids go row by row. No two sites are nearer than the largest of these people is wide. Collective.
bool place_on_lattice(const PlacementTask& task, std::vector<PlacedPerson>& people);

}  // namespace scree
