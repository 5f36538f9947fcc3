#include "verify/dry_friction.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"

using namespace scree;

namespace {

using Motion = DryFrictionMotion;

Motion::Data constant_force(Real force, Real limit) {
  return {
      .force = [force](Real, Real, Real) { return force; }, .mass = 2, .limit = limit, .tolerance = 1e-12};
}

}  // namespace

TEST_CASE("Dry friction: the mode at rest follows from the two accelerations") {
  using enum FrictionMode;
  // (F - mu N)/m and -(F + mu N)/m for mu N/m = 1
  const auto mode = [](Real force) { return mode_at_rest(force - 1, -(force + 1), 1e-12); };
  CHECK(mode(2) == forward);
  CHECK(mode(-2) == backward);
  CHECK(mode(0) == stick);
  CHECK(mode(1) == stick);
  CHECK(mode(-1) == stick);
  CHECK(mode(1 + 1e-15) == stick);
  CHECK(mode(1 + 1e-9) == forward);
  CHECK(mode_at_rest(1, 1, 0) == impossible);
}

TEST_CASE("Dry friction: stops inside a step, sticks without a trace of velocity") {
  for (const char* name : {"rk4", "symplectic_euler"}) {
    CAPTURE(name);
    const auto integrator = make_integrator<2>(name);
    Motion motion(constant_force(3, 4), *integrator);
    // Backward from v = -1: a = (3 + 4)/2
    motion.start(0, 0, -1);
    motion.step(1);
    CHECK(motion.v() == 0);
    CHECK(motion.mode() == FrictionMode::stick);
    CHECK(motion.last_stop() == Approx(2.0 / 7).epsilon(1e-15));
    if (integrator->order() > 1) CHECK(motion.x() == Approx(-1.0 / 7).epsilon(1e-15));
    const Real x = motion.x();
    for (int step = 0; step < 100; ++step) motion.step(0.1);
    CHECK(motion.x() == x);
    CHECK(motion.v() == 0);
  }
}

TEST_CASE("Dry friction: turns round inside a step") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion(constant_force(3, 1), *integrator);
  motion.start(0, 0, -1);  // a = 2 up to t = 1/2, x = -1/4, then a = 1
  motion.step(2);
  CHECK(motion.mode() == FrictionMode::forward);
  CHECK(motion.v() == Approx(1.5).epsilon(1e-14));
  CHECK(motion.x() == Approx(-0.25 + 1.125).epsilon(1e-14));
}

TEST_CASE("Dry friction: slips at the moment a growing force reaches the limit") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion({.force = [](Real t, Real, Real) { return t; }, .mass = 1, .limit = 0.7, .tolerance = 0},
                *integrator);
  motion.start(0, 5, 0);
  motion.step(0.6);
  CHECK(motion.x() == 5);
  motion.step(0.4);  // v = (t - 0.7)^2/2
  CHECK(motion.mode() == FrictionMode::forward);
  CHECK(motion.v() == Approx(0.045).epsilon(1e-12));
  CHECK(motion.x() == Approx(5.0045).epsilon(1e-14));
}

TEST_CASE("Dry friction: a limit that just holds does, whatever round-off says") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion(constant_force(0.1 + 0.2, 0.3), *integrator);
  motion.start(0, 0, -1);
  for (int step = 0; step < 50; ++step) motion.step(0.1);
  CHECK(motion.v() == 0);
  CHECK(motion.mode() == FrictionMode::stick);
}

TEST_CASE("Dry friction: what cannot be is refused") {
  const auto integrator = make_integrator<2>("rk4");
  Motion negative(constant_force(0, -1), *integrator);
  CHECK_THROWS_WITH(negative.start(0, 0, 0), Catch::Contains("both directions of sliding accelerate"));
  const auto gear = make_integrator<2>("gear");
  CHECK_THROWS_WITH(Motion(constant_force(0, 1), *gear), Catch::Contains("rk4 or symplectic_euler"));
}
