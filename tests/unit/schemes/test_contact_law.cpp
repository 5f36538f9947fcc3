#include "schemes/common/contact_law.hpp"

#include <catch2/catch.hpp>

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

// Millimetre gaps, a step of 10 ms: a gap of 1 mm closes at 0.1 m/s.
const ContactLaw law{.dt = 1e-2, .rest_speed = 0.05, .contact_slop = 0, .baumgarte = 0};
constexpr Real slop = 1e-5;  // [m]

}  // namespace

TEST_CASE("contact law: a touching contact may not close, a gap may close but no more", "[dynamics]") {
  CHECK(normal_bias(law, 0, slop, 0, -1, -1) == 0);
  CHECK(normal_bias(law, slop, slop, 0, -1, -1) == 0);
  CHECK(normal_bias(law, 1e-3, slop, 0, -1, -1) == Approx(0.1));
  CHECK(normal_bias(law, 1e-3, slop, 0, 1, 1) == Approx(0.1));
}

TEST_CASE("contact law: an impact rebounds with e times its speed of approach", "[dynamics]") {
  // u_N + b >= 0 with b = e u_N(t): the bodies part at e |u_N(t)|.
  CHECK(normal_bias(law, 0, slop, 0.5, -1, -1.1) == -0.5);
  CHECK(normal_bias(law, -1e-3, slop, 1, -2, -2) == -2);
  // From afar too, if this step closes the gap: 9 mm at 1 m/s.
  CHECK(normal_bias(law, 9e-3, slop, 0.5, -1, -1) == -0.5);
  // By free motion alone, with a force that pulls: 10.5 mm.
  CHECK(normal_bias(law, 1.05e-2, slop, 0.5, -1, -1.1) == -0.5);
}

TEST_CASE("contact law: what does not meet in this step, rests or parts does not rebound", "[dynamics]") {
  CHECK(normal_bias(law, 2e-2, slop, 0.5, -1, -1) == Approx(2));
  // At the speed of rest, and slower.
  CHECK(normal_bias(law, 0, slop, 0.5, -0.05, -0.15) == 0);
  CHECK(normal_bias(law, 0, slop, 0.5, -0.0501, -0.15) == Approx(-0.02505));
  CHECK(normal_bias(law, 0, slop, 0.5, 0.3, -0.2) == 0);
  CHECK(normal_bias(law, 1e-4, slop, 0.5, 0.3, -0.2) == Approx(0.01));
}

TEST_CASE("contact law: overlap is pushed out on request only, and not that of touching bodies",
          "[dynamics]") {
  CHECK(normal_bias(law, -1e-3, slop, 0, 0, 0) == 0);
  ContactLaw pushing = law;
  pushing.baumgarte = 0.2;
  CHECK(normal_bias(pushing, -1e-3, slop, 0, 0, 0) == Approx(-0.2 * (1e-3 - slop) / 1e-2));
  CHECK(normal_bias(pushing, -0.5 * slop, slop, 0, 0, 0) == 0);
  CHECK(normal_bias(pushing, 1e-3, slop, 0, 0, 0) == Approx(0.1));
  // An impact leaves by itself.
  CHECK(normal_bias(pushing, -1e-3, slop, 0.5, -1, -1) == -0.5);
}

TEST_CASE("contact law: velocity of the surfaces of two bodies and of one at an obstacle", "[dynamics]") {
  FrictionProblem<2> problem;
  problem.a = {0, 1};
  problem.b = {1, -1};
  // Rows N, T of both ends of two contacts; q = 3 velocities per body.
  problem.jacobian = {-1, 0, 0, 0, -1, 2, 1, 0, 0, 0, 1, 3, 0, -1, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0};
  const std::vector<Real> of_obstacles{0, 0, 0.5, -0.25};
  const std::vector<Real> v{1, 2, 10, 4, 8, 100};
  CHECK(surface_velocity<2>(problem, of_obstacles, 0, v) == Vec<2>{{3, 6 + 20 + 300}});
  CHECK(surface_velocity<2>(problem, of_obstacles, 1, v) == Vec<2>{{-8 + 0.5, 4 + 400 - 0.25}});
}

}  // namespace scree
