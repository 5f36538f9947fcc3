// Semismooth Newton: a step against finite differences, how fast it converges, what it leaves behind when it
// fails, and why it says it ended.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "core/random.hpp"
#include "friction/newton/semismooth_newton.hpp"
#include "replay/generated_problems.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"
#include "support/petsc_options.hpp"
#include "support/solve_serial.hpp"

using namespace scree;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

/// A problem on one rank and its impulses, scaled.
template <int D>
struct Case {
  SplitProblem<D> split;
  ScaledProblem<D> problem;
  std::vector<Real> r;

  explicit Case(const SerialProblem<D>& whole) : split(Comm(), whole) {
    problem.rebuild(split.problem());
    r.assign(problem.impulse_size(), 0.0);
  }

  /// Gauss-Seidel from the present r.
  void sweep(Real tolerance) {
    SolveReport report;
    SolveMonitor<D> monitor(problem, {.tolerance = tolerance}, report);
    make_solver<D>("nsgs")->iterate(problem, r, monitor);
    REQUIRE(monitor.converged());
  }
};

template <int D>
Case<D> small_pile(Real compliance) {
  SerialProblem<D> whole = generate_problem<D>("pile", 20);
  make_compliant(whole, compliance);
  return Case<D>(whole);
}

/// z = r - R u of every contact (docs/method.md, eq. W.1).
template <int D>
std::vector<Real> find_z(const ScaledProblem<D>& problem, const std::vector<Real>& r) {
  std::vector<Real> y(problem.velocity_size()), z(r);
  problem.velocity_from_impulse(r, y);
  for (Index c = 0; c < problem.n_contacts(); ++c) {
    const auto& row = problem.contacts()[c];
    Real u[D];
    Real trace = 0;
    problem.relative_velocity(c, r, y, u);
    for (int i = 0; i < D; ++i) trace += row.W[i][i];
    for (int i = 0; i < D; ++i)
      z[c * D + i] -= typename SemismoothNewton<D>::Settings{}.penalty * D / trace * u[i];
  }
  return z;
}

enum State { open, stick, slip };

/// r - p of every contact; counts contacts by state.
template <int D>
std::vector<Real> find_error(const ScaledProblem<D>& problem, const std::vector<Real>& r,
                             std::array<int, 3>* n_of_state = nullptr) {
  const std::vector<Real> z = find_z(problem, r);
  std::vector<Real> error(r);
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    const Real bound = problem.contacts()[c].mu * std::max(z[c * D], 0.0);
    Real length = 0;
    for (std::size_t i = 1; i < D; ++i) length = std::hypot(length, z[c * D + i]);
    const State state = z[c * D] <= 0 ? open : length <= bound ? stick : slip;
    if (n_of_state) ++(*n_of_state)[state];
    if (state == open) continue;
    error[c * D] -= z[c * D];
    for (std::size_t i = 1; i < D; ++i) error[c * D + i] -= std::min(1.0, bound / length) * z[c * D + i];
  }
  return error;
}

Real greatest(const std::vector<Real>& values) {
  Real max = 0;
  for (const Real x : values) max = std::max(max, std::abs(x));
  return max;
}

Real norm_of(const std::vector<Real>& values) {
  Real sum = 0;
  for (const Real x : values) sum += x * x;
  return std::sqrt(sum);
}

template <int D>
using Settings = typename SemismoothNewton<D>::Settings;

template <int D>
struct Attempt {
  std::vector<Real> r;
  std::string end;
  SolveReport report;
  Real best;
};

