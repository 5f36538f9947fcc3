#include "verify/grain_impacts.hpp"

#include <algorithm>
#include <numbers>

#include "state/energy_balance.hpp"

namespace scree {

Vec<3> Impact::slip(const Movement& of_a, const Movement& of_b) const {
  const auto surface = [&](const Movement& m, Real lever) {
    return m.velocity + cross(m.spin, lever * normal);
  };
  const Vec<3> relative = surface(of_b, -b.radius) - surface(of_a, a.radius);
  return relative - dot(relative, normal) * normal;
}

RigidImpact::RigidImpact(const Impact& impact) {
  const Vec<3>& n = impact.normal;
  const Real approach = impact.approach();
  const Vec<3> slip = impact.slip(impact.a.start, impact.b.start);
  const Real slip_speed = norm(slip);
  // Where nothing slips, the way in which the spin of a moves its surface.
  const Vec<3> way = slip_speed > 1e-9 * approach ? slip : cross(impact.a.start.spin, n);
  if (norm(way) > 0) tangent = way * (1 / norm(way));
  const Real inverse_mass = impact.inverse_mass();
  const Real normal_impulse = (1 + impact.e) * approach / inverse_mass;
  const Real to_stop = 2 * slip_speed / 7 / inverse_mass;
  slips = impact.mu * normal_impulse < to_stop;
  Vec<3> on_b = normal_impulse * n;
  if (slip_speed > 0) on_b -= slip * (std::min(impact.mu * normal_impulse, to_stop) / slip_speed);
  const auto after = [&](const Sphere& s, const Vec<3>& impulse, Real side) {
    const Real m = s.mass();
    const Vec<3> torque = cross(side * s.radius * n, impulse);
    return Movement{s.start.velocity + impulse * (1 / m),
                    s.start.spin + torque * (1 / moment_of_inertia<3>(m, s.radius))};
  };
  a = after(impact.a, -on_b, 1);
  if (!impact.meets_floor()) b = after(impact.b, on_b, -1);
}

Real last_arrival(const std::vector<Impact>& impacts, Real gap) {
  Real slowest = HUGE_VAL;
  for (const Impact& impact : impacts) slowest = std::min(slowest, impact.approach());
  return gap / slowest;
}

GrainDeck<3> impact_deck(const std::vector<Impact>& impacts, const ImpactBox& box) {
  const bool on_floor = impacts.front().meets_floor();
  Real largest = 0, fastest = 0;
  for (const Impact& impact : impacts) {
    largest = std::max({largest, impact.a.radius, impact.b.radius});
    for (const Sphere& s : {impact.a, impact.b}) fastest = std::max(fastest, norm(s.start.velocity));
  }
  const Real skin = std::max(2.4 * largest, 3 * fastest * box.dt);
  // One cell after the other along x; each pair lies across a face of one, so that every way of sharing cells
  // among ranks parts a pair.
  const Real pitch = 1.01 * (2 * largest + skin);
  const auto n = static_cast<Real>(impacts.size());
  GrainDeck<3> deck({{0, 0, 0}}, {{pitch * (n + 1), pitch, pitch}}, box.dt);
  deck.skin(skin);
  deck.pair_keys(box.pair_keys);
  if (on_floor) {
    deck.material("floor", 1, box.elasticity ? std::optional(Elasticity{HUGE_VAL, 0}) : std::nullopt);
    deck.floor("floor");
  }
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const Impact& impact = impacts[i];
    const std::string at = std::to_string(i);
    const Vec<3> apart = (impact.a.radius + impact.b.radius + box.gap) * impact.normal;
    Vec<3> x{{pitch * (static_cast<Real>(i) + 1), 0.5 * pitch, impact.a.radius + box.gap}};
    if (!on_floor) {
      x[2] = 0.5 * pitch;
      x -= 0.5 * apart;
    }
    deck.material("a" + at, impact.a.density, box.elasticity);
    deck.add({"a" + at, x, impact.a.radius, impact.a.start.velocity, impact.a.start.spin, ""});
    if (!on_floor) {
      deck.material("b" + at, impact.b.density, box.elasticity);
      deck.add({"b" + at, x + apart, impact.b.radius, impact.b.start.velocity, impact.b.start.spin, ""});
    }
    deck.pair("a" + at, on_floor ? "floor" : "b" + at, impact.mu, impact.e);
  }
  return deck;
}

