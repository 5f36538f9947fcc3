// What every registered solver promises for problems that are not of rigid bodies with symmetric masses.
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "support/generated.hpp"
#include "support/local_form.hpp"
#include "support/solve_serial.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

constexpr StopRule stop{.tolerance = 1e-6, .norm = ResidualNorm::fclib};

/// The FCLIB residual of impulses r in a problem, worked out from scratch.
template <int D>
Real residual_of(const FrictionProblem<D>& problem, std::span<const Real> r) {
  ScaledProblem<D> scaled;
  scaled.rebuild(problem);
  std::vector<Real> impulse(r.size()), y(scaled.velocity_size());
  scaled.scale_impulse(r, impulse);
  return find_residual<D>(scaled, ResidualNorm::fclib, impulse, y);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("solvers: all solve the local form, and with it the problem of the bodies",
                       "[solvers]", ((int D), D), 2, 3) {
  for (const char* family : {"stack", "wall", "sliding", "redundant"}) {
    SerialProblem<D> whole = generated<D>(family, 3);
    for (const Real compliance : {0.0, 1e-2}) {
      whole.compliance.assign(whole.a.size() * 2, compliance);
      const auto local = eliminate_bodies<D>(whole);
      const SplitProblem<D> split(Comm(), whole);
      for (const std::string& name : solver_names<D>()) {
        INFO(name << " on " << family << ", compliance " << compliance);
        std::vector<Real> r(whole.a.size() * D, 0.0);
        std::vector<Real> v(static_cast<std::size_t>(local->problem().n_local()) * n_velocities<D>);
        CHECK(solve_friction<D>(local->problem(), *make_solver<D>(name), stop, r, v).converged);
        std::vector<Real> of_split(r.size());
        for (std::size_t i = 0; i < r.size(); ++i)
          of_split[i] = r[static_cast<std::size_t>(split.contact_number()[i / D]) * D + i % D];
        CHECK(residual_of<D>(split.problem(), of_split) <= 1.001e-6);
      }
    }
  }
}

TEST_CASE("solvers: all solve problems with unsymmetric masses as they are", "[solvers]") {
  const std::pair<const char*, int> families[] = {{"stack", 3}, {"wall", 3}, {"sliding", 3}, {"jammed", 1}};
  for (const auto& [family, size] : families) {
    SerialProblem<3> whole = generated<3>(family, size);
    const SerialProblem<3> symmetric = whole;
    add_gyroscopic_terms(whole, 0.04);
    const auto local = eliminate_bodies<3>(whole);
    for (const std::string& name : solver_names<3>()) {
      INFO(name << " on " << family);
      // Its matrices are too badly conditioned for factors without symmetry where contacts are redundant.
      if (name == "ipm" && std::string_view(family) == "wall") continue;
      const SplitProblem<3> split(Comm(), whole);
      std::vector<Real> r(whole.a.size() * 3, 0.0);
      std::vector<Real> v(static_cast<std::size_t>(split.problem().n_local()) * 6);
      CHECK(solve_friction<3>(split.problem(), *make_solver<3>(name), stop, r, v).converged);
      std::vector<Real> of_list(r.size());
      for (std::size_t i = 0; i < r.size(); ++i)
        of_list[static_cast<std::size_t>(split.contact_number()[i / 3]) * 3 + i % 3] = r[i];
      CHECK(residual_of<3>(local->problem(), of_list) <= 1.001e-6);
      // The check can fail: the symmetric problem is another one.
      if (std::string_view(family) == "jammed")
        CHECK(residual_of<3>(eliminate_bodies<3>(symmetric)->problem(), of_list) > 1e-5);
    }
  }
}

TEST_CASE("friction problem: local forms that are none are refused", "[solvers]") {
  const SerialProblem<3> whole = generated<3>("stack", 2);
  const auto refused = [&](auto&& spoil, const char* words) {
    const auto local = eliminate_bodies<3>(whole);
    spoil(local->problem());
    CHECK_THROWS_WITH(local->problem().validate(), Contains(words));
  };
  refused([](auto& problem) { problem.mu[1] = -0.1; }, "contact 1: mu = -0.1");
  refused([](auto& problem) { problem.bias[7] = NAN; }, "contact 2: its free velocity is not finite");
  refused([](auto& problem) { problem.local.block[4] = NAN; }, "contact 0: its column of W is not finite");
  refused([](auto& problem) { problem.local.block[0] = -1; },
          "contact 0: its own block of W is not positive definite");
  refused([](auto& problem) { std::swap(problem.local.row[0], problem.local.row[1]); },
          "contact 0: its column of W is not in order");
  refused([](auto& problem) { problem.bias.pop_back(); }, "arrays do not fit");
}

TEST_CASE("residual: the norms of FCLIB are those of their definition", "[solvers]") {
  // One contact, W = diag(2, 1, 1), q = (-1, 3, 0), mu = 0.5 and r = (0.25, 0.1, 0): u = (-0.5, 3.1, 0),
  // u^ = (1.05, 3.1, 0), r - u^ = (-0.8, -3, 0) projects to n (1, -0.5, 0), n = (-0.8 + 1.5) / 1.25 = 0.56.
  LocalForm<3> form{{0, 1}, {0}, {2, 0, 0, 0, 1, 0, 0, 0, 1}};
  const LocalProblem<3> local(Comm(), form, {-1, 3, 0}, {0.5});
  ScaledProblem<3> scaled;
  scaled.rebuild(local.problem());
  std::vector<Real> impulse(3), y(scaled.velocity_size());
  scaled.scale_impulse(std::vector<Real>{0.25, 0.1, 0}, impulse);
  const Residual residual = evaluate_residual<3>(scaled, impulse, y, ResidualNorm::fclib);
  const Real error = std::hypot(0.25 - 0.56, 0.1 + 0.28);
  CHECK(residual.fclib_absolute == Approx(error / std::sqrt(10.0)).epsilon(1e-14));
  CHECK(residual.fclib_relative == Approx(error / std::sqrt(10.0)).epsilon(1e-14));
  CHECK(value_of(residual, ResidualNorm::fclib) == Approx(error / std::sqrt(10.0)).epsilon(1e-14));
  CHECK(std::isnan(evaluate_residual<3>(scaled, impulse, y).fclib_absolute));
}
