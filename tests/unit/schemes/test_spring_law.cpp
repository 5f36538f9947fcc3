#include "schemes/nonsmooth/spring_law.hpp"

#include <random>

#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

constexpr Real k = 1000, dt = 1e-3;
const std::string springs =
    "[pairs]\n'm-m' = { friction = 0.5, restitution = 1, stiffness = 1000, tangential_ratio = 0.5 }\n";

/// Two disks that overlap by 2 mm.
std::vector<FewSpheres<2>::Sphere> pressed() {
  auto balls = two_disks();
  balls[0].position[0] += 2e-3;
  return balls;
}

}  // namespace

TEST_CASE("spring law: compliance and bias are those of the single spring over the step", "[dynamics]") {
  FewSpheres<2> balls(pressed(), dt, springs);
  const std::vector<Real> before = balls.problem().bias;
  CHECK(before == std::vector<Real>{0, 0});
  SpringLaw<2> law;
  law.add_to(balls.step(), balls.memory);
  const PairProperties<2>& pair = *balls.pairs[0];
  const Real w = inverse_mass(balls.problem(), 0, false), w_t = inverse_mass(balls.problem(), 0, true);
  CHECK(w == 2);
  CHECK(w_t == Approx(6));  // of disks, 3 / m each
  const ContactLine line =
      SpringStep(k, w, pair.damping.share, dt).unilateral(pair.damping, {.gap = -2e-3, .speed = -2});
  CHECK(balls.problem().compliance[0] == Approx(line.compliance).epsilon(1e-9));
  CHECK(balls.problem().bias[0] == Approx(line.bias).epsilon(1e-9));
  const Vec<2> u = surface_velocity(balls.problem(), balls.assembler.surface_velocity(), 0,
                                    balls.problem().start_velocity);
  const ContactLine slip = SpringStep(k / 2, w_t, pair.damping.share * std::sqrt(w_t / w), dt).begun(1, u[1]);
  CHECK(balls.problem().compliance[1] == Approx(slip.compliance));
  CHECK(balls.problem().bias[1] == Approx(slip.bias));
  // Measured against what the spring changes itself: 2 w tau / sqrt(1 + (w tau / 2)^2) m/s.
  const Real angle = std::sqrt(k * w) * dt;
  CHECK(balls.problem().own_scale[0] == Approx(2 * angle / std::sqrt(1 + angle * angle / 4)));
}

TEST_CASE("spring law: the first guess solves the contact if nothing else acts", "[dynamics]") {
  FewSpheres<2> balls(pressed(), dt, springs);
  SpringLaw<2> law;
  law.add_to(balls.step(), balls.memory);
  std::vector<Real> guess(2);
  law.guess(balls.step(), 1, guess);
  const auto solution = balls.solution({guess[0], 0});
  const Vec<2> u =
      surface_velocity<2>(balls.problem(), balls.assembler.surface_velocity(), 0, solution.velocity);
  CHECK(guess[0] > 0);
  CHECK(u[0] + balls.problem().bias[0] + balls.problem().compliance[0] * guess[0] == Approx(0).margin(1e-12));
  CHECK(std::abs(guess[1]) <= 0.5 * guess[0] * (1 + 1e-12));
  law.guess(balls.step(), 0.5, guess);
  CHECK(guess[0] == Approx(0.5 * solution.impulse[0]));
}

TEST_CASE("spring law: its work and what it stores come out of the kinetic energy", "[dynamics]") {
  FewSpheres<2> balls(pressed(), dt, springs);
  SpringLaw<2> law;
  law.add_to(balls.step(), balls.memory);
  std::vector<Real> guess(2);
  law.guess(balls.step(), 1, guess);
  const auto solution = balls.solution({guess[0], 0});
  ContactWork work;
  work.clear(1);
  work.add(balls.step(), solution, 0);
  law.store(balls.step(), solution, balls.memory, work.stored);
  // y of docs/method.md, eq. D.8, at the start and at the end: no damper, so nothing is lost.
  const Real u_before = -2, u_after = u_before + 2 * guess[0];
  const auto stored = [](Real overlap) { return 0.5 * k * overlap * overlap; };
  const Real before = stored(2e-3 + 0.5 * dt * u_before), now = stored(2e-3 - 0.5 * dt * u_after);
  CHECK(work.stored[0][0] == Approx(now));
  CHECK(work.normal[0] == Approx(0.25 * (u_before * u_before - u_after * u_after)));
  // Over the step the overlap goes on with u_after, which is what the next step starts from.
  const Real next = stored(2e-3 - dt * u_after + 0.5 * dt * u_after);
  CHECK(next == Approx(now));
  CHECK(work.normal[0] == Approx(now - before).epsilon(1e-6));
}

