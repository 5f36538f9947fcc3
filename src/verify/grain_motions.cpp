#include <algorithm>

#include "verify/grain_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]
constexpr int x = 0;

/// Rigid grains, or soft ones on a rigid floor. These sink in until it carries them, without a rebound: the
/// impulse of the floor is then that of the weight, and so is the limit of friction.
struct Contacts {
  bool soft = false;
  Real dt = 0;     ///< [s]
  Real bound = 0;  ///< of errors, as a share of the largest speed
  Real rings = 0;  ///< how long springs swing when a body begins to roll [s]
  Elasticity elasticity;

  std::string name(const std::string& of) const { return soft ? of + ", soft" : of; }
};
const Contacts rigid_contacts{false, 1e-3, 1e-8, 0, {}};
const Contacts soft_contacts{true, 1e-4, 5e-3, 8e-3, {1e9, 0.3}};

/// I / (m r^2).
template <int D>
constexpr Real inertia_ratio = D == 2 ? 0.5 : 0.4;

template <int D>
std::string kind() {
  return D == 2 ? "disk" : "sphere";
}

/// Spin in the sense of rolling towards +x over a floor below.
template <int D>
Real rolling(const Spin<D>& spin) {
  return D == 2 ? -spin[0] : spin[1];
}

/// A body that rests on the floor at x = `along`; in 3D each has a lane of its own, so that they are on
/// different ranks.
template <int D>
Vec<D> on_floor(Real along, Real radius, int lane) {
  Vec<D> at;
  at[x] = along;
  if (D == 3) at[1] = (3 + 4 * lane) * radius;
  at[D - 1] = radius;
  return at;
}

/// A floor along a slope of tangent `slope`, down towards +x.
template <int D>
class FloorDeck : public GrainDeck<D> {
 public:
  FloorDeck(const Contacts& contacts, Real length, Real slope = 0)
      : GrainDeck<D>({}, unit_vector<D>(x, length - 2) + filled<D>(2), contacts.dt), contacts_(contacts) {
    const Real across = g / std::sqrt(1 + slope * slope);
    this->gravity(unit_vector<D>(D - 1, -across) + unit_vector<D>(x, slope * across));
    if (contacts.soft) this->soft("");
    add_material("floor", {HUGE_VAL, 0});
    this->floor("floor");
  }
  void body_material(const std::string& name) { add_material(name, contacts_.elasticity); }

 private:
  void add_material(const std::string& name, const Elasticity& elasticity) {
    constexpr Real density = 2500;  // [kg/m3]
    this->material(name, density, contacts_.soft ? std::optional(elasticity) : std::nullopt);
  }
  Contacts contacts_;
};

/// Launched without spin at u0: slips with u = u0 - mu g t and r omega = mu g t / k, k = I / (m r^2), until
/// t = u0 / (mu g (1 + 1/k)); rolls with u = u0 / (1 + k) from then on.
template <int D>
void slide_to_roll(GrainTable& table, const Contacts& contacts) {
  constexpr Real r = 0.1, mu = 0.3, k = inertia_ratio<D>;
  const Real dt = contacts.dt;
  const auto n_steps = std::llround(0.35 / dt), n_slipping = std::llround(0.08 / dt);
  const std::vector<Real> launch{1, 2, 3};
  FloorDeck<D> deck(contacts, 4);
  deck.body_material("body");
  deck.pair("body", "floor", mu, 0);
  // The faster ones start ahead: nobody meets in the plane.
  for (std::size_t i = 0; i < launch.size(); ++i)
    deck.add({"body", on_floor<D>(0.3 + 0.4 * static_cast<Real>(i), r, static_cast<int>(i)), r, {}, {}, ""});
  Simulation<D> simulation(table.comm(), deck.read());
  // Soft bodies sink in first, so that it is their weight that presses them from the start.
  for (int step = 0; contacts.soft && step < 500; ++step) simulation.step();
  BodyStore<D>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    bodies.velocity()[i][x] = launch[static_cast<std::size_t>(bodies.id()[i])];
  std::vector<GrainRow> rows;
  std::vector<Real> rolls_from(launch.size(), 0);
  for (std::int64_t step = 1; step <= n_steps; ++step) {
    simulation.step();
    const GrainStates<D> now = states_of(simulation);
    for (std::size_t i = 0; i < launch.size(); ++i) {
      const Real u0 = launch[i], u = now.velocity[i][x], turn = r * rolling<D>(now.spin[i]);
      const Real bound = contacts.bound * u0, time = static_cast<Real>(step) * dt;
      const auto add = [&](const std::string& quantity, Real expected, Real found) {
        rows.push_back(row(quantity, fmt::format("u0 = {} m/s", u0), expected, found, bound));
      };
      if (std::abs(u - turn) > bound) rolls_from[i] = time;
      if (step == n_slipping) {
        add("u at 0.08 s [m/s]", u0 - mu * g * time, u);
        add("r omega at 0.08 s [m/s]", mu * g * time / k, turn);
      }
      if (step == n_steps) {
        add("u rolling [m/s]", u0 / (1 + k), u);
        add("r omega rolling [m/s]", u0 / (1 + k), turn);
        const Real rolls = u0 / (mu * g * (1 + 1 / k));
        rows.push_back(row("rolls from [s]", fmt::format("u0 = {} m/s", u0), rolls, rolls_from[i],
                           dt + contacts.bound * rolls + contacts.rings));
      }
    }
  }
  table.add(contacts.name("slide to roll, " + kind<D>()), rows);
}

