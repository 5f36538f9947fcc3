#include "friction/friction_problem.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/random.hpp"
#include "friction/scaled_problem.hpp"
#include "replay/generated_problems.hpp"
#include "replay/split_problem.hpp"
#include "support/message_of.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

/// Boxes at odd angles, with impulses and velocities at random.
struct Random {
  SerialProblem<3> whole = generate_problem<3>("arch", 5);
  SplitProblem<3> split{Comm(), whole};
  ScaledProblem<3> scaled;
  std::vector<Real> r, scaled_r, y, v;

  Random() {
    split.problem().compliance.assign(split.problem().a.size() * 2, 0.3);
    scaled.rebuild(split.problem());
    RandomStream random(2, 2, 1);
    r.resize(scaled.impulse_size());
    for (Real& x : r) x = random.uniform(-1, 1);
    scaled_r.resize(r.size());
    scaled.scale_impulse(r, scaled_r);
    y.resize(scaled.velocity_size());
    scaled.velocity_from_impulse(scaled_r, y);
    v.resize(static_cast<std::size_t>(scaled.n_local()) * 6);
    scaled.unscale_velocity(y, v);
  }
};

}  // namespace

TEST_CASE("friction problem: scaled velocities obey the balance of momentum of the original", "[solvers]") {
  const Random random;
  const FrictionProblem<3>& problem = random.split.problem();
  // M (v - v_free) - H^T r, body by body.
  std::vector<Real> rest(random.v.size(), 0.0);
  for (std::size_t i = 0; i < rest.size() / 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t k = 0; k < 6; ++k)
        rest[i * 6 + j] +=
            problem.mass[(i * 6 + j) * 6 + k] * (random.v[i * 6 + k] - problem.free_velocity[i * 6 + k]);
  for (std::size_t c = 0; c < problem.a.size(); ++c)
    for (std::size_t side = 0; side < 2; ++side) {
      const Index body = side == 0 ? problem.a[c] : problem.b[c];
      if (body < 0) continue;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 6; ++k)
          rest[static_cast<std::size_t>(body) * 6 + k] -=
              problem.jacobian[((c * 2 + side) * 3 + i) * 6 + k] * random.r[c * 3 + i];
    }
  for (const Real x : rest) CHECK(std::abs(x) < 1e-13);
}

TEST_CASE("friction problem: scaled contact velocities are those of the original over v_c", "[solvers]") {
  const Random random;
  const FrictionProblem<3>& problem = random.split.problem();
  for (std::size_t c = 0; c < problem.a.size(); ++c) {
    Real u[3];
    random.scaled.relative_velocity(static_cast<Index>(c), random.scaled_r, random.y, u);
    for (std::size_t i = 0; i < 3; ++i) {
      Real expected = problem.bias[c * 3 + i] + 0.3 * random.r[c * 3 + i];
      for (std::size_t side = 0; side < 2; ++side) {
        const Index body = side == 0 ? problem.a[c] : problem.b[c];
        if (body < 0) continue;
        for (std::size_t k = 0; k < 6; ++k)
          expected += problem.jacobian[((c * 2 + side) * 3 + i) * 6 + k] *
                      random.v[static_cast<std::size_t>(body) * 6 + k];
      }
      CHECK(u[i] * random.scaled.velocity_scale() == Approx(expected).epsilon(1e-11).margin(1e-12));
    }
  }
}

