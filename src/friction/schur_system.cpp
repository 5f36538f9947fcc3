#include "friction/schur_system.hpp"

#include <fmt/format.h>
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/petsc.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<::Vec, VecDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;

constexpr const char* prefix = "scree_";
/// Solutions with a regularised factor: the first and the corrections.
constexpr PetscInt n_refinements = 3;
/// Share of the right-hand side that these may leave.
constexpr Real most_left = 1e-2;
/// Share of the right-hand side below which a Krylov method need not come, however good its first guess.
constexpr Real round_off = 1e-14;
/// A preconditioner of an earlier matrix is kept until a solution takes so much longer than the first ones
/// with it: times the iterations of those, and more.
constexpr Real most_growth = 1.5;
constexpr Real most_added = 10;
/// Fewest bodies for which a Krylov method is tried before a factorisation.
constexpr std::int64_t least_tried = 300;

bool option_given(const char* name) {
  PetscBool given = PETSC_FALSE;
  SCREE_PETSC(PetscOptionsHasName(nullptr, prefix, name, &given));
  return given == PETSC_TRUE;
}

/// Adds the wall time of a scope to `total`.
class AddTime {
 public:
  explicit AddTime(Real& total) : total_(total), start_(MPI_Wtime()) {}
  ~AddTime() { total_ += MPI_Wtime() - start_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  Real& total_;
  Real start_;
};

/// A block of A: in a row of `row` (a body held), in the column of a body of the run.
struct Block {
  Index row;
  std::int64_t column;
  auto operator<=>(const Block&) const = default;  // NOLINT(modernize-use-nullptr): an error of the check
};

/// Where the numbers of a block lie: those of one row of it are consecutive, rows are `stride` apart.
struct Place {
  enum Array { own_columns, other_columns, outgoing, none };
  std::ptrdiff_t offset = 0;
  Index stride = 0;
  Array array = none;
};

}  // namespace

// The matrix is filled without PETSc's insertion: each block has one Place, either in an array of the matrix
// (PETSc keeps columns of bodies that this rank owns apart from the others) or, for the row of a ghost, in a
// buffer that goes to the owner. PETSc stores the blocks of BAIJ by columns: there the places of (a, b) and
// (b, a) are exchanged and K is transposed, so that one kernel serves both.
template <int D>
struct SchurSystem<D>::State {
  static constexpr int q = ScaledProblem<D>::q;
  static constexpr auto width = static_cast<std::size_t>(ScaledProblem<D>::width);
  static constexpr PetscInt block_size = q * q;
  using End = typename ScaledProblem<D>::End;

  /// What the pattern follows from.
  struct Origin {
    MPI_Comm comm = MPI_COMM_NULL;
    Index n_owned = 0;
    bool is_symmetric = true;
    std::vector<std::int64_t> number;  // of the bodies held, over all ranks
    /// Bodies of the contacts: those that impulses act on, then those whose velocities count.
    std::vector<Index> bodies;
    std::vector<std::array<std::size_t, 2>> first;  // of both lists, per contact and once more
    bool operator==(const Origin&) const = default;
  };

  Settings settings;
  Kind kind;
  const ScaledProblem<D>* problem = nullptr;
  std::string failure;

  Origin origin;
  bool has_pattern = false;  // that of origin
  bool direct = false, blocked = false, matrix_free = false;
  std::vector<Place> contact_places;   // of each contact, all pairs of an outer and an inner body (assemble)
  std::vector<Place> diagonal_places;  // of the bodies owned
  std::vector<Place> incoming_places;
  SfHandle rows_of_ghosts;  // from each outgoing block to the body owned whose row it belongs to
  PetscHandle<MPI_Datatype, MPI_Type_free> unit;
  std::vector<Real> outgoing, incoming;
  std::ptrdiff_t n_own_numbers = 0, n_other_numbers = 0;

  /// `direct` stands because a Krylov method has used up its iterations.
  bool gave_up = false;
  /// Values of the matrix, where it may have to be assembled again or is never.
  std::vector<Real> block_values;
  Real shift_of_values = 0;
  MatHandle shell;  // of matrix_free: A by its contacts; `matrix` holds the diagonal blocks alone
  std::vector<Real> factor_held, product_held;  // velocities of the bodies held

  MatHandle matrix, regularised;
  VecHandle right, solution, remainder;
  KspHandle ksp;
  bool finite = true;       // of K on this rank
  bool factorised = false;  // the preconditioner belongs to the matrix
  bool refining = false;    // with a preconditioner from `regularised`

  // Of Krylov methods.
  bool kept = false;  // the preconditioner is that of an earlier matrix ...
  bool worn = false;  // ... and no longer good enough
  bool factorised_once = false;
  bool hard = false;              // so many iterations that the next matrix should be factorised
  bool broken = false;            // the last solution, by an error of PETSc
  PetscInt most_taken = 0;        // iterations of a solution, in this solve
  PetscInt first_iterations = 0;  // most of a solution with the matrix that the preconditioner was made from

  State(const Settings& given, Kind given_kind) : settings(given), kind(given_kind) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(block_size, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    *unit.address() = type;
  }

  const Comm& comm() const { return problem->comm(); }

