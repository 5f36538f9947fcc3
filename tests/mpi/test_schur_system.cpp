#include "friction/linear/schur_system.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <tuple>

#include "core/memory.hpp"
#include "replay/generated_problems.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"
#include "support/petsc_options.hpp"
#include "support/schur_case.hpp"

using namespace scree;

namespace {

/// Every rank holds every body: rank k owns the bodies k, k + size, ...
class HoldAll final : public BodyHalo {
 public:
  HoldAll(const Comm& comm, Index n_bodies) : comm_(comm) {
    for (int rank = comm.rank(); rank < comm.rank() + comm.size(); ++rank) {
      for (Index i = rank % comm.size(); i < n_bodies; i += comm.size()) held_.push_back(i);
      if (rank == comm.rank()) n_owned_ = static_cast<Index>(held_.size());
    }
  }
  const std::vector<Index>& held() const { return held_; }
  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_owned_; }
  Index n_local() const override { return static_cast<Index>(held_.size()); }
  int n_colours() const override { return 1; }
  void copy_to_ghosts(std::span<Real> values, int width) override { exchange(values, width, n_owned_, 0); }
  void add_to_owners(std::span<Real> values, int width) override {
    exchange(values, width, n_local(), n_owned_);
  }
  void begin_transfer(int, std::span<const Real>, int) override {}
  void end_transfer(int, std::span<Real>, int) override {}

 private:
  /// Adds up what the first `n_from` bodies of all ranks have; writes all bodies, or the first `n_to`.
  void exchange(std::span<Real> values, int width, Index n_from, Index n_to) {
    const std::size_t w = width;
    std::vector<Real> total(values.size(), 0.0);
    const auto at = [&](Index held) { return static_cast<std::size_t>(held_[held]) * w; };
    for (Index i = 0; i < n_from; ++i)
      for (std::size_t k = 0; k < w; ++k) total[at(i) + k] = values[static_cast<std::size_t>(i) * w + k];
    comm_.sum_to_round_off(total);
    for (Index i = 0; i < (n_to > 0 ? n_to : n_local()); ++i)
      for (std::size_t k = 0; k < w; ++k) values[static_cast<std::size_t>(i) * w + k] = total[at(i) + k];
  }

  Comm comm_;
  Index n_owned_ = 0;
  std::vector<Index> held_;
};

/// Contacts dealt out to ranks like cards: most have two ghosts.
template <int D>
FrictionProblem<D> deal(const SerialProblem<D>& serial, HoldAll& halo) {
  constexpr std::size_t q = n_velocities<D>;
  FrictionProblem<D> problem;
  problem.halo = &halo;
  problem.time_step = serial.time_step;
  problem.velocity_floor = serial.velocity_floor;
  std::vector<Index> place(halo.held().size());
  const auto append = [](std::vector<Real>& to, const std::vector<Real>& from, std::size_t item,
                         std::size_t size) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(item * size),
              from.begin() + static_cast<std::ptrdiff_t>((item + 1) * size));
  };
  for (const Index body : halo.held()) {
    const std::size_t i = body;
    place[i] = static_cast<Index>(problem.body_id.size());
    problem.body_id.push_back(body);
    append(problem.mass, serial.mass, i, q * q);
    append(problem.free_velocity, serial.free_velocity, i, q);
  }
  const auto held = [&](Index body) { return body < 0 ? body : place[body]; };
  const std::size_t size = halo.comm().size();
  for (std::size_t c = halo.comm().rank(); c < serial.a.size(); c += size) {
    problem.a.push_back(held(serial.a[c]));
    problem.b.push_back(held(serial.b[c]));
    append(problem.jacobian, serial.jacobian, c, 2 * D * q);
    append(problem.bias, serial.bias, c, D);
    append(problem.mu, serial.mu, c, 1);
  }
  problem.colour_first = {0, problem.n_contacts()};
  problem.interior_first = {0};
  return problem;
}