/// Spins on a floor without friction, against a resistance to rolling: omega = omega_0 - mu_r g t / (k r),
/// then rest.
template <int D>
void spin_down(GrainTable& table, const Contacts& contacts) {
  constexpr Real r = 0.1, mu_r = 0.1, k = inertia_ratio<D>, omega = 8;
  const Real dt = contacts.dt, rate = mu_r * g / (k * r);
  const auto n_steps = std::llround(0.2 / dt);
  FloorDeck<D> deck(contacts, 4);
  deck.body_material("body");
  deck.pair("body", "floor", 0, 0, mu_r);
  Spin<D> spin;
  spin[D == 2 ? 0 : 1] = omega;
  deck.add({"body", on_floor<D>(1, r, 0), r, {}, spin, ""});
  Simulation<D> simulation(table.comm(), deck.read());
  std::vector<GrainRow> rows;
  for (std::int64_t step = 1; step <= 3 * n_steps; ++step) {
    simulation.step();
    const Spin<D> now = states_of(simulation).spin[0];
    const Real found = now[D == 2 ? 0 : 1];
    if (step == n_steps)
      rows.push_back(row("omega at 0.2 s [1/s]", "mu_r = 0.1", omega - rate * static_cast<Real>(step) * dt,
                         found, contacts.bound * omega));
    if (step == 3 * n_steps)
      rows.push_back(row("omega at 0.6 s [1/s]", "mu_r = 0.1", 0, found, contacts.bound * omega));
  }
  table.add(contacts.name("rolling resistance, " + kind<D>()), rows);
  if (contacts.soft) return;
  const EnergyBalance& balance = simulation.state().energy_balance;
  const Real spun = 0.5 * moment_of_inertia<D>(states_of(simulation).mass[0], r) * omega * omega;
  table.add("rolling resistance, " + kind<D>(), {row("energy recorded as rolling [J]", "mu_r = 0.1", spun,
                                                     balance.rolling, contacts.bound * spun)});
}

/// On a slope of tan theta = 0.5 for half a second, from rest: with k = I / (m r^2) it rolls with
/// a = g sin / (1 + k) if mu >= tan theta k / (1 + k), otherwise it slips with a = g (sin - mu cos) and turns
/// with mu g cos / (r k); one that cannot turn stays if mu >= tan theta.
template <int D>
void incline(GrainTable& table, const Contacts& contacts) {
  constexpr Real r = 0.1, tangent = 0.5, k = inertia_ratio<D>, time = 0.5;
  const Real cosine = 1 / std::sqrt(1 + tangent * tangent), sine = tangent * cosine;
  struct Case {
    std::string name;
    Real mu;
    bool rotates;
  };
  const Real roll_limit = tangent * k / (1 + k);
  // The faster ones start ahead.
  const std::vector<Case> cases{{"locked, mu = 0.51", 0.51, false},
                                {"locked, mu = 0.49", 0.49, false},
                                {"mu = 0.6", 0.6, true},
                                {"mu just enough", 1.001 * roll_limit, true},
                                {"mu too small", 0.5 * roll_limit, true}};
  FloorDeck<D> deck(contacts, 5, tangent);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string material = fmt::format("m{}", i);
    deck.body_material(material);
    deck.pair(material, "floor", cases[i].mu, 0);
    deck.add({material,
              on_floor<D>(0.3 + 0.5 * static_cast<Real>(i), r, static_cast<int>(i) % 4),
              r,
              {},
              {},
              cases[i].rotates ? "" : "rotates = false\n"});
  }
  Simulation<D> simulation(table.comm(), deck.read());
  for (std::int64_t step = 0; step < std::llround(time / contacts.dt); ++step) simulation.step();
  const GrainStates<D> end = states_of(simulation);
  std::vector<GrainRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const bool sticks = c.rotates ? c.mu >= roll_limit : c.mu >= tangent;
    const Real slipping = g * (sine - c.mu * cosine);
    const Real u = time * (sticks ? (c.rotates ? g * sine / (1 + k) : 0) : slipping);
    Real turn = 0;
    if (c.rotates) turn = sticks ? u : time * c.mu * g * cosine / k;
    const Real bound = contacts.bound * g * time;
    rows.push_back(row("u at 0.5 s [m/s]", c.name, u, end.velocity[i][x], bound));
    rows.push_back(row("r omega at 0.5 s [m/s]", c.name, turn, r * rolling<D>(end.spin[i]), bound));
  }
  table.add(contacts.name("slope, " + kind<D>()), rows);
}

