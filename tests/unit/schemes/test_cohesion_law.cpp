#include "schemes/nonsmooth/cohesion_law.hpp"

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

constexpr Real dt = 1e-2;
const std::string sticky =
    "[pairs.'m-m']\nfriction = 0.5\nrestitution = 0.5\ncohesion = { type = 'force', pull_off = 3, range = "
    "0.2 }\n";

}  // namespace

TEST_CASE("cohesion law: free velocities change by F dt / m, towards each other", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), dt, sticky);
  CohesionLaw<2> law;
  law.forget(balls.neighborhood);
  const std::vector<Real> before = balls.problem().free_velocity;
  law.add_to(balls.step(), balls.memory);
  const std::vector<Real>& after = balls.problem().free_velocity;
  const std::size_t a = balls.at(0), b = balls.at(1);
  CHECK(after[a] - before[a] == Approx(3 * dt));
  CHECK(after[b] - before[b] == Approx(-3 * dt));
  CHECK(after[a + 1] == before[a + 1]);
  CHECK(balls.problem().bias == std::vector<Real>{0, 0});
}

TEST_CASE("cohesion law: its work is force times mean velocity of approach; a wall does the rest",
          "[dynamics]") {
  FewSpheres<2> balls(two_disks(), dt, sticky);
  CohesionLaw<2> law;
  law.forget(balls.neighborhood);
  law.add_to(balls.step(), balls.memory);
  ContactWork work;
  work.clear(1);
  law.add_work(balls.step(), balls.solution({0, 0}), work);
  CHECK(work.cohesion[0] == Approx(3 * dt * (2 + 3 * dt)));  // 2 m/s before, 2 + 2 * 3 dt after
  CHECK(work.obstacle[0] == 0);
  FewSpheres<2> one(disk_on_floor(), dt,
                    sticky + floor_table + "motion = { type = 'translate', velocity = [0, 1] }\n");
  law.forget(one.neighborhood);
  law.add_to(one.step(), one.memory);
  work.clear(1);
  law.add_work(one.step(), one.solution({0, 0}), work);
  const Real change = 3 * dt / 2;
  CHECK(work.cohesion[0] == Approx(3 * dt * (3 + change / 2)));
  // Both together are the change of the kinetic energy of the disk, of mass 2.
  CHECK(work.cohesion[0] + work.obstacle[0] == Approx((2 + change) * (2 + change) - 4));
}

TEST_CASE("cohesion law: an impact sticks if it would leave with less than range times the pull-off force",
          "[dynamics]") {
  FewSpheres<2> balls(two_disks(), dt, sticky);
  // m u^2 / 2 of the reduced mass 1/2 against 0.6 J: u = 1.549 m/s.
  CHECK(CohesionLaw<2>::holds(balls.step(), 0, -1.54));
  CHECK_FALSE(CohesionLaw<2>::holds(balls.step(), 0, -1.56));
}

TEST_CASE("cohesion law: forces between two steps are those of contacts less the attraction", "[dynamics]") {
  FewSpheres<2> balls(two_disks(), dt, sticky);
  CohesionLaw<2> law;
  law.forget(balls.neighborhood);
  const auto force = [&] {
    ContactGraph<2> contacts = balls.assembler.contacts();
    contacts.force = {5};
    contacts.friction.resize(1);
    law.subtract_from(contacts, {balls.state, contacts, 1e-4}, balls.memory);
    CHECK(contacts.load[0] == 5);
    return contacts.force[0];
  };
  CHECK(force() == Approx(5 - 3));  // by the gap: nothing is known of a last step
  law.add_to(balls.step(), balls.memory);
  CHECK(law.last() == nullptr);
  law.store(
      balls.step(), [](std::size_t) { return 1.0; }, balls.memory);
  REQUIRE(law.last() != nullptr);
  CHECK(force() == Approx(5 - 3));
  CHECK(law.n_attracted() == 0);  // it did not push before
  const std::array<Real, 2> pushed{1, 0};
  balls.memory.store(balls.problem(), balls.assembler.contacts(),
                     [&](std::size_t, std::size_t i) { return pushed[i]; });
  law.store(
      balls.step(), [](std::size_t) { return 0.0; }, balls.memory);
  CHECK(law.n_attracted() == 1);
  CHECK(law.n_detached() == 1);
}

}  // namespace scree
