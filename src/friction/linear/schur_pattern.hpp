#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/petsc.hpp"
#include "friction/scaled_problem.hpp"

namespace scree {

/// Bodies and contacts as far as the nonzero pattern of A = s I + J^T K J follows from them.
struct SchurGraph {
  MPI_Comm comm = MPI_COMM_NULL;
  Index n_owned = 0;
  bool is_symmetric = true;
  std::vector<std::int64_t> number;  ///< of the local bodies, over all ranks
  /// Per contact: bodies that impulses act on (rows of A), then those whose velocities count (columns).
  std::vector<Index> bodies;
  std::vector<std::array<std::size_t, 2>> first;  ///< of both lists, per contact and once more

  SchurGraph() = default;
  /// Collective.
  template <int D>
  explicit SchurGraph(const ScaledProblem<D>& problem);
  bool operator==(const SchurGraph&) const = default;

  std::size_t n_contacts() const { return first.size() - 1; }
  std::span<const Index> rows_of(std::size_t c) const {
    return std::span(bodies).subspan(first[c][0], first[c][1] - first[c][0]);
  }
  std::span<const Index> columns_of(std::size_t c) const {
    return std::span(bodies).subspan(first[c][1], first[c + 1][0] - first[c][1]);
  }
  std::int64_t number_of(Index local) const { return number[local]; }
  /// Whether both are bodies, and the same if only diagonal blocks are stored.
  bool has_block(Index row, Index column, bool diagonal_only) const {
    const auto n_local = static_cast<Index>(number.size());
    return row < n_local && column < n_local && (!diagonal_only || row == column);
  }
};

/// A block of A: in a row of `row` (a local body), in the column of a body of the run.
struct SchurBlock {
  Index row;
  std::int64_t column;
  auto operator<=>(const SchurBlock&) const =
      default;  // NOLINT(modernize-use-nullptr): an error of the check
};

/// The blocks of A, in three lists.
struct SchurPattern {
  std::vector<SchurBlock> owned;      ///< all in rows of owned bodies, ascending
  std::vector<SchurBlock> of_ghosts;  ///< that contacts of this rank add to rows of other ranks, ascending
  std::vector<SchurBlock> received;   ///< that contacts of other ranks add to rows of this one
  SfHandle to_owners;  ///< leaves of_ghosts, roots owned bodies; gathers values in the order of `received`

  SchurPattern() = default;
  /// Collective.
  SchurPattern(const Comm& comm, const SchurGraph& graph, bool diagonal_only);
};

}  // namespace scree