template <int D>
void check(const FrictionProblem<D>& original) {
  using Kind = typename SchurSystem<D>::Kind;
  ScaledProblem<D> problem;
  problem.rebuild(original);
  const std::vector<Real> b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size());
  SolveReport report;
  for (const bool symmetric : {true, false})
    for (const char* linear : {"direct", "iterative", "matrix_free"}) {
      CAPTURE(D, symmetric, linear);
      SchurSystem<D> system({.linear = linear, .relative_tolerance = 1e-12},
                            symmetric ? Kind::symmetric : Kind::general);
      system.set_pattern(problem, report);
      for (const Real shift : {1.0, 0.5}) {
        const std::vector<Real> K = some_blocks<D>(problem.n_contacts(), symmetric, 10 * shift);
        system.assemble(K, shift, report);
        const bool solved = system.solve(b, x, report);
        INFO(system.failure());
        REQUIRE(solved);
        CHECK(defect<D>(problem, K, shift, x, b) < 1e-10);
      }
    }
}

}  // namespace

// Small systems are factorised by each rank, but with any option of PETSc by all together.
constexpr std::array<const char*, 2> ways_to_factorise{"", "-scree_ksp_error_if_not_converged 0"};

TEST_CASE("Schur system: solves to 1e-10 on any number of ranks, contacts run by owners", "[mpi]") {
  const Comm world;
  const PetscOptionsScope scope(GENERATE(from_range(ways_to_factorise)));
  check(SplitProblem<2>(world, lattice_problem<2>(8, 0.5, true)).problem());
  check(SplitProblem<3>(world, lattice_problem<3>(4, 0.5, true)).problem());
}

TEST_CASE("Schur system: solves to 1e-10 on any number of ranks, contacts run by ranks that own neither body",
          "[mpi]") {
  const Comm world;
  const PetscOptionsScope scope(GENERATE(from_range(ways_to_factorise)));
  const auto check_dealt = [&](const auto& serial) {
    HoldAll halo(world, serial.n_bodies());
    check(deal(serial, halo));
  };
  check_dealt(lattice_problem<2>(8, 0.5, true));
  check_dealt(lattice_problem<3>(4, 0.5, true));
}

TEST_CASE("Schur system: a rank without bodies takes part", "[mpi]") {
  const Comm world;
  const PetscOptionsScope scope(GENERATE(from_range(ways_to_factorise)));
  const SerialProblem<3> single = lattice_problem<3>(1);
  HoldAll halo(world, single.n_bodies());
  check(deal(single, halo));
}

TEST_CASE("Schur system: numbers that are not finite on one rank fail on all ranks with the same words",
          "[mpi]") {
  const Comm world;
  const SplitProblem<3> split(world, lattice_problem<3>(4));
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  SolveReport report;
  std::vector<Real> K = some_blocks<3>(problem.n_contacts(), true);
  std::vector<Real> b = some_right_side(problem), x(problem.velocity_size());
  for (const char* linear : {"direct", "iterative", "matrix_free"}) {
    SchurSystem<3> system({.linear = linear}, SchurSystem<3>::Kind::symmetric);
    system.set_pattern(problem, report);
    std::vector<Real> spoilt = K;
    if (world.rank() == world.size() - 1) spoilt[4] = NAN;
    system.assemble(spoilt, 1, report);
    REQUIRE_FALSE(system.solve(b, x, report));
    CHECK(system.failure() ==
          "the matrix of 384 velocities could not be factorised: the matrix has entries that are not finite");
    system.assemble(K, 1, report);
    REQUIRE(system.solve(b, x, report));
    std::vector<Real> spoilt_side = b;
    if (world.rank() == world.size() - 1) spoilt_side[0] = NAN;
    CHECK_FALSE(system.solve(spoilt_side, x, report));
    CHECK(world.all(!system.failure().empty()));
    REQUIRE(system.solve(b, x, report));
    CHECK(defect<3>(problem, K, 1, x, b) < 1e-6);
  }
}

TEST_CASE("Schur system: a Krylov method out of iterations fails on all ranks and says so", "[mpi]") {
  const Comm world;
  const SplitProblem<3> split(world, lattice_problem<3>(4));
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  SolveReport report;
  const std::vector<Real> K = some_blocks<3>(problem.n_contacts(), true, 1e6);
  const std::vector<Real> b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size());
  SchurSystem<3> system({.linear = "iterative", .relative_tolerance = 1e-12, .max_krylov = 2},
                        SchurSystem<3>::Kind::symmetric);
  system.set_pattern(problem, report);
  system.assemble(K, 1, report);
  CHECK_FALSE(system.solve(b, x, report));
  CHECK_THAT(system.failure(), Catch::Contains("DIVERGED_ITS after 2 iterations"));
}

