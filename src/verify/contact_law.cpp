#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "contact/elastic_contact.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

namespace {

constexpr Real law_radius = 0.005, law_density = 2500, law_stiffness = 6500;  // SI
constexpr Real gravity_of_law = 9.81;

Real mass_of_law() {
  return 4 * std::numbers::pi / 3 * law_density * law_radius * law_radius * law_radius;
}

/// One number of a case at one length of the step.
class ContactLawTable : public Checks {
 public:
  ContactLawTable(const Comm& comm, const Show& line)
      : Checks(comm, line, "case,e,omega_dt,quantity,found,exact\n") {}
  void add(const std::string& name, Real e, Real omega_dt, const std::string& quantity, Real found,
           Real exact) {
    csv += fmt::format("{},{},{},{},{:.17g},{:.17g}\n", name, e, omega_dt, quantity, found, exact);
  }
};

/// Speeds at which nothing moves by more than a small part of a radius in a step: the law is linear.
Real speed_for(Real dt) {
  return std::min(0.1, 0.05 * law_radius / dt);
}

GrainDeck<3> elastic_deck(Real dt, Real e, Real mu) {
  GrainDeck<3> deck(filled<3>(-0.5), filled<3>(0.5), dt);
  // Without gravity the residual of bodies that all move alike is that of round-off.
  deck.tolerance(dt * std::sqrt(law_stiffness / mass_of_law()) > 30 ? 1e-6 : 1e-11);
  deck.pair_keys(fmt::format("stiffness = {}\n", law_stiffness));
  deck.material("glass", law_density);
  deck.pair("glass", "glass", mu, e);
  return deck;
}

struct LawRebound {
  Real restitution = 0;
  Real duration = 0;  ///< steps in which the contact acts [s]
};

/// A ball meets a floor, `start` steps before it touches.
LawRebound rebound_of_ball(const Comm& comm, Real e, Real dt, Real start) {
  const Real speed = speed_for(dt);
  GrainDeck<3> deck = elastic_deck(dt, e, 0);
  deck.floor("glass");
  deck.add({"glass",
            unit_vector<3>(2, law_radius + start * dt * speed),
            law_radius,
            -unit_vector<3>(2, speed),
            {},
            ""});
  Simulation<3> simulation(comm, deck.read());
  LawRebound found;
  Real before = -speed;
  while (true) {
    simulation.step();
    const GrainStates<3> now = states_of(simulation);
    const Real v = now.velocity[0][2];
    if (std::abs(v - before) > 1e-12 * speed) found.duration += dt;
    if (v > 0 && v == before && now.position[0][2] > law_radius) break;
    before = v;
  }
  found.restitution = before / speed;
  return found;
}

void check_one_ball(ContactLawTable& table) {
  constexpr Real bound = 0.01;
  table.show(
      "One ball on a floor: restitution and duration of the contact, over what the damped oscillator has");
  table.show(
      fmt::format("{:>9} {:>9} {:>14} {:>14} {:>10}", "e", "omega dt", "e found", "worst error", "duration"));
  for (const Real e : {1.0, 0.8, 0.5, 0.2, 0.05})
    for (const Real omega_dt :
         {1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1e3}) {
      const Real omega = std::sqrt(law_stiffness / mass_of_law());
      const Real dt = omega_dt / omega;
      const Real exact = impact_damping(e).duration / omega;
      Real worst = 0, duration = 0;
      constexpr std::array starts{2.0, 2.31, 2.5, 2.87};
      for (const Real start : starts) {
        const LawRebound found = rebound_of_ball(table.comm(), e, dt, start);
        if (std::abs(found.restitution - e) >= std::abs(worst)) worst = found.restitution - e;
        duration += found.duration / starts.size();
      }
      table.show(fmt::format("{:>9} {:>9} {:>14.9f} {:>14.1e} {:>10.4f}", e, omega_dt, e + worst, worst / e,
                             duration / exact));
      table.add("one ball", e, omega_dt, "restitution", e + worst, e);
      table.add("one ball", e, omega_dt, "duration [s]", duration, exact);
      table.count(std::abs(worst) <= bound * e,
                  fmt::format("one ball, e = {}, omega dt = {}: restitution {:.6f}", e, omega_dt, e + worst));
    }
}

/// Velocities after ball 1 hits 2 and 3, which touch: contacts that push only, by classical Runge-Kutta
/// steps. In units of mass, stiffness and speed.
std::array<Real, 3> exact_three(Real e) {
  // The pair of two equal balls has half the mass, hence sqrt(2) the frequency.
  const Real damping = 2 * impact_damping(e).share * std::sqrt(0.5);
  using Six = std::array<Real, 6>;  // places, velocities
  const auto rate = [&](const Six& s) {
    Six d{s[3], s[4], s[5], 0, 0, 0};
    for (std::size_t c = 0; c < 2; ++c) {
      const Real overlap = s[c] - s[c + 1];
      const Real force = overlap > 0 ? std::max(0.0, overlap + damping * (s[c + 3] - s[c + 4])) : 0;
      d[c + 3] -= force;
      d[c + 4] += force;
    }
    return d;
  };
  Six s{0, 0, 0, 1, 0, 0};
  constexpr Real h = 2e-4;
  const auto ahead = [](const Six& at, Real step, const Six& slope) {
    Six there = at;
    for (std::size_t i = 0; i < 6; ++i) there[i] += step * slope[i];
    return there;
  };
  for (int i = 0; i < 100'000; ++i) {
    const Six a = rate(s), b = rate(ahead(s, h / 2, a)), c = rate(ahead(s, h / 2, b)),
              d = rate(ahead(s, h, c));
    for (std::size_t k = 0; k < 6; ++k) s[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return {s[3], s[4], s[5]};
}

void check_three_balls(ContactLawTable& table) {
  constexpr Real bound = 0.01;  // of the speed of the impact
  table.show(
      "Three balls in a row, two of which touch: velocities after, over that of the impact, and energy");
  table.show(fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9}", "e", "omega dt", "first", "second", "third",
                         "energy"));
  const auto line = [&](Real e, const std::string& label, const std::array<Real, 3>& v, Real energy) {
    table.show(
        fmt::format("{:>9} {:>9} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}", e, label, v[0], v[1], v[2], energy));
  };
  for (const Real e : {1.0, 0.8, 0.5, 0.2}) {
    const std::array<Real, 3> soft = exact_three(e);
    const std::array<Real, 3> rigid{1 - 2 * (1 + e) / 3, (1 + e) / 3, (1 + e) / 3};
    const auto energy_of = [](const std::array<Real, 3>& v) {
      return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    };
    line(e, "soft", soft, energy_of(soft));
    for (const Real omega_dt : {0.01, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3}) {
      const Real dt = omega_dt / std::sqrt(2 * law_stiffness / mass_of_law());
      const Real speed = speed_for(dt);
      Real most_energy = 0;
      std::array<Real, 3> mean{};
      constexpr std::array starts{2.0, 2.31, 2.5, 2.87};
      for (const Real start : starts) {
        GrainDeck<3> deck = elastic_deck(dt, e, 0);
        for (int i = 0; i < 3; ++i)
          deck.add({"glass",
                    unit_vector<3>(0, 2 * law_radius * i - (i == 0 ? start * dt * speed : 0)),
                    law_radius,
                    unit_vector<3>(0, i == 0 ? speed : 0),
                    {},
                    ""});
        Simulation<3> simulation(table.comm(), deck.read());
        const auto n_steps = std::llround(30 + 40 / omega_dt);
        for (std::int64_t step = 0; step < n_steps; ++step) simulation.step();
        const auto v = states_of(simulation).velocity;
        Real energy = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          mean[i] += v[i][0] / speed / starts.size();
          energy += dot(v[i], v[i]) / (speed * speed);
        }
        most_energy = std::max(most_energy, energy);
      }
      line(e, fmt::format("{}", omega_dt), mean, most_energy);
      for (std::size_t i = 0; i < 3; ++i)
        table.add("three balls", e, omega_dt, fmt::format("velocity of {}", i + 1), mean[i], soft[i]);
      table.add("three balls", e, omega_dt, "energy", most_energy, energy_of(soft));
      table.count(most_energy <= 1 + 1e-6,
                  fmt::format("three balls, e = {}, omega dt = {}: energy {:.6f}", e, omega_dt, most_energy));
      for (std::size_t i = 0; i < 3; ++i) {
        const bool is_soft = omega_dt <= 0.1, is_rigid = omega_dt >= 100;
        if (!is_soft && !is_rigid) continue;
        table.count(std::abs(mean[i] - (is_soft ? soft : rigid)[i]) <= bound,
                    fmt::format("three balls, e = {}, omega dt = {}: ball {} has {:.4f}", e, omega_dt, i + 1,
                                mean[i]));
      }
    }
    line(e, "rigid", rigid, energy_of(rigid));
  }
}