  Origin find_origin() const {
    Origin found;
    found.comm = comm().handle();
    found.n_owned = problem->n_owned();
    const auto n_held = static_cast<std::size_t>(problem->n_held());
    const auto first = static_cast<Real>(comm().sum_before(std::int64_t{found.n_owned}));
    // A Real holds the numbers exactly, and Reals are what a halo copies.
    std::vector<Real> number(n_held);
    for (std::size_t i = 0; i < static_cast<std::size_t>(found.n_owned); ++i)
      number[i] = first + static_cast<Real>(i);
    problem->halo().copy_to_ghosts(number, 1);
    found.number.assign(number.begin(), number.end());
    found.is_symmetric = problem->is_symmetric();
    found.bodies.reserve(4 * problem->contacts().size());
    found.first.reserve(problem->contacts().size() + 1);
    for (const auto& row : problem->contacts()) {
      found.first.push_back({found.bodies.size(), 0});
      if (row.coupling)
        for (const End& end : row.coupling->impulse_ends) found.bodies.push_back(end.body);
      else
        found.bodies.insert(found.bodies.end(), {row.a, row.b});
      found.first.back()[1] = found.bodies.size();
      if (row.coupling)
        for (const End& end : row.coupling->velocity_ends) found.bodies.push_back(end.body);
      else
        found.bodies.insert(found.bodies.end(), {row.a, row.b});
    }
    found.first.push_back({found.bodies.size(), found.bodies.size()});
    return found;
  }

  /// Bodies on which the impulse of a contact acts: rows of the matrix.
  std::span<const Index> rows_of(std::size_t c) const {
    return std::span(origin.bodies).subspan(origin.first[c][0], origin.first[c][1] - origin.first[c][0]);
  }
  /// Bodies whose velocities count at a contact: columns.
  std::span<const Index> columns_of(std::size_t c) const {
    return std::span(origin.bodies).subspan(origin.first[c][1], origin.first[c + 1][0] - origin.first[c][1]);
  }
  std::size_t n_contacts() const { return origin.first.size() - 1; }

  bool symmetric() const { return kind == Kind::symmetric && origin.is_symmetric; }

  /// Whether a Krylov method has the word first and a factorisation the last.
  bool tries_krylov() const {
    return settings.linear == "auto" && will_factorise(settings, *problem) && symmetric() &&
           !problem->original().is_local() && problem->n_bodies_of_all() >= least_tried;
  }
  /// Iterations per matrix that cost about half as much as its factorisation, measured on piles in space; in
  /// the plane factors have n log n numbers and n^1.5 operations.
  PetscInt most_tried() const {
    const auto n = static_cast<Real>(problem->n_bodies_of_all());
    return static_cast<PetscInt>(D == 3 ? n / 10 : 4 * std::sqrt(n));
  }

  void set_pattern() {
    Origin found = find_origin();
    const bool same = has_pattern && comm().all(found == origin);
    if (same && !gave_up) {
      // What the last solve learned is forgotten, preconditioner included: a restart could not know it.
      hard = worn = false;
      most_taken = 0;
      first_iterations = 0;
      return;
    }
    if (problem->n_bodies_of_all() > PETSC_MAX_INT / q)
      throw RunError(fmt::format("{} bodies are too many for the matrix of a Newton-type solver: at most {}",
                                 problem->n_bodies_of_all(), PETSC_MAX_INT / q));
    origin = std::move(found);
    gave_up = hard = false;
    most_taken = 0;
    choose_method();
    build();
  }

  /// All that follows from origin and method.
  void build() {
    has_pattern = false;
    ksp.reset();
    regularised.reset();
    remainder.reset();
    refining = factorised = worn = factorised_once = kept = false;
    first_iterations = 0;

    const auto n_owned = static_cast<std::size_t>(origin.n_owned);
    std::vector<Block> blocks;
    blocks.reserve(n_owned + origin.bodies.size());
    for (Index i = 0; i < origin.n_owned; ++i) blocks.push_back({i, number(i)});
    for (std::size_t c = 0; c < n_contacts(); ++c)
      for (const Index row : rows_of(c))
        for (const Index column : columns_of(c))
          if (is_stored(row, column)) blocks.push_back({row, number(column)});
    make_unique(blocks);
    const auto first_ghost = std::lower_bound(blocks.begin(), blocks.end(), Block{origin.n_owned, -1});
    const std::vector<Block> of_ghosts(first_ghost, blocks.end());
    blocks.erase(first_ghost, blocks.end());

    const std::vector<Block> received = exchange_pattern(of_ghosts);
    blocks.insert(blocks.end(), received.begin(), received.end());
    make_unique(blocks);
    share_errors(comm(), [&] {
      if (blocks.size() > static_cast<std::size_t>(PETSC_MAX_INT / block_size))
        throw RunError(fmt::format(
            "{} contacts are too many for the matrix of a Newton-type solver: at most {} numbers per rank",
            problem->n_contacts_of_all(), PETSC_MAX_INT));
    });
    set_places(blocks, of_ghosts, received);
    create_matrix(blocks);
    has_pattern = true;
  }

  /// Whether the block of these bodies has a place in `matrix`.
  bool is_stored(Index row, Index column) const {
    return row < problem->n_held() && column < problem->n_held() && (!matrix_free || row == column);
  }

