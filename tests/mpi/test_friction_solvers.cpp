// Every registered solver on several ranks against itself on one, and what is reported on all ranks when a
// problem is none or a linear system fails.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "core/error.hpp"
#include "support/generated.hpp"
#include "support/message_of.hpp"
#include "support/petsc_options.hpp"
#include "support/solve_serial.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

constexpr Real tolerance = 1e-6;

/// The communicator of this rank alone.
Comm alone() {
  return Comm(MPI_COMM_SELF);
}

/// A text of a rank is that of all ranks.
bool is_same_on_all(const Comm& comm, const std::string& text) {
  std::string of_root = text;
  comm.broadcast(of_root);
  return comm.all(text == of_root);
}

/// Problems in which all solvers find the same velocities.
template <int D>
std::vector<std::pair<std::string, SerialProblem<D>>> unique_problems() {
  std::vector<std::pair<std::string, SerialProblem<D>>> problems;
  problems.emplace_back("wall", generated<D>("wall", 3));
  problems.emplace_back("sliding", generated<D>("sliding", 4));
  problems.emplace_back("jammed without friction", generated<D>("jammed", D == 2 ? 3 : 1));
  SerialProblem<D>& jammed = problems.back().second;
  std::fill(jammed.mu.begin(), jammed.mu.end(), 0.0);
  problems.emplace_back("compliant pile", generated<D>("pile", 12, 4));
  make_compliant(problems.back().second, 1e-2);
  return problems;
}

