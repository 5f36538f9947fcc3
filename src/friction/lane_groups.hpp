#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// Numbers per body in arrays of velocities: padded, so that a body is one or half a cache line.
template <int D>
inline constexpr int velocity_width = D == 2 ? 4 : 8;

/// Contacts in a group, which sweeps treat at once.
inline constexpr std::size_t group_size = 8;
/// A number of each.
using GroupEntry = Real[group_size];

/// Impulses of a group.
template <int D>
struct alignas(64) GroupImpulses {
  GroupEntry r[D];
};
/// What sweeps with momentum keep for a group.
template <int D>
struct alignas(64) GroupMomentum {
  GroupEntry p[D];  ///< momentum of the sweeps before
  GroupEntry d[D];  ///< what the last sweep changed r by, beyond momentum
};

/// What a sweep takes over from those before: r starts at r + beta p, and p becomes beta p + share d
/// (docs/method.md, eq. N.5).
struct SweepMomentum {
  Real beta = 0;
  Real share = 0;  ///< 1; 0 where momentum starts again
  Real unit = 1;   ///< of the change that the sweep adds up, a power of two (SweepChange)
};

/// The sum of d . (W + G) d over contacts, in a unit that the sweep before suggests: the terms are rounded to
/// integers, which are added exactly, in one pass and in any order. A sum that is larger than that of the
/// sweep before is not needed, so terms are cut where it is certain to be.
struct SweepChange {
  static constexpr Real of_last = 0x1p36;  ///< the sum of the sweep before is at most this
  static constexpr Real max = 0x1p38;      ///< of a term
  static constexpr Real to_integer = 0x1.8p52;
  /// The term for d . (W + G) d.
  static Real term(Real square, Real unit) {
    const Real scaled = square * unit;
    return ((scaled < max ? scaled : max) + to_integer) - to_integer;
  }
};

/// Which contact is in which lane of which group. The contacts of a group share no body that moves, and those
/// of a body are in groups in the order of the sweep; others may change places, which changes no bits.
class LaneGroups {
 public:
  /// Takes contacts from here on, in the order of a sweep; `none`: what stands for no body, more than the
  /// number of any. Local, as all.
  void begin(Index none) {
    none_ = none;
    place_.clear();
    stretch_first_.assign(1, 0);
    n_in_.clear();
    first_open_ = 0;
    first_group_.assign(static_cast<std::size_t>(none) + 1, 0);
  }
  /// A place for a contact of bodies a and b: lane `place % group_size` of group place / group_size, which is
  /// a new one if it is the first lane.
  std::size_t add(Index a, Index b) {
    place_.push_back(0);
    return add(place_.size() - 1, a, b);
  }
  /// The contact after the last gets its place later, by add(c, a, b).
  void defer() { place_.push_back(-1); }
  std::size_t add(std::size_t c, Index a, Index b) {
    // Groups further back are hardly worth to look at, and their bodies are in no cache by now.
    constexpr std::size_t max_open = 8;
    std::size_t& of_a = first_group_[a];
    std::size_t& of_b = first_group_[b];
    const std::size_t n = n_in_.size();
    while (first_open_ < n && (n_in_[first_open_] == group_size || n - first_open_ > max_open)) ++first_open_;
    std::size_t here = std::max({of_a, of_b, first_open_});
    while (here < n && n_in_[here] == group_size) ++here;
    if (here == n) n_in_.push_back(0);
    const std::size_t lane = n_in_[here]++;
    if (a != none_) of_a = here + 1;
    if (b != none_) of_b = here + 1;
    place_[c] = static_cast<Index>(here * group_size + lane);
    return here * group_size + lane;
  }
  /// Ends a stretch of contacts that a sweep visits between transfers.
  void end_stretch() { stretch_first_.push_back(first_open_ = n_in_.size()); }