TEST_CASE("Schur system: what round-off made indefinite is refined, and refused where that does not help",
          "[mpi]") {
  const Comm world;
  const PetscOptionsScope scope(GENERATE(from_range(ways_to_factorise)));
  const SplitProblem<3> split(world, lattice_problem<3>(4));
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  // Cut off from the floor, the bodies have six motions in common of which J^T K J knows nothing; the shift
  // lies between round-off and 1e-12 of the diagonal.
  std::vector<Real> K(problem.impulse_size() * 3, 0.0), r(problem.impulse_size(), 0.0);
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    if (problem.contacts()[c].a == problem.n_local()) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      K[c * 9 + 4 * k] = 10;
      r[c * 3 + k] = std::cos(static_cast<Real>(c + k));
    }
  }
  const Real shift = -1e-12;
  std::vector<Real> b(problem.velocity_size(), 0.0), x(problem.velocity_size());
  problem.add_impulse(r, b);
  SolveReport report;
  SchurSystem<3> system({.linear = "direct"}, SchurSystem<3>::Kind::symmetric);
  system.set_pattern(problem, report);
  system.assemble(K, shift, report);
  const bool solved = system.solve(b, x, report);
  INFO(system.failure());
  REQUIRE(solved);
  CHECK(report.factorizations == 2);
  CHECK(defect<3>(problem, K, shift, x, b) < 1e-8);

  b = problem.free_velocity();  // most of it one of those motions
  REQUIRE_FALSE(system.solve(b, x, report));
  CHECK_THAT(system.failure(), Catch::Contains("iterative refinement leaves"));
  system.assemble(K, 1, report);
  REQUIRE(system.solve(b, x, report));
  CHECK(report.factorizations == 3);
  CHECK(defect<3>(problem, K, 1, x, b) < 1e-10);
  CHECK(scope.n_left() == 0);  // that CHOLMOD prints nothing, too
}

TEST_CASE("Schur system: round contacts without their matrix give what the matrix gives", "[mpi]") {
  const Comm world;
  const SerialProblem<3> whole = generate_problem<3>("pile", 60, 1);
  const SplitProblem<3> split(world, whole);
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  const std::vector<Real> K = some_blocks<3>(problem.n_contacts(), true), b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size()), y(problem.velocity_size());
  SolveReport with, without;
  for (const auto& [linear, report, to] :
       {std::tuple("iterative", &with, &x), std::tuple("matrix_free", &without, &y)}) {
    SchurSystem<3> system({.linear = linear, .relative_tolerance = 1e-12}, SchurSystem<3>::Kind::symmetric);
    system.set_pattern(problem, *report);
    system.assemble(K, 1, *report);
    REQUIRE(system.solve(b, *to, *report));
    CHECK(defect<3>(problem, K, 1, *to, b) < 1e-11);
  }
  // Block Jacobi of single bodies knows less than of ranks.
  CHECK(without.krylov_iterations > with.krylov_iterations);
}

