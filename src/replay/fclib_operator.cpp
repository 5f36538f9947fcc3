#include "replay/fclib_operator.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "replay/part_layout.hpp"

namespace scree {

namespace {

/// MUMPS takes a pivot below this share of the norm of the scaled matrix for zero.
constexpr Real null_pivot = 1e-13;

/// x becomes its nearest point of the friction cone |x_T| <= mu x_N.
void project(std::span<Real> x, Real mu) {
  Real t = 0;
  for (std::size_t k = 1; k < x.size(); ++k) t = std::hypot(t, x[k]);
  if (x[0] >= 0 && t <= mu * x[0]) return;  // mu x_N is no bound if mu is zero and x_N negative
  if (mu * t <= -x[0]) {
    std::ranges::fill(x, 0.0);
    return;
  }
  const Real normal = (x[0] + mu * t) / (1 + mu * mu);
  for (std::size_t k = 1; k < x.size(); ++k) x[k] *= mu * normal / t;
  x[0] = normal;
}

/// The blocks that A falls apart into: for each row the smallest row of its block.
std::vector<std::size_t> blocks_of(const Entries& entries, std::size_t n) {
  std::vector<std::size_t> parent(n);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    const std::size_t i = find(static_cast<std::size_t>(entries.row[e]));
    const std::size_t j = find(static_cast<std::size_t>(entries.column[e]));
    parent[std::max(i, j)] = std::min(i, j);
  }
  for (std::size_t i = 0; i < n; ++i) parent[i] = find(i);
  return parent;
}

/// Entries by row or column: list k holds the numbers of those with place[e] = k.
class Lists {
 public:
  Lists(const std::vector<PetscInt>& place, std::size_t n) : first_(n + 1, 0), entry_(place.size()) {
    for (const PetscInt k : place) ++first_[static_cast<std::size_t>(k) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < place.size(); ++e) entry_[next[place[e]]++] = e;
  }
  std::span<const std::size_t> operator[](std::size_t k) const {
    return std::span(entry_).subspan(first_[k], first_[k + 1] - first_[k]);
  }

 private:
  std::vector<std::size_t> first_, entry_;
};

/// Columns of B that share a solution of A, as they touch different blocks: greedily, in their order. `block`
/// of each row.
std::vector<std::vector<std::size_t>> groups_of_columns(const Entries& b, const Lists& by_column,
                                                        std::size_t n_columns,
                                                        std::span<const std::size_t> block) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::vector<bool>> taken(block.size());  // by block: groups that touch it
  for (std::size_t j = 0; j < n_columns; ++j) {
    std::size_t group = 0;
    const auto is_free = [&](std::size_t e) {
      const auto& of_block = taken[block[b.row[e]]];
      return group >= of_block.size() || !of_block[group];
    };
    while (!std::ranges::all_of(by_column[j], is_free)) ++group;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(j);
    for (const std::size_t e : by_column[j]) {
      auto& of_block = taken[block[b.row[e]]];
      of_block.resize(std::max(of_block.size(), group + 1));
      of_block[group] = true;
    }
  }
  return groups;
}

struct Term {
  std::size_t row, column;
  Real value;
};

void add_term(SparseShare& W, const Term& term) {
  if (term.value == 0) return;
  W.row.push_back(static_cast<std::int64_t>(term.row));
  W.column.push_back(static_cast<std::int64_t>(term.column));
  W.value.push_back(term.value);
}

/// Adds terms column by column, those of the same place as one.
void add_sums(SparseShare& W, std::vector<Term>&& terms) {
  std::ranges::stable_sort(terms, {}, [](const Term& term) { return std::pair(term.column, term.row); });
  for (std::size_t first = 0, last = 0; first < terms.size(); first = last) {
    Term sum{terms[first].row, terms[first].column, 0};
    for (; last < terms.size() && terms[last].column == sum.column && terms[last].row == sum.row; ++last)
      sum.value += terms[last].value;
    add_term(W, sum);
  }
}

}  // namespace

struct FclibOperator::State {
  static constexpr std::size_t velocities = 0;  // parts of x in a global problem
  static constexpr std::size_t constraints = 1;