  std::size_t n_groups() const { return n_in_.size(); }
  /// Of each contact.
  std::span<const Index> place() const { return place_; }
  /// The groups of a stretch: the first, and how many.
  std::size_t first_group(std::size_t stretch) const { return stretch_first_[stretch]; }
  std::size_t n_groups_of(std::size_t stretch) const {
    return stretch_first_[stretch + 1] - stretch_first_[stretch];
  }

  /// Impulses (contact by contact, D each) in groups and back.
  template <int D>
  void pack(std::span<const Real> r, std::vector<GroupImpulses<D>>& impulses) const {
    impulses.resize(n_groups());
    // Lanes that no contact uses stay zero.
    std::ranges::fill(impulses, GroupImpulses<D>{});
    for (std::size_t c = 0; c < place_.size(); ++c) {
      const std::size_t place = place_[c];
      for (std::size_t i = 0; i < D; ++i)
        impulses[place / group_size].r[i][place % group_size] = r[c * D + i];
    }
  }
  template <int D>
  void unpack(std::span<const GroupImpulses<D>> impulses, std::span<Real> r) const {
    for (std::size_t c = 0; c < place_.size(); ++c) {
      const std::size_t place = place_[c];
      for (std::size_t i = 0; i < D; ++i)
        r[c * D + i] = impulses[place / group_size].r[i][place % group_size];
    }
  }

 private:
  Index none_ = 0;
  std::vector<Index> place_;
  std::vector<std::size_t> stretch_first_;
  std::vector<std::uint8_t> n_in_;        // contacts of each group
  std::size_t first_open_ = 0;            // group of the present stretch that may have room
  std::vector<std::size_t> first_group_;  // of each body, where its next contact may be
};

/// Contacts packed for vectors: groups with bodies a and b of each lane, and the kernels for them. The order
/// is that of a sweep, and the bits are those of one contact after the other, with any instruction set.
template <class GroupKind, class KernelKind>
class PackedRows {
 public:
  using Group = GroupKind;
  using Kernels = KernelKind;

  explicit PackedRows(const Kernels& kernels) : kernels_(&kernels) {}

  /// Takes contacts from here on, in the order of a sweep; `none`: what stands for no body, more than the
  /// number of any. Local, as all.
  void begin(Index none) {
    none_ = none;
    groups_.clear();
    lanes_.begin(none);
  }
  /// A place for a contact of bodies a and b (LaneGroups::add). The rest of a new group is zeros.
  std::size_t add(Index a, Index b) { return fill(lanes_.add(a, b), a, b); }
  /// As LaneGroups.
  void defer() { lanes_.defer(); }
  std::size_t add(std::size_t c, Index a, Index b) { return fill(lanes_.add(c, a, b), a, b); }
  /// Ends a stretch of contacts that a sweep visits between transfers.
  void end_stretch() { lanes_.end_stretch(); }

  std::size_t size() const { return lanes_.place().size(); }
  bool empty() const { return groups_.empty(); }
  const LaneGroups& lanes() const { return lanes_; }
  Group& group(std::size_t place) { return groups_[place / group_size]; }
  std::span<const Group> groups() const { return groups_; }
  std::span<const Group> groups_of(std::size_t stretch) const {
    return groups().subspan(lanes_.first_group(stretch), lanes_.n_groups_of(stretch));
  }
  const Kernels& kernels() const { return *kernels_; }
  /// For tests: use these kernels.
  void use(const Kernels& kernels) { kernels_ = &kernels; }

 protected:
  std::vector<Group> groups_;

 private:
  std::size_t fill(std::size_t place, Index a, Index b) {
    if (lanes_.n_groups() > groups_.size()) {
      Group& fresh = groups_.emplace_back();
      std::fill_n(fresh.a, group_size, none_);
      std::fill_n(fresh.b, group_size, none_);
    }
    group(place).a[place % group_size] = a;
    group(place).b[place % group_size] = b;
    return place;
  }

  const Kernels* kernels_;
  Index none_ = 0;
  LaneGroups lanes_;
};

}  // namespace scree
