#pragma once
#include <mpi.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// The entries of all ranks on every rank, in the order of their member `id`. For the few bodies near
/// something small: memory and time are in proportion to all of them on each rank. Collective.
template <class T>
std::vector<T> gathered_by_id(const Comm& comm, const std::vector<T>& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  MPI_Datatype entry = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &entry);
  MPI_Type_commit(&entry);
  const std::size_t n_ranks = comm.size();
  const int n_mine = static_cast<int>(mine.size());
  std::vector<int> counts(n_ranks), starts(n_ranks);
  MPI_Allgather(&n_mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.handle());
  int total = 0;
  for (std::size_t r = 0; r < n_ranks; ++r) {
    starts[r] = total;
    total += counts[r];
  }
  std::vector<T> all(total);
  MPI_Allgatherv(mine.data(), n_mine, entry, all.data(), counts.data(), starts.data(), entry, comm.handle());
  MPI_Type_free(&entry);
  std::ranges::sort(all, {}, &T::id);
  return all;
}

}  // namespace scree
