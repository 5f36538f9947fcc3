#pragma once
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// Plan that sends per-body data from the owners to even shares in the order of global ids (EvenShare). Files
/// written from it hold the same bytes for any number of ranks and any distribution of the bodies.
///
/// Cost: a local sort, at most 64 sums of `size` integers, one exchange per apply. Nothing is gathered
/// anywhere.
class IdOrder {
 public:
  /// `ids` are those of this rank's bodies, in any order: unique over all ranks, not necessarily dense.
  /// Throws RunError if one occurs twice. Collective.
  IdOrder(const Comm& comm, std::span<const GlobalId> ids);

  std::int64_t n_total() const { return n_total_; }
  /// Row of this rank's first body in the sorted list.
  std::int64_t first() const { return first_; }
  /// Number of bodies this rank holds after apply().
  std::size_t count() const { return receive_order_.size(); }

  /// Carries `components` values per body, given in the order of the ids at construction, into sorted order.
  /// Collective.
  template <class T>
  void apply(std::span<const T> in, std::vector<T>& out, int components = 1) const {
    static_assert(std::is_trivially_copyable_v<T>);
    out.resize(count() * static_cast<std::size_t>(components));
    carry(in.data(), out.data(), sizeof(T) * static_cast<std::size_t>(components));
  }

 private:
  void carry(const void* in, void* out, std::size_t bytes_per_body) const;

  Comm comm_;
  std::int64_t n_total_ = 0;
  std::int64_t first_ = 0;
  std::vector<std::size_t> send_order_;     ///< i-th body to send: its place in the caller's arrays
  std::vector<std::size_t> receive_order_;  ///< i-th body received: its place among this rank's rows
  std::vector<int> send_counts_, send_starts_, receive_counts_, receive_starts_;
};

}  // namespace scree
