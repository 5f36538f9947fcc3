#include <algorithm>
#include <numbers>

#include "app/verification/grain_cases.hpp"
#include "dynamics/energy_ledger.hpp"
#include "particles/volume.hpp"

namespace scree {

namespace {

constexpr Real degree = std::numbers::pi / 180;

/// Velocity and spin of a sphere.
struct Movement {
  Vec<3> velocity;
  Vec<3> spin;
};

struct Sphere {
  Real radius = 0;
  Real density = 0;
  Movement start{};
  Real mass() const { return density * body_volume<3>(radius); }
};

/// Sphere a meets sphere b, or a plane at rest if b has no radius.
struct Impact {
  std::string variant;
  Vec<3> normal;  ///< from a to b
  Sphere a, b;
  Real mu = 0, e = 0;
  bool meets_floor() const { return b.radius == 0; }
};

/// What rigid spheres do: the normal velocity of approach v_n reverses to e v_n, J_n = (1 + e) v_n m*, and
/// friction takes away the slip v_s of the surfaces or as much of it as Coulomb's law lets it,
/// J_t = min(mu J_n, 2/7 v_s m*). Source: impulse balance, spheres of I = 2/5 m r^2.
struct ClosedForm {
  Movement a, b;
  Vec<3> tangent;  ///< direction of the slip of b over a

  explicit ClosedForm(const Impact& impact) {
    const Vec<3>& n = impact.normal;
    const auto surface = [&](const Sphere& s, Real side) {
      return s.start.velocity + cross(s.start.spin, side * s.radius * n);
    };
    const Vec<3> relative = (impact.meets_floor() ? Vec<3>{} : surface(impact.b, -1)) - surface(impact.a, 1);
    const Real approach = -dot(relative, n);
    const Vec<3> slip = relative + approach * n;
    const Real slip_speed = norm(slip);
    // Where nothing slips, the way in which the spin of a moves its surface.
    const Vec<3> way = slip_speed > 1e-9 * approach ? slip : cross(impact.a.start.spin, n);
    if (norm(way) > 0) tangent = way * (1 / norm(way));
    const Real inverse_mass = 1 / impact.a.mass() + (impact.meets_floor() ? 0 : 1 / impact.b.mass());
    const Real normal_impulse = (1 + impact.e) * approach / inverse_mass;
    const Real friction = std::min(impact.mu * normal_impulse, 2 * slip_speed / 7 / inverse_mass);
    Vec<3> on_b = normal_impulse * n;
    if (slip_speed > 0) on_b -= slip * (friction / slip_speed);
    const auto after = [&](const Sphere& s, const Vec<3>& impulse, Real side) {
      const Real m = s.mass();
      const Vec<3> torque = cross(side * s.radius * n, impulse);
      return Movement{s.start.velocity + impulse * (1 / m),
                      s.start.spin + torque * (1 / moment_of_inertia<3>(m, s.radius))};
    };
    a = after(impact.a, -on_b, 1);
    if (!impact.meets_floor()) b = after(impact.b, on_b, -1);
  }
};

/// Share of the largest speed of a sphere, r * spin included, that the result may be off by.
constexpr Real impact_bound = 1e-8;

/// Runs all impacts of a case in one box, each in a place of its own.
void run_impacts(GrainTable& table, const std::string& name, const std::vector<Impact>& impacts) {
  const bool on_floor = impacts.front().meets_floor();
  Real largest = 0, fastest_approach = 0, slowest_approach = HUGE_VAL, fastest = 0;
  for (const Impact& impact : impacts) {
    largest = std::max({largest, impact.a.radius, impact.b.radius});
    const Real approach = dot(impact.a.start.velocity - impact.b.start.velocity, impact.normal);
    fastest_approach = std::max(fastest_approach, approach);
    slowest_approach = std::min(slowest_approach, approach);
    for (const Sphere& s : {impact.a, impact.b}) fastest = std::max(fastest, norm(s.start.velocity));
  }
  const Real smallest = impacts.front().a.radius;
  const Real gap = 0.05 * smallest;
  // The fastest closes its gap in the first step, the others when they come to it.
  const Real dt = 1.01 * gap / fastest_approach;
  const Real skin = std::max(2.4 * largest, 3 * fastest * dt);
  // One cell after the other along x; each pair lies across a face of one, so that every way of sharing cells
  // among ranks parts a pair.
  const Real pitch = 1.01 * (2 * largest + skin);
  const auto n = static_cast<Real>(impacts.size());
  GrainDeck<3> deck({{0, 0, 0}}, {{pitch * (n + 1), pitch, pitch}}, dt);
  deck.skin(skin);
  if (on_floor) {
    deck.material("floor", 1);
    deck.floor("floor");
  }
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    const Impact& impact = impacts[i];
    const std::string at = std::to_string(i);
    const Vec<3> apart = (impact.a.radius + impact.b.radius + gap) * impact.normal;
    Vec<3> x{{pitch * (static_cast<Real>(i) + 1), 0.5 * pitch, impact.a.radius + gap}};
    if (!on_floor) {
      x[2] = 0.5 * pitch;
      x -= 0.5 * apart;
    }
    deck.material("a" + at, impact.a.density);
    deck.add({"a" + at, x, impact.a.radius, impact.a.start.velocity, impact.a.start.spin, ""});
    if (!on_floor) {
      deck.material("b" + at, impact.b.density);
      deck.add({"b" + at, x + apart, impact.b.radius, impact.b.start.velocity, impact.b.start.spin, ""});
    }
    deck.pair("a" + at, on_floor ? "floor" : "b" + at, impact.mu, impact.e);
  }