/// Of impulses of the list, by this rank alone.
template <int D>
Real serial_residual(const SerialProblem<D>& whole, const std::vector<Real>& r) {
  const SplitProblem<D> split(alone(), whole);
  ScaledProblem<D> scaled;
  scaled.rebuild(split.problem());
  std::vector<Real> own(r.size()), scaled_r(r.size()), y(scaled.velocity_size());
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = r[static_cast<std::size_t>(split.contact_number()[i / D]) * D + i % D];
  scaled.scale_impulse(own, scaled_r);
  return find_residual<D>(scaled, ResidualNorm::natural, scaled_r, y);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("friction solvers: on all ranks together as on one, nsgs to the bit", "[mpi]",
                       ((int D), D), 2, 3) {
  const Comm world;
  for (const auto& [problem, whole] : unique_problems<D>())
    for (const std::string& name : solver_names<D>()) {
      const Solution<D> together = solve_serial(world, whole, *make_solver<D>(name), tolerance);
      const Solution<D> serial = solve_serial(alone(), whole, *make_solver<D>(name), tolerance);
      const Residual& residual = together.report.residual;
      INFO(name << " on " << problem << ", residual " << residual.natural << ", on one rank "
                << serial.report.residual.natural);
      CHECK(together.report.converged);
      CHECK(serial.report.converged);
      CHECK(serial_residual(whole, together.r) == residual.natural);
      CHECK(is_same_on_all(world, fmt::format("{} {}", together.report.newton_steps,
                                              fmt::join(together.report.decisions, "\n"))));
      if (name == "nsgs") {
        CHECK(together.r == serial.r);
        CHECK(together.v == serial.v);
        CHECK(together.report.sweeps == serial.report.sweeps);
      } else {
        CHECK(kinetic_difference(whole, together.v, serial.v) < 1e-4);
      }
    }
}

TEMPLATE_TEST_CASE_SIG("friction solvers: ranks without bodies or contacts take part", "[mpi]", ((int D), D),
                       2, 3) {
  const Comm world;
  // A plate on the ground; the same and one in the air; nothing at all.
  const SerialProblem<D> one = generated<D>("sliding", 1);
  SerialProblem<D> two = one;
  std::vector<Real> inertia(D == 2 ? 1 : 9, 0.0);
  for (std::size_t k = 0; k < inertia.size(); k += 4) inertia[k] = 1;
  const Index flying =
      two.add_body(unit_vector<D>(0, 100.0), 1, inertia, std::vector<Real>(n_velocities<D>, 0.5));
  SerialProblem<D> none;
  none.time_step = 0.01;
  for (const std::string& name : solver_names<D>()) {
    INFO(name);
    CHECK(solve_serial(world, one, *make_solver<D>(name), tolerance).report.converged);
    const Solution<D> with_flying = solve_serial(world, two, *make_solver<D>(name), tolerance);
    CHECK(with_flying.report.converged);
    CHECK(with_flying.v[static_cast<std::size_t>(flying) * n_velocities<D>] == Approx(0.5));
    CHECK(solve_serial(world, none, *make_solver<D>(name), tolerance).report.converged);
  }
}

TEST_CASE("friction solvers: a problem that is none is refused on all ranks, with the same words", "[mpi]") {
  using Serial = SerialProblem<3>;
  const Comm world;
  Serial whole = generated<3>("wall", 4);
  make_compliant(whole, 1e-2);
  constexpr Index body = 13;
  constexpr Index contact = 37;
  const std::string pair =
      fmt::format("contact of body {} and body {}: ", whole.a[contact], whole.b[contact]);
  const auto put = [](std::vector<Real> Serial::*field, Index place, Real value) {
    return [=](Serial& p) { (p.*field)[place] = value; };
  };
  const struct {
    std::function<void(Serial&)> spoil;
    std::string words;
  } cases[] = {
      {put(&Serial::mu, contact, -0.3), pair + "mu = -0.3"},
      {put(&Serial::mu, contact, NAN), pair + "mu = nan"},
      {put(&Serial::bias, contact * 3 + 1, NAN), pair + "its bias"},
      {put(&Serial::jacobian, contact * 36 + 20, NAN), pair + "its Jacobian"},
      {put(&Serial::compliance, contact * 2 + 1, NAN), pair + "a compliance"},
      {put(&Serial::compliance, contact * 2, -1), pair + "a compliance"},
      {put(&Serial::mass, body * 36, 0), "body 13 has mass 0 kg"},
      {put(&Serial::mass, body * 36 + 8, NAN), "the mass of body 13 is not finite"},
      {put(&Serial::mass, body * 36 + 28, 0), "the mass matrix of body 13 is singular"},
      {put(&Serial::free_velocity, body * 6 + 4, NAN), "the free velocity of body 13"},
      {[](Serial& p) { p.a[contact] = p.b[contact] = -1; }, "contact 37 is between bodies -1 and -1"},
      // Of many faults all ranks name the one that one rank would.
      {[](Serial& p) { std::fill(p.mu.begin(), p.mu.end(), -1.0); },
       "contact of a static body and body 0: mu"},
      {[](Serial& p) {
         std::fill(p.mu.begin() + contact, p.mu.end(), NAN);
         std::fill(p.mass.begin() + 36 * body, p.mass.end(), -1.0);
       },
       ""},
  };
  for (const auto& [spoil, words] : cases) {
    Serial spoilt = whole;
    spoil(spoilt);
    const auto refusal = [&](const Comm& comm) {
      return message_of<InputError>([&] { solve_serial(comm, spoilt, *make_solver<3>("nsgs"), tolerance); });
    };
    const std::string together = refusal(world);
    CHECK_THAT(together, Contains(words));
    CHECK(is_same_on_all(world, together));
    CHECK(together == refusal(alone()));
  }
}

TEST_CASE("friction solvers: a contact without bodies on one rank is refused on all", "[mpi]") {
  const Comm world;
  SplitProblem<3> split(world, generated<3>("wall", 4));
  if (world.rank() == world.size() - 1) split.problem().a[0] = split.problem().b[0] = -1;
  CHECK_THROWS_WITH(split.problem().validate(), Contains("one or two different bodies"));
}

TEST_CASE("friction solvers: impulses to start from that are not finite on one rank are refused on all",
          "[mpi]") {
  const Comm world;
  const SerialProblem<3> whole = generated<3>("wall", 3);
  std::vector<Real> start(whole.mu.size() * 3, 0.1);
  start[17] = NAN;  // this contact is on one rank
  CHECK_THROWS_WITH(solve_serial(world, whole, *make_solver<3>("nsgs"), tolerance, start),
                    Contains("to start from are not finite"));
}

TEST_CASE("friction solvers: linear systems that fail are in the report, and the best impulses are kept",
          "[mpi]") {
  const Comm world;
  SerialProblem<3> whole = generated<3>("pile", 150);
  make_compliant(whole, 1e-2);
  const struct {
    const char *solver, *options, *words;
  } cases[] = {
      {"admm", "-scree_ksp_type cg -scree_ksp_max_it 1", "DIVERGED_ITS after 1 iterations"},
      {"ipm", "-scree_ksp_type cg -scree_ksp_max_it 1", "DIVERGED_ITS after 1 iterations"},
      {"newton", "-scree_ksp_type gmres -scree_ksp_max_it 1", "DIVERGED_ITS after 1 iterations"},
      {"newton", "-scree_mat_mumps_icntl_23 1", "too little memory"},
      {"ipm", "-scree_pc_type lu -scree_pc_factor_mat_solver_type mumps -scree_mat_mumps_icntl_23 1",
       "too little memory"},
  };
  for (const auto& [solver, options, words] : cases) {
    CAPTURE(solver, options);
    const PetscOptionsScope scope(options);
    const Solution<3> solution = solve_serial(world, whole, *make_solver<3>(solver), 1e-10);
    const SolveReport& report = solution.report;
    const std::string decisions = fmt::format("{}", fmt::join(report.decisions, "\n"));
    CHECK_THAT(decisions, Contains(words));
    CHECK(is_same_on_all(world, decisions));
    CHECK_FALSE(report.converged);
    CHECK(scope.n_left() == 0);
    CHECK(report.residual.natural == Approx(min_residual(report)).epsilon(1e-9));
    CHECK(serial_residual(whole, solution.r) == report.residual.natural);
  }
}

TEST_CASE("friction solvers: PETSc options that name nothing are bad input on all ranks", "[mpi]") {
  const Comm world;
  const SerialProblem<3> whole = generated<3>("wall", 2);
  const struct {
    const char *options, *words;
  } cases[] = {{"-scree_ksp_type frob", "KSP type frob"},
               {"-scree_pc_type frob", "PC type frob"},
               {"-scree_ksp_type cg -scree_ksp_max_it few", "few has no integer value"},
               {"-scree_mat_type dense", "-scree_mat_type dense"},
               {"-scree_pc_type lu -scree_pc_factor_mat_solver_type frob", "solver type frob"}};
  for (const auto& [options, words] : cases) {
    CAPTURE(options);
    const PetscOptionsScope scope(options);
    const std::string message =
        message_of<InputError>([&] { solve_serial(world, whole, *make_solver<3>("admm"), tolerance); });
    CHECK_THAT(message, Contains("PETSc options: ") && Contains(words));
    CHECK(is_same_on_all(world, message));
  }
}
