#include "schemes/nonsmooth/sequential_impacts.hpp"

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

std::string pair_with(Real friction, Real restitution) {
  return fmt::format("[pairs]\n'm-m' = {{ friction = {}, restitution = {} }}\n", friction, restitution);
}
const auto all = [](std::size_t, Real) { return 1.0; };

}  // namespace

TEST_CASE("sequential impacts: a disk that hits two at rest sets the last one going", "[dynamics]") {
  FewSpheres<2> balls({{.position = {-2, 0}, .velocity = {3, 0}},
                       {.position = {0, 0}, .velocity = {}},
                       {.position = {2, 0}, .velocity = {}}},
                      1e-3, pair_with(0, 1));
  REQUIRE(balls.problem().n_contacts() == 2);
  SequentialImpacts<2> law;
  law.add_to(balls.step(), all);
  for (const std::vector<Real>* v : {&balls.problem().start_velocity, &balls.problem().free_velocity})
    for (std::size_t i = 0; i < 3; ++i) CHECK((*v)[balls.at(i)] == Approx(i == 2 ? 3 : 0).margin(1e-15));
  CHECK(law.impulse(0)[0] == Approx(3));
  CHECK(law.impulse(1)[0] == Approx(3));
  CHECK(balls.problem().bias == std::vector<Real>(4, 0.0));
}

TEST_CASE("sequential impacts: they dissipate what restitution and friction take", "[dynamics]") {
  const auto energy = [](FewSpheres<2>& balls) {
    const std::vector<Real>& v = balls.problem().start_velocity;
    Real sum = 0;  // disks of mass 1 and radius 1: J = 1/2
    for (std::size_t i = 0; i < v.size(); i += 3)
      sum += 0.5 * (v[i] * v[i] + v[i + 1] * v[i + 1] + 0.5 * v[i + 2] * v[i + 2]);
    return sum;
  };
  for (const Real mu : {0.01, 10.0}) {
    FewSpheres<2> balls(two_disks(), 1e-3, pair_with(mu, 0.5));
    const Real before = energy(balls);
    SequentialImpacts<2> law;
    law.add_to(balls.step(), [](std::size_t, Real) { return 0.5; });
    ContactWork work;
    work.clear(1);
    law.add_work(work);
    CHECK(work.normal[0] == Approx(0.25 * 2 * 2 * (1 - 0.25)));
    CHECK(work.normal[0] + work.tangential[0] == Approx(before - energy(balls)));
    // Slip of 1 m/s: stopped by 1 / W_T = 1/6 N s, or slowed by mu r_N.
    const Real slip_impulse = std::min(1 / 6.0, mu * 1.5);
    CHECK(std::abs(law.impulse(0)[1]) == Approx(slip_impulse));
    CHECK(work.tangential[0] == Approx(slip_impulse * (1 - 3 * slip_impulse)));
    CHECK(work.obstacle[0] == 0);
  }
}

TEST_CASE("sequential impacts: what comes slower than the speed of rest is left to the contact problem",
          "[dynamics]") {
  FewSpheres<2> balls(two_disks(), 1e-3, pair_with(0.5, 1));
  balls.law.rest_speed = 2.01;
  SequentialImpacts<2> law;
  const std::vector<Real> before = balls.problem().start_velocity;
  law.add_to(balls.step(), all);
  CHECK(balls.problem().start_velocity == before);
  CHECK(law.impulse(0) == std::array<Real, 2>{0, 0});
}

}  // namespace scree
