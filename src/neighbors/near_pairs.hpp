#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "neighbors/contact_rules.hpp"
#include "neighbors/near_kernels.hpp"
#include "neighbors/neighbor_list.hpp"
#include "state/state.hpp"

namespace scree {

/// The candidate pairs of this rank that may be contacts, out of all those of a neighbour list. Few are, and
/// hardly others in the next step: those that are near are kept in a list of their own until some body has
/// moved so far that one of the others might be a contact.
///
/// With X_i the place of body i when the list was made and s_i what it was allowed to move, a pair is left
/// out if |X_a - X_b| > (1 + t)(R_a + R_b) + s_a + s_b. With its displacement w_i it is no contact while
///     |x_i - X_i| + |w_i| <= s_i        for all bodies (t as it is now, R_i as they are now)
/// so contacts, and their bits, do not depend on when the list was made. Where the flow of a deforming domain
/// closes a distance by a share s of it at most in dt, R_i (1 + t) and w_i are taken 1/(1 - s) times.
template <int D>
class NearPairs {
 public:
  NearPairs() : kernels_(&near_kernels<D>()) {}

  /// For bodies as they are and these rules, which must outlive the calls of for_each(). True if the list is
  /// that of the last call. Local.
  bool find(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules);
  /// Calls take(place, low, high, shift code or -1) for the pairs of block number `block` of the schedule
  /// that may be contacts, in sweep order. It says whether they are.
  template <class F>
  void for_each(std::size_t block, F&& take) {
    for_each_batch(block, [&](std::size_t batch, unsigned near, bool shifted) {
      taken_[batch] = 0;
      for (; near != 0; near &= near - 1) {
        const std::size_t k = std::countr_zero(near);
        if (call(take, batch, k, shifted)) taken_[batch] |= static_cast<std::uint8_t>(1U << k);
      }
      return false;
    });
  }
  /// Whether holds(place, low, high, shift code or -1, whether the last for_each() took it) is true of any of
  /// them.
  template <class F>
  bool any(std::size_t block, F&& holds) {
    return for_each_batch(block, [&](std::size_t batch, unsigned near, bool shifted) {
      for (; near != 0; near &= near - 1) {
        const std::size_t k = std::countr_zero(near);
        const bool was_taken = (taken_[batch] >> k & 1U) != 0;
        const auto of_pair = [&](auto... pair) { return holds(pair..., was_taken); };
        if (call(of_pair, batch, k, shifted)) return true;
      }
      return false;
    });
  }

  /// How often the list was made, and the pairs that are in it.
  std::int64_t n_lists() const { return n_lists_; }
  std::int64_t n_listed() const { return n_listed_; }
  /// For tests: use this instruction set.
  void use(const NearKernels& kernels) { kernels_ = &kernels; }

 private:
  /// Batches of the near list.
  struct Block {
    Index first, first_shifted, last;
  };
  /// Calls f(batch of the list, bits of the pairs that may be contacts, shifted) until it returns true.
  template <class F>
  bool for_each_batch(std::size_t block, F&& f) {
    for (const bool shifted : {false, true}) {
      const Index first = shifted ? blocks_[block].first_shifted : blocks_[block].first;
      const Index last = shifted ? blocks_[block].last : blocks_[block].first_shifted;
      if (first == last) continue;
      find_near(first, last, shifted);
      for (Index batch = first; batch < last; ++batch) {
        const std::size_t b = batch;
        unsigned near = near_[b - static_cast<std::size_t>(first)];
        if (rules_->has_pair_values()) near |= remembered_in_list(b);
        if (f(b, near, shifted)) return true;
      }
    }
    return false;
  }
  template <class F>
  bool call(F&& f, std::size_t batch, std::size_t k, bool shifted) const {
    const std::size_t place = batch * batch_size + k;
    const Index* low = &ends_[2 * batch_size * batch + k];
    return f(static_cast<std::size_t>(places_[place]), low[0], low[batch_size],
             shifted ? Index{shifts_[place]} : Index{-1});
  }
  void load(const State<D>& state);
  /// (1 + t)/(1 - s).
  Real reach_factor() const { return stretch_ * (1 + rules_->tolerance); }
  bool is_current() const;
  bool misses_remembered() const;
  void make_list();
  void append(const typename SweepSchedule<D>::Block& block, Index first, Index last, bool shifted);
  void find_near(Index first, Index last, bool shifted);
  std::uint8_t remembered(std::size_t batch) const;
  unsigned remembered_in_list(std::size_t batch) const;

  const NearKernels* kernels_;
  const NeighborList<D>* list_ = nullptr;
  const ContactRules<D>* rules_ = nullptr;
  Index n_local_ = 0;
  std::vector<SweepRecord> bodies_;                        // as they are: local bodies, then two dummies
  std::array<std::vector<SweepRecord>, 2> displacements_;  // the same; radius: unused
  int n_displacements_ = 0;
  Real stretch_ = 1;  // 1/(1 - s)
  // Of the list.
  std::int64_t list_number_ = -1;      // NeighborList::n_placements() that it is from
  std::vector<SweepRecord> listed_;    // X_i and (1 + t) R_i + s_i
  std::vector<std::uint8_t> is_near_;  // of each batch of candidates: bits of those in the list
  std::vector<Block> blocks_;
  std::vector<Index> ends_, places_;
  std::vector<std::uint8_t> shifts_;  // by place of the near list
  std::int64_t n_lists_ = 0, n_listed_ = 0;
  std::vector<std::uint8_t> near_;   // of the batches of a block
  std::vector<std::uint8_t> taken_;  // of each batch of the list: bits of what for_each() found
};

}  // namespace scree