  Simulation<3> simulation(table.comm(), deck.read());
  const std::vector<int> ranks = states_of(simulation).rank;
  bool split = on_floor;
  for (std::size_t i = 0; !on_floor && i < ranks.size(); i += 2) split = split || ranks[i] != ranks[i + 1];
  table.demand(name, split || table.comm().size() == 1, "no pair has its spheres on two ranks");
  bool solved = true;
  // One step more than it takes: without rebound a step closes the gap and the next takes what speed is left.
  for (Real t = 0; t < dt + gap / slowest_approach; t += dt) {
    simulation.step();
    solved = solved && certified(simulation, "solved") == 1;
  }
  table.demand(name, solved, "a step misses the tolerance of the solver");

  const GrainStates<3> found = states_of(simulation);
  std::vector<GrainRow> rows;
  std::size_t id = 0;
  for (const Impact& impact : impacts) {
    const ClosedForm expected(impact);
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

const Vec<3> down{{0, 0, -1}};
/// Off the axes, so that nothing is zero by chance; `side` is at right angles to it.
const Vec<3> oblique{{2.0 / 3, -1.0 / 3, 2.0 / 3}};
const Vec<3> side{{1.0 / 3, -2.0 / 3, -2.0 / 3}};

std::vector<Real> spins() {  // [rad/s]
  std::vector<Real> all;
  for (int i = 1; i <= 20; ++i) all.push_back(0.175 + (21 - 0.175) * (i - 1) / 19.0);
  return all;
}

}  // namespace

/// Source of cases and materials: Chung, Ooi, Granular Matter 13 (2011) 643, tests 3 to 8, in their rigid
/// form.
void verify_impacts(GrainTable& table) {
  std::vector<Impact> impacts;
  const auto run = [&](const std::string& name) {
    run_impacts(table, name, impacts);
    impacts.clear();
  };
  for (const Real e : {0.2, 0.4, 0.6, 0.8, 1.0})
    impacts.push_back({fmt::format("e = {}", e), down, {2.5e-3, 4000, {3.9 * down, {}}}, {}, 0, e});
  run("Chung 3, normal, plane");

  for (int angle = 5; angle <= 85; angle += 5) {
    const Vec<3> v = 3.9 * (std::cos(angle * degree) * down + std::sin(angle * degree) * unit_vector<3>(1));
    impacts.push_back({fmt::format("{} deg", angle), down, {2.5e-3, 4000, {v, {}}}, {}, 0.092, 0.98});
  }
  run("Chung 4, oblique, plane");

  for (int i = 0; i <= 20; ++i) {
    const Real v = 0.1 + 20.9 * i / 20;
    impacts.push_back({fmt::format("v_t = {:g} m/s", v),
                       down,
                       {1e-5, 7850, {5 * down + v * unit_vector<3>(1), {}}},
                       {},
                       0.3,
                       1});
  }
  run("Chung 5, tangential, plane");

  for (const Real spin : spins())
    impacts.push_back({fmt::format("spin {:.4g} rad/s", spin),
                       down,
                       {0.1, 2700, {0.2 * down, spin * unit_vector<3>(0)}},
                       {},
                       0.4,
                       0.5});
  run("Chung 6, spinning, plane");

  for (const auto& [metal, density] : {std::pair{"Al", 2700.0}, std::pair{"Cu", 8900.0}})
    for (const Real spin : spins())
      impacts.push_back({fmt::format("{}, {:.4g} rad/s", metal, spin),
                         oblique,
                         {0.1, density, {0.2 * oblique, spin * side}},
                         {0.1, density, {-0.2 * oblique, -spin * side}},
                         0.4,
                         0.5});
  run("Chung 7, gears");

  for (const Real spin : spins())
    impacts.push_back({fmt::format("spin {:.4g} rad/s", spin),
                       oblique,
                       {0.1, 2700, {0.2 * oblique, spin * side}},
                       {0.5, 2.7e6, {}},
                       0.4,
                       0.5});
  run("Chung 8, spinning, sphere");

  // Without rebound a pair stays in touch and turns about itself: its impact has to be central.
  for (const Real ratio : {1.0, 10.0, 1e3, 1e6})
    for (const Real e : {0.0, 0.5, 1.0}) {
      const Real turns = e > 0 ? 1 : 0;
      impacts.push_back({fmt::format("masses 1:{:g}, e = {:g}", ratio, e),
                         oblique,
                         {0.01, 2500, {oblique, turns * (30 * side + 20 * oblique)}},
                         {0.01, 2500 * ratio, {-0.3 * oblique, turns * 50 * side}},
                         0.3,
                         e});
    }
  run("two bodies, unequal");
}

}  // namespace scree