TEST_CASE("friction problem: scales are the mean mass and the rms contact velocity, with a floor",
          "[solvers]") {
  SerialProblem<2> whole;
  whole.add_body({{0, 0}}, 1, std::array{0.1}, std::array{0.0, -3.0, 0.0});
  whole.add_body({{5, 0}}, 3, std::array{0.1}, std::array{4.0, 0.0, 0.0});
  whole.add_contact(-1, 0, {{0, 0}}, {{0, 1}}, 0.5);
  whole.add_contact(-1, 1, {{5, 0}}, {{0, 1}}, 0.5, 1.0);
  whole.time_step = 0.01;
  whole.velocity_floor = 0.1;
  const SplitProblem<2> split(Comm(), whole);
  ScaledProblem<2> scaled;
  scaled.rebuild(split.problem());
  CHECK(scaled.mass_scale() == Approx(2));
  CHECK(scaled.velocity_scale() == Approx(std::sqrt((9.0 + 16 + 1) / 2)));
  // W = m_c H M^-1 H^T.
  CHECK(scaled.contacts()[0].W[0][0] * scaled.contacts()[1].W[0][0] == Approx(2.0 / 1 * 2.0 / 3));

  whole.velocity_floor = 50;
  const SplitProblem<2> slow(Comm(), whole);
  scaled.rebuild(slow.problem());
  CHECK(scaled.velocity_scale() == 50);
  FrictionProblem<2> given = slow.problem();
  given.velocity_scale = 7;
  scaled.rebuild(given);
  CHECK(scaled.velocity_scale() == 7);
}

TEST_CASE("friction problem: one message for each way to be no problem", "[solvers]") {
  const SerialProblem<3> whole = generate_problem<3>("stack", 3);
  using Problem = FrictionProblem<3>;
  const auto refusal = [&](const std::function<void(Problem&)>& spoil) {
    SplitProblem<3> split(Comm(), whole);
    spoil(split.problem());
    return message_of<InputError>([&] { split.problem().validate(); });
  };
  CHECK(refusal([](Problem&) {}).empty());
  CHECK_THAT(refusal([](Problem& p) { p.mu.pop_back(); }), Contains("do not fit"));
  CHECK_THAT(refusal([](Problem& p) { p.mu[1] = -0.1; }), Contains("mu = -0.1"));
  CHECK_THAT(refusal([](Problem& p) { p.mu[1] = NAN; }), Contains("mu = nan"));
  CHECK_THAT(refusal([](Problem& p) { p.mass[0] = 0; }), Contains("has mass 0 kg"));
  CHECK_THAT(refusal([](Problem& p) { p.mass[36 + 5 * 6 + 5] = 0; }), Contains("inertia"));
  CHECK_THAT(refusal([](Problem& p) { p.mass[4 * 6 + 3] = 1; }), Contains("inertia"));
  CHECK_THAT(refusal([](Problem& p) { p.mass[40] = NAN; }), Contains("not finite"));
  CHECK_THAT(refusal([](Problem& p) { p.free_velocity[3] = HUGE_VAL; }), Contains("free velocity"));
  CHECK_THAT(refusal([](Problem& p) { p.jacobian[40] = NAN; }), Contains("Jacobian is not finite"));
  CHECK_THAT(refusal([](Problem& p) { p.bias[0] = NAN; }), Contains("bias"));
  CHECK_THAT(refusal([](Problem& p) { std::fill(p.jacobian.begin(), p.jacobian.begin() + 36, 0.0); }),
             Contains("zero"));
  CHECK_THAT(refusal([](Problem& p) { p.a[0] = p.b[0] = -1; }), Contains("two different bodies"));
  CHECK_THAT(refusal([](Problem& p) { p.b[0] = 99; }), Contains("two different bodies"));
  CHECK_THAT(refusal([](Problem& p) {
               p.compliance.assign(p.a.size() * 2, 0.0);
               p.compliance[3] = -1;
             }),
             Contains("compliance"));
  CHECK_THAT(refusal([](Problem& p) { p.time_step = NAN; }), Contains("time step"));
  CHECK_THAT(refusal([](Problem& p) { p.velocity_floor = -1; }), Contains("velocity floor"));
  // The message is about the body of the smallest number, whatever was found first.
  CHECK_THAT(refusal([](Problem& p) {
               for (std::size_t i = 0; i < 3; ++i) p.mass[i * 36] = 0;
             }),
             Contains("body 0 "));
}
