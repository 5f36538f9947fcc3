#pragma once
#include "crowd/people/crowd_placement.hpp"
#include "crowd/people/group_rule.hpp"

namespace scree {

/// The disk that the members of a group at its start lie in, and where: about its centre, on sites of a
/// hexagonal lattice, 10 cm apart from each other. For members of radius up to `largest_radius` [m].
struct GroupDisk {
  GroupDisk(std::int64_t n_members, Real largest_radius);
  Real radius = 0;         ///< [m]
  std::vector<Vec<2>> at;  ///< centres of members from the centre of the disk [m]
};

/// Places people as place_at_random(), the members of each group near each other. Groups are placed as disks,
/// turned at random, if these cover up to 45 % of the area and find room; else all people start on the sites
/// of a lattice, in the order of their numbers, and are pushed apart. In a region that holds no such lattice
/// each finds a place of its own. Obstacles that the spaces know must reach as far as the largest GroupDisk.
/// Collective; the cost is that of place_at_random().
bool place_groups_at_random(const PlacementTask& task, const GroupList& groups, Real largest_radius,
                            std::vector<PlacedPerson>& people);

}  // namespace scree
