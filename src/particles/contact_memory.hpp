#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// The name of a partner in contact memories: its id and, where a body may touch several images of it, which
/// one (0 to 26). Obstacles have negative names: -1 less that of the constraint.
constexpr int image_bits_of_name = 57;
constexpr GlobalId name_of_partner(GlobalId id, int image) {
  return id + (static_cast<GlobalId>(image) << image_bits_of_name);
}
/// The id in such a name; of an obstacle all of it.
constexpr GlobalId id_of_partner(GlobalId name) {
  return name < 0 ? name : name & ((GlobalId{1} << image_bits_of_name) - 1);
}

/// What contacts remember from step to step, by the names of their two ends: for each local body, in the
/// order of the BodyStore, the contacts in which it is the end with the smaller global id (or meets an
/// obstacle). Contacts whose numbers are all 0 are not kept.
struct ContactMemory {
  /// Numbers per contact at most: four points of bodies with shapes, each with its name and an impulse.
  static constexpr int max_numbers = 16;

  int width = 1;                ///< numbers per contact
  std::vector<Index> start{0};  ///< entries of body i are [start[i], start[i + 1])
  std::vector<GlobalId> other;  ///< name_of_partner of the larger id, or the name of an obstacle
  std::vector<Real> value;      ///< width numbers per entry: a multiplier, or an impulse in world axes

  Index n_bodies() const { return static_cast<Index>(start.size()) - 1; }
  /// Whether body i remembers a partner whose name is as asked.
  template <class IsPartner>
  bool any_of(Index i, IsPartner&& is_partner) const {
    const std::size_t body = i;
    return std::any_of(other.begin() + start[body], other.begin() + start[body + 1], is_partner);
  }
  /// Writes the numbers of body i with `partner`, zeros if there are none.
  void restore(Index i, GlobalId partner, std::span<Real> numbers) const;
  /// Forgets everything, for n bodies.
  void clear(Index n_bodies_now);
  /// Appends a body that copies the entries of `body` in `from`.
  void append_from(const ContactMemory& from, Index body);
  /// The memory of these bodies, in this order.
  ContactMemory of(std::span<const Index> bodies) const;
};

/// One remembered contact on its own: how it travels.
struct RememberedContact {
  Index body;  ///< place of the body in the receiver's BodyStore
  GlobalId other;
  std::array<Real, ContactMemory::max_numbers> value;
};

/// Builds the memory of n bodies from contacts in any order (within a body the order is kept). `each(f)`
/// calls f(body, other, numbers) for every contact, with at least `width` numbers, and the same again when
/// called again: what is remembered of a large packing is held once.
template <class Each>
ContactMemory collect(Index n_bodies, int width, const Each& each) {
  ContactMemory memory;
  memory.width = width;
  memory.clear(n_bodies);
  std::vector<Index>& start = memory.start;
  // Shifted by one, so that filling them in turns ends into beginnings.
  start.push_back(0);
  each([&](Index body, GlobalId, const auto&) { ++start[static_cast<std::size_t>(body) + 2]; });
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  const std::size_t w = width;
  const std::size_t n = start.back();
  memory.other.resize(n);
  memory.value.resize(n * w);
  each([&](Index body, GlobalId other, const auto& numbers) {
    const std::size_t e = start[static_cast<std::size_t>(body) + 1]++;
    memory.other[e] = other;
    std::copy_n(numbers.begin(), w, memory.value.begin() + static_cast<std::ptrdiff_t>(e * w));
  });
  start.pop_back();
  return memory;
}

}  // namespace scree
