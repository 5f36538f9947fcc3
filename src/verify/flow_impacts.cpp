#include "verify/flow_cases.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

namespace {

constexpr Real diameter = 0.01;     // [m]
constexpr Real stiffness = 6500;    // [N/m]
constexpr Real duration = 0.02;     // [s], twenty times that of a contact
constexpr Real rigid_bound = 1e-8;  // share of the speed of the impact
constexpr Real soft_bound = 1e-3;   // the same, of contacts that are followed in time

/// Spheres of an impact; all have the same radius and no friction, and there is no gravity.
struct FlowImpact {
  std::string name;
  Real restitution = 0;
  bool on_floor = false;
  std::vector<Vec<3>> position{};  ///< the first one hits the others
  Vec<3> velocity{};               ///< of the first one
};

/// n spheres that touch, in a column; the uppermost falls on the others at 1 m/s.
FlowImpact column(const std::string& name, int n, Real restitution, bool on_floor) {
  FlowImpact impact{name, restitution, on_floor, {}, -unit_vector<3>(2)};
  for (int i = 0; i < n; ++i)
    impact.position.push_back(unit_vector<3>(2, diameter * (0.5 + static_cast<Real>(n - 1 - i))));
  return impact;
}

/// One sphere on two that touch, in the middle. Slow, so that overlaps turn the normals by little.
FlowImpact break_of_three() {
  const Real back = diameter * std::sqrt(0.75);
  return {"break",
          0.5,
          false,
          {{{0, 0, back}}, {{-diameter / 2, 0, 0}}, {{diameter / 2, 0, 0}}},
          -unit_vector<3>(2, 0.05)};
}

std::vector<Vec<3>> velocities_after(const Comm& comm, const FlowImpact& impact, const FlowLaw& law) {
  const Real dt = law.rigid ? 1e-3 : law.soft ? 1e-6 : 1e-5;
  GrainDeck<3> deck(filled<3>(-0.1), filled<3>(0.1), dt);
  if (law.soft) deck.soft("law = 'linear'\nattraction = false\n");
  if (!law.rigid) deck.pair_keys(fmt::format("stiffness = {}\n", stiffness));
  deck.material("glass", 2500);
  deck.pair("glass", "glass", 0, impact.restitution);
  if (impact.on_floor) deck.floor("glass");
  for (std::size_t i = 0; i < impact.position.size(); ++i)
    deck.add({"glass", impact.position[i], diameter / 2, i == 0 ? impact.velocity : Vec<3>{}, {}, ""});
  Simulation<3> simulation(comm, deck.read());
  // Rigid: one step, after which all part or move alike. Further ones would be solved relative to round-off.
  const std::int64_t n_steps = law.rigid ? 1 : std::llround(duration / dt);
  while (simulation.state().clock.step < n_steps) simulation.step();
  return states_of(simulation).velocity;
}

/// Of a linear spring with a damper that never pulls and gives a pair of equal spheres the restitution e: the
/// restitution where the effective mass is `share` of theirs. The force falls to 0 after the time t.
Real restitution_at(Real e, Real share) {
  const Real beta = impact_damping(e).share / std::sqrt(share);
  const Real omega = std::sqrt(1 - beta * beta);
  const Real t = (std::numbers::pi - std::atan2(2 * beta * omega, 1 - 2 * beta * beta)) / omega;
  return std::exp(-beta * t);
}

}  // namespace

void verify_flow_impacts(FlowTable& table) {
  const std::vector<FlowImpact> impacts{column("binary", 2, 0.5, false), column("ternary", 3, 0.5, true),
                                        break_of_three(), column("cradle", 5, 1, false)};
  for (const FlowImpact& impact : impacts) {
    const auto n = impact.position.size();
    for (const FlowLaw& law : {rigid_law, elastic_law, soft_law}) {
      const std::vector<Vec<3>> v = velocities_after(table.comm(), impact, law);
      FlowNumbers numbers;
      for (std::size_t i = 0; i < n; ++i) numbers.emplace_back(fmt::format("v of {} [m/s]", i + 1), v[i][2]);
      table.add(impact.name, law, 1, numbers, 0);
      std::vector<Real> known;
      if (impact.name == "binary") known = {-0.25, -0.75};
      // Newton's law with e where spheres approach and 0 where they touch at rest, as the scheme has it.
      if (law.rigid && impact.name == "ternary") known = {0.5, 0, 0};
      if (law.rigid && impact.name == "cradle") known = {0.6, -0.4, -0.4, -0.4, -0.4};
      if (impact.name == "break") {
        // Impulses p at both contacts, along cos = sqrt(3)/2: their speed changes by p/m (1 + 2 cos^2) =
        // (1 + e) cos. Soft: the effective mass of each is 1/(1 + 2 cos^2) instead of 1/2.
        const Real e = law.rigid ? 0.5 : restitution_at(0.5, 2 / 2.5);
        const Real p = (1 + e) * std::sqrt(0.75) / 2.5;
        known = {1 - 2 * p * std::sqrt(0.75), p * std::sqrt(0.75), p * std::sqrt(0.75)};
        for (Real& v_known : known) v_known *= impact.velocity[2];
      }
      for (std::size_t i = 0; i < known.size(); ++i)
        table.exact(impact.name, law, numbers[i].first, v[i][2], known[i],
                    (law.rigid ? rigid_bound : soft_bound) * norm(impact.velocity));
    }
    table.finish_case(impact.name);
  }
}

}  // namespace scree