  Comm comm;
  const FclibProblem& problem;
  std::size_t dimension;
  PartLayout relative;  // r and u
  PartLayout unknown;   // x
  Real sign;            // of B^T in u
  MatHandle A, factor, B, C;
  VecHandle g, c, q;
  VecHandle x, right, correction, r, u;
  Real size_of_q = 0;

  State(const Comm& given, const FclibProblem& stated)
      : comm(given),
        problem(stated),
        dimension(static_cast<std::size_t>(stated.dimension)),
        relative(given, {{stated.n_contacts, stated.dimension}}),
        unknown(given, stated.is_global
                           ? std::vector<PartLayout::Part>{{stated.n_velocities}, {stated.n_constraints}}
                           : std::vector<PartLayout::Part>{{stated.n_constraints}}),
        sign(stated.is_global ? 1 : -1) {
    c = make_vector(comm, relative);
    set(c.get(), problem.is_global ? problem.w.values : problem.q.values);
    r = make_vector(comm, relative);
    u = make_vector(comm, relative);
    q = make_vector(comm, relative);
    const Entries own = c_entries();
    if (comm.any(!own.value.empty())) C = make_matrix(comm, relative, relative, own);
    if (has_unknown()) {
      A = make_matrix(comm, unknown, unknown, a_entries());
      B = make_matrix(comm, unknown, relative, b_entries());
      g = make_vector(comm, unknown);
      x = make_vector(comm, unknown);
      right = make_vector(comm, unknown);
      correction = make_vector(comm, unknown);
      set_g();
      factorise();
    }
    find_velocities();  // r is zero
    SCREE_PETSC(VecCopy(u.get(), q.get()));
    SCREE_PETSC(VecNorm(q.get(), NORM_2, &size_of_q));
  }

  bool has_unknown() const { return unknown.total() > 0; }

  Entries a_entries() const {
    Entries entries;
    const auto add = [&](const SparseShare& matrix, std::size_t rows, std::size_t columns, Real factor_of_it,
                         bool transposed) {
      for (std::size_t e = 0; e < matrix.value.size(); ++e) {
        const PetscInt i = unknown.place(rows, transposed ? matrix.column[e] : matrix.row[e]);
        const PetscInt j = unknown.place(columns, transposed ? matrix.row[e] : matrix.column[e]);
        entries.add(i, j, factor_of_it * matrix.value[e]);
      }
    };
    if (problem.is_global) {
      add(problem.M, velocities, velocities, 1, false);
      add(problem.G, velocities, constraints, -1, false);
      add(problem.G, constraints, velocities, 1, true);
    } else {
      add(problem.R, 0, 0, 1, false);
    }
    return entries;
  }

  Entries b_entries() const {
    Entries entries;
    const SparseShare& matrix = problem.is_global ? problem.H : problem.V;
    for (std::size_t e = 0; e < matrix.value.size(); ++e) {
      if (problem.is_global)
        entries.add(unknown.place(velocities, matrix.row[e]), relative.place(0, matrix.column[e]),
                    matrix.value[e]);
      else
        entries.add(unknown.place(0, matrix.column[e]), relative.place(0, matrix.row[e]), -matrix.value[e]);
    }
    return entries;
  }

  Entries c_entries() const {
    Entries entries;
    for (std::size_t e = 0; e < problem.W.value.size(); ++e)
      entries.add(relative.place(0, problem.W.row[e]), relative.place(0, problem.W.column[e]),
                  problem.W.value[e]);
    const auto d = static_cast<std::int64_t>(dimension);
    for (std::size_t k = 0; k < problem.compliance.values.size(); k += 2) {
      const std::int64_t first = (problem.compliance.first + static_cast<std::int64_t>(k)) / 2 * d;
      for (std::int64_t i = 0; i < d; ++i) {
        const PetscInt place = relative.place(0, first + i);
        entries.add(place, place, problem.compliance.values[k + (i > 0)]);
      }
    }
    return entries;
  }

  void set_g() const {
    Values to(g.get());
    const std::vector<Real>& of_constraints = problem.is_global ? problem.b.values : problem.s.values;
    const auto rest = to.span().subspan(problem.is_global ? unknown.local(velocities) : 0);
    if (problem.is_global) std::ranges::copy(problem.f.values, to.span().begin());
    std::ranges::transform(of_constraints, rest.begin(), [](Real value) { return -value; });
  }

