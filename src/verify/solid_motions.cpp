#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "verify/solid_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]
constexpr Real density = 1000;
constexpr Real closed_form = 1e-6;  // share by which limits of runs may differ from closed forms

/// A floor through the origin, down towards +x by a slope of this tangent, and a material "floor".
template <int D>
void slope(SolidDeck<D>& deck, Real tangent) {
  const Real across = g / std::sqrt(1 + tangent * tangent);
  deck.gravity(unit_vector<D>(D - 1, -across) + unit_vector<D>(0, tangent * across));
  deck.material("floor", 1);
  deck.floor("floor");
}

/// Cubes on a slope, two of them turned on it: a = g (sin - mu cos), and rest from mu = tan on.
void cubes_on_slope(GrainTable& table) {
  constexpr Real tangent = 0.5, time = 0.5;
  const Real cosine = 1 / std::sqrt(1 + tangent * tangent);
  const std::vector<Real> frictions{0.45, 0.499, 0.5, 0.501, 0.45, 0.501};
  SolidDeck<3> deck({{-5, -5, -5}}, {{10, 20, 10}}, 5e-3);
  slope(deck, tangent);
  deck.box("cube", filled<3>(1), 1e-3);
  for (std::size_t i = 0; i < frictions.size(); ++i) {
    const std::string material = fmt::format("m{}", i);
    deck.material(material, density);
    deck.pair(material, "floor", frictions[i], 0);
    deck.add({.shape = "cube",
              .material = material,
              .position = {{0, 2.5 * static_cast<Real>(i), 0.5}},
              .turn = turned<3>(i < 4 ? 0 : 0.5)});
  }
  Simulation<3> simulation(table.comm(), deck.read());
  deck.put(simulation);
  step_until(simulation, time);
  const GrainStates<3> end = states_of(simulation);
  std::vector<GrainRow> rows;
  for (std::size_t i = 0; i < frictions.size(); ++i) {
    const std::string variant = fmt::format("mu = {}{}", frictions[i], i < 4 ? "" : ", turned");
    const Real a = std::max(0.0, g * cosine * (tangent - frictions[i]));
    const Real found = end.velocity[i][0] / time;
    rows.push_back(row("a [m/s2]", variant, a, found, 1e-8 * (a > 1e-9 ? a : 1)));
    rows.push_back(row("spin [rad/s]", variant, 0, norm(end.spin[i]), 1e-8));
  }
  table.add("cubes on a slope", rows);
}

/// A capsule across a slope rolls as a body with I = k m r^2: a = g sin / (1 + k), or slips.
void rolling_capsule(GrainTable& table) {
  constexpr Real tangent = 0.5, time = 0.5, r = 0.1, length = 0.5;
  const Real cosine = 1 / std::sqrt(1 + tangent * tangent), sine = tangent * cosine;
  const Real middle = length, ends = 4.0 / 3 * r;  // volumes over pi r^2
  const Real k = (0.5 * middle + 0.4 * ends) / (middle + ends);
  const std::array<Real, 2> frictions{0.6, 0.1};
  SolidDeck<3> deck({{-2, -2, -2}}, {{4, 4, 4}}, 1e-3);
  slope(deck, tangent);
  deck.shape("rod", fmt::format("type = 'capsule'\nlength = {}\nwidth = {}\n", length, 2 * r),
             length / 2 + r);
  for (std::size_t i = 0; i < frictions.size(); ++i) {
    const std::string material = fmt::format("m{}", i);
    deck.material(material, density);
    deck.pair(material, "floor", frictions[i], 0);
    deck.add({.shape = "rod",
              .material = material,
              .position = {{0, 1.5 * static_cast<Real>(i), r}},
              .turn = turned<3>(std::numbers::pi / 2)});
  }
  Simulation<3> simulation(table.comm(), deck.read());
  deck.put(simulation);
  step_until(simulation, time);
  const GrainStates<3> end = states_of(simulation);
  std::vector<GrainRow> rows;
  for (std::size_t i = 0; i < frictions.size(); ++i) {
    const bool rolls = frictions[i] > tangent * k / (1 + k);
    const Real a = rolls ? g * sine / (1 + k) : g * (sine - frictions[i] * cosine);
    const Real turn = rolls ? a : frictions[i] * g * cosine / k;
    const std::string variant = fmt::format("mu = {}", frictions[i]);
    rows.push_back(row("u at 0.5 s [m/s]", variant, a * time, end.velocity[i][0], closed_form * g * time));
    rows.push_back(
        row("r omega at 0.5 s [m/s]", variant, turn * time, r * end.spin[i][1], closed_form * g * time));
  }
  table.add("capsule on a slope", rows);
}

