#pragma once
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// Start of rank's share when n items, in order, are split evenly: the share is [share_begin(n, rank, size),
/// share_begin(n, rank + 1, size)).
inline std::int64_t share_begin(std::int64_t n, int rank, int size) {
  return n * rank / size;
}

/// Sends items[i] to rank destination[i] and returns what was sent to this rank, ordered by sender and, from
/// one sender, as given. For data with no fixed neighbours (starts, id look-ups); steps use GhostExchange.
/// Fewer than 2^31 items per rank and direction. Collective.
template <class T>
std::vector<T> redistribute(const Comm& comm, std::span<const T> items, std::span<const int> destination) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<int> send_count(size), receive_count(size), send_start(size), receive_start(size);
  for (const int rank : destination) ++send_count[static_cast<std::size_t>(rank)];
  MPI_Alltoall(send_count.data(), 1, MPI_INT, receive_count.data(), 1, MPI_INT, comm.handle());
  std::exclusive_scan(send_count.begin(), send_count.end(), send_start.begin(), 0);
  std::exclusive_scan(receive_count.begin(), receive_count.end(), receive_start.begin(), 0);

  std::vector<T> sent(items.size());
  std::vector<int> next = send_start;
  for (std::size_t i = 0; i < items.size(); ++i)
    sent[static_cast<std::size_t>(next[static_cast<std::size_t>(destination[i])]++)] = items[i];
  std::vector<T> received(static_cast<std::size_t>(receive_start.back() + receive_count.back()));

  MPI_Datatype item = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &item);
  MPI_Type_commit(&item);
  MPI_Alltoallv(sent.data(), send_count.data(), send_start.data(), item, received.data(),
                receive_count.data(), receive_start.data(), item, comm.handle());
  MPI_Type_free(&item);
  return received;
}

}  // namespace scree