  void factorise() {
    const std::string name = !problem.is_global           ? "/fclib_local/R"
                             : problem.n_constraints == 0 ? "/fclib_global/M"
                                                          : "/fclib_global: [M, -G; G^T, 0]";
    SCREE_PETSC(MatGetFactor(A.get(), MATSOLVERMUMPS, MAT_FACTOR_LU, factor.address()));
    SCREE_PETSC(MatMumpsSetIcntl(factor.get(), 8, 7));     // rows and columns scaled alike
    SCREE_PETSC(MatMumpsSetIcntl(factor.get(), 14, 100));  // per cent of memory to spare, for pivots
    SCREE_PETSC(MatMumpsSetIcntl(factor.get(), 24, 1));    // null pivots are counted
    SCREE_PETSC(MatMumpsSetCntl(factor.get(), 3, null_pivot));
    MatFactorInfo info;
    SCREE_PETSC(MatFactorInfoInitialize(&info));
    SCREE_PETSC(MatLUFactorSymbolic(factor.get(), A.get(), nullptr, nullptr, &info));
    SCREE_PETSC(MatLUFactorNumeric(factor.get(), A.get(), &info));
    MatFactorError error = MAT_FACTOR_NOERROR;
    SCREE_PETSC(MatFactorGetError(factor.get(), &error));
    PetscInt n_null = 0;
    SCREE_PETSC(MatMumpsGetInfog(factor.get(), 28, &n_null));
    PetscInt state = 0;
    SCREE_PETSC(MatMumpsGetInfog(factor.get(), 1, &state));
    // Of MUMPS' errors these two concern the matrix, the others of memory that was too little.
    const bool is_singular = state == -6 || state == -10;
    if (error == MAT_FACTOR_OUTMEMORY || (state < 0 && !is_singular))
      throw RunError(fmt::format("{}: too little memory to factorise {}", problem.path, name));
    if (comm.any(error != MAT_FACTOR_NOERROR || n_null > 0))
      throw InputError(fmt::format(
          "{}: {} of {} rows is singular to working precision{}, so that the velocities do not follow from "
          "the impulses",
          problem.path, name, unknown.total(),
          problem.n_constraints > 0 ? " (bilateral constraints that repeat or contradict each other)" : ""));
  }

  /// x = A^-1 right.
  void solve() {
    SCREE_PETSC(MatSolve(factor.get(), right.get(), x.get()));
    SCREE_PETSC(MatMult(A.get(), x.get(), correction.get()));
    SCREE_PETSC(VecAYPX(right.get(), -1, correction.get()));
    SCREE_PETSC(VecScale(right.get(), -1));
    SCREE_PETSC(MatSolve(factor.get(), right.get(), correction.get()));
    SCREE_PETSC(VecAXPY(x.get(), 1, correction.get()));
  }

  /// x and u from r.
  void find_velocities() {
    if (has_unknown()) {
      SCREE_PETSC(MatMultAdd(B.get(), r.get(), g.get(), right.get()));
      solve();
      SCREE_PETSC(MatMultTranspose(B.get(), x.get(), u.get()));
      SCREE_PETSC(VecScale(u.get(), sign));
    } else {
      SCREE_PETSC(VecSet(u.get(), 0));
    }
    if (C.get()) SCREE_PETSC(MatMultAdd(C.get(), r.get(), u.get(), u.get()));
    SCREE_PETSC(VecAXPY(u.get(), 1, c.get()));
  }