/// A plate that falls and spins about its axis of most inertia: z(t) of steps with the velocity at their end.
void falling_plate(GrainTable& table) {
  constexpr Real dt = 5e-3, time = 1, height = 8, spin = 3, up = 2;
  SolidDeck<3> deck(filled<3>(-5), filled<3>(10), dt);
  deck.gravity({{0, 0, -g}});
  deck.material("body", density);
  deck.box("plate", {{2, 1, 0.02}}, 1e-3);
  deck.add({.shape = "plate",
            .material = "body",
            .position = {{0, 0, height}},
            .velocity = {{0, 0, up}},
            .spin = {{0, 0, spin}}});
  Simulation<3> simulation(table.comm(), deck.read());
  deck.put(simulation);
  step_until(simulation, time);
  const GrainStates<3> end = states_of(simulation);
  const Orientation<3> turn = turns_of(simulation)[0];
  const Real angle = 2 * std::atan2(turn[3], turn[0]);
  table.add("falling plate",
            {row("height [m]", "after 1 s", height + up * time - 0.5 * g * time * (time + dt),
                 end.position[0][2], closed_form * height),
             row("velocity [m/s]", "after 1 s", up - g * time, end.velocity[0][2], closed_form),
             row("angle [rad]", "after 1 s", spin * time, angle, closed_form * spin),
             row("spin [rad/s]", "after 1 s", spin, end.spin[0][2], closed_form * spin)});
}

/// Angular momentum of the only body about its centre [kg m2/s].
Vec<3> angular_momentum(const Simulation<3>& simulation) {
  const State<3>& state = simulation.state();
  Vec<3> sum = filled<3>(-HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const auto axes = axes_of<3>(state.bodies.orientation()[i]);
    const Vec<3> moments =
        state.shapes.moments(state.bodies.shape()[i], state.bodies.mass()[i], state.bodies.radius()[i]);
    sum = {};
    for (int k = 0; k < 3; ++k) {
      const Vec<3>& axis = axes[static_cast<std::size_t>(k)];
      sum += moments[k] * dot(axis, state.bodies.angular_velocity()[i]) * axis;
    }
  }
  state.comm.max(sum.component);
  return sum;
}

/// Without gravity; steps of dt until `time`.
void spin_free(GrainTable& table, const Vec<3>& size, const Vec<3>& spin, Real dt, Real time,
               const std::function<void(const Simulation<3>&, const Vec<3>&)>& done) {
  SolidDeck<3> deck(filled<3>(-2 * norm(size)), filled<3>(2 * norm(size)), dt);
  deck.material("body", density);
  deck.box("brick", size, 1e-3 * std::min({size[0], size[1], size[2]}));
  deck.add({.shape = "brick", .material = "body", .spin = spin});
  Simulation<3> simulation(table.comm(), deck.read());
  deck.put(simulation);
  const Vec<3> momentum = angular_momentum(simulation);
  step_until(simulation, time);
  done(simulation, momentum);
}

/// A brick 1:2:5 tumbles from a spin about its middle axis; energy and angular momentum are kept.
void free_brick(GrainTable& table, bool quick) {
  std::vector<GrainRow> rows;
  for (const Real dt : quick ? std::vector<Real>{0.01} : std::vector<Real>{0.01, 0.005, 0.001})
    spin_free(table, {{1, 2, 5}}, {{0.01, 10, 0.01}}, dt, 10,
              [&](const Simulation<3>& simulation, const Vec<3>& momentum) {
                const Real start = simulation.state().energy_balance.start;
                const std::string variant = fmt::format("10 s, dt = {} ms", 1000 * dt);
                rows.push_back(row("energy / start - 1 [-]", variant, 0,
                                   mechanical_energy(simulation.state()).total() / start - 1, 1e-9));
                const Real off = norm(angular_momentum(simulation) - momentum) / norm(momentum);
                rows.push_back(row("angular momentum off [-]", variant, 0, off, 1e-11));
              });
  table.add("free brick 1:2:5", rows);
}

/// Euler's equations in body axes and the turn of the body, by Runge-Kutta of fourth order.
Orientation<3> turn_of_free_body(const Vec<3>& moments, const Vec<3>& spin, Real time) {
  // Turn, and spin in body axes.
  using Numbers = std::array<Real, 7>;
  const auto rate = [&](const Numbers& n) {
    const Orientation<3> turn{{n[0], n[1], n[2], n[3]}};
    const Vec<3> w{{n[4], n[5], n[6]}};
    const Orientation<3> change = combined<3>(turn, {{0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]}});
    Numbers to{change[0], change[1], change[2], change[3]};
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      to[static_cast<std::size_t>(4 + k)] = (moments[i] - moments[j]) / moments[k] * w[i] * w[j];
    }
    return to;
  };
  const auto plus = [](Numbers a, Real f, const Numbers& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += f * b[k];
    return a;
  };
  Numbers now{1, 0, 0, 0, spin[0], spin[1], spin[2]};
  constexpr int n_steps = 20000;
  const Real dt = time / n_steps;
  for (int step = 0; step < n_steps; ++step) {
    const Numbers a = rate(now), b = rate(plus(now, dt / 2, a)), c = rate(plus(now, dt / 2, b)),
                  d = rate(plus(now, dt, c));
    now = plus(plus(plus(plus(now, dt / 6, a), dt / 3, b), dt / 3, c), dt / 6, d);
  }
  return {{now[0], now[1], now[2], now[3]}};
}