TEST_CASE("Schur system: the same pattern is analysed once, its values are written in place", "[mpi]") {
  const Comm world;
  const SplitProblem<3> split(world, lattice_problem<3>(4, 0.5, true));
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  const std::vector<Real> b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size());
  SolveReport report;
  scree::PetscLogDefaultBegin();
  const auto count = [](const char* name) {
    PetscLogEvent event = 0;
    PetscEventPerfInfo info{};
    scree::PetscLogEventGetId(name, &event);
    scree::PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info);
    return info.count;
  };
  for (const auto& [linear, options, symbolic, numeric] :
       {std::tuple("direct", "-scree_pc_factor_mat_solver_type mumps", "MatCholFctrSym", "MatCholFctrNum"),
        std::tuple("iterative", "", "MatILUFactorSym", "MatLUFactorNum")}) {
    CAPTURE(linear);
    const PetscOptionsScope scope(options);
    // Two solves of a run: the second has a pattern like the first.
    SchurSystem<3> system({.linear = linear, .keep = false}, SchurSystem<3>::Kind::symmetric);
    const int symbolic_before = count(symbolic), numeric_before = count(numeric);
    for (int solve = 0; solve < 2; ++solve) {
      system.set_pattern(problem, report);
      for (const Real size : {10.0, 100.0, 3.0}) {
        const std::vector<Real> K = some_blocks<3>(problem.n_contacts(), true, size);
        const std::int64_t before = n_allocations();
        system.assemble(K, 1, report);
        CHECK(n_allocations() == before);
        REQUIRE(system.solve(b, x, report));
        CHECK(defect<3>(problem, K, 1, x, b) < 1e-7);
      }
    }
    CHECK(count(symbolic) - symbolic_before == 1);
    CHECK(count(numeric) - numeric_before == 6);
  }
}

TEST_CASE("Schur system: a preconditioner is kept while it serves, then made anew", "[mpi]") {
  const Comm world;
  const SplitProblem<3> split(world, lattice_problem<3>(6, 0.5, true));
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  const std::vector<Real> b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size());
  for (const char* linear : {"iterative", "matrix_free"}) {
    CAPTURE(linear);
    SolveReport report;
    SchurSystem<3> system({.linear = linear, .relative_tolerance = 1e-10}, SchurSystem<3>::Kind::symmetric);
    system.set_pattern(problem, report);
    std::vector<Real> K;
    const auto solve = [&] {
      system.assemble(K, 1, report);
      REQUIRE(system.solve(b, x, report));
      CHECK(defect<3>(problem, K, 1, x, b) < 1e-9);
    };
    K = some_blocks<3>(problem.n_contacts(), true, 10);
    solve();
    K = some_blocks<3>(problem.n_contacts(), true, 11);
    solve();
    CHECK(report.factorizations == 1);
    // Blocks that spread: the old preconditioner takes many times as long, and is the last time used.
    for (std::size_t c = 0; c < K.size() / 9; ++c)
      for (std::size_t k = 0; k < 9; ++k) K[c * 9 + k] *= std::pow(10.0, static_cast<Real>(c % 4));
    solve();
    CHECK(report.factorizations == 1);
    solve();
    CHECK(report.factorizations == 2);
  }
}

TEST_CASE("Schur system: linear = auto factorises once a Krylov method takes longer than that", "[mpi]") {
  const Comm world;
  const SplitProblem<3> split(world, lattice_problem<3>(8, 0.5, true));  // 512 bodies: at most 51 iterations
  ScaledProblem<3> problem;
  problem.rebuild(split.problem());
  const std::vector<Real> b = some_right_side(problem);
  std::vector<Real> x(problem.velocity_size());
  SolveReport report;
  SchurSystem<3> system({}, SchurSystem<3>::Kind::symmetric);
  const auto solve = [&](Real size, Real spread) {
    std::vector<Real> K = some_blocks<3>(problem.n_contacts(), true, size);
    for (std::size_t c = 0; c < K.size() / 9; ++c)
      for (std::size_t k = 0; k < 9; ++k) K[c * 9 + k] *= std::pow(spread, static_cast<Real>(c * 7 % 5));
    system.assemble(K, 1, report);
    REQUIRE(system.solve(b, x, report));
    CHECK(defect<3>(problem, K, 1, x, b) < 1e-7);
  };
  for (int repetition = 0; repetition < 2; ++repetition) {
    system.set_pattern(problem, report);
    const std::int64_t iterations = report.krylov_iterations;
    solve(0.1, 1);
    CHECK(report.krylov_iterations > iterations);
    const std::size_t lines = report.decisions.size();
    solve(1, 100);
    REQUIRE(report.decisions.size() == lines + 1);
    CHECK_THAT(report.decisions.back(),
               Catch::Contains("factorised from here, a Krylov method took 51 iterations"));
    // Until the next problem.
    const std::int64_t at_end = report.krylov_iterations;
    solve(0.1, 1);
    CHECK(report.krylov_iterations == at_end);
  }
}