void demand_split_pair(GrainTable& table, const std::string& name, const std::vector<Impact>& impacts,
                       const Simulation<3>& simulation) {
  if (impacts.front().meets_floor() || table.comm().size() == 1) return;
  const std::vector<int> ranks = states_of(simulation).rank;
  bool split = false;
  for (std::size_t i = 0; i < ranks.size(); i += 2) split = split || ranks[i] != ranks[i + 1];
  table.demand(name, split, "no pair has its spheres on two ranks");
}

namespace {

std::vector<Real> spins() {  // [rad/s]
  std::vector<Real> all;
  for (int i = 1; i <= 20; ++i) all.push_back(0.175 + (21 - 0.175) * (i - 1) / 19.0);
  return all;
}

/// Share of the largest speed of a sphere, r * spin included, that the result may be off by.
constexpr Real impact_bound = 1e-8;

void run_impacts(GrainTable& table, const std::string& name, const std::vector<Impact>& impacts) {
  const bool on_floor = impacts.front().meets_floor();
  Real fastest_approach = 0;
  for (const Impact& impact : impacts) fastest_approach = std::max(fastest_approach, impact.approach());
  const Real gap = 0.05 * impacts.front().a.radius;
  // The fastest closes its gap in the first step, the others when they come to it.
  const Real dt = 1.01 * gap / fastest_approach;
  Simulation<3> simulation(table.comm(), impact_deck(impacts, {gap, dt, {}, ""}).read());
  demand_split_pair(table, name, impacts, simulation);
  bool solved = true;
  // One step more than it takes: without rebound a step closes the gap and the next takes what speed is left.
  for (Real t = 0; t < dt + last_arrival(impacts, gap); t += dt) {
    simulation.step();
    solved = solved && simulation.certified("solved") == 1;
  }
  table.demand(name, solved, "a step misses the tolerance of the solver");

  const GrainStates<3> found = states_of(simulation);
  std::vector<GrainRow> rows;
  std::size_t id = 0;
  for (const Impact& impact : impacts) {
    const RigidImpact expected(impact);
    const Vec<3> across = cross(impact.normal, expected.tangent);
    const auto compare = [&](const std::string& which, const Sphere& sphere, const Movement& movement) {
      const Vec<3>& v = found.velocity[id];
      const Vec<3>& spin = found.spin[id++];
      // What impulses change by 1e-8 can be much faster than what they leave.
      const Real speed = std::max({norm(sphere.start.velocity), sphere.radius * norm(sphere.start.spin),
                                   norm(impact.a.start.velocity)});
      const Real off = norm(v - movement.velocity);
      const auto compare_along = [&](const std::string& quantity, const Vec<3>& axis) {
        rows.push_back({quantity + " [m/s]", impact.variant + which, dot(movement.velocity, axis),
                        dot(v, axis), off, impact_bound * speed});
      };
      compare_along("v_n", impact.normal);
      if (impact.mu == 0) return;
      compare_along("v_t", expected.tangent);
      rows.push_back({"spin [rad/s]", impact.variant + which, dot(movement.spin, across), dot(spin, across),
                      norm(spin - movement.spin), impact_bound * speed / sphere.radius});
    };
    compare("", impact.a, expected.a);
    if (!on_floor) compare(", b", impact.b, expected.b);
  }
  table.add(name, rows);
}

}  // namespace

std::vector<Impact> chung_3(Real density) {
  std::vector<Impact> impacts;
  for (const Real e : {0.2, 0.4, 0.6, 0.8, 1.0})
    impacts.push_back({fmt::format("e = {}", e), down, {2.5e-3, density, {3.9 * down, {}}}, {}, 0, e});
  return impacts;
}