/// A ball dropped from h bounces to e^2 h, e^4 h, ... A step of dt meets the floor up to one step early and
/// free fall in steps is off by g dt/2: the speed v of an impact is off by at most 3/2 g dt, and the ball
/// turns up to (1 + e) v dt above the floor, so each height H' = e^2 H is off by at most
/// e^2 (3 v dt) + (1 + e) v dt, v^2 = 2 g H.
template <int D>
void bounce(GrainTable& table) {
  constexpr Real r = 0.05, height = 0.5, dt = 2e-4;
  const std::vector<Real> restitutions{0.5, 0.8, 0.95};
  constexpr std::size_t n_bounces = 3;
  FloorDeck<D> deck({false, dt, 0, 0, {}}, 2);
  for (std::size_t i = 0; i < restitutions.size(); ++i) {
    const std::string material = fmt::format("m{}", i);
    deck.body_material(material);
    deck.pair(material, "floor", 0.3, restitutions[i]);
    Vec<D> at = on_floor<D>(0.5 + 0.4 * static_cast<Real>(i), r, 4);
    at[D - 1] += height;
    deck.add({material, at, r, {}, {}, ""});
  }
  Simulation<D> simulation(table.comm(), deck.read());
  // Heights of the first tops after the start, of each ball.
  std::vector<std::vector<Real>> tops(restitutions.size());
  std::vector<Real> before(restitutions.size(), 0);
  const auto missing = [&] {
    return std::ranges::any_of(tops, [](const auto& list) { return list.size() < n_bounces; });
  };
  for (int step = 0; step < 10000 && missing(); ++step) {
    simulation.step();
    const GrainStates<D> now = states_of(simulation);
    for (std::size_t i = 0; i < tops.size(); ++i) {
      const Real v = now.velocity[i][D - 1];
      if (before[i] > 0 && v <= 0) tops[i].push_back(now.position[i][D - 1] - r);
      before[i] = v;
    }
  }
  std::vector<GrainRow> rows;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    const Real e = restitutions[i];
    Real last = height;
    tops[i].resize(n_bounces, std::nan(""));
    for (std::size_t b = 0; b < n_bounces; ++b) {
      const Real v = std::sqrt(2 * g * last);
      rows.push_back(row("height over last height [-]", fmt::format("e = {}, bounce {}", e, b + 1), e * e,
                         tops[i][b] / last, (3 * e * e + 1 + e) * v * dt / last));
      last = tops[i][b];
    }
  }
  table.add("bouncing, " + kind<D>(), rows);
}

/// Velocity Verlet is exact for constant accelerations, for any step.
void free_fall(GrainTable& table) {
  constexpr Real r = 0.1, v0 = 3, height = 1, time = 0.4;
  FloorDeck<3> deck(soft_contacts, 4);
  deck.body_material("body");
  deck.add({"body", on_floor<3>(0.5, r, 0) + unit_vector<3>(2, height), r, unit_vector<3>(x, v0), {}, ""});
  Simulation<3> simulation(table.comm(), deck.read());
  for (std::int64_t step = 0; step < std::llround(time / deck.dt()); ++step) simulation.step();
  const GrainStates<3> end = states_of(simulation);
  table.add("free fall, soft", {row("height [m]", "after 0.4 s", r + height - 0.5 * g * time * time,
                                    end.position[0][2], 1e-10 * height),
                                row("velocity [m/s]", "after 0.4 s", -g * time, end.velocity[0][2], 1e-10)});
}

}  // namespace

void verify_motions(GrainTable& table) {
  slide_to_roll<3>(table, rigid_contacts);
  slide_to_roll<2>(table, rigid_contacts);
  spin_down<3>(table, rigid_contacts);
  spin_down<2>(table, rigid_contacts);
  incline<3>(table, rigid_contacts);
  incline<2>(table, rigid_contacts);
  bounce<3>(table);
}

void verify_soft_motions(GrainTable& table) {
  free_fall(table);
  slide_to_roll<3>(table, soft_contacts);
  slide_to_roll<2>(table, soft_contacts);
  spin_down<3>(table, soft_contacts);
  spin_down<2>(table, soft_contacts);
  incline<3>(table, soft_contacts);
  incline<2>(table, soft_contacts);
}

}  // namespace scree
