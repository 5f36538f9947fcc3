#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/section.hpp"

namespace scree {

/// How the people of a population walk in groups: [populations.NAME.groups].
struct GroupRule {
  std::vector<std::int64_t> sizes;  ///< members; empty for people of a file
  std::vector<Real> shares;         ///< of all groups, one for each size
  bool keeps_to_slowest = true;     ///< nobody is faster than the slowest within reach
  bool waits = true;                ///< who is ahead of another by more than reach slows down
  Real reach = 3;                   ///< [m]; along the route: of somebody who walks 1 m/s, in s
  Real wait_factor = 0.3;           ///< of the desired speed, of who waits
  bool side_by_side = false;        ///< who is ahead of the centre of the group slows down
  std::string where;                ///< of the sizes in the deck

  /// Declares and reads the keys; of people of a file sizes and shares are refused, which it gives. Local.
  void describe(Section& section, bool has_file);
  /// Throws InputError if a size exceeds `n_people`. Local.
  void require_room(std::int64_t n_people, const std::string& population) const;
};

/// Who is with whom among people who are numbered from 0: groups have consecutive members, smaller sizes
/// first. There are as many groups of each size as its share says, rounded down; who remains makes up
/// further groups, the largest first, and at last one that may be smaller than any size.
class GroupList {
 public:
  struct Group {
    std::int64_t first_member = 0, size = 0;
  };
  GroupList(const GroupRule& rule, std::int64_t n_people);

  /// How many groups there are of each size.
  const std::map<std::int64_t, std::int64_t>& n_of_size() const { return n_of_size_; }
  std::int64_t n_groups() const;
  /// Group k, and that of a person. O(sizes).
  Group group(std::int64_t k) const;
  Group group_of(std::int64_t person) const;

 private:
  std::map<std::int64_t, std::int64_t> n_of_size_;
};

}  // namespace scree
