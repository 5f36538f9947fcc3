#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What contacts remember from step to step, by the names of their two ends: for each held body, in the order
/// of the BodyStore, the contacts in which it is the end with the smaller global id (or meets an obstacle).
/// Contacts whose numbers are all 0 are not kept.
struct ContactMemory {
  /// Numbers per contact at most: a mode and a vector.
  static constexpr int most_numbers = 4;

  int width = 1;                ///< numbers per contact
  std::vector<Index> start{0};  ///< entries of body i are [start[i], start[i + 1])
  std::vector<GlobalId> other;  ///< the larger global id, or -1 - constraint for an obstacle
  std::vector<Real> value;      ///< width numbers per entry: a multiplier, or an impulse in world axes

  Index n_bodies() const { return static_cast<Index>(start.size()) - 1; }
  /// Writes the numbers of body i with `partner`, zeros if there are none.
  void recall(Index i, GlobalId partner, std::span<Real> numbers) const;
  /// Forgets everything, for n bodies.
  void clear(Index n_bodies_now);
  /// Appends a body that copies the entries of `body` in `from`.
  void append_from(const ContactMemory& from, Index body);
  /// The memory of these bodies, in this order.
  ContactMemory of(std::span<const Index> bodies) const;
};

/// One remembered contact on its own: how it travels and how it is stored.
struct RememberedContact {
  Index body;  ///< place of the body in the receiver's BodyStore
  GlobalId other;
  std::array<Real, ContactMemory::most_numbers> value;
};

/// Builds the memory of n bodies from contacts in any order (within a body the order is kept).
ContactMemory collect(Index n_bodies, std::span<const RememberedContact> contacts, int width = 1);

}  // namespace scree
