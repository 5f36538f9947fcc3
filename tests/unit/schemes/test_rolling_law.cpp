#include "schemes/nonsmooth/rolling_law.hpp"

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

const std::string rolling = "[pairs]\n'm-m' = { friction = 0.5, restitution = 0, rolling_friction = 0.1 }\n";
const std::string turning_floor = floor_table + "motion = { type = 'rotate', center = [0, 0], rate = 4 }\n";

}  // namespace

TEST_CASE("rolling law: rows have the coefficient, the effective radius and the spin of a wall",
          "[dynamics]") {
  FewSpheres<2> pair(two_disks(), 1e-3, rolling);
  RollingLaw<2>::add_to(pair.step());
  CHECK(pair.problem().rolling == std::vector<Real>{0.1, 0.5});
  CHECK(pair.problem().spin_bias == std::vector<Real>{0});
  FewSpheres<2> one(disk_on_floor(), 1e-3, rolling + turning_floor);
  RollingLaw<2>::add_to(one.step());
  CHECK(one.problem().rolling == std::vector<Real>{0.1, 1});
  CHECK(one.problem().spin_bias[0] == Approx(4));
}

TEST_CASE("rolling law: its work is s times the mean relative spin, and a wall that turns does its part",
          "[dynamics]") {
  FewSpheres<2> balls(disk_on_floor(), 1e-3, rolling + turning_floor);
  RollingLaw<2>::add_to(balls.step());
  const Real s = -0.25;  // on the floor, its opposite on the disk
  balls.solution({0, 0});
  balls.r = {0, 0, s};
  balls.v = balls.mean = {0, -2, 1};  // spins at 1 rad/s all the time
  ContactWork work;
  work.clear(1);
  RollingLaw<2>::add_work(balls.step(), {balls.r, balls.v, balls.mean}, work);
  CHECK(work.rolling[0] == Approx(-s * (4 - 1)));
  CHECK(work.obstacle[0] == Approx(-s * 4));
  // On the disk: torque times spin.
  CHECK(work.obstacle[0] - work.rolling[0] == Approx(-s * 1));
}

TEST_CASE("rolling law: contacts that press start from what they remember, others from 0", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, rolling);
  RollingLaw<2>::add_to(balls.step());
  balls.solution({1, 0});
  balls.r[2] = 0.04;
  RollingLaw<2>::store(balls.step(), {balls.r, balls.v, balls.mean}, balls.memory);
  std::vector<Real> guess{1, 0, 0};
  RollingLaw<2>::guess(balls.step(), balls.memory, 0.5, guess);
  CHECK(guess[2] == Approx(0.02));
  guess = {0, 0, 0};
  RollingLaw<2>::guess(balls.step(), balls.memory, 0.5, guess);
  CHECK(guess[2] == 0);
}

TEST_CASE("rolling law: the problem without it has what it did in its free velocities", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, rolling);
  RollingLaw<2>::add_to(balls.step());
  balls.solution({1, 0});
  balls.r[2] = 0.04;
  const FrictionProblem<2> without =
      RollingLaw<2>::problem_without(balls.problem(), {balls.r, balls.v, balls.mean});
  CHECK_FALSE(without.rolls());
  const Real change = 0.04 / 0.5;  // s / J with J = m R^2 / 2
  CHECK(without.free_velocity[balls.at(0) + 2] == Approx(-change));
  CHECK(without.free_velocity[balls.at(1) + 2] == Approx(change));
}

}  // namespace scree