  std::int64_t number(Index held) const { return origin.number[static_cast<std::size_t>(held)]; }
  std::int64_t first_owned() const { return origin.n_owned > 0 ? origin.number[0] : 0; }

  static void make_unique(std::vector<Block>& blocks) {
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  }

  void choose_method() {
    direct = gave_up || (will_factorise(settings, *problem) && !tries_krylov());
    std::array<char, 64> type{};
    PetscBool given = PETSC_FALSE;
    SCREE_PETSC(PetscOptionsGetString(nullptr, prefix, "-mat_type", type.data(), type.size(), &given));
    const std::string name = type.data();
    if (given == PETSC_TRUE && name != "aij" && name != "baij")
      throw InputError(
          fmt::format("PETSc options: -scree_mat_type {} is not possible; it is aij or baij", name));
    blocked = given == PETSC_TRUE ? name == "baij" : !direct;
    matrix_free = settings.linear == "matrix_free";
  }

  /// The blocks that other ranks have for rows of this one, in the order in which their values will come.
  std::vector<Block> exchange_pattern(const std::vector<Block>& of_ghosts) {
    std::vector<std::int64_t> first_of_rank(static_cast<std::size_t>(comm().size()));
    const std::int64_t first = comm().sum_before(std::int64_t{origin.n_owned});
    MPI_Allgather(&first, 1, MPI_INT64_T, first_of_rank.data(), 1, MPI_INT64_T, comm().handle());

    std::vector<PetscSFNode> owners;
    std::vector<std::int64_t> columns;
    owners.reserve(of_ghosts.size());
    columns.reserve(of_ghosts.size());
    for (const Block& block : of_ghosts) {
      // Ranks without bodies share their first number with the next one: the last of them owns it.
      const auto after = std::upper_bound(first_of_rank.begin(), first_of_rank.end(), number(block.row));
      const auto rank = after - first_of_rank.begin() - 1;
      owners.push_back(
          {static_cast<PetscInt>(rank),
           static_cast<PetscInt>(number(block.row) - first_of_rank[static_cast<std::size_t>(rank)])});
      columns.push_back(block.column);
    }
    SCREE_PETSC(PetscSFCreate(comm().handle(), rows_of_ghosts.address()));
    SCREE_PETSC(PetscSFSetGraph(rows_of_ghosts.get(), origin.n_owned, static_cast<PetscInt>(owners.size()),
                                nullptr, PETSC_COPY_VALUES, owners.data(), PETSC_COPY_VALUES));
    SCREE_PETSC(PetscSFSetUp(rows_of_ghosts.get()));

    const PetscInt* count = nullptr;
    SCREE_PETSC(PetscSFComputeDegreeBegin(rows_of_ghosts.get(), &count));
    SCREE_PETSC(PetscSFComputeDegreeEnd(rows_of_ghosts.get(), &count));
    std::vector<Block> received;
    for (Index i = 0; i < origin.n_owned; ++i)
      for (PetscInt k = 0; k < count[i]; ++k) received.push_back({i, 0});
    std::vector<std::int64_t> received_columns(received.size());
    SCREE_PETSC(
        PetscSFGatherBegin(rows_of_ghosts.get(), MPI_INT64_T, columns.data(), received_columns.data()));
    SCREE_PETSC(PetscSFGatherEnd(rows_of_ghosts.get(), MPI_INT64_T, columns.data(), received_columns.data()));
    for (std::size_t k = 0; k < received.size(); ++k) received[k].column = received_columns[k];
    return received;
  }

  void set_places(const std::vector<Block>& blocks, const std::vector<Block>& of_ghosts,
                  const std::vector<Block>& received) {
    const std::int64_t first = first_owned();
    const auto is_own = [&](const Block& block) {
      return block.column >= first && block.column < first + origin.n_owned;
    };
    std::vector<Place> places(blocks.size());
    n_own_numbers = n_other_numbers = 0;
    for (std::size_t begin = 0, end = 0; begin < blocks.size(); begin = end) {
      Index n_own = 0;
      for (; end < blocks.size() && blocks[end].row == blocks[begin].row; ++end) n_own += is_own(blocks[end]);
      const auto n_other = static_cast<Index>(end - begin) - n_own;
      Index own = 0, other = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const bool mine = is_own(blocks[k]);
        const Index before = mine ? own++ : other++;
        places[k] = {(mine ? n_own_numbers : n_other_numbers) + before * (blocked ? block_size : q),
                     blocked ? q : q * (mine ? n_own : n_other),
                     mine ? Place::own_columns : Place::other_columns};
      }
      n_own_numbers += std::ptrdiff_t{n_own} * block_size;
      n_other_numbers += std::ptrdiff_t{n_other} * block_size;
    }

