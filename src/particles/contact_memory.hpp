#pragma once
#include <span>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What contacts remember from step to step, by the names of their two ends: for each held body, in the order
/// of the BodyStore, the contacts in which it is the end with the smaller global id (or meets an obstacle).
/// Contacts with multiplier 0 are not kept.
struct ContactMemory {
  std::vector<Index> start{0};  ///< entries of body i are [start[i], start[i + 1])
  std::vector<GlobalId> other;  ///< the larger global id, or -1 - constraint for an obstacle
  std::vector<Real> value;      ///< the multiplier

  Index n_bodies() const { return static_cast<Index>(start.size()) - 1; }
  /// The multiplier of body i with `partner`, 0 if there is none.
  Real recall(Index i, GlobalId partner) const {
    const auto body = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(start[body]); e < static_cast<std::size_t>(start[body + 1]); ++e)
      if (other[e] == partner) return value[e];
    return 0;
  }
  /// Forgets everything, for n bodies.
  void clear(Index n_bodies_now) {
    start.assign(static_cast<std::size_t>(n_bodies_now) + 1, 0);
    other.clear();
    value.clear();
  }
  /// Appends a body that copies the entries [begin, end) of `from`.
  void append_from(const ContactMemory& from, Index body) {
    for (auto e = static_cast<std::size_t>(from.start[static_cast<std::size_t>(body)]);
         e < static_cast<std::size_t>(from.start[static_cast<std::size_t>(body) + 1]); ++e) {
      other.push_back(from.other[e]);
      value.push_back(from.value[e]);
    }
    start.push_back(static_cast<Index>(other.size()));
  }
};

/// One remembered contact on its own: how it travels and how it is stored.
struct RememberedContact {
  Index body;  ///< place of the body in the receiver's BodyStore
  GlobalId other;
  Real value;
};

/// Builds the memory of n bodies from contacts in any order (within a body the order is kept).
ContactMemory collect(Index n_bodies, std::span<const RememberedContact> contacts);

}  // namespace scree
