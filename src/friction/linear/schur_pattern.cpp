#include "friction/linear/schur_pattern.hpp"

#include <algorithm>

namespace scree {

template <int D>
SchurGraph::SchurGraph(const ScaledProblem<D>& problem)
    : comm(problem.comm().handle()), n_owned(problem.n_owned()), is_symmetric(problem.is_symmetric()) {
  const auto first_number = static_cast<Real>(problem.comm().sum_before(std::int64_t{n_owned}));
  // A Real holds the numbers exactly, and Reals are what a halo copies.
  std::vector<Real> numbers(problem.n_local());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned); ++i)
    numbers[i] = first_number + static_cast<Real>(i);
  problem.halo().copy_to_ghosts(numbers, 1);
  number.assign(numbers.begin(), numbers.end());

  bodies.reserve(4 * problem.contacts().size());
  first.reserve(problem.contacts().size() + 1);
  for (const auto& row : problem.contacts()) {
    const auto add_bodies = [&](auto ends) {
      if (row.coupling)
        for (const auto& end : row.coupling->*ends) bodies.push_back(end.body);
      else
        bodies.insert(bodies.end(), {row.a, row.b});
    };
    using Coupling = typename ScaledProblem<D>::Coupling;
    const std::size_t first_row = bodies.size();
    add_bodies(&Coupling::impulse_ends);
    first.push_back({first_row, bodies.size()});
    add_bodies(&Coupling::velocity_ends);
  }
  first.push_back({bodies.size(), bodies.size()});
}

template SchurGraph::SchurGraph(const ScaledProblem<2>&);
template SchurGraph::SchurGraph(const ScaledProblem<3>&);

namespace {
void make_unique(std::vector<SchurBlock>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}
}  // namespace

SchurPattern::SchurPattern(const Comm& comm, const SchurGraph& graph, bool diagonal_only) {
  owned.reserve(static_cast<std::size_t>(graph.n_owned) + graph.bodies.size());
  for (Index i = 0; i < graph.n_owned; ++i) owned.push_back({i, graph.number_of(i)});
  for (std::size_t c = 0; c < graph.n_contacts(); ++c)
    for (const Index row : graph.rows_of(c))
      for (const Index column : graph.columns_of(c))
        if (graph.has_block(row, column, diagonal_only)) owned.push_back({row, graph.number_of(column)});
  make_unique(owned);
  const auto first_ghost = std::lower_bound(owned.begin(), owned.end(), SchurBlock{graph.n_owned, -1});
  of_ghosts.assign(first_ghost, owned.end());
  owned.erase(first_ghost, owned.end());

  std::vector<std::int64_t> first_of_rank(comm.size());
  const std::int64_t first = comm.sum_before(std::int64_t{graph.n_owned});
  // NOLINTNEXTLINE(mpi-type-mismatch): std::int64_t is long here
  MPI_Allgather(&first, 1, MPI_INT64_T, first_of_rank.data(), 1, MPI_INT64_T, comm.handle());
  std::vector<PetscSFNode> owners;
  std::vector<std::int64_t> columns;
  owners.reserve(of_ghosts.size());
  columns.reserve(of_ghosts.size());
  for (const SchurBlock& block : of_ghosts) {
    // Ranks without bodies share their first number with the next one: the last of them owns it.
    const std::int64_t row = graph.number_of(block.row);
    const auto rank =
        std::upper_bound(first_of_rank.begin(), first_of_rank.end(), row) - first_of_rank.begin() - 1;
    owners.push_back({static_cast<PetscInt>(rank), static_cast<PetscInt>(row - first_of_rank[rank])});
    columns.push_back(block.column);
  }
  SCREE_PETSC(PetscSFCreate(comm.handle(), to_owners.address()));
  SCREE_PETSC(PetscSFSetGraph(to_owners.get(), graph.n_owned, static_cast<PetscInt>(owners.size()), nullptr,
                              PETSC_COPY_VALUES, owners.data(), PETSC_COPY_VALUES));
  SCREE_PETSC(PetscSFSetUp(to_owners.get()));

  const PetscInt* count = nullptr;
  SCREE_PETSC(PetscSFComputeDegreeBegin(to_owners.get(), &count));
  SCREE_PETSC(PetscSFComputeDegreeEnd(to_owners.get(), &count));
  for (Index i = 0; i < graph.n_owned; ++i)
    for (PetscInt k = 0; k < count[i]; ++k) received.push_back({i, 0});
  std::vector<std::int64_t> received_columns(received.size());
  SCREE_PETSC(PetscSFGatherBegin(to_owners.get(), MPI_INT64_T, columns.data(), received_columns.data()));
  SCREE_PETSC(PetscSFGatherEnd(to_owners.get(), MPI_INT64_T, columns.data(), received_columns.data()));
  for (std::size_t k = 0; k < received.size(); ++k) received[k].column = received_columns[k];

  owned.insert(owned.end(), received.begin(), received.end());
  make_unique(owned);
}

}  // namespace scree