    const auto find = [&](const Block& block) -> Place {
      const bool owned = block.row < origin.n_owned;
      const std::vector<Block>& list = owned ? blocks : of_ghosts;
      const auto at = std::lower_bound(list.begin(), list.end(), block) - list.begin();
      return owned ? places[static_cast<std::size_t>(at)] : Place{at * block_size, q, Place::outgoing};
    };
    contact_places.clear();
    const auto add_place = [&](Index row, Index column) {
      contact_places.push_back(is_stored(row, column) ? find({row, number(column)}) : Place{});
    };
    for (std::size_t c = 0; c < n_contacts(); ++c) {
      if (blocked)
        for (const Index row : rows_of(c))
          for (const Index column : columns_of(c)) add_place(row, column);
      else
        for (const Index column : columns_of(c))
          for (const Index row : rows_of(c)) add_place(row, column);
    }
    diagonal_places.clear();
    for (Index i = 0; i < origin.n_owned; ++i) diagonal_places.push_back(find({i, number(i)}));
    incoming_places.clear();
    for (const Block& block : received) incoming_places.push_back(find(block));
    outgoing.assign(of_ghosts.size() * block_size, 0.0);
    incoming.assign(received.size() * block_size, 0.0);
  }

  void create_matrix(const std::vector<Block>& blocks) {
    const PetscInt n_rows = origin.n_owned * q;
    SCREE_PETSC(MatCreate(comm().handle(), matrix.address()));
    const Mat A = matrix.get();
    SCREE_PETSC(MatSetSizes(A, n_rows, n_rows, PETSC_DETERMINE, PETSC_DETERMINE));
    SCREE_PETSC(MatSetBlockSize(A, q));
    SCREE_PETSC(MatSetType(A, blocked ? MATBAIJ : MATAIJ));
    // Options of factorisation packages carry the prefix of the matrix.
    SCREE_PETSC(MatSetOptionsPrefix(A, prefix));

    // Compressed rows: of blocks, or the same written out for each velocity.
    const PetscInt n_split = blocked ? 1 : q;
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
    if (symmetric() && !blocked) declare_positive_definite(A);
    SCREE_PETSC(MatCreateVecs(A, solution.address(), right.address()));
    if (matrix_free) create_shell(n_rows);
  }

  void create_shell(PetscInt n_rows) {
    SCREE_PETSC(MatCreateShell(comm().handle(), n_rows, n_rows, PETSC_DETERMINE, PETSC_DETERMINE, this,
                               shell.address()));
    PetscErrorCode (*const product)(Mat, ::Vec, ::Vec) = [](Mat A, ::Vec x, ::Vec y) -> PetscErrorCode {
      void* self = nullptr;
      SCREE_PETSC(MatShellGetContext(A, &self));
      static_cast<State*>(self)->multiply(x, y);
      return 0;
    };
    SCREE_PETSC(MatShellSetOperation(shell.get(), MATOP_MULT, reinterpret_cast<void (*)()>(product)));
  }

  /// y = (s I + J^T K J) x, contact by contact. Collective; two exchanges.
  void multiply(::Vec x, ::Vec y) {
    const auto n_values = static_cast<std::size_t>(problem->n_held()) * width;
    factor_held.resize(problem->velocity_size());
    product_held.resize(problem->velocity_size());
    copy_out(x, factor_held);
    problem->halo().copy_to_ghosts(std::span(factor_held).first(n_values), static_cast<int>(width));
    const std::size_t n_owned_values = static_cast<std::size_t>(origin.n_owned) * width;
    for (std::size_t k = 0; k < n_owned_values; ++k) product_held[k] = shift_of_values * factor_held[k];
    std::fill(product_held.begin() + static_cast<std::ptrdiff_t>(n_owned_values), product_held.end(), 0.0);
    problem->with_rows([&](const auto& rows) {
      const Real* K = block_values.data();
      for (const auto& row : rows) {
        Real u[D], r[D];
        row.relative_velocity(factor_held.data(), u);
        for (int i = 0; i < D; ++i) {
          r[i] = 0;
          for (int j = 0; j < D; ++j) r[i] += K[i * D + j] * u[j];
        }
        row.add_impulse(r, product_held.data());
        K += D * D;
      }
    });
    problem->halo().add_to_owners(std::span(product_held).first(n_values), static_cast<int>(width));
    copy_in(product_held, y);
  }

  /// What is multiplied with.
  Mat system() const { return matrix_free ? shell.get() : matrix.get(); }

  /// For all values to come: PETSc forgets it at the next assembly otherwise.
  static void declare_positive_definite(Mat A) {
    SCREE_PETSC(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    SCREE_PETSC(MatSetOption(A, MAT_SPD_ETERNAL, PETSC_TRUE));
  }

  /// The parts of the matrix with the columns of bodies owned and of others; the second may be null.
  std::array<Mat, 2> parts() const {
    Mat own = matrix.get(), other = nullptr;
    if (comm().size() > 1) {
      if (blocked)
        SCREE_PETSC(MatMPIBAIJGetSeqBAIJ(matrix.get(), &own, &other, nullptr));
      else
        SCREE_PETSC(MatMPIAIJGetSeqAIJ(matrix.get(), &own, &other, nullptr));
    }
    return {own, other};
  }

  void assemble(std::span<const Real> K, Real shift) {
    if (matrix_free || tries_krylov()) {
      block_values.assign(K.begin(), K.end());
      shift_of_values = shift;
    }
    fill(K, shift);
  }

  void fill(std::span<const Real> K, Real shift) {
    const std::array<Mat, 2> part = parts();
    std::array<Real*, 3> base{nullptr, nullptr, outgoing.data()};
    for (std::size_t k = 0; k < 2; ++k)
      if (part[k])
        SCREE_PETSC(blocked ? MatSeqBAIJGetArray(part[k], &base[k]) : MatSeqAIJGetArray(part[k], &base[k]));
    std::fill_n(base[0], n_own_numbers, 0.0);
    std::fill_n(base[1], n_other_numbers, 0.0);
    std::fill(outgoing.begin(), outgoing.end(), 0.0);
    for (const Place& place : diagonal_places)
      for (std::ptrdiff_t i = 0; i < q; ++i) base[0][place.offset + i * (place.stride + 1)] = shift;

    const auto& rows = problem->contacts();
    Real check = 0;
    const Place* place = contact_places.data();
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
        const auto ends_of = [](std::span<const End> ends) {
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
    finite = check == 0;  // NaN otherwise

    SCREE_PETSC(PetscSFGatherBegin(rows_of_ghosts.get(), unit.get(), outgoing.data(), incoming.data()));
    SCREE_PETSC(PetscSFGatherEnd(rows_of_ghosts.get(), unit.get(), outgoing.data(), incoming.data()));
    const Real* from = incoming.data();
    for (const Place& to : incoming_places) {
      Real* target = base[to.array] + to.offset;
      for (int k = 0; k < q; ++k, target += to.stride, from += q)
        for (int l = 0; l < q; ++l) target[l] += from[l];
    }

    for (std::size_t k = 0; k < 2; ++k) {
      if (!part[k]) continue;
      SCREE_PETSC(blocked ? MatSeqBAIJRestoreArray(part[k], &base[k])
                          : MatSeqAIJRestoreArray(part[k], &base[k]));
    }
    // Drops what PETSc derived from the old values, such as inverses of diagonal blocks.
    SCREE_PETSC(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY));
    SCREE_PETSC(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY));
    factorised = false;
  }

  /// Adds inner^T K outer of all pairs of ends, outer ones in the outer loop.
  template <class Outer, class Inner>
  static void add_contact(const Real (&K)[D][D], const Outer& outer, std::size_t n_outer, const Inner& inner,
                          std::size_t n_inner, const Place* place, const std::array<Real*, 3>& base) {
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

  void create_ksp() {
    SCREE_PETSC(KSPCreate(comm().handle(), ksp.address()));
    SCREE_PETSC(KSPSetOptionsPrefix(ksp.get(), prefix));
    PC pc = nullptr;
    SCREE_PETSC(KSPGetPC(ksp.get(), &pc));
    if (direct) {
      // Measured on packs of spheres: CHOLMOD solves faster than MUMPS with equal factorisation times, but is
      // for one rank; UMFPACK is three to ten times slower than MUMPS.
      SCREE_PETSC(PCSetType(pc, symmetric() ? PCCHOLESKY : PCLU));
      const bool cholmod = symmetric() && comm().size() == 1;
      SCREE_PETSC(PCFactorSetMatSolverType(pc, cholmod ? MATSOLVERCHOLMOD : MATSOLVERMUMPS));
      // CHOLMOD would print a line of its own for a matrix that it cannot factorise.
      if (cholmod && !option_given("-mat_cholmod_print"))
        SCREE_PETSC(PetscOptionsSetValue(nullptr, "-scree_mat_cholmod_print", "0"));
    } else {
      SCREE_PETSC(PCSetType(pc, matrix_free ? PCPBJACOBI : PCBJACOBI));
    }
    if (refining) {
      SCREE_PETSC(KSPSetType(ksp.get(), KSPRICHARDSON));
      SCREE_PETSC(KSPSetNormType(ksp.get(), KSP_NORM_NONE));
    } else if (direct) {
      SCREE_PETSC(KSPSetType(ksp.get(), KSPPREONLY));
    } else {
      SCREE_PETSC(KSPSetType(ksp.get(), symmetric() ? KSPCG : KSPGMRES));
      SCREE_PETSC(KSPGMRESSetRestart(ksp.get(), 100));
      // The true residual is tested, where the method is ours: not all methods can.
      if (!option_given("-ksp_type")) {
        SCREE_PETSC(KSPSetPCSide(ksp.get(), symmetric() ? PC_LEFT : PC_RIGHT));
        SCREE_PETSC(KSPSetNormType(ksp.get(), KSP_NORM_UNPRECONDITIONED));
      }
    }
    SCREE_PETSC(KSPSetTolerances(ksp.get(), settings.relative_tolerance, 0, PETSC_DEFAULT,
                                 refining ? n_refinements : most_krylov()));
    // With a first guess, its own residual is what has to fall.
    if (!direct) SCREE_PETSC(KSPConvergedDefaultSetUMIRNorm(ksp.get()));
    // What PETSc does not know here is what the user wrote, the same on all ranks.
    if (const PetscErrorCode code = KSPSetFromOptions(ksp.get()); code != 0) refuse_options(code);
  }

  PetscInt most_krylov() const {
    const auto most = static_cast<PetscInt>(std::min<std::int64_t>(settings.max_krylov, PETSC_MAX_INT));
    return tries_krylov() ? std::min(most, most_tried()) : most;
  }

  [[noreturn]] void refuse_options(PetscErrorCode code) {
    const std::string words = words_of(code);
    ksp.reset();
    throw InputError("PETSc options: " + words);
  }

  /// Makes the preconditioner. False with `failure` set on this rank.
  bool set_up() {
    if (!ksp.get()) create_ksp();
    // Named again each time: after a solve, KSPSetUp does nothing otherwise.
    SCREE_PETSC(KSPSetOperators(ksp.get(), system(), refining ? regularised.get() : matrix.get()));
    PetscErrorCode code = KSPSetUp(ksp.get());
    if (code == 0) code = KSPSetUpOnBlocks(ksp.get());
    if (code == PETSC_ERR_MISSING_FACTOR && option_given("-pc_factor_mat_solver_type")) refuse_options(code);
    PC pc = nullptr;
    PCFailedReason reason = PC_NOERROR;
    SCREE_PETSC(KSPGetPC(ksp.get(), &pc));
    if (code == 0) SCREE_PETSC(PCGetFailedReason(pc, &reason));
    if (code != 0)
      failure = words_of(code);
    else if (reason != PC_NOERROR)
      failure = words_of(pc, reason);
    else if (const PetscInt n = negative_pivots(pc); n > 0)
      failure = fmt::format("not positive definite, {} negative pivots", n);
    return failure.empty();
  }

  /// Of a Cholesky factor by MUMPS, which goes on past them; other packages stop.
  static PetscInt negative_pivots(PC pc) {
    const Mat factor = mumps_factor(pc);
    MatFactorType type = MAT_FACTOR_NONE;
    if (factor) SCREE_PETSC(MatGetFactorType(factor, &type));
    PetscInt n = 0;
    if (type == MAT_FACTOR_CHOLESKY) SCREE_PETSC(MatMumpsGetInfog(factor, 12, &n));
    return n;
  }

  /// The factor that MUMPS made; null if another package did.
  static Mat mumps_factor(PC pc) {
    MatSolverType type = nullptr;
    Mat factor = nullptr;
    const bool found = PCFactorGetMatSolverType(pc, &type) == 0 && type &&
                       std::string_view(type) == MATSOLVERMUMPS && PCFactorGetMatrix(pc, &factor) == 0;
    return found ? factor : nullptr;
  }

  static std::string words_of(PetscErrorCode code) {
    const char* general = nullptr;
    char* specific = nullptr;
    PetscErrorMessage(code, &general, &specific);
    return specific && *specific ? specific
           : general             ? general
                                 : fmt::format("PETSc error {}", static_cast<int>(code));
  }

  static std::string words_of(PC pc, PCFailedReason reason) {
    std::string text = PCFailedReasons[reason];
    if (const Mat factor = mumps_factor(pc)) {
      PetscInt code = 0, detail = 0;
      SCREE_PETSC(MatMumpsGetInfog(factor, 1, &code));
      SCREE_PETSC(MatMumpsGetInfog(factor, 2, &detail));
      constexpr std::array<PetscInt, 10> of_memory{-5, -7, -8, -9, -11, -13, -14, -17, -19, -20};
      text += fmt::format(", MUMPS INFOG(1) = {}, INFOG(2) = {}", code, detail);
      if (std::find(of_memory.begin(), of_memory.end(), code) != of_memory.end())
        text += ": too little memory";
    }
    return text;
  }

  /// Adds 1e-12 of the diagonal, which is 1e-12 once the diagonal is scaled to ones: enough to factorise what
  /// round-off made indefinite. Iterative refinement then takes back what that changed, as far as a matrix of
  /// that condition allows (docs/method.md, eq. S.3).
  void regularise() {
    SCREE_PETSC(MatDuplicate(matrix.get(), MAT_COPY_VALUES, regularised.address()));
    declare_positive_definite(regularised.get());
    SCREE_PETSC(MatGetDiagonal(matrix.get(), right.get()));
    SCREE_PETSC(VecScale(right.get(), 1e-12));
    SCREE_PETSC(MatDiagonalSet(regularised.get(), right.get(), ADD_VALUES));
    if (!remainder.get()) SCREE_PETSC(VecDuplicate(right.get(), remainder.address()));
  }

  bool factorise(SolveReport& report) {
    Scope timer("factorise");
    const AddTime time(report.factor_seconds);
    if (!comm().all(finite)) {
      failure = "the matrix has entries that are not finite";
      return false;
    }
    if (refining) {
      refining = false;
      ksp.reset();
    }
    ++report.factorizations;
    bool done = comm().all(set_up());
    if (!done) {
      share_failure();
      ksp.reset();
      if (direct && symmetric()) {
        const std::string first = failure;
        failure.clear();
        refining = true;
        regularise();
        ++report.factorizations;
        done = comm().all(set_up());
        share_failure();
        if (!done) {
          failure = fmt::format("{}; with 1e-12 of the diagonal added: {}", first, failure);
          ksp.reset();
        }
      }
    }
    factorised_once = factorised_once || done;
    factorised = done;
    return done;
  }

  /// The words of one of the ranks that failed, on all.
  void share_failure() { failure = message_of_smallest(comm(), comm().rank(), failure); }

  bool solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
             bool x_is_guess) {
    failure.clear();
    if (!prepare(report)) return false;
    bool solved = run_ksp(b, x, report, tolerance, x_is_guess);
    if (!solved && kept) {
      worn = true;
      factorised = false;
      failure.clear();
      if (!prepare(report)) return false;
      solved = run_ksp(b, x, report, tolerance, x_is_guess);
    }
    if (!solved && tries_krylov() && !gave_up && !broken) {
      give_up(report);
      if (!prepare(report)) return false;
      solved = run_ksp(b, x, report, tolerance, x_is_guess);
    }
    if (!solved) {
      failure = fmt::format("the linear system of {} velocities could not be solved: {}",
                            problem->n_bodies_of_all() * q, failure);
      if (broken) {
        ksp.reset();
        factorised = false;
      }
      return false;
    }
    ++report.linear_solutions;
    problem->halo().copy_to_ghosts(x.first(static_cast<std::size_t>(problem->n_held()) * width),
                                   static_cast<int>(width));
    return true;
  }

  /// Factorises from now on, until the next set_pattern().
  void give_up(SolveReport& report) {
    report.decisions.push_back(
        fmt::format("linear systems: factorised from here, a Krylov method took {} iterations", most_taken));
    failure.clear();
    gave_up = direct = true;
    blocked = false;
    build();
    fill(block_values, shift_of_values);
  }

  /// Makes the preconditioner, or keeps that of an earlier matrix as long as it is good enough
  /// (docs/method.md, "The Schur system"). False if there is none.
  bool prepare(SolveReport& report) {
    if (factorised) return true;
    if (tries_krylov() && !gave_up && hard) give_up(report);
    const bool has_one = ksp.get() && first_iterations > 0 && !direct && !refining;
    kept = has_one && settings.keep && !worn && comm().all(finite);
    if (kept) {
      reuse_preconditioner(PETSC_TRUE);
      SCREE_PETSC(KSPSetOperators(ksp.get(), system(), matrix.get()));
      return factorised = true;
    }
    if (ksp.get()) reuse_preconditioner(PETSC_FALSE);
    worn = false;
    first_iterations = 0;
    if (factorise(report)) return true;
    failure = fmt::format("the matrix of {} velocities could not be factorised: {}",
                          problem->n_bodies_of_all() * q, failure);
    return false;
  }

  /// Of the whole and of each block of block Jacobi, which does not pass it on.
  void reuse_preconditioner(PetscBool reuse) {
    SCREE_PETSC(KSPSetReusePreconditioner(ksp.get(), reuse));
    PC pc = nullptr;
    PetscBool by_blocks = PETSC_FALSE;
    SCREE_PETSC(KSPGetPC(ksp.get(), &pc));
    SCREE_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCBJACOBI, &by_blocks));
    if (!by_blocks || !factorised_once) return;
    PetscInt n = 0;
    KSP* of_block = nullptr;
    SCREE_PETSC(PCBJacobiGetSubKSP(pc, &n, nullptr, &of_block));
    for (PetscInt k = 0; k < n; ++k) SCREE_PETSC(KSPSetReusePreconditioner(of_block[k], reuse));
  }

  /// One solution with the preconditioner there is. False with `failure` set on all ranks.
  bool run_ksp(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
               bool x_is_guess) {
    Scope timer("linear solve");
    const AddTime time(report.krylov_seconds);
    KSPType type = nullptr;
    SCREE_PETSC(KSPGetType(ksp.get(), &type));
    const bool iterative = std::string_view(type) != KSPPREONLY;
    copy_in(b, right.get());
    Real size = 0;
    if (iterative && !refining) {
      SCREE_PETSC(VecNorm(right.get(), NORM_2, &size));
      // PETSC_DEFAULT leaves what an option has set.
      const Real relative = tolerance > 0 ? tolerance : settings.relative_tolerance;
      const Real absolute = std::isfinite(size) ? round_off * size : 0;
      SCREE_PETSC(KSPSetTolerances(ksp.get(), option_given("-ksp_rtol") ? PETSC_DEFAULT : relative,
                                   option_given("-ksp_atol") ? PETSC_DEFAULT : absolute, PETSC_DEFAULT,
                                   PETSC_DEFAULT));
      SCREE_PETSC(KSPSetInitialGuessNonzero(ksp.get(), x_is_guess ? PETSC_TRUE : PETSC_FALSE));
      if (x_is_guess) copy_in(x, solution.get());
    }
    const PetscErrorCode code = KSPSolve(ksp.get(), right.get(), solution.get());
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    Real residual = 0;
    SCREE_PETSC(KSPGetConvergedReason(ksp.get(), &reason));
    SCREE_PETSC(KSPGetIterationNumber(ksp.get(), &iterations));
    SCREE_PETSC(KSPGetResidualNorm(ksp.get(), &residual));
    if (iterative) {
      report.krylov_iterations += iterations;
      if (size > 0) report.linear_residual = residual / size;
      judge_effort(iterations);
    }
    broken = comm().any(code != 0);
    if (code != 0)
      failure = words_of(code);
    else if (reason < 0)
      failure = fmt::format("{} after {} iterations, residual {:.3g}", KSPConvergedReasons[reason],
                            iterations, residual);
    else if (!is_finite(solution.get()))
      failure = "the solution has entries that are not finite";
    share_failure();
    if (refining && failure.empty()) judge_refinement();
    if (!failure.empty()) return false;  // x may be the guess of another attempt
    copy_out(solution.get(), x);
    return true;
  }

  /// Whether the preconditioner is worth keeping, and the method worth trying on the next matrix.
  void judge_effort(PetscInt iterations) {
    most_taken = std::max(most_taken, iterations);
    if (!kept)
      first_iterations = std::max(first_iterations, iterations);
    else if (static_cast<Real>(iterations) > most_growth * static_cast<Real>(first_iterations) + most_added)
      worn = true;
    if (2 * most_taken > most_tried()) hard = true;
  }

  /// What the corrections cannot take back is no solution of A x = b.
  void judge_refinement() {
    SCREE_PETSC(MatResidual(matrix.get(), right.get(), solution.get(), remainder.get()));
    Real left = 0, whole = 0;
    SCREE_PETSC(VecNorm(remainder.get(), NORM_2, &left));
    SCREE_PETSC(VecNorm(right.get(), NORM_2, &whole));
    if (!(left <= most_left * whole))
      failure = fmt::format("iterative refinement leaves {:.1e} of the right-hand side", left / whole);
  }

  void copy_in(std::span<const Real> from, ::Vec to) const {
    Real* values = nullptr;
    SCREE_PETSC(VecGetArrayWrite(to, &values));
    for (std::size_t i = 0; i < static_cast<std::size_t>(origin.n_owned); ++i)
      std::copy_n(from.data() + i * width, q, values + i * q);
    SCREE_PETSC(VecRestoreArrayWrite(to, &values));
  }

  void copy_out(::Vec from, std::span<Real> to) const {
    const Real* values = nullptr;
    SCREE_PETSC(VecGetArrayRead(from, &values));
    for (std::size_t i = 0; i < static_cast<std::size_t>(origin.n_owned); ++i)
      for (std::size_t k = 0; k < width; ++k) to[i * width + k] = k < q ? values[i * q + k] : 0;
    SCREE_PETSC(VecRestoreArrayRead(from, &values));
  }

  /// Whether the numbers of this rank are finite.
  bool is_finite(::Vec numbers) const {
    const Real* values = nullptr;
    Real check = 0;
    SCREE_PETSC(VecGetArrayRead(numbers, &values));
    for (std::size_t i = 0; i < static_cast<std::size_t>(origin.n_owned) * q; ++i) check += 0 * values[i];
    SCREE_PETSC(VecRestoreArrayRead(numbers, &values));
    return check == 0;
  }
};

