#include <algorithm>

#include "state/energy_balance.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]

/// Linear and angular momentum of all bodies, the latter about the origin, and what the sums are made of.
struct Momentum {
  Vec<3> linear, angular;
  Real linear_size = 0, angular_size = 0;  ///< sums of magnitudes
};

Momentum momentum_of(const GrainStates<3>& all, Real radius) {
  Momentum sum;
  for (std::size_t i = 0; i < all.mass.size(); ++i) {
    const Vec<3> p = all.mass[i] * all.velocity[i];
    const Vec<3> l = cross(all.position[i], p) + moment_of_inertia<3>(all.mass[i], radius) * all.spin[i];
    sum.linear += p;
    sum.angular += l;
    sum.linear_size += norm(p);
    sum.angular_size += norm(l);
  }
  return sum;
}

/// Two clusters of spheres run into each other, spinning, with restitution. Impulses act on both bodies
/// alike, so linear momentum is kept to round-off. Angular momentum is where they act at the same point: with
/// friction at a gap, levers that end at the surfaces leave gap x friction, and moving overlapping bodies
/// apart leaves mass x way x slip.
void collision(GrainTable& table, const std::string& name, Real mu, Real spacing, int n_steps,
               bool correction, Real angular_bound) {
  constexpr Real r = 0.01, dt = 5e-4;
  const Real reach = 4 * spacing * r;
  GrainDeck<3> deck(filled<3>(-0.5), filled<3>(0.5), dt);
  deck.material("body", 2500);
  deck.pair("body", "body", mu, 0.6);
  deck.tolerance(1e-8);
  if (!correction) deck.nonsmooth("correction = 'none'\n");
  // Layers of the second cluster touch those of the first where their spacing is 2 r.
  for (const Real side : {-1.0, 1.0}) {
    const Real low = side < 0 ? -reach : 0;
    deck.group("body", r,
               fmt::format("type = 'lattice', spacing = {}, region = {{ lower = [{}, {}, {}], upper = [{}, "
                           "{}, {}] }}",
                           spacing * r, low, -reach / 2, -reach / 2, low + reach, reach / 2, reach / 2),
               fmt::format("velocity = [{}, {}, 0.1]\nangular_velocity = [{}, 20, 7]\nrandom_speed = 0.3\n",
                           -side, 0.3 * side, 40 * side));
  }
  Simulation<3> simulation(table.comm(), deck.read());
  const Momentum start = momentum_of(states_of(simulation), r);
  Real most_contacts = 0;
  for (int step = 0; step < n_steps; ++step) {
    simulation.step();
    most_contacts = std::max(most_contacts, simulation.certified("contacts"));
  }
  const Momentum end = momentum_of(states_of(simulation), r);
  table.demand(name, most_contacts > 20, "hardly anybody collides");
  std::vector<GrainRow> rows;
  rows.push_back({"linear momentum [-]", "change / sum of m |v|", 0,
                  norm(end.linear - start.linear) / start.linear_size,
                  norm(end.linear - start.linear) / start.linear_size, 1e-12});
  const Real turned = norm(end.angular - start.angular) / start.angular_size;
  rows.push_back({"angular momentum [-]", "change / sum of |L|", 0, turned, turned, angular_bound});
  table.add(name, rows);
}

/// 200 spheres fall into a stirred box.
void energy(GrainTable& table) {
  constexpr int n_steps = 300;
  GrainDeck<3> deck = stirred_box(1e-3, {});
  deck.tolerance(1e-3);
  Simulation<3> simulation(table.comm(), deck.read());
  Real turned_over = 0, worst = 0;
  Real last = mechanical_energy(simulation.state()).kinetic;
  for (int step = 0; step < n_steps; ++step) {
    simulation.step();
    const MechanicalEnergy now = mechanical_energy(simulation.state());
    // Kinetic energy that has come and gone.
    turned_over += std::abs(now.kinetic - last);
    last = now.kinetic;
    worst = std::max(worst, std::abs(now.total() - simulation.state().energy_balance.total()));
  }
  const EnergyBalance& balance = simulation.state().energy_balance;
  table.demand("energy, 200 spheres",
               std::abs(balance.wall_work) > 1e-3 * turned_over && balance.friction > 1e-3 * turned_over &&
                   balance.impact > 1e-3 * turned_over,
               "walls, friction or impacts play no part");
  table.add("energy, 200 spheres",
            {row("ledger / turned over [-]", "worst of all steps", 0, worst / turned_over, 1e-10)});
}

/// Force of the obstacles on the bodies [N]. Collective.
template <int D>
Vec<D> force_of_walls(Simulation<D>& simulation) {
  const ContactGraph<D>& contacts = simulation.find_contacts(1e-3);
  Vec<D> force;
  ReproducibleSum::sum(
      simulation.state().comm, contacts.size(), force.component, [&](std::size_t c, std::span<Real> terms) {
        const Vec<D> on_body =
            contacts.b[c] >= 0 ? Vec<D>{} : -(contacts.force[c] * contacts.normal[c] + contacts.friction[c]);
        std::ranges::copy(on_body.component, terms.begin());
      });
  return force;
}

