#include "schemes/nonsmooth/wave_impacts.hpp"

#include <fmt/format.h>

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

std::string pair_with(Real friction, Real restitution) {
  return fmt::format("[pairs]\n'm-m' = {{ friction = {}, restitution = {} }}\n", friction, restitution);
}

std::vector<FewSpheres<2>::Sphere> row_of_three() {
  return {{.position = {-2, 0}, .velocity = {3, 0}},
          {.position = {0, 0}, .velocity = {}},
          {.position = {2, 0}, .velocity = {}}};
}

}  // namespace

TEST_CASE("wave impacts: a disk that hits two at rest, as springs of Hertz would have it", "[dynamics]") {
  FewSpheres<2> balls(row_of_three(), 1e-3, pair_with(0, 1));
  REQUIRE(balls.problem().n_contacts() == 2);
  WaveImpacts<2> law(1.5);
  law.add_to(balls.step());
  const std::array<Real, 3> expected{-0.07095, 0.07640, 0.99455};  // of springs, integrated in time
  for (const std::vector<Real>* v : {&balls.problem().start_velocity, &balls.problem().free_velocity})
    for (std::size_t i = 0; i < 3; ++i) CHECK((*v)[balls.at(i)] == Approx(3 * expected[i]).margin(3e-3));
  Real sum = 0;
  for (std::size_t c = 0; c < 2; ++c) sum += law.impulse(c)[0];
  const std::vector<Real>& v = balls.problem().start_velocity;
  CHECK(sum == Approx(3 - v[balls.at(0)] + v[balls.at(2)]).epsilon(1e-13));
  ContactWork work;
  work.clear(2);
  law.add_work(work);
  CHECK(work.normal[0] + work.normal[1] == Approx(0).margin(1e-12));
}

TEST_CASE("wave impacts: what restitution and friction take, and what a moving obstacle does", "[dynamics]") {
  // On a floor that comes up: two disks of mass 2, one on the other, that fall and slip.
  const std::string floor =
      "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n"
      "motion = { type = 'translate', velocity = [0.5, 0.25] }\n";
  FewSpheres<2> balls({{.position = {0, 1}, .velocity = {1, -2}, .mass = 2},
                       {.position = {0, 3}, .velocity = {0, -2}, .mass = 2}},
                      1e-3, pair_with(0.3, 0.8) + floor);
  const auto energy = [&] {
    const std::vector<Real>& v = balls.problem().start_velocity;
    Real sum = 0;  // J = m R^2/2
    for (std::size_t i = 0; i < v.size(); i += 3)
      sum += v[i] * v[i] + v[i + 1] * v[i + 1] + 0.5 * v[i + 2] * v[i + 2];
    return sum;
  };
  const Real before = energy();
  WaveImpacts<2> law(1.5);
  law.add_to(balls.step());
  ContactWork work;
  work.clear(balls.problem().n_contacts());
  law.add_work(work);
  Real dissipated = 0, of_floor = 0;
  for (std::size_t c = 0; c < work.normal.size(); ++c) {
    CHECK(work.normal[c] > 0);
    CHECK(work.tangential[c] >= 0);
    dissipated += work.normal[c] + work.tangential[c];
    of_floor += work.obstacle[c];
  }
  CHECK(std::abs(of_floor) > 0.1);
  CHECK(energy() == Approx(before + of_floor - dissipated).epsilon(1e-13));
}

TEST_CASE("wave impacts: what comes slower than the speed of rest is left to the contact problem",
          "[dynamics]") {
  FewSpheres<2> balls(row_of_three(), 1e-3, pair_with(0.5, 1));
  balls.law.rest_speed = 3.01;
  WaveImpacts<2> law(1.5);
  const std::vector<Real> before = balls.problem().start_velocity;
  law.add_to(balls.step());
  CHECK(balls.problem().start_velocity == before);
  CHECK(law.impulse(0) == std::array<Real, 2>{0, 0});
}

}  // namespace scree