template <int D>
void SchurSystem<D>::Settings::describe(Section& section) {
  section.choice(
      "linear", linear, {"auto", "direct", "iterative", "matrix_free"},
      {.doc = "How linear systems are solved: factorisation, Krylov method with or without a matrix, "
              "or by size"});
  section.integer("direct_limit", direct_limit,
                  {.range = non_negative, .doc = "Most velocities that linear = \"auto\" factorises for"});
  section.real("krylov_tolerance", relative_tolerance,
               {.range = {.least = 0, .most = 1, .least_open = true, .most_open = true},
                .doc = "Fall of the residual at which a Krylov method ends"});
  section.boolean(
      "keep", keep,
      {.doc = "Krylov methods: keep the preconditioner from matrix to matrix while it is good enough"});
  section.integer("max_krylov", max_krylov, {.range = positive, .doc = "Most iterations of a Krylov method"});
}

template <int D>
bool SchurSystem<D>::will_factorise(const Settings& settings, const ScaledProblem<D>& problem) {
  if (settings.linear != "auto") return settings.linear == "direct";
  return problem.n_bodies_of_all() * State::q <= settings.direct_limit && !option_given("-ksp_type") &&
         !option_given("-pc_type");
}

template <int D>
SchurSystem<D>::SchurSystem(const Settings& settings, Kind kind)
    : state_(std::make_unique<State>(settings, kind)) {}
template <int D>
SchurSystem<D>::~SchurSystem() = default;
template <int D>
SchurSystem<D>::SchurSystem(SchurSystem&&) noexcept = default;
template <int D>
SchurSystem<D>& SchurSystem<D>::operator=(SchurSystem&&) noexcept = default;

template <int D>
void SchurSystem<D>::set_pattern(const ScaledProblem<D>& problem, SolveReport& report) {
  const AddTime time(report.assembly_seconds);
  state_->problem = &problem;
  state_->set_pattern();
}

template <int D>
void SchurSystem<D>::assemble(std::span<const Real> K, Real shift, SolveReport& report) {
  Scope timer("assemble");
  const AddTime time(report.assembly_seconds);
  state_->assemble(K, shift);
}

template <int D>
bool SchurSystem<D>::solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
                           bool x_is_guess) {
  return state_->solve(b, x, report, tolerance, x_is_guess);
}

template <int D>
const std::string& SchurSystem<D>::failure() const {
  return state_->failure;
}

template class SchurSystem<2>;
template class SchurSystem<3>;

}  // namespace scree