/// Where the long axis of free bodies points after a second, in the limit of small steps: of a brick with
/// three moments by Runge-Kutta; of a square prism, its axis goes round the angular momentum at |L| / I1.
void free_tops(GrainTable& table) {
  constexpr Real time = 1;
  std::vector<GrainRow> rows;
  const auto compare = [&](const std::string& name, const Vec<3>& size, const Vec<3>& spin,
                           const Vec<3>& exact) {
    std::array<std::vector<Real>, 3> found;
    for (const Real dt : {8e-3, 4e-3, 2e-3, 1e-3})
      spin_free(table, size, spin, dt, time, [&](const Simulation<3>& simulation, const Vec<3>&) {
        const Vec<3> axis = axes_of<3>(turns_of(simulation)[0])[2];
        for (std::size_t k = 0; k < 3; ++k) found[k].push_back(axis[static_cast<int>(k)]);
      });
    for (std::size_t k = 0; k < 3; ++k)
      rows.push_back(row(fmt::format("axis, {} [-]", "xyz"[k]), name, exact[static_cast<int>(k)],
                         at_zero_step(found[k], 2), closed_form));
  };
  const auto moments_of = [](const Vec<3>& size) {
    Vec<3> moments;
    for (int k = 0; k < 3; ++k) moments[k] = (dot(size, size) - size[k] * size[k]) / 12;
    return moments;
  };
  const Vec<3> brick{{1, 2, 5}}, tumbling{{1, 6, 0.5}};
  compare("brick 1:2:5", brick, tumbling,
          axes_of<3>(turn_of_free_body(moments_of(brick), tumbling, time))[2]);
  const Vec<3> prism{{1, 1, 2}}, spin{{3, 0, 10}};
  const Vec<3> moments = moments_of(prism);
  const Vec<3> momentum{{moments[0] * spin[0], 0, moments[2] * spin[2]}};
  const Real angle = norm(momentum) / moments[0] * time;
  const Vec<3> way = 1 / norm(momentum) * momentum, up{{0, 0, 1}};
  const Vec<3> exact =
      std::cos(angle) * up + std::sin(angle) * cross(way, up) + (1 - std::cos(angle)) * dot(way, up) * way;
  compare("prism 1:1:2", prism, spin, exact);
  table.add("free tops, limit", rows);
}

/// A capsule rolls on its round end in steady precession: e, the way from the centre of the end to that of
/// the body (l apart), keeps the angle theta to the vertical z and turns about it at Omega. With the end of
/// radius r rolling, omega = Omega z + s e, v = (Omega l - s r) z x e, and the change of angular momentum is
/// the torque of the floor if
///     s (I3 Omega + m Omega r a) = m Omega^2 l a + m g l - (I3 - I1) Omega^2 cos(theta),  a = l cos(theta) +
///     r
void spinning_top(GrainTable& table) {
  constexpr Real r = 0.05, l = 0.05, theta = 0.35, precession = 5, time = 0.4;
  const Real middle = 2 * l, ends = 4.0 / 3 * r, all = middle + ends;  // volumes over pi r^2
  const Real i3 = (0.5 * middle + 0.4 * ends) / all * r * r;
  // A half ball is 3/8 r beyond the end of the cylinder and has (2/5 - 9/64) m r^2 about its own centre.
  const Real far = l + 3.0 / 8 * r;
  const Real i1 =
      (middle * (r * r / 4 + middle * middle / 12) + ends * ((0.4 - 9.0 / 64) * r * r + far * far)) / all;
  const Real a = l * std::cos(theta) + r, w = precession;
  const Real s = (w * w * l * a + g * l - (i3 - i1) * w * w * std::cos(theta)) / (w * (i3 + r * a));
  const Vec<3> z{{0, 0, 1}}, e{{std::sin(theta), 0, std::cos(theta)}};
  std::vector<Real> lean, way;
  for (const Real dt : {1e-3, 5e-4, 2.5e-4, 1.25e-4}) {
    SolidDeck<3> deck(filled<3>(-1), filled<3>(2), dt);
    deck.gravity({{0, 0, -g}});
    deck.material("floor", 1);
    deck.material("body", density);
    deck.pair("floor", "body", 1, 0);
    deck.floor("floor");
    deck.shape("top", fmt::format("type = 'capsule'\nlength = {}\nwidth = {}\n", 2 * l, 2 * r), l + r);
    deck.add({.shape = "top",
              .material = "body",
              .position = r * z + l * e,
              .turn = leaning<3>(std::numbers::pi / 2 - theta),
              .velocity = (w * l - s * r) * cross(z, e),
              .spin = w * z + s * e});
    Simulation<3> simulation(table.comm(), deck.read());
    deck.put(simulation);
    step_until(simulation, time);
    const Vec<3> axis = axes_of<3>(turns_of(simulation)[0])[0];
    lean.push_back(std::acos(axis[2]));
    way.push_back(std::atan2(axis[1], axis[0]));
  }
  std::vector<GrainRow> rows{
      row("lean [rad]", "after 0.4 s", theta, at_zero_step(lean, 1), closed_form),
      row("angle gone round [rad]", "after 0.4 s", w * time, at_zero_step(way, 1), closed_form * w * time)};
  table.add("spinning top, limit", rows);
}