  /// Adds what W has by elimination of x.
  void add_eliminated(SparseShare& W) {
    const std::size_t n = unknown.total();
    const std::size_t m = relative.total();
    const std::vector<std::size_t> block = blocks_of(a_entries(), n);
    const Entries b = b_entries();
    const Lists by_column(b.column, m);
    const Lists by_row(b.row, n);
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> column_at(n, none);  // by block
    for (const std::vector<std::size_t>& group : groups_of_columns(b, by_column, m, block)) {
      SCREE_PETSC(VecSet(right.get(), 0));
      {
        Values sums(right.get());
        for (const std::size_t j : group)
          for (const std::size_t e : by_column[j]) {
            sums.span()[b.row[e]] += b.value[e];
            column_at[block[b.row[e]]] = j;
          }
      }
      solve();
      std::vector<Term> terms;
      const Values solution(x.get());
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t j = column_at[block[k]];
        if (j == none || solution.span()[k] == 0) continue;
        for (const std::size_t e : by_row[k])
          terms.push_back({static_cast<std::size_t>(b.column[e]), j, sign * b.value[e] * solution.span()[k]});
      }
      add_sums(W, std::move(terms));
      for (const std::size_t j : group)
        for (const std::size_t e : by_column[j]) column_at[block[b.row[e]]] = none;
    }
  }
};

FclibOperator::FclibOperator(const Comm& comm, const FclibProblem& problem)
    : state_(std::make_unique<State>(comm, problem)) {}

FclibOperator::~FclibOperator() = default;

FclibSolution FclibOperator::solution(std::span<const Real> r) {
  State& s = *state_;
  set(s.r.get(), r);
  s.find_velocities();
  const auto stretch = [&](std::span<const Real> values) {
    return VectorShare{s.comm.sum_before(static_cast<std::int64_t>(values.size())),
                       {values.begin(), values.end()}};
  };
  FclibSolution solution;
  solution.r = stretch(r);
  solution.u = stretch(Values(s.u.get()).span());
  if (s.has_unknown()) {
    Values x(s.x.get());
    const std::size_t n_velocities = s.problem.is_global ? s.unknown.local(State::velocities) : 0;
    if (s.problem.is_global) solution.v = stretch(x.span().first(n_velocities));
    if (s.problem.n_constraints > 0) solution.l = stretch(x.span().subspan(n_velocities));
  }
  return solution;
}

FclibResidual FclibOperator::residual(std::span<const Real> r) {
  State& s = *state_;
  set(s.r.get(), r);
  s.find_velocities();
  std::array<Real, 3> squares{};
  Values velocity(s.u.get());
  const std::size_t d = s.dimension;
  std::vector<Real> moved(d);
  for (std::size_t contact = 0; contact < s.problem.mu.values.size(); ++contact) {
    const Real mu = s.problem.mu.values[contact];
    const auto rc = r.subspan(contact * d, d);
    const auto uc = velocity.span().subspan(contact * d, d);
    Real sliding = 0;
    for (std::size_t k = 1; k < d; ++k) sliding = std::hypot(sliding, uc[k]);
    for (std::size_t k = 0; k < d; ++k) moved[k] = rc[k] - uc[k];
    moved[0] -= mu * sliding;
    project(moved, mu);
    for (std::size_t k = 0; k < d; ++k) {
      squares[0] += (rc[k] - moved[k]) * (rc[k] - moved[k]);
      squares[1] += rc[k] * rc[k];
      squares[2] += uc[k] * uc[k];
    }
  }
  s.comm.sum_to_round_off(squares);
  const Real error = std::sqrt(squares[0]);
  const Real scale = std::max({s.size_of_q, std::sqrt(squares[1]), std::sqrt(squares[2])});
  // Without data and impulses there is nothing to be far from.
  return {error / std::max(1.0, s.size_of_q), error == 0 ? 0 : error / scale};
}

FclibProblem FclibOperator::local_problem() {
  State& s = *state_;
  SCREE_ASSERT(s.comm.size() == 1);
  FclibProblem local;
  local.path = s.problem.path;
  local.dimension = s.problem.dimension;
  local.n_contacts = s.problem.n_contacts;
  local.mu = s.problem.mu;
  local.info = s.problem.info;
  local.time_step = s.problem.time_step;
  local.velocity_floor = s.problem.velocity_floor;
  {
    const Values q(s.q.get());
    local.q.values.assign(q.span().begin(), q.span().end());
  }
  local.W.n_rows = local.W.n_columns = s.relative.total();
  const Entries own = s.c_entries();
  for (std::size_t e = 0; e < own.value.size(); ++e)
    add_term(local.W,
             {static_cast<std::size_t>(own.row[e]), static_cast<std::size_t>(own.column[e]), own.value[e]});
  if (s.has_unknown()) s.add_eliminated(local.W);
  return local;
}

}  // namespace scree
