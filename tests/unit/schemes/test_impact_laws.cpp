// The law "multiple" in cases with a closed form, and the projection on admissible velocities.
#include <catch2/catch.hpp>
#include <numbers>

#include "schemes/event/impact_law.hpp"

namespace scree {

namespace {

struct Outcome {
  std::vector<Vec<2>> velocity;
  std::vector<Real> impulse;
  ImpactReport report;
};

Outcome resolve(std::string_view law, const ImpactProblem<2>& problem, std::vector<Vec<2>> velocity) {
  Outcome outcome{std::move(velocity), std::vector<Real>(problem.constraints.size()), {}};
  for (const auto& entry : registry<ImpactLaw<2>>())
    if (entry.name == law) outcome.report = entry.make()->resolve(problem, outcome.velocity, outcome.impulse);
  return outcome;
}

/// Equal disks in a row along x that touch.
std::vector<ImpactConstraint<2>> row_of_disks(int n, Real e) {
  std::vector<ImpactConstraint<2>> constraints;
  for (int i = 0; i + 1 < n; ++i) constraints.push_back({i, i + 1, unit_vector<2>(0), e, 0});
  return constraints;
}

}  // namespace

TEST_CASE("into a symmetric corner: straight back with e times the speed, in one step") {
  for (const Real e : {0.0, 0.3, 1.0}) {
    const Real angle = 0.4;
    const std::vector<ImpactConstraint<2>> walls{{0, -1, {{std::sin(angle), -std::cos(angle)}}, e, 0},
                                                 {0, -1, {{std::sin(angle), std::cos(angle)}}, e, 0}};
    const std::vector<Real> mass{3};
    const Outcome outcome = resolve("multiple", {mass, walls}, {{{2, 0}}});
    CHECK(outcome.report.steps == 1);
    CHECK(outcome.report.stop == ImpactStop::exit);
    CHECK(outcome.velocity[0][0] == Approx(-2 * e).margin(1e-15));
    CHECK(std::abs(outcome.velocity[0][1]) < 1e-15);
    CHECK(outcome.impulse[0] == Approx(outcome.impulse[1]));
    CHECK(outcome.impulse[0] == Approx(3 * 2 * (1 + e) / (2 * std::sin(angle))));
  }
}

TEST_CASE("different coefficients: the mean, weighted with the energy towards each wall") {
  // A right angle, hit off its bisector: the components are orthogonal, v = s, so v' = -e v.
  const std::vector<ImpactConstraint<2>> walls{{0, -1, unit_vector<2>(0), 0.2, 0},
                                               {0, -1, unit_vector<2>(1), 0.8, 0}};
  const std::vector<Real> mass{1};
  const Outcome outcome = resolve("multiple", {mass, walls}, {{{3, 1}}});
  const Real e = (0.2 * 9 + 0.8 * 1) / 10;
  CHECK(outcome.velocity[0][0] == Approx(-3 * e));
  CHECK(outcome.velocity[0][1] == Approx(-e));
  // One by one each wall has its own.
  const Outcome apart = resolve("sequential", {mass, walls}, {{{3, 1}}});
  CHECK(apart.velocity[0][0] == Approx(-0.6));
  CHECK(apart.velocity[0][1] == Approx(-0.8));
}

TEST_CASE("Newton's cradle: as many disks leave as come in") {
  constexpr int n = 5;
  const std::vector<Real> mass(n, 2.0);
  const std::vector<ImpactConstraint<2>> row = row_of_disks(n, 1);
  for (const std::string law : {"multiple", "sequential"})
    for (int n_in = 1; n_in < n; ++n_in) {
      CAPTURE(law, n_in);
      std::vector<Vec<2>> velocity(n);
      for (int i = 0; i < n_in; ++i) velocity[i] = unit_vector<2>(0, 1.5);
      const Outcome outcome = resolve(law, {mass, row}, velocity);
      for (int i = 0; i < n; ++i)
        CHECK(outcome.velocity[i][0] == Approx(i >= n - n_in ? 1.5 : 0).margin(1e-14));
    }
}

TEST_CASE("hit from both sides at once: the law acts on both contacts") {
  // Outer disks with speed 1 towards one in the middle: all bounce back as a mirror image.
  const std::vector<Real> mass{1, 1, 1};
  const std::vector<ImpactConstraint<2>> row = row_of_disks(3, 1);
  const Outcome outcome = resolve("multiple", {mass, row}, {{{1, 0}}, {{0, 0}}, {{-1, 0}}});
  CHECK(outcome.report.steps == 1);
  CHECK(outcome.velocity[0][0] == Approx(-1));
  CHECK(outcome.velocity[1][0] == Approx(0).margin(1e-15));
  CHECK(outcome.velocity[2][0] == Approx(1));
}

TEST_CASE("a narrow corner without rebound ends in rest, and max_steps ends what takes too long") {
  const Real k = std::tan(std::numbers::pi / 32);
  const std::vector<ImpactConstraint<2>> walls{{0, -1, {{k, -1}}, 0, 0}, {0, -1, {{k, 1}}, 0, 0}};
  const std::vector<Real> mass{1};
  CHECK(resolve("multiple", {mass, walls}, {{{1, k / 3}}}).report.stop == ImpactStop::rest);
  std::vector<Vec<2>> velocity{{{1, k / 3}}};
  std::vector<Real> impulse(2);
  for (const auto& entry : registry<ImpactLaw<2>>()) {
    const auto law = entry.make();
    ImpactLaw<2>::Settings settings;
    settings.max_steps = 3;
    law->set(settings);
    velocity = {{{1, k / 3}}};
    const ImpactReport report = law->resolve({mass, walls}, velocity, impulse);
    CHECK(report.stop == ImpactStop::limit);
    CHECK(report.steps == 3);
  }
}

TEST_CASE("projection on admissible velocities: the nearest one") {
  // The corner's polar cone: into the corner everything stops; along one wall the rest stays.
  const std::vector<ImpactConstraint<2>> walls{{0, -1, unit_vector<2>(0), 0, 0},
                                               {0, -1, Vec<2>{{0.6, 0.8}}, 0, 0}};
  const std::vector<Real> mass{4};
  std::vector<Real> impulse(2);
  std::vector<Vec<2>> v{{{2, 1}}};
  CHECK(project_admissible<2>({mass, walls}, std::vector<Real>{0, 0}, 1, v, impulse));
  CHECK(norm(v[0]) < 1e-14);
  CHECK(impulse[0] * 1 + impulse[1] * 0.6 == Approx(4 * 2));
  CHECK(impulse[1] * 0.8 == Approx(4 * 1));
  v = {{{2, -3}}};
  CHECK(project_admissible<2>({mass, walls}, std::vector<Real>{-0.5, 0}, 1, v, impulse));
  CHECK(norm(v[0] - Vec<2>{{-0.5, -3}}) < 1e-14);
  CHECK(impulse[0] == Approx(4 * 2.5));
  CHECK(impulse[1] == 0);
  // Between two walls that want it to leave both there is no way.
  const std::vector<ImpactConstraint<2>> channel{{0, -1, unit_vector<2>(0), 0, 0},
                                                 {0, -1, unit_vector<2>(0, -1), 0, 0}};
  CHECK_FALSE(project_admissible<2>({mass, channel}, std::vector<Real>{-1, -1}, 1, v, impulse));
}

}  // namespace scree