TEST_CASE("spring law: the stretch goes on with the slip, up to what friction carries", "[dynamics]") {
  FewSpheres<2> balls(pressed(), dt, springs);
  const auto& contacts = balls.assembler.contacts();
  auto& remembered = balls.memory.elastic(contacts, 0);
  SpringLaw<2> law;
  std::vector<std::array<Real, 2>> stored;
  const auto stretch = [&](Real pressing) {
    remembered.impulse = balls.problem().frame[0][0];  // the contact is not new
    remembered.spring = {};
    balls.assemble();
    law.add_to(balls.step(), balls.memory);
    law.store(balls.step(), balls.solution({pressing, 0}), balls.memory, stored);
    return norm(balls.memory.elastic(contacts, 0).spring);
  };
  CHECK(stretch(10) == Approx(1 * dt));  // slips at 1 m/s before and after
  CHECK(stored[0][1] == Approx(0.5 * (k / 2) * dt * dt));
  const Real little = 1e-4, cut = 0.5 * little / (k / 2 * dt);
  CHECK(stretch(little) == Approx(cut));
  CHECK(stored[0][1] == Approx(0.5 * (k / 2) * cut * cut));
  CHECK(stretch(0) == 0);
  CHECK(stored[0][1] == 0);
}

TEST_CASE("spring law: along tangents a contact never gives more than it took, in steps of any length",
          "[dynamics]") {
  for (const Real step : {0.003, 0.03, 0.3}) {
    FewSpheres<2> balls(pressed(), step, springs);
    const auto& contacts = balls.assembler.contacts();
    const Real w = inverse_mass(balls.problem(), 0, true);
    const auto slip = [&](std::span<const Real> velocity) {
      return surface_velocity<2>(balls.problem(), balls.assembler.surface_velocity(), 0, velocity)[1];
    };
    const Real sense = slip(balls.problem().start_velocity);  // of 1 m/s of the second disk
    SpringLaw<2> law;
    std::vector<std::array<Real, 2>> stored;
    std::mt19937 random(7);
    std::uniform_real_distribution<Real> share(0, 1);
    Real energy_before = 0, max_energy = 0, worst = 0, start = sense;
    for (int n = 0; n < 5000; ++n) {
      balls.state.bodies.velocity()[balls.at(1) / n_velocities<2>][1] = start / sense;
      balls.law.dt = step * (0.5 + share(random));
      balls.assemble();
      law.add_to(balls.step(), balls.memory);
      FrictionProblem<2>& problem = balls.problem();
      // What other contacts push, and what this one carries, change as they like.
      if (share(random) < 0.3) problem.free_velocity[balls.at(1) + 1] += share(random) - 0.5;
      const Real pressing = share(random) < 0.1 ? 0 : 20 * share(random) * share(random);
      const Real line = -(slip(problem.free_velocity) + problem.bias[1]) / (w + problem.compliance[1]);
      const Real along = std::clamp(line, -0.5 * pressing, 0.5 * pressing);
      const auto solution = balls.solution({pressing, along});
      const Real end = slip(solution.velocity);
      balls.memory.store(problem, contacts,
                         [&](std::size_t, std::size_t i = 0) { return i == 0 ? pressing : along; });
      law.store(balls.step(), solution, balls.memory, stored);
      worst = std::max(worst, stored[0][1] - energy_before + along * (start + end) / 2);
      energy_before = stored[0][1];
      max_energy = std::max(max_energy, energy_before);
      start = end;
    }
    INFO("step " << step << ", stores up to " << max_energy);
    CHECK(max_energy > 0.01);
    CHECK(worst <= 1e-9 * max_energy);
  }
}

}  // namespace scree