template <int D>
Attempt<D> improve(const Case<D>& from, const Settings<D>& settings, Real tolerance = 0) {
  Attempt<D> attempt{.r = from.r, .end = {}, .report = {}, .best = 0};
  SolveMonitor<D> monitor(from.problem, {.tolerance = tolerance}, attempt.report);
  attempt.end = SemismoothNewton<D>(settings).improve(from.problem, attempt.r, monitor);
  attempt.best = monitor.best();
  return attempt;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("newton: a step solves the equations linearised by finite differences", "[solvers]",
                       ((int D), D), 2, 3) {
  // Compliance differs along N and T, so that neither can stand for the other.
  SerialProblem<D> whole = lattice_problem<D>(D == 2 ? 5 : 3, 0.2);
  whole.compliance.resize(whole.mu.size() * 2);
  for (std::size_t k = 0; k < whole.compliance.size(); ++k) whole.compliance[k] = k % 2 == 0 ? 0.02 : 0.05;
  Case<D> at(whole);
  at.sweep(1e-10);
  RandomStream random(5, 0, purpose::jitter);
  const Real size = 1e-5 * greatest(at.r);
  for (Real& x : at.r) x += random.uniform(-size, size);

  std::array<int, 3> n_of_state{};
  const std::vector<Real> before = find_error(at.problem, at.r, &n_of_state);
  CAPTURE(n_of_state[open], n_of_state[stick], n_of_state[slip]);
  REQUIRE(*std::min_element(n_of_state.begin(), n_of_state.end()) > 0);

  Settings<D> settings;
  settings.max_steps = 1;
  const Attempt<D> step = improve<D>(at, settings);
  CHECK(step.end == "the limit of 1 steps");
  CHECK(step.report.newton_steps == 1);
  CHECK(step.report.factorizations == 1);
  REQUIRE(step.r != at.r);

  constexpr Real h = 0.1;
  std::vector<Real> forward(at.r), backward(at.r);
  for (std::size_t i = 0; i < at.r.size(); ++i) {
    forward[i] += h * (step.r[i] - at.r[i]);
    backward[i] -= h * (step.r[i] - at.r[i]);
  }
  const std::vector<Real> ahead = find_error(at.problem, forward), behind = find_error(at.problem, backward);
  std::vector<Real> rest(before);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += (ahead[i] - behind[i]) / (2 * h);
  // The proximal term changes du by 1e-6, which counts `penalty` times.
  INFO("error " << greatest(before) << ", left by the linear equations " << greatest(rest));
  CHECK(greatest(rest) < 1e-4 * greatest(before));
}

TEMPLATE_TEST_CASE_SIG("newton: from 1e-4 to round-off in a few steps, each squares the error", "[solvers]",
                       ((int D), D), 2, 3) {
  Case<D> at = small_pile<D>(1e-2);
  at.sweep(1e-4);
  const Attempt<D> attempt = improve<D>(at, Settings<D>{}, 1e-11);
  CHECK(attempt.end == "done");
  CHECK(attempt.best <= 1e-11);
  CHECK(attempt.report.newton_steps <= 8);
  CHECK(attempt.report.factorizations == attempt.report.newton_steps);
  const auto& trace = attempt.report.trace;
  for (std::size_t k = 0; k + 1 < trace.size(); ++k) {
    INFO("step " << k << " from " << trace[k].residual << " to " << trace[k + 1].residual);
    // The proximal term leaves a share of eps / (m_c G) = 1e-4 at first.
    CHECK(trace[k + 1].residual <=
          1e3 * trace[k].residual * trace[k].residual + 1e-4 * trace[k].residual + 1e-14);
  }
}

TEMPLATE_TEST_CASE_SIG("newton: a Krylov method, by key or by option, finds what factors find", "[solvers]",
                       ((int D), D), 2, 3) {
  Case<D> at = small_pile<D>(1e-2);
  at.sweep(1e-3);
  const Attempt<D> direct = improve<D>(at, Settings<D>{}, 1e-11);
  REQUIRE(direct.end == "done");
  CHECK(direct.report.krylov_iterations == 0);
  Settings<D> iterative;
  iterative.linear.linear = "iterative";
  for (const char* options : {"", "-scree_ksp_type bcgs -scree_pc_type pbjacobi"}) {
    CAPTURE(D, options);
    const PetscOptionsScope scope(options);
    const Attempt<D> krylov = improve<D>(at, *options ? Settings<D>{} : iterative, 1e-11);
    CHECK(krylov.end == "done");
    CHECK(krylov.report.krylov_iterations > krylov.report.newton_steps);
    CHECK(scope.n_left() == 0);
    for (std::size_t i = 0; i < direct.r.size(); ++i)
      REQUIRE(krylov.r[i] == Approx(direct.r[i]).margin(1e-7 * greatest(direct.r)));
  }
}

TEMPLATE_TEST_CASE_SIG("newton: from far away the error never grows", "[solvers]", ((int D), D), 2, 3) {
  for (const Real compliance : {0.0, 1e-2})
    for (const GlobalId draw : {0, 1, 2, 3}) {
      Case<D> at = small_pile<D>(compliance);
      RandomStream random(8, draw, purpose::jitter);
      for (Real& x : at.r) x = static_cast<Real>(draw) * random.uniform(-1, 1);
      const Attempt<D> attempt = improve<D>(at, Settings<D>{}, 1e-9);
      CAPTURE(D, compliance, draw, attempt.end);
      CHECK(norm_of(find_error(at.problem, attempt.r)) <= norm_of(find_error(at.problem, at.r)));
      CHECK(attempt.best <= attempt.report.trace.front().residual);
      CHECK((attempt.best <= 1e-9) == (attempt.end == "done"));
    }
}

TEMPLATE_TEST_CASE_SIG("newton: linear systems that fail leave the impulses as they were", "[solvers]",
                       ((int D), D), 2, 3) {
  Case<D> at(lattice_problem<D>(D == 2 ? 18 : 7));
  const auto check = [&](const Attempt<D>& attempt) {
    CHECK(attempt.r == at.r);
    CHECK(attempt.best == attempt.report.trace.front().residual);
    // One try for each size of the proximal term, 1e-6 to 0.1.
    CHECK(attempt.report.newton_steps == 6);
  };
  Settings<D> settings;
  settings.linear.linear = "iterative";
  settings.linear.max_krylov = 1;
  const Attempt<D> by_key = improve<D>(at, settings);
  check(by_key);
  CHECK_THAT(by_key.end, Contains("could not be solved: DIVERGED_ITS after 1 iterations"));
  {
    const PetscOptionsScope scope("-scree_ksp_type gmres -scree_ksp_max_it 1");
    const Attempt<D> by_option = improve<D>(at, Settings<D>{});
    check(by_option);
    CHECK_THAT(by_option.end, Contains("could not be solved: DIVERGED_ITS after 1 iterations"));
  }
  const PetscOptionsScope scope("-scree_mat_mumps_icntl_23 1");
  const Attempt<D> starved = improve<D>(at, Settings<D>{});
  check(starved);
  CHECK_THAT(starved.end, Contains("could not be factorised") && Contains("too little memory"));
}

TEMPLATE_TEST_CASE_SIG("newton: says why it ended", "[solvers]", ((int D), D), 2, 3) {
  Case<D> at = small_pile<D>(1e-2);
  const Case<D> arch(generate_problem<D>("arch", 3));
  at.sweep(1e-4);
  CHECK(improve<D>(at, Settings<D>{}, 1e-3).end == "done");
  CHECK(improve<D>(at, Settings<D>{}, 1e-3).report.newton_steps == 0);
  Settings<D> settings;
  settings.max_steps = 2;
  CHECK(improve<D>(at, settings).end == "the limit of 2 steps");
  // Round-off is all that is left to lower; which of the two comes first is for it to say.
  for (const Case<D>& one : {std::cref(at), std::cref(arch)}) {
    const Attempt<D> attempt = improve<D>(one, Settings<D>{});
    CHECK_THAT(attempt.end, Equals("12 steps in a row have not halved the error") ||
                                Equals("no step shorter than its proximal term lowers the error"));
    CHECK(attempt.best < 1e-11);
  }
  at.r[0] = NAN;
  CHECK(improve<D>(at, Settings<D>{}).report.newton_steps <= 6);
}