std::vector<Impact> chung_4(Real density) {
  constexpr Real degree = std::numbers::pi / 180;
  std::vector<Impact> impacts;
  for (int angle = 5; angle <= 85; angle += 5) {
    const Vec<3> v = 3.9 * (std::cos(angle * degree) * down + std::sin(angle * degree) * unit_vector<3>(1));
    impacts.push_back({fmt::format("{} deg", angle), down, {2.5e-3, density, {v, {}}}, {}, 0.092, 0.98});
  }
  return impacts;
}

std::vector<Impact> chung_5(Real density) {
  std::vector<Impact> impacts;
  for (int i = 0; i <= 20; ++i) {
    const Real v = 0.1 + 20.9 * i / 20;
    const Sphere sphere{1e-5, density, {5 * down + v * unit_vector<3>(1), {}}};
    impacts.push_back({fmt::format("v_t = {:g} m/s", v), down, sphere, {}, 0.3, 1});
  }
  return impacts;
}

std::vector<Impact> chung_6(Real density) {
  std::vector<Impact> impacts;
  for (const Real spin : spins()) {
    const Sphere sphere{0.1, density, {0.2 * down, spin * unit_vector<3>(0)}};
    impacts.push_back({fmt::format("spin {:.4g} rad/s", spin), down, sphere, {}, 0.4, 0.5});
  }
  return impacts;
}

std::vector<Impact> chung_7(Real density) {
  std::vector<Impact> impacts;
  for (const Real spin : spins())
    impacts.push_back({fmt::format("{:.4g} rad/s", spin),
                       oblique,
                       {0.1, density, {0.2 * oblique, spin * aside}},
                       {0.1, density, {-0.2 * oblique, -spin * aside}},
                       0.4,
                       0.5});
  return impacts;
}

std::vector<Impact> chung_8(Real density) {
  std::vector<Impact> impacts;
  for (const Real spin : spins())
    impacts.push_back({fmt::format("spin {:.4g} rad/s", spin),
                       oblique,
                       {0.1, density, {0.2 * oblique, spin * aside}},
                       {0.5, 1000 * density, {}},
                       0.4,
                       0.5});
  return impacts;
}

/// Source of cases and materials: Chung, Ooi, Granular Matter 13 (2011) 643, tests 3 to 8, in their rigid
/// form.
void verify_impacts(GrainTable& table) {
  run_impacts(table, "Chung 3, normal, plane", chung_3(4000));
  run_impacts(table, "Chung 4, oblique, plane", chung_4(4000));
  run_impacts(table, "Chung 5, tangential, plane", chung_5(7850));
  run_impacts(table, "Chung 6, spinning, plane", chung_6(2700));
  std::vector<Impact> gears;
  for (const auto& [metal, density] : {std::pair{"Al", 2700.0}, std::pair{"Cu", 8900.0}})
    for (Impact& impact : chung_7(density)) {
      impact.variant = fmt::format("{}, {}", metal, impact.variant);
      gears.push_back(impact);
    }
  run_impacts(table, "Chung 7, gears", gears);
  run_impacts(table, "Chung 8, spinning, sphere", chung_8(2700));

  // Without rebound a pair stays in touch and turns about itself: its impact has to be central.
  std::vector<Impact> unequal;
  for (const Real ratio : {1.0, 10.0, 1e3, 1e6})
    for (const Real e : {0.0, 0.5, 1.0}) {
      const Real turns = e > 0 ? 1 : 0;
      unequal.push_back({fmt::format("masses 1:{:g}, e = {:g}", ratio, e),
                         oblique,
                         {0.01, 2500, {oblique, turns * (30 * aside + 20 * oblique)}},
                         {0.01, 2500 * ratio, {-0.3 * oblique, turns * 50 * aside}},
                         0.3,
                         e});
    }
  run_impacts(table, "two bodies, unequal", unequal);
}

}  // namespace scree
