#include "schemes/nonsmooth/restitution_law.hpp"

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

const std::string half = "[pairs]\n'm-m' = { friction = 0.5, restitution = 0.5 }\n";
const auto newton = [](std::size_t, Real) { return 0.5; };

}  // namespace

TEST_CASE("restitution law: the bias of an impact is e times its velocity of approach", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, half);
  REQUIRE(balls.problem().n_contacts() == 1);
  RestitutionLaw<2> law;
  law.add_to(balls.step(), newton);
  CHECK(balls.problem().bias == std::vector<Real>{0.5 * -2, 0});
}

TEST_CASE("restitution law: where it is disabled nothing bounces until the next step", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, half);
  RestitutionLaw<2> law;
  law.add_to(balls.step(), newton);
  CHECK(law.disable(balls.step(), newton));
  CHECK(balls.problem().bias == std::vector<Real>{0, 0});
  CHECK(law.n_disabled() == 1);
  law.add_to(balls.step(), newton);  // as after more contacts were found
  CHECK(balls.problem().bias == std::vector<Real>{0, 0});
  law.begin_step();
  law.add_to(balls.step(), newton);
  CHECK(balls.problem().bias == std::vector<Real>{-1, 0});
  CHECK_FALSE(law.disable(balls.step(), [](std::size_t, Real) { return 0.0; }));
}

TEST_CASE("restitution law: a wall that comes along counts in the velocity of approach", "[dynamics]") {
  FewSpheres<2> balls(disk_on_floor(), 1e-3,
                      half + floor_table + "motion = { type = 'translate', velocity = [0, 1] }\n");
  RestitutionLaw<2> law;
  law.add_to(balls.step(), newton);
  // The bias holds the velocity of the wall as well: -1 m/s along the normal, which points to the wall.
  CHECK(balls.problem().bias[0] == Approx(-1 + 0.5 * -3));
}

TEST_CASE("work of an impact: what restitution takes of the kinetic energy, and what the wall does",
          "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, half);
  ContactWork work;
  work.clear(1);
  work.add(balls.step(), balls.solution({1.5, 0}), 0);  // (1 + e) u / W with W = 1/m + 1/m
  CHECK(work.normal[0] == Approx(0.25 * 2 * 2 * (1 - 0.5 * 0.5)));
  CHECK(work.tangential[0] == 0);
  CHECK(work.obstacle[0] == 0);
  FewSpheres<2> one(disk_on_floor(), 1e-3,
                    half + floor_table + "motion = { type = 'translate', velocity = [0, 1] }\n");
  work.clear(1);
  work.add(one.step(), one.solution({2 * 1.5 * 3, 0}), 0);
  const Real before = 4, after = 2.5 * 2.5;  // m v^2 / 2: with 1.5 m/s from the wall
  CHECK(work.normal[0] == Approx(9 * (1 - 0.25)));
  CHECK(work.obstacle[0] - work.normal[0] == Approx(after - before));
}

}  // namespace scree
