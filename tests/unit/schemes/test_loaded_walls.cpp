#include "schemes/nonsmooth/loaded_walls.hpp"

#include "unit/schemes/few_balls.hpp"

namespace scree {

namespace {

constexpr Real dt = 1e-2;
/// Under the disk, pushed up by 5 N.
const std::string lift = "[pairs]\n'm-m' = { friction = 0.5, restitution = 0 }\n" + floor_table +
                         "motion = { type = 'driven', axis = [0, 1], load = 5, max_speed = 1 }\n";

}  // namespace

TEST_CASE("walls under load: contacts give way by what impulses differ from those of the last step",
          "[dynamics]") {
  FewBalls<2> balls(disk_on_floor(), dt, lift);
  REQUIRE(balls.state.obstacles.driven().size() == 1);
  const std::array<Real, 2> last{0.3, 0.1};
  balls.memory.store(balls.problem(), balls.assembler.contacts(),
                     [&](std::size_t, std::size_t i) { return last[i]; });
  LoadedWalls<2> walls(balls.state, balls.assembler);
  walls.forget(balls.neighborhood);
  walls.set_stiffness(4);
  walls.add_to(balls.memory, 2);
  const Real softness = 1 / (4 * 2.0);  // 1 / (s m)
  CHECK(balls.problem().compliance == std::vector<Real>{softness, softness});
  CHECK(balls.problem().bias[0] == Approx(-softness * 2 * 0.3));
  CHECK(balls.problem().bias[1] == Approx(-softness * 2 * 0.1));
  CHECK(walls.compliance_velocity(0) == Approx(softness * 2 * 0.3));
  CHECK(walls.velocity_scale() == Approx(2));  // the approach: what gives way is no velocity
}

TEST_CASE("walls under load: the reaction is impulse over step, and a wall at its largest speed is rigid",
          "[dynamics]") {
  FewBalls<2> balls(disk_on_floor(), dt, lift);
  LoadedWalls<2> walls(balls.state, balls.assembler);
  walls.forget(balls.neighborhood);
  walls.add_to(balls.memory, 1);
  const std::vector<Real> r{0.4, 0};
  const auto reaction = walls.react(r)[0];
  CHECK(reaction.load == Approx(0.4 / dt));
  CHECK(reaction.slope == Approx(2 / dt));  // s m / dt
  CHECK(reaction.pressed == Approx(2 / dt));
  CHECK(reaction.deflection == Approx(0.4 / 2));
  CHECK(walls.largest_penetration_rate(r) == Approx(0).margin(1e-15));  // there is one contact
  walls.set_rigid(0, true);
  balls.assemble();
  walls.add_to(balls.memory, 1);
  CHECK(balls.problem().compliance == std::vector<Real>{0, 0});
}

TEST_CASE("walls under load: slowed down by what contacts gave way, they do the work of a slower wall",
          "[dynamics]") {
  FewBalls<2> balls(disk_on_floor(), dt, lift);
  balls.state.obstacles.driven()[0].velocity = 0.5;
  balls.assemble();
  LoadedWalls<2> walls(balls.state, balls.assembler);
  walls.forget(balls.neighborhood);
  walls.add_to(balls.memory, 1);
  const auto solution = balls.solution({0.4, 0});
  walls.react(solution.impulse);
  walls.slow_down(solution.impulse);
  CHECK(balls.assembler.surface_velocity()[0] == Approx(-(0.5 - 0.2)));  // the normal points to the wall
  // The same velocities solve it with r_old = r: u = H v + w, without what gives way.
  CHECK(balls.problem().bias[0] == Approx(-(0.5 - 0.2) - 0.4 / 2));
  ContactWork work;
  work.clear(1);
  work.add(balls.step(), solution, 0);
  CHECK(work.obstacle[0] == Approx(0.4 * 0.3));
}

TEST_CASE("walls under load: a guess that is to carry more does, in contacts that press", "[dynamics]") {
  FewBalls<2> balls(disk_on_floor(), dt, lift);
  LoadedWalls<2> walls(balls.state, balls.assembler);
  walls.forget(balls.neighborhood);
  walls.add_to(balls.memory, 1);
  std::vector<Real> r{0.4, 0};
  walls.react(r);
  walls.set_target_load(0, 7);
  walls.change_guess(r);
  CHECK(r[0] == Approx(0.4 + 7 * dt));
  walls.change_guess(r);  // asked for once
  CHECK(r[0] == Approx(0.4 + 7 * dt));
  // From here on the present impulses are what contacts refer to.
  walls.set_reference_impulse(r);
  balls.assemble();
  walls.add_to(balls.memory, 1);
  CHECK(balls.problem().bias[0] == Approx(-r[0] / 2));
}

}  // namespace scree
