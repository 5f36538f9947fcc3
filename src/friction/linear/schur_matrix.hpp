#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/petsc_matrix.hpp"
#include "friction/linear/schur_pattern.hpp"

namespace scree {

/// Options of PETSc that concern the linear systems of friction problems begin with it.
inline constexpr const char* petsc_prefix = "scree_";

/// Declares a matrix symmetric and positive definite, for all values to come.
void declare_positive_definite(Mat matrix);

/// The matrix A = s I + J^T K J as PETSc stores it: AIJ, or BAIJ (`blocked`).
///
/// It is filled without PETSc's insertion: each block has one Place, either in an array of the matrix (PETSc
/// keeps columns of bodies that this rank owns apart from the others) or, for the row of a ghost, in a buffer
/// that goes to the owner. PETSc stores the blocks of BAIJ by columns: there the places of (a, b) and (b, a)
/// are exchanged and K is transposed, so that one kernel serves both.
template <int D>
class SchurMatrix {
 public:
  struct Form {
    bool blocked = false;
    bool diagonal_only = false;  ///< without the blocks of pairs of bodies
    bool positive_definite = false;
  };
  SchurMatrix();

  /// Creates the matrix, without values. Collective.
  void build(const Comm& comm, const SchurGraph& graph, const Form& form, SchurPattern pattern);
  /// Sets all values from K[n_contacts * D * D] and s. Allocates nothing. Collective.
  void fill(const ScaledProblem<D>& problem, std::span<const Real> K, Real s);
  Mat get() const { return matrix_.get(); }
  /// Whether K was finite at the last fill() on this rank.
  bool is_finite() const { return finite_; }

 private:
  static constexpr int q = ScaledProblem<D>::q;
  static constexpr PetscInt block_size = q * q;
  /// Where the numbers of a block lie: those of one row of it are consecutive, rows are `stride` apart.
  struct Place {
    enum Array { own_columns, other_columns, outgoing, none };
    std::ptrdiff_t offset = 0;
    Index stride = 0;
    Array array = none;
  };

  void set_places(const SchurGraph& graph, const SchurPattern& pattern);
  void create(const Comm& comm, const SchurGraph& graph, const std::vector<SchurBlock>& blocks);
  std::array<Mat, 2> parts() const;
  void add_incoming(const std::array<Real*, 3>& base);
  template <class Outer, class Inner>
  static void add_contact(const Real (&K)[D][D], const Outer& outer, std::size_t n_outer, const Inner& inner,
                          std::size_t n_inner, const Place* place, const std::array<Real*, 3>& base);

  Form form_;
  MatHandle matrix_;
  SfHandle to_owners_;
  PetscHandle<MPI_Datatype, MPI_Type_free> unit_;  // a block
  bool is_distributed_ = false;
  bool finite_ = true;
  std::vector<Place> contact_places_;   // of each contact, all pairs of an outer and an inner body (fill)
  std::vector<Place> diagonal_places_;  // of the bodies owned
  std::vector<Place> incoming_places_;
  std::vector<Real> outgoing_, incoming_;
  std::ptrdiff_t n_own_numbers_ = 0, n_other_numbers_ = 0;
};

/// The q velocities of each owned body, between rows of ScaledProblem<D>::width numbers and a PETSc vector.
template <int D>
void copy_in(std::span<const Real> from, Index n_owned, ::Vec to);
template <int D>
void copy_out(::Vec from, Index n_owned, std::span<Real> to);

}  // namespace scree