/// Angle and rate of a box that topples about a round edge, from rest: with the way (X, Y) from the centre
/// of the edge to that of the box, X = b sin(phi) - a cos(phi), Y = a sin(phi) + b cos(phi),
///     (I/m + X^2 + (Y + rho)^2) phi'' = (g + rho phi'^2) X
std::array<Real, 2> toppled(Real inertia, Real a, Real b, Real rho, Real angle, Real time) {
  constexpr int n_steps = 20000;
  const Real dt = time / n_steps;
  using Numbers = std::array<Real, 2>;
  const auto rate = [&](const Numbers& n) {
    const Real x = b * std::sin(n[0]) - a * std::cos(n[0]), y = a * std::sin(n[0]) + b * std::cos(n[0]);
    return Numbers{n[1], (g + rho * n[1] * n[1]) * x / (inertia + x * x + (y + rho) * (y + rho))};
  };
  const auto plus = [](const Numbers& n, Real f, const Numbers& change) {
    return Numbers{n[0] + f * change[0], n[1] + f * change[1]};
  };
  Numbers now{angle, 0};
  for (int step = 0; step < n_steps; ++step) {
    const Numbers k1 = rate(now), k2 = rate(plus(now, dt / 2, k1)), k3 = rate(plus(now, dt / 2, k2)),
                  k4 = rate(plus(now, dt, k3));
    now = plus(plus(plus(plus(now, dt / 6, k1), dt / 3, k2), dt / 3, k3), dt / 6, k4);
  }
  return now;
}

template <int D>
void toppling(GrainTable& table) {
  constexpr Real width = 0.4, height = 1, rho = 0.01, time = 0.3;
  constexpr Real a = width / 2 - rho, b = height / 2 - rho;
  const Real start = std::atan2(a, b) + 0.2;
  const std::array<Real, 2> exact = toppled((width * width + height * height) / 12, a, b, rho, start, time);
  std::array<std::vector<Real>, 2> found;
  for (const Real dt : {1e-3, 5e-4, 2.5e-4, 1.25e-4}) {
    SolidDeck<D> deck(filled<D>(-4), filled<D>(8), dt);
    deck.gravity(unit_vector<D>(D - 1, -g));
    deck.material("floor", 1);
    deck.material("body", density);
    deck.pair("floor", "body", 1, 0);
    deck.floor("floor");
    Vec<D> size = filled<D>(0.5);
    size[0] = width, size[D - 1] = height;
    deck.box("box", size, rho);
    Vec<D> at;
    at[0] = b * std::sin(start) - a * std::cos(start);
    at[D - 1] = rho + a * std::sin(start) + b * std::cos(start);
    deck.add({.shape = "box", .material = "body", .position = at, .turn = leaning<D>(-start)});
    Simulation<D> simulation(table.comm(), deck.read());
    deck.put(simulation);
    step_until(simulation, time);
    const Vec<D> axis = axes_of<D>(turns_of(simulation)[0])[0];
    found[0].push_back(std::atan2(-axis[D - 1], axis[0]));
    const Spin<D> spin = states_of(simulation).spin[0];
    found[1].push_back(D == 2 ? -spin[0] : spin[n_spins<D> / 2]);
  }
  table.add(
      fmt::format("toppling box {}D, limit", D),
      {row("angle [rad]", "after 0.3 s", exact[0], at_zero_step(found[0], 1), closed_form * exact[0]),
       row("rate [rad/s]", "after 0.3 s", exact[1], at_zero_step(found[1], 1), closed_form * exact[1])});
}

}  // namespace

void verify_solid_motions(GrainTable& table, bool quick) {
  cubes_on_slope(table);
  rolling_capsule(table);
  falling_plate(table);
  free_brick(table, quick);
  free_tops(table);
  spinning_top(table);
  toppling<2>(table);
  toppling<3>(table);
}

}  // namespace scree
