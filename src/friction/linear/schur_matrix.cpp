#include "friction/linear/schur_matrix.hpp"

#include <algorithm>
#include <utility>

namespace scree {

void declare_positive_definite(Mat matrix) {
  SCREE_PETSC(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  SCREE_PETSC(MatSetOption(matrix, MAT_SPD_ETERNAL, PETSC_TRUE));
}

template <int D>
SchurMatrix<D>::SchurMatrix() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(block_size, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  *unit_.address() = type;
}

template <int D>
void SchurMatrix<D>::build(const Comm& comm, const SchurGraph& graph, const Form& form,
                           SchurPattern pattern) {
  form_ = form;
  is_distributed_ = comm.size() > 1;
  set_places(graph, pattern);
  create(comm, graph, pattern.owned);
  to_owners_ = std::move(pattern.to_owners);
}

template <int D>
void SchurMatrix<D>::set_places(const SchurGraph& graph, const SchurPattern& pattern) {
  const std::vector<SchurBlock>& blocks = pattern.owned;
  const bool blocked = form_.blocked;
  const std::int64_t first = graph.n_owned > 0 ? graph.number[0] : 0;
  const auto is_own = [&](const SchurBlock& block) {
    return block.column >= first && block.column < first + graph.n_owned;
  };
  std::vector<Place> places(blocks.size());
  n_own_numbers_ = n_other_numbers_ = 0;
  for (std::size_t begin = 0, end = 0; begin < blocks.size(); begin = end) {
    Index n_own = 0;
    for (; end < blocks.size() && blocks[end].row == blocks[begin].row; ++end) n_own += is_own(blocks[end]);
    const auto n_other = static_cast<Index>(end - begin) - n_own;
    Index own = 0, other = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const bool mine = is_own(blocks[k]);
      const Index before = mine ? own++ : other++;
      places[k] = {(mine ? n_own_numbers_ : n_other_numbers_) + before * (blocked ? block_size : q),
                   blocked ? q : q * (mine ? n_own : n_other),
                   mine ? Place::own_columns : Place::other_columns};
    }
    n_own_numbers_ += std::ptrdiff_t{n_own} * block_size;
    n_other_numbers_ += std::ptrdiff_t{n_other} * block_size;
  }

  const auto find = [&](const SchurBlock& block) -> Place {
    const bool owned = block.row < graph.n_owned;
    const std::vector<SchurBlock>& list = owned ? blocks : pattern.of_ghosts;
    const auto at = std::lower_bound(list.begin(), list.end(), block) - list.begin();
    return owned ? places[at] : Place{at * block_size, q, Place::outgoing};
  };
  contact_places_.clear();
  const auto add_place = [&](Index row, Index column) {
    contact_places_.push_back(
        graph.has_block(row, column, form_.diagonal_only) ? find({row, graph.number_of(column)}) : Place{});
  };
  for (std::size_t c = 0; c < graph.n_contacts(); ++c) {
    if (blocked)
      for (const Index row : graph.rows_of(c))
        for (const Index column : graph.columns_of(c)) add_place(row, column);
    else
      for (const Index column : graph.columns_of(c))
        for (const Index row : graph.rows_of(c)) add_place(row, column);
  }
  diagonal_places_.clear();
  for (Index i = 0; i < graph.n_owned; ++i) diagonal_places_.push_back(find({i, graph.number_of(i)}));
  incoming_places_.clear();
  for (const SchurBlock& block : pattern.received) incoming_places_.push_back(find(block));
  outgoing_.assign(pattern.of_ghosts.size() * block_size, 0.0);
  incoming_.assign(pattern.received.size() * block_size, 0.0);
}

template <int D>
void SchurMatrix<D>::create(const Comm& comm, const SchurGraph& graph,
                            const std::vector<SchurBlock>& blocks) {
  const PetscInt n_rows = graph.n_owned * q;
  SCREE_PETSC(MatCreate(comm.handle(), matrix_.address()));
  const Mat A = matrix_.get();
  SCREE_PETSC(MatSetSizes(A, n_rows, n_rows, PETSC_DETERMINE, PETSC_DETERMINE));
  SCREE_PETSC(MatSetBlockSize(A, q));
  SCREE_PETSC(MatSetType(A, form_.blocked ? MATBAIJ : MATAIJ));
  // Options of factorisation packages carry the prefix of the matrix.
  SCREE_PETSC(MatSetOptionsPrefix(A, petsc_prefix));

  // Compressed rows: of blocks, or the same written out for each velocity.
  const PetscInt n_split = form_.blocked ? 1 : q;
  std::vector<PetscInt> row_start{0}, columns;
  columns.reserve(blocks.size() * static_cast<std::size_t>(n_split * n_split));
  for (std::size_t begin = 0, end = 0; begin < blocks.size(); begin = end) {
    while (end < blocks.size() && blocks[end].row == blocks[begin].row) ++end;
    for (PetscInt i = 0; i < n_split; ++i) {
      for (std::size_t k = begin; k < end; ++k)
        for (PetscInt j = 0; j < n_split; ++j)
          columns.push_back(static_cast<PetscInt>(blocks[k].column) * n_split + j);
      row_start.push_back(static_cast<PetscInt>(columns.size()));
    }
  }
  // Each does nothing unless the matrix is of its type.
  SCREE_PETSC(MatSeqAIJSetPreallocationCSR(A, row_start.data(), columns.data(), nullptr));
  SCREE_PETSC(MatMPIAIJSetPreallocationCSR(A, row_start.data(), columns.data(), nullptr));
  SCREE_PETSC(MatSeqBAIJSetPreallocationCSR(A, q, row_start.data(), columns.data(), nullptr));
  SCREE_PETSC(MatMPIBAIJSetPreallocationCSR(A, q, row_start.data(), columns.data(), nullptr));
  SCREE_PETSC(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  if (form_.positive_definite) declare_positive_definite(A);
}

/// The parts of the matrix with the columns of bodies owned and of others; the second may be null.
template <int D>
std::array<Mat, 2> SchurMatrix<D>::parts() const {
  Mat own = matrix_.get(), other = nullptr;
  if (is_distributed_) {
    if (form_.blocked)
      SCREE_PETSC(MatMPIBAIJGetSeqBAIJ(matrix_.get(), &own, &other, nullptr));
    else
      SCREE_PETSC(MatMPIAIJGetSeqAIJ(matrix_.get(), &own, &other, nullptr));
  }
  return {own, other};
}

/// Adds what other ranks computed for rows of this rank. Collective.
template <int D>
void SchurMatrix<D>::add_incoming(const std::array<Real*, 3>& base) {
  SCREE_PETSC(PetscSFGatherBegin(to_owners_.get(), unit_.get(), outgoing_.data(), incoming_.data()));
  SCREE_PETSC(PetscSFGatherEnd(to_owners_.get(), unit_.get(), outgoing_.data(), incoming_.data()));
  const Real* from = incoming_.data();
  for (const Place& to : incoming_places_) {
    Real* target = base[to.array] + to.offset;
    for (int k = 0; k < q; ++k, target += to.stride, from += q)
      for (int l = 0; l < q; ++l) target[l] += from[l];
  }
}

template <int D>
void SchurMatrix<D>::fill(const ScaledProblem<D>& problem, std::span<const Real> K, Real s) {
  const bool blocked = form_.blocked;
  const std::array<Mat, 2> part = parts();
  std::array<Real*, 3> base{nullptr, nullptr, outgoing_.data()};
  for (std::size_t k = 0; k < 2; ++k)
    if (part[k])
      SCREE_PETSC(blocked ? MatSeqBAIJGetArray(part[k], &base[k]) : MatSeqAIJGetArray(part[k], &base[k]));
  std::fill_n(base[0], n_own_numbers_, 0.0);
  std::fill_n(base[1], n_other_numbers_, 0.0);
  std::fill(outgoing_.begin(), outgoing_.end(), 0.0);
  for (const Place& place : diagonal_places_)
    for (std::ptrdiff_t i = 0; i < q; ++i) base[0][place.offset + i * (place.stride + 1)] = s;

  const auto& rows = problem.contacts();
  Real check = 0;
  const Place* place = contact_places_.data();
  for (std::size_t c = 0; c < rows.size(); ++c) {
    Real block[D][D];  // of K, transposed where blocks are stored by columns
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j < D; ++j) {
        const Real value = K[c * D * D + i * D + j];
        check += 0 * value;
        (blocked ? block[j][i] : block[i][j]) = value;
      }
    const auto& row = rows[c];
    if (row.coupling) {
      // (B K J)^T where blocks are stored by columns.
      const auto ends_of = [](const auto& ends) {
        return [=](std::size_t k) -> decltype(auto) { return (ends[k].J); };
      };
      const auto& J = row.coupling->velocity_ends;
      const auto& B = row.coupling->impulse_ends;
      const auto& outer = blocked ? B : J;
      const auto& inner = blocked ? J : B;
      add_contact(block, ends_of(outer), outer.size(), ends_of(inner), inner.size(), place, base);
      place += outer.size() * inner.size();
    } else {
      const auto ends = [&](std::size_t k) -> decltype(auto) { return (row.J[k]); };
      add_contact(block, ends, 2, ends, 2, place, base);
      place += 4;
    }
  }
  finite_ = check == 0;  // NaN otherwise

  add_incoming(base);
  for (std::size_t k = 0; k < 2; ++k) {
    if (!part[k]) continue;
    SCREE_PETSC(blocked ? MatSeqBAIJRestoreArray(part[k], &base[k])
                        : MatSeqAIJRestoreArray(part[k], &base[k]));
  }
  // Drops what PETSc derived from the old values, such as inverses of diagonal blocks.
  SCREE_PETSC(MatAssemblyBegin(matrix_.get(), MAT_FINAL_ASSEMBLY));
  SCREE_PETSC(MatAssemblyEnd(matrix_.get(), MAT_FINAL_ASSEMBLY));
}

/// Adds inner^T K outer of all pairs of ends, outer ones in the outer loop.
template <int D>
template <class Outer, class Inner>
void SchurMatrix<D>::add_contact(const Real (&K)[D][D], const Outer& outer, std::size_t n_outer,
                                 const Inner& inner, std::size_t n_inner, const Place* place,
                                 const std::array<Real*, 3>& base) {
  for (std::size_t o = 0; o < n_outer; ++o) {
    Real product[D][q];
    for (int i = 0; i < D; ++i)
      for (int k = 0; k < q; ++k) {
        Real sum = 0;
        for (int j = 0; j < D; ++j) sum += K[i][j] * outer(o)[j][k];
        product[i][k] = sum;
      }
    for (std::size_t n = 0; n < n_inner; ++n, ++place) {
      if (place->array == Place::none) continue;
      Real* target = base[place->array] + place->offset;
      for (int k = 0; k < q; ++k, target += place->stride)
        for (int l = 0; l < q; ++l) {
          Real sum = 0;
          for (int i = 0; i < D; ++i) sum += inner(n)[i][k] * product[i][l];
          target[l] += sum;
        }
    }
  }
}

template <int D>
void copy_in(std::span<const Real> from, Index n_owned, ::Vec to) {
  constexpr std::size_t q = ScaledProblem<D>::q, width = ScaledProblem<D>::width;
  Real* values = nullptr;
  SCREE_PETSC(VecGetArrayWrite(to, &values));
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned); ++i)
    std::copy_n(from.data() + i * width, q, values + i * q);
  SCREE_PETSC(VecRestoreArrayWrite(to, &values));
}

template <int D>
void copy_out(::Vec from, Index n_owned, std::span<Real> to) {
  constexpr std::size_t q = ScaledProblem<D>::q, width = ScaledProblem<D>::width;
  const Real* values = nullptr;
  SCREE_PETSC(VecGetArrayRead(from, &values));
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned); ++i)
    for (std::size_t k = 0; k < width; ++k) to[i * width + k] = k < q ? values[i * q + k] : 0;
  SCREE_PETSC(VecRestoreArrayRead(from, &values));
}

template class SchurMatrix<2>;
template class SchurMatrix<3>;
template void copy_in<2>(std::span<const Real>, Index, ::Vec);
template void copy_in<3>(std::span<const Real>, Index, ::Vec);
template void copy_out<2>(::Vec, Index, std::span<Real>);
template void copy_out<3>(::Vec, Index, std::span<Real>);

}  // namespace scree
