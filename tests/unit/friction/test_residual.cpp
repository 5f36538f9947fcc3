#include "friction/residual.hpp"

#include <catch2/catch.hpp>

#include "replay/split_problem.hpp"

using namespace scree;

namespace {

/// A point-like disc of 2 kg on the floor, pressed by gravity for a step and sliding to the right.
SerialProblem<2> disc(Real speed, Real fall) {
  SerialProblem<2> whole;
  whole.add_body({{0, 0}}, 2, std::array{1e-3}, std::array{speed, -fall, 0.0});
  whole.add_contact(-1, 0, {{0, 0}}, {{0, 1}}, 0.5);
  whole.time_step = 0.01;
  whole.velocity_floor = 0.1;
  return whole;
}

Residual residual_of(const SerialProblem<2>& whole, std::vector<Real> r) {
  SplitProblem<2> split(Comm(), whole);
  ScaledProblem<2> scaled;
  scaled.rebuild(split.problem());
  std::vector<Real> scaled_r(r.size());
  scaled.scale_impulse(r, scaled_r);
  std::vector<Real> y(scaled.velocity_size());
  const Residual residual = evaluate_residual<2>(scaled, scaled_r, y);
  CHECK(find_residual<2>(scaled, ResidualNorm::natural, scaled_r, y) == residual.natural);
  return residual;
}

}  // namespace

TEST_CASE("residual: nothing is wrong with the exact answer", "[solvers]") {
  // Falls with 0.1 m/s, slides with 1 m/s: r_N = 0.2 N s stops the fall, friction 0.1 N s takes 0.05 m/s. The
  // tangent of a contact with normal (0, 1) points to the left.
  const Residual residual = residual_of(disc(1, 0.1), {0.2, 0.1});
  CHECK(residual.natural < 1e-15);
  CHECK(residual.penetration_rate < 1e-15);
  CHECK(residual.cone_violation < 1e-15);
  CHECK(residual.complementarity < 1e-15);
  CHECK(residual.dissipation_error < 1e-15);
}

TEST_CASE("residual: each part shows the defect it is named after, in physical units", "[solvers]") {
  // Without impulse the disc goes on falling: 0.1 m/s. v_c = |(0.1, 1)|, m_c = 2.
  const Residual falls = residual_of(disc(1, 0.1), {0, 0});
  CHECK(falls.penetration_rate == Approx(0.1));
  CHECK(falls.cone_violation == 0);
  // Natural map, scaled: r - P(0 - u^), u = (-0.1, -1)/v_c, u^_N = (-0.1 + 0.5)/v_c, so x = (-0.4, 1)/v_c has
  // the projection n = (-0.4 + 0.5)/1.25 = 0.08: length 0.08 sqrt(1.25)/v_c.
  CHECK(falls.natural == Approx(0.08 * std::sqrt(1.25) / std::sqrt(1.01)));

  const Residual pulls = residual_of(disc(1, 0.1), {-0.02, 0});
  CHECK(pulls.cone_violation == Approx(0.02));
  CHECK(pulls.penetration_rate == Approx(0.11));

  const Residual too_much_friction = residual_of(disc(1, 0.1), {0.2, 0.16});
  CHECK(too_much_friction.cone_violation == Approx(0.06));

  // Lifts with 0.05 m/s and is still pressed with 0.3 N s.
  const Residual lifts = residual_of(disc(0, 0.1), {0.3, 0});
  CHECK(lifts.complementarity == Approx(0.05 * 0.3));

  // Slides without friction: mu r_N |u_T| = 0.1 W.
  const Residual frictionless = residual_of(disc(1, 0.1), {0.2, 0});
  CHECK(frictionless.dissipation_error == Approx(0.5 * 0.2 * 1));
}

TEST_CASE("residual: at rest it is relative to the velocity floor", "[solvers]") {
  // u = 0.001 m/s of approach, floor 0.1 m/s.
  CHECK(residual_of(disc(0, 0.001), {0, 0}).natural == Approx(0.01));
}

TEST_CASE("residual: the overlap that compliance implies is G r dt", "[solvers]") {
  SerialProblem<2> whole = disc(0, 0.1);
  whole.compliance = {0.5, 0.5};  // s/kg: u_N = v_N + 0.5 r_N
  // -0.1 + r/2 + 0.5 r = 0.
  const Residual residual = residual_of(whole, {0.1, 0});
  CHECK(residual.natural < 1e-15);
  CHECK(residual.implied_overlap == Approx(0.5 * 0.1 * 0.01));
}

TEST_CASE("residual: a problem without contacts has none", "[solvers]") {
  SerialProblem<2> whole;
  whole.add_body({{0, 0}}, 2, std::array{1e-3}, std::array{1.0, 0.0, 0.0});
  whole.time_step = 0.01;
  CHECK(residual_of(whole, {}).natural == 0);
}