/// A bed of spheres that has come to rest: the floor carries its weight, and in every step before what the
/// floor gives is the change of momentum and the weight.
void bed(GrainTable& table) {
  constexpr Real r = 0.01, dt = 2e-3, tolerance = 1e-4, width = 0.06;
  constexpr int n_steps = 300;
  GrainDeck<3> deck({{0, 0, 0}}, {{width, width, 0.3}}, dt);
  deck.gravity({{0, 0, -g}});
  deck.tolerance(tolerance);
  deck.material("body", 2500);
  deck.material("floor", 1);
  deck.pair("body", "body", 0.5, 0);
  deck.pair("body", "floor", 0.5, 0);
  deck.floor("floor");
  for (int k = 0; k < 2; ++k)
    for (const bool far : {false, true})
      deck.obstacle(fmt::format("wall{}{}", k, far ? "far" : "near"), "floor",
                    fmt::format("type = 'plane'\npoint = {}\nnormal = {}",
                                text_of<3>(unit_vector<3>(k, far ? width : 0)),
                                text_of<3>(unit_vector<3>(k, far ? -1 : 1))));
  deck.group("body", r,
             "type = 'lattice', count = 30, jitter = 0.02, region = { lower = [0, 0, 0], upper = [0.06, "
             "0.06, 0.25] }",
             "");
  Simulation<3> simulation(table.comm(), deck.read());
  GrainStates<3> now = states_of(simulation);
  Real weight = 0;
  for (const Real m : now.mass) weight += m * g;
  const auto momentum = [&] { return momentum_of(now, r).linear; };
  Vec<3> before = momentum();
  Real worst = 0;
  Vec<3> force;
  for (int step = 0; step < n_steps; ++step) {
    simulation.step(true);
    now = states_of(simulation);
    force = force_of_walls(simulation);
    const Vec<3> after = momentum();
    worst = std::max(worst, norm(dt * force + unit_vector<3>(2, -dt * weight) - (after - before)));
    before = after;
  }
  std::vector<GrainRow> rows;
  rows.push_back(row("momentum of a step [-]", "worst, / weight dt", 0, worst / (weight * dt), 1e-10));
  rows.push_back(row("force of walls / weight [-]", "at the end", 1, force[2] / weight, tolerance));
  table.add("bed at rest, 30 spheres", rows);
}

}  // namespace

GrainDeck<3> stirred_box(Real dt, const std::optional<Elasticity>& elasticity) {
  constexpr Real r = 0.02;
  GrainDeck<3> deck({{0, 0, -0.1}}, {{0.5, 0.25, 0.7}}, dt);
  deck.gravity({{0, 0, -g}});
  deck.material("body", 2500, elasticity);
  deck.material("wall", elasticity ? 2500 : 1, elasticity);
  deck.pair("body", "body", 0.4, 0.5, 0.02);
  deck.pair("body", "wall", 0.3, 0.7, 0.02);
  deck.group("body", r,
             "type = 'lattice', count = 200, jitter = 0.05, region = { lower = [0.02, 0, 0.05], upper = "
             "[0.3, 0.25, 0.7] }",
             "random_speed = 0.3\nangular_velocity = [3, 0, 1]\n");
  deck.obstacle("floor", "wall",
                "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n"
                "motion = { type = 'oscillate', amplitude = [0, 0, 0.005], frequency = 5 }");
  deck.obstacle("left", "wall",
                "type = 'plane'\npoint = [0, 0, 0]\nnormal = [1, 0, 0]\n"
                "motion = { type = 'translate', velocity = [0.05, 0.02, 0] }");
  deck.obstacle("right", "wall", "type = 'plane'\npoint = [0.5, 0, 0]\nnormal = [-1, 0, 0]");
  deck.obstacle("front", "wall", "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 1, 0]");
  deck.obstacle("back", "wall", "type = 'plane'\npoint = [0, 0.25, 0]\nnormal = [0, -1, 0]");
  deck.obstacle("paddle", "wall",
                "type = 'box'\nlower = [0.33, 0.05, 0.07]\nupper = [0.45, 0.2, 0.09]\n"
                "motion = { type = 'rotate', point = [0.39, 0.12, 0.08], axis = [0, 1, 0], rate = 6 }");
  return deck;
}

void verify_balances(GrainTable& table) {
  collision(table, "collision, smooth", 0, 2.2, 60, false, 1e-10);
  collision(table, "collision, touching", 0.4, 2, 1, true, 1e-10);
  collision(table, "collision, rough", 0.4, 2.2, 60, true, 1e-3);
  energy(table);
  bed(table);
}

}  // namespace scree
