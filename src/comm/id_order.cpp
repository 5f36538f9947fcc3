#include "comm/id_order.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "comm/fixed_copy.hpp"
#include "core/error.hpp"
#include "core/even_share.hpp"

namespace scree {

namespace {

/// Places of the ids in ascending order of the ids; equal ids in any order.
std::vector<std::size_t> sorting_order(std::span<const GlobalId> ids) {
  std::vector<std::size_t> order(ids.size());
  if (std::is_sorted(ids.begin(), ids.end())) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  // Most ids lie close: then each goes straight to its place in a list of all that there might be.
  constexpr std::uint64_t sparsest = 8;
  const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
  const std::uint64_t range = static_cast<std::uint64_t>(*max) - static_cast<std::uint64_t>(*min);
  if (range / sparsest < ids.size() && ids.size() <= std::numeric_limits<std::uint32_t>::max()) {
    std::vector<std::uint32_t> count(range + 1);
    for (const GlobalId id : ids) ++count[id - *min];
    std::exclusive_scan(count.begin(), count.end(), count.begin(), std::uint32_t{0});
    for (std::size_t i = 0; i < ids.size(); ++i) order[count[ids[i] - *min]++] = i;
    return order;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  return order;
}

/// Half way from low to high, rounded down; exact over the whole range of 64-bit ids.
GlobalId middle(GlobalId low, GlobalId high) {
  const std::uint64_t distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return static_cast<GlobalId>(static_cast<std::uint64_t>(low) + distance / 2);
}

/// The id in the first row of each rank's share, found by bisection on the value: counting how many ids are
/// not above a guess needs one sum of integers, so no rank ever holds the list.
std::vector<GlobalId> first_id_of_ranks(const Comm& comm, std::span<const GlobalId> sorted, std::int64_t n) {
  const std::size_t n_ranks = comm.size();
  const GlobalId min = comm.min(sorted.empty() ? std::numeric_limits<GlobalId>::max() : sorted.front());
  const GlobalId max = comm.max(sorted.empty() ? std::numeric_limits<GlobalId>::min() : sorted.back());
  std::vector<GlobalId> low(n_ranks, min);
  std::vector<GlobalId> high(n_ranks, max);
  std::vector<std::int64_t> not_above(n_ranks);
  while (low != high) {
    for (std::size_t r = 0; r < n_ranks; ++r)
      not_above[r] = std::upper_bound(sorted.begin(), sorted.end(), middle(low[r], high[r])) - sorted.begin();
    comm.sum(std::span<std::int64_t>(not_above));
    for (std::size_t r = 0; r < n_ranks; ++r) {
      const GlobalId guess = middle(low[r], high[r]);
      if (low[r] == high[r]) continue;
      if (not_above[r] > EvenShare::start(n, static_cast<int>(r), comm.size()))
        high[r] = guess;
      else
        low[r] = guess + 1;
    }
  }
  return low;
}

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  return starts;
}

}  // namespace

IdOrder::IdOrder(const Comm& comm, std::span<const GlobalId> ids)
    : comm_(comm),
      send_order_(sorting_order(ids)),
      send_counts_(static_cast<std::size_t>(comm.size()), 0),
      receive_counts_(send_counts_) {
  n_total_ = comm_.sum(static_cast<std::int64_t>(ids.size()));
  first_ = EvenShare::start(n_total_, comm_.rank(), comm_.size());

  std::vector<GlobalId> sorted(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) sorted[i] = ids[send_order_[i]];
  if (n_total_ > 0) {
    const std::vector<GlobalId> first_ids = first_id_of_ranks(comm_, sorted, n_total_);
    // Ranks with an empty share have the same first id as the next one: the last of them takes the bodies.
    std::size_t begin = 0;
    for (std::size_t r = 0; r < first_ids.size(); ++r) {
      const auto end = r + 1 < first_ids.size()
                           ? std::lower_bound(sorted.begin(), sorted.end(), first_ids[r + 1])
                           : sorted.end();
      const std::size_t end_index = end - sorted.begin();
      send_counts_[r] = static_cast<int>(end_index - begin);
      begin = end_index;
    }
  }
  MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, comm_.handle());
  send_starts_ = starts_of(send_counts_);
  receive_starts_ = starts_of(receive_counts_);

  const std::size_t n_received = receive_starts_.back() + receive_counts_.back();
  std::vector<GlobalId> received(n_received);
  receive_order_.resize(n_received);
  std::iota(receive_order_.begin(), receive_order_.end(), std::size_t{0});
  carry(ids.data(), received.data(), sizeof(GlobalId));

  const std::vector<std::size_t> order = sorting_order(received);
  // Equal ids meet on one rank, because ranges of ids were dealt out.
  share_errors(comm_, [&] {
    for (std::size_t i = 1; i < order.size(); ++i)
      if (received[order[i]] == received[order[i - 1]])
        throw RunError(fmt::format("two bodies have the global id {}", received[order[i]]));
  });
  for (std::size_t i = 0; i < order.size(); ++i) receive_order_[order[i]] = i;
}

namespace {

/// Copies items of `width` bytes: item to(i) of the target is item from(i) of the source, for i < n.
template <class To, class From>
void copy_items(std::size_t width, std::size_t n, std::byte* target, const To& to, const std::byte* source,
                const From& from) {
  with_copy_of(width, [&](const auto& copy) {
    for (std::size_t i = 0; i < n; ++i) copy(target + to(i) * width, source + from(i) * width);
  });
}

}  // namespace

void IdOrder::carry(const void* in, void* out, std::size_t bytes_per_body) const {
  const auto* source = static_cast<const std::byte*>(in);
  auto* target = static_cast<std::byte*>(out);
  const auto in_place = [](std::size_t i) { return i; };
  const auto to_send = [&](std::size_t i) { return send_order_[i]; };
  const auto received = [&](std::size_t i) { return receive_order_[i]; };
  if (comm_.size() == 1) {
    copy_items(bytes_per_body, send_order_.size(), target, received, source, to_send);
    return;
  }
  const auto outgoing = std::make_unique_for_overwrite<std::byte[]>(send_order_.size() * bytes_per_body);
  const auto incoming = std::make_unique_for_overwrite<std::byte[]>(receive_order_.size() * bytes_per_body);
  copy_items(bytes_per_body, send_order_.size(), outgoing.get(), in_place, source, to_send);
  MPI_Datatype body = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes_per_body), MPI_BYTE, &body);
  MPI_Type_commit(&body);
  MPI_Alltoallv(outgoing.get(), send_counts_.data(), send_starts_.data(), body, incoming.get(),
                receive_counts_.data(), receive_starts_.data(), body, comm_.handle());
  MPI_Type_free(&body);
  copy_items(bytes_per_body, receive_order_.size(), target, received, incoming.get(), in_place);
}

}  // namespace scree
