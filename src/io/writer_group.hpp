#pragma once
#include <mpi.h>

#include <algorithm>
#include <exception>

#include "core/parallel.hpp"

namespace scree {

/// The ranks split into at most `writers` groups of neighbours; the first rank of each writes its piece of a
/// frame. Construction and destruction are collective.
class WriterGroup {
 public:
  WriterGroup(const Comm& comm, int writers)
      : n_ranks_(comm.size()), n_pieces_(std::clamp(writers, 1, comm.size())) {
    piece_ = static_cast<int>(std::int64_t{comm.rank()} * n_pieces_ / n_ranks_);
    MPI_Comm_split(comm.handle(), piece_, comm.rank(), &group_);
  }
  ~WriterGroup() {
    // While an exception travels, other ranks may never come here.
    if (std::uncaught_exceptions() == 0) MPI_Comm_free(&group_);
  }
  WriterGroup(const WriterGroup&) = delete;
  WriterGroup& operator=(const WriterGroup&) = delete;

  int n_pieces() const { return n_pieces_; }
  /// The piece of this rank.
  int piece() const { return piece_; }
  /// The rank that a piece begins with; of n_pieces(): the number of ranks.
  int first_rank(int piece) const {
    return static_cast<int>((std::int64_t{piece} * n_ranks_ + n_pieces_ - 1) / n_pieces_);
  }
  MPI_Comm handle() const { return group_; }

 private:
  int n_ranks_, n_pieces_, piece_ = 0;
  MPI_Comm group_ = MPI_COMM_NULL;
};

}  // namespace scree