/// A ball that cannot turn is dropped on a floor and pulled along it: where it comes to rest.
void check_rest(ContactLawTable& table) {
  constexpr Real bound = 1e-6;
  table.show("A ball at rest under m g and 0.1 m g along the floor: overlap and stretch, over F/k");
  table.show(fmt::format("{:>9} {:>14} {:>14}", "omega dt", "overlap", "stretch"));
  for (const Real omega_dt : {0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0}) {
    const Real m = mass_of_law();
    const Real dt = omega_dt / std::sqrt(law_stiffness / m);
    const Real overlap = m * gravity_of_law / law_stiffness;
    const Real stretch = 0.1 * overlap * 7 / 2;
    GrainDeck<3> deck = elastic_deck(dt, 0.3, 0.5);
    deck.tolerance(1e-11);
    deck.gravity({{0.1 * gravity_of_law, 0, -gravity_of_law}});
    deck.floor("glass");
    deck.add({"glass", unit_vector<3>(2, law_radius), law_radius, {}, {}, "rotates = false\n"});
    Simulation<3> simulation(table.comm(), deck.read());
    const auto n_steps = std::llround(300 + 300 / omega_dt);
    for (std::int64_t step = 0; step < n_steps; ++step) simulation.step();
    const Vec<3> place = states_of(simulation).position[0];
    const Real found[2] = {(law_radius - place[2]) / overlap, place[0] / stretch};
    table.show(fmt::format("{:>9} {:>14.9f} {:>14.9f}", omega_dt, found[0], found[1]));
    table.add("rest", 0.3, omega_dt, "overlap", found[0], 1);
    table.add("rest", 0.3, omega_dt, "stretch", found[1], 1);
    for (const Real share : found)
      table.count(std::abs(share - 1) <= bound,
                  fmt::format("rest, omega dt = {}: {:.9f} of F/k", omega_dt, share));
  }
}

}  // namespace

bool verify_contact_law(const Comm& comm, const VerifyOptions& options, const Show& show) {
  ContactLawTable table(comm, show);
  check_one_ball(table);
  check_three_balls(table);
  check_rest(table);
  return table.finish(options.csv);
}

}  // namespace scree
