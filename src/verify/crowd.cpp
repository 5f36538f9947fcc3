#include "verify/crowd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/deck.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_scene.hpp"
#include "io/files.hpp"
#include "particles/fill/region.hpp"
#include "run/simulation.hpp"
#include "verify/checks.hpp"

namespace scree {

namespace {

// ---- the table ------------------------------------------------------------------------------------------

class CrowdTable : public Checks {
 public:
  CrowdTable(const Comm& comm, const Show& show_line) : Checks(show_line), comm_(comm) {
    show(fmt::format("{:<4} {:<58} {:>14} {:>26} {}", "case", "what", "measured", "required", "ok"));
  }
  const Comm& comm() const { return comm_; }
  const std::string& csv() const { return csv_; }

  /// A number that is known, to an error of at most `bound`.
  void exact(std::string_view name, const std::string& what, Real measured, Real known, Real bound) {
    add(name, what, measured, fmt::format("{:.9g} +- {:.1e}", known, bound),
        std::abs(measured - known) <= bound);
  }
  void within(std::string_view name, const std::string& what, Real measured, const Interval& valid) {
    add(name, what, measured, fmt::format("{:g} to {:g}", valid.least, valid.most),
        measured >= valid.least && measured <= valid.most);
  }
  /// An error, or something else that is 0 at best.
  void at_most(std::string_view name, const std::string& what, Real measured, Real bound) {
    add(name, what, measured, fmt::format("<= {:.1e}", bound), measured <= bound);
  }

 private:
  void add(std::string_view name, const std::string& what, Real measured, const std::string& required,
           bool holds) {
    const char* const word = holds ? "yes" : "NO";
    show(fmt::format("{:<4} {:<58} {:>14.8g} {:>26} {}", name, what, measured, required, word));
    csv_ += fmt::format("{},\"{}\",{},\"{}\",{}\n", name, what, measured, required, word);
    count(holds, fmt::format("{}: {} = {:.12g}, required {}", name, what, measured, required));
  }

  const Comm& comm_;
  std::string csv_ = "case,what,measured,required,holds\n";
};

// ---- running decks --------------------------------------------------------------------------------------

RunDeck<2> read(const std::string& text) {
  Deck deck =
      Deck::from_text("[simulation]\ndimension = 2\nscheme = 'crowd'\nend_time = 1e6\n" + text, "crowd");
  RunDeck<2> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

std::string agents(Real radius, Real speed, const std::string& more = "") {
  return fmt::format(
      "radius = {{ distribution = 'constant', value = {} }}\n"
      "speed = {{ distribution = 'constant', value = {} }}\n{}",
      radius, speed, more);
}

CrowdScene& scene_of(Simulation<2>& simulation) {
  return *crowd_world(simulation.state())->scene;
}

/// Puts everybody where the case wants them: person i at `places[i]`. Before the first step. Collective.
void put(Simulation<2>& simulation, const std::vector<Vec<2>>& places) {
  State<2>& state = simulation.state();
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    state.bodies.position()[i] = state.bodies.previous()[i] =
        places[static_cast<std::size_t>(state.bodies.id()[i])];
  state.memory.clear(state.bodies.n_owned());
  simulation.stepper().bodies_changed(state);
}

Real certified(Simulation<2>& simulation, std::string_view name) {
  for (const CertificateEntry& entry : simulation.stepper().certificate())
    if (entry.name == name) return entry.value;
  return std::nan("");
}

/// What there is to know about somebody; the same on all ranks.
struct Person {
  Vec<2> position{}, previous{}, velocity{};
  Vec<2> way{};  ///< unit, or zero for somebody who stands
  Real radius = 0, desired_speed = 0;
  bool is_here = false;  ///< false: has left
};

/// Everybody by id. Collective.
std::vector<Person> everybody(Simulation<2>& simulation) {
  const State<2>& state = simulation.state();
  const BodyStore<2>& bodies = state.bodies;
  const CrowdScene& scene = scene_of(simulation);
  constexpr std::size_t width = 10;
  std::vector<Real> numbers(static_cast<std::size_t>(state.next_id) * width, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const int destination = agent::destination(bodies)[i];
    const bool walks = destination >= 0 && state.clock.time >= agent::premovement_end(bodies)[i];
    const Vec<2> way =
        walks ? scene.floor_field().direction(destination, wrapped(state.box, bodies.position()[i]))
              : Vec<2>{};
    Real* to = &numbers[static_cast<std::size_t>(bodies.id()[i]) * width];
    for (const Vec<2>& v : {bodies.position()[i], bodies.previous()[i], bodies.velocity()[i], way})
      to = std::ranges::copy(v.component, to).out;
    for (const Real number : {bodies.radius()[i], agent::desired_speed(bodies)[i]}) *to++ = number;
  }
  state.comm.max(numbers);
  std::vector<Person> people(static_cast<std::size_t>(state.next_id));
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Real* from = &numbers[i * width];
    Person& person = people[i];
    person.is_here = from[0] > -HUGE_VAL;
    for (Vec<2>* v : {&person.position, &person.previous, &person.velocity, &person.way})
      for (Real& x : v->component) x = *from++;
    for (Real* number : {&person.radius, &person.desired_speed}) *number = *from++;
  }
  return people;
}

/// Multipliers [m/s] of all pairs and walls in the last step, the same on all ranks.
class Loads {
 public:
  /// Collective.
  explicit Loads(Simulation<2>& simulation)
      : n_(static_cast<std::size_t>(simulation.state().next_id)),
        n_walls_(static_cast<std::size_t>(simulation.state().obstacles.n_constraints())),
        load_(n_ * (n_ + n_walls_)) {
    // Those who pressed have parted by less than this in the same step.
    constexpr Real share_of_radii = 1;
    const ContactGraph<2>& contacts = simulation.find_contacts(share_of_radii);
    const auto id = std::as_const(simulation.state().bodies).id();
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const auto a = static_cast<std::size_t>(id[static_cast<std::size_t>(contacts.a[c])]);
      const auto b = contacts.b[c] < 0
                         ? n_ + static_cast<std::size_t>(contacts.wall[c])
                         : static_cast<std::size_t>(id[static_cast<std::size_t>(contacts.b[c])]);
      load_[a * (n_ + n_walls_) + b] = contacts.force[c];
    }
    simulation.state().comm.max(load_);
  }
  std::size_t n_walls() const { return n_walls_; }
  /// Of persons a < b.
  Real of_pair(std::size_t a, std::size_t b) const { return load_[a * (n_ + n_walls_) + b]; }
  Real of_wall(std::size_t person, std::size_t wall) const {
    return load_[person * (n_ + n_walls_) + n_ + wall];
  }
  /// All walls, all people.
  Real of_walls() const {
    Real sum = 0;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t w = 0; w < n_walls_; ++w) sum += of_wall(i, w);
    return sum;
  }

 private:
  std::size_t n_, n_walls_;
  std::vector<Real> load_;
};

// ---- S1, S2: pairs and columns --------------------------------------------------------------------------

/// Two people walk towards each other along the middle of a corridor. They meet at the time
/// t* = gap / (v_a + v_b); from then on they move together with (v_a - v_b) / 2 and press with
/// (v_a + v_b) / 2.
void head_on(CrowdTable& table, Real speed_of_a, Real speed_of_b) {
  constexpr Real dt = 0.05, radius_of_a = 0.2, radius_of_b = 0.17, start_gap = 3.217;
  constexpr Real x_of_a = 4.05;
  const std::string text = fmt::format(
      "[time]\nstep = {}\n[crowd]\nspeed_law = 'none'\ntolerance = 1e-14\n"
      "[walkable]\npolygon = [[0, 0], [12, 0], [12, 2], [0, 2]]\n"
      "[exits.left]\nline = [[0, 0], [0, 2]]\n[exits.right]\nline = [[12, 0], [12, 2]]\n"
      "[journeys.to_left]\n[[journeys.to_left.steps]]\nexits = ['left']\n"
      "[journeys.to_right]\n[[journeys.to_right.steps]]\nexits = ['right']\n"
      "[agents.a]\n{}[agents.b]\n{}"
      "[populations.a]\nagents = ['a']\njourney = 'to_right'\nregion = [[1, 0], [5, 0], [5, 2], [1, 2]]\n"
      "count = 1\n"
      "[populations.b]\nagents = ['b']\njourney = 'to_left'\nregion = [[7, 0], [11, 0], [11, 2], [7, 2]]\n"
      "count = 1\n",
      dt, agents(radius_of_a, speed_of_a), agents(radius_of_b, speed_of_b));
  Simulation<2> simulation(table.comm(), read(text));
  put(simulation, {{{x_of_a, 1}}, {{x_of_a + radius_of_a + radius_of_b + start_gap, 1}}});

  const Real meeting = start_gap / (speed_of_a + speed_of_b);
  const auto step_of_meeting = static_cast<int>(std::ceil(meeting / dt));
  const Real together = (speed_of_a - speed_of_b) / 2;
  Real gap_error = 0, load_error = 0, speed_error = 0, seen_meeting = 0;
  constexpr int n_steps_after = 12;
  for (int step = 1; step <= step_of_meeting + n_steps_after; ++step) {
    simulation.step(true);
    const std::vector<Person> people = everybody(simulation);
    if (step < step_of_meeting) continue;
    gap_error = std::max(gap_error,
                         std::abs(norm(people[1].position - people[0].position) - radius_of_a - radius_of_b));
    const Real load = Loads(simulation).of_pair(0, 1);
    if (step == step_of_meeting) {
      // Of the pair's relative motion in this step the rest was taken away; each walked on by `together`.
      const Real time = step * dt;
      seen_meeting = time - dt * load / ((speed_of_a + speed_of_b) / 2);
      continue;
    }
    load_error = std::max(load_error, std::abs(load - (speed_of_a + speed_of_b) / 2));
    for (const Person& person : people)
      speed_error = std::max(speed_error, norm(person.velocity - Vec<2>{{together, 0}}));
  }
  const std::string which = fmt::format("v0 = {:g} and {:g} m/s: ", speed_of_a, speed_of_b);
  table.exact("s1", which + "they meet at [s]", seen_meeting, meeting, 1e-12);
  table.at_most("s1", which + "gap from then on [m]", gap_error, 1e-12);
  table.at_most("s1", which + "error of the multiplier [m/s]", load_error, 1e-12);
  table.at_most("s1", which + "error of their velocity [m/s]", speed_error, 1e-12);
}

void verify_head_on(CrowdTable& table) {
  head_on(table, 1.34, 1.34);
  head_on(table, 1.5, 1.0);
}

/// n people in a file all want to go on with v0, the first stands at a wall: person k from the back pushes
/// the next one with k v0, the wall carries n v0. Nobody is off the line by a single bit, or the column would
/// buckle.
void verify_columns(CrowdTable& table) {
  constexpr Real radius = 0.2, speed = 1.34, gap = 0.03, dt = 0.05;
  for (const int n : {3, 10, 30}) {
    const Real length = (2 * radius + gap) * (n + 1);
    const std::string text = fmt::format(
        "[time]\nstep = {}\n[crowd]\nspeed_law = 'none'\ntolerance = 1e-14\ndirection = [1, 0]\n"
        "max_sweeps = 100000\n[walkable]\npolygon = [[0, 0], [{}, 0], [{}, 2], [0, 2]]\n"
        "[agents.person]\n{}[populations.file]\nplacement = 'lattice'\ncount = {}\n",
        dt, length, length, agents(radius, speed), n);
    Simulation<2> simulation(table.comm(), read(text));
    std::vector<Vec<2>> places;
    for (int i = 0; i < n; ++i) places.push_back({{radius + gap / 2 + (2 * radius + gap) * i, 1}});
    put(simulation, places);
    const auto n_steps = static_cast<int>(std::ceil(length / (2 * radius) * gap / (speed * dt))) + 20;
    for (int step = 0; step < n_steps; ++step) simulation.step(true);
    const Loads loads(simulation);
    Real pair_error = 0, place_error = 0;
    const std::vector<Person> people = everybody(simulation);
    for (std::size_t i = 0; i < people.size(); ++i) {
      if (i + 1 < people.size())
        pair_error =
            std::max(pair_error, std::abs(loads.of_pair(i, i + 1) - static_cast<Real>(i + 1) * speed));
      const Real x = length - radius - 2 * radius * static_cast<Real>(people.size() - 1 - i);
      place_error = std::max(place_error, norm(people[i].position - Vec<2>{{x, 1}}));
    }
    const std::string which = fmt::format("{} people: ", n);
    table.exact("s2", which + "multiplier of the wall [m/s]", loads.of_walls(), n * speed, 1e-9);
    table.at_most("s2", which + "largest error of those of pairs [m/s]", pair_error, 1e-9);
    table.at_most("s2", which + "largest error of places [m]", place_error, 1e-12);
  }
}

// ---- S3: convergence in the time step -------------------------------------------------------------------

/// 12 people come out of a room, around a column, through a funnel into a long passage.
std::string funnel(int seed, const std::string& law) {
  return fmt::format(
      "seed = {}\n[crowd]\nspeed_law = '{}'\nturning_angle = 0\ntolerance = 1e-11\nmax_sweeps = 100000\n"
      "[walkable]\npolygon = [[0, 0], [4, 0], [6, 1.4], [12, 1.4], [12, 2.5], [6, 2.5], [4, 4], [0, 4]]\n"
      "[walkable.obstacles.column]\ncircles = [[4.4, 1.7, 0.3]]\n"
      "[exits.end]\nline = [[12, 1.4], [12, 2.5]]\n"
      "[populations.crowd]\nregion = [[1.5, 0.5], [3.8, 0.5], [3.8, 3.5], [1.5, 3.5]]\ncount = 12\n",
      seed, law);
}

std::vector<Vec<2>> places_at(const Comm& comm, const std::string& deck, Real dt, Real time) {
  Simulation<2> simulation(comm, read(deck + fmt::format("[time]\nstep = {:.17g}\n", dt)));
  const auto n_steps = std::llround(time / dt);
  for (std::int64_t step = 0; step < n_steps; ++step) simulation.step();
  std::vector<Vec<2>> places;
  for (const Person& person : everybody(simulation)) places.push_back(person.position);
  return places;
}

/// The projection alone, then with the headway law, which jumps where somebody comes into one's way (also
/// without turning): with jumps there is no order to expect, only that steps that are halved bring one
/// nearer.
void verify_convergence(CrowdTable& table) {
  constexpr Real coarsest = 0.05, time = 2;
  constexpr int n_steps = 4, finest = 64, n_seeds = 24;
  for (const std::string law : {"none", "headway"}) {
    std::array<Real, n_steps> mean_of_log{};
    for (int seed = 1; seed <= n_seeds; ++seed) {
      const std::string deck = funnel(seed, law);
      const auto reference = places_at(table.comm(), deck, coarsest / finest, time);
      Real dt = coarsest;
      for (Real& sum : mean_of_log) {
        const auto places = places_at(table.comm(), deck, dt, time);
        Real squares = 0;
        for (std::size_t i = 0; i < places.size(); ++i)
          squares += dot(places[i] - reference[i], places[i] - reference[i]);
        sum += std::log(std::sqrt(squares / static_cast<Real>(places.size()))) / n_seeds;
        dt /= 2;
      }
    }
    // Least squares of log(error) on log(dt).
    constexpr Real middle = (n_steps - 1) / 2.0;
    Real order = 0, squares = 0;
    for (int k = 0; k < n_steps; ++k) {
      const Real error = std::exp(mean_of_log[static_cast<std::size_t>(k)]);
      table.show(fmt::format("     speed_law \"{}\", dt = {:g} ms: typical error {:.2f} mm", law,
                             1e3 * coarsest / (1 << k), 1e3 * error));
      order += (middle - k) * std::log(error) / std::log(2.0);
      squares += (k - middle) * (k - middle);
    }
    table.within("s3", fmt::format("speed_law \"{}\": order of convergence [-]", law), order / squares,
                 law == "none" ? Interval{0.8, 1.3} : Interval{0.6, 1.6});
  }
}

// ---- S4, S7: optimality and balance ---------------------------------------------------------------------

/// How good one step is, or the worst of several.
struct Optimality {
  Real stationarity = 0;     ///< max |V - U - sum of l n| [m/s]
  Real overlap = 0;          ///< linearised, after the step, of all pairs and walls there are [m]
  Real complementarity = 0;  ///< max |min(l, u)| dt [m]
  Real duality_gap = 0;      ///< over half the sum of |U|^2 [-]
  Real imbalance = 0;        ///< |sum of V - U + sum over walls of l n| over the sum over walls of l [-]
  Real wall_load = 0;        ///< sum over walls of l [m/s]
  Real slowed = 0;           ///< half the sum of |V - U|^2 over half that of |U|^2 [-]

  void take_worst(const Optimality& other) {
    stationarity = std::max(stationarity, other.stationarity);
    overlap = std::max(overlap, other.overlap);
    complementarity = std::max(complementarity, other.complementarity);
    duality_gap = std::max(duality_gap, other.duality_gap);
    imbalance = std::max(imbalance, other.imbalance);
    wall_load = std::max(wall_load, other.wall_load);
    slowed = std::max(slowed, other.slowed);
  }
};

/// What a person at x meets of a wall. If it answers no more though it is loaded, the contact was with the
/// part that it passed on from in the step.
SurfacePoint<2> wall_met(const ObstacleSet<2>& obstacles, int wall, const Vec<2>& x, bool is_loaded) {
  SurfacePoint<2> met;
  obstacles.nearest(wall, {&x, 1}, {&met, 1});
  if (!met.in_reach() && is_loaded)
    obstacles.for_each_neighbour(wall, [&](int other) {
      if (!met.in_reach()) obstacles.nearest(other, {&x, 1}, {&met, 1});
    });
  return met;
}

/// Takes a step with speed_law "none", where U is known, and finds out how good it is from positions before
/// it, velocities and multipliers alone: neither lists of neighbours nor what the scheme thinks of itself are
/// used. Cost O(people^2). Collective.
Optimality judged_step(Simulation<2>& simulation) {
  State<2>& state = simulation.state();
  const std::vector<Person> before = everybody(simulation);
  std::vector<Vec<2>> desired;
  for (const Person& person : before) desired.push_back(person.desired_speed * person.way);
  const Real dt = simulation.next_dt();
  // As Simulation::step(), with a look before anybody leaves.
  simulation.stepper().advance(state, dt, true);
  const std::vector<Person> after = everybody(simulation);
  const Loads loads(simulation);
  ++state.clock.step;
  state.clock.time += state.clock.last_dt;
  simulation.deck().events.apply(state, simulation.stepper(), simulation.deck().groups.size(),
                                 static_cast<std::uint64_t>(simulation.deck().seed));

  Optimality worst;
  std::vector<Vec<2>> reached = desired;  // U + sum of l n
  Real primal_minus_dual = 0;
  Vec<2> on_people{};
  const auto judge = [&](Real gap, Real approach, Real load) {
    const Real u = gap / dt + approach;
    worst.overlap = std::max(worst.overlap, -u * dt);
    worst.complementarity = std::max(worst.complementarity, std::abs(std::min(load, u)) * dt);
    primal_minus_dual += load * u;
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Person& own = before[i];
    if (!own.is_here) continue;
    for (std::size_t j = i + 1; j < before.size(); ++j) {
      if (!before[j].is_here) continue;
      const Vec<2> d = before[j].position - own.position;
      const Vec<2> normal = (1 / norm(d)) * d;
      const Real load = loads.of_pair(i, j);
      reached[i] -= load * normal;
      reached[j] += load * normal;
      judge(norm(d) - own.radius - before[j].radius, dot(normal, after[j].velocity - after[i].velocity),
            load);
    }
    for (std::size_t w = 0; w < loads.n_walls(); ++w) {
      const Real load = loads.of_wall(i, w);
      const SurfacePoint<2> met = wall_met(state.obstacles, static_cast<int>(w), own.position, load > 0);
      if (!met.in_reach()) continue;
      reached[i] += load * met.normal;
      on_people += load * met.normal;
      worst.wall_load += load;
      judge(met.distance - own.radius, dot(met.normal, after[i].velocity), load);
    }
  }
  Vec<2> changed{};
  Real desired_squares = 0, changed_squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_here) continue;
    worst.stationarity = std::max(worst.stationarity, norm(after[i].velocity - reached[i]));
    changed += after[i].velocity - desired[i];
    changed_squares += dot(after[i].velocity - desired[i], after[i].velocity - desired[i]);
    desired_squares += dot(desired[i], desired[i]);
  }
  // With V = U + sum of l n the value of the problem less that of its dual is sum of l u.
  if (desired_squares > 0) worst.duality_gap = std::abs(primal_minus_dual) / (desired_squares / 2);
  if (desired_squares > 0) worst.slowed = changed_squares / desired_squares;
  if (worst.wall_load > 0) worst.imbalance = norm(changed - on_people) / worst.wall_load;
  return worst;
}

/// 100 people who push for a door without any headway.
std::string room(const std::string& exit, const std::string& keys) {
  return fmt::format(
      "seed = 3\n[time]\nstep = 0.05\n[crowd]\nspeed_law = 'none'\n{}"
      "[walkable]\nwkt = 'POLYGON((0 0, 8 0, 8 2, 9 2, 9 3, 8 3, 8 5, 0 5, 0 0))'\n"
      "[exits.door]\nline = [[9, 2], [9, 3]]\n{}"
      "[populations.crowd]\nregion = [[0.3, 0.3], [7, 0.3], [7, 4.7], [0.3, 4.7]]\ncount = 100\n",
      keys, exit);
}

void verify_optimality(CrowdTable& table) {
  struct Variant {
    std::string name, solver;
    Real tolerance;
  };
  for (const Variant& v :
       {Variant{"own sweeps, 1e-6 m", "", 1e-6}, Variant{"own sweeps, 1e-9 m", "", 1e-9},
        Variant{"nsgs, 1e-8 m", "solver = { type = 'nsgs', max_sweeps = 100000 }\n", 1e-8},
        Variant{"apgd, 1e-8 m", "solver = { type = 'apgd', max_iterations = 100000 }\n", 1e-8},
        Variant{"ipm, 1e-8 m", "solver = { type = 'ipm' }\n", 1e-8}}) {
    Simulation<2> simulation(
        table.comm(),
        read(room("", fmt::format("tolerance = {}\nmax_sweeps = 100000\n{}", v.tolerance, v.solver))));
    Optimality worst;
    Real more_than_certified = 0;
    constexpr int most_steps = 400;
    for (int n_steps = 0; n_steps < most_steps && simulation.running(); ++n_steps) {
      const Optimality step = judged_step(simulation);
      more_than_certified =
          std::max(more_than_certified, step.complementarity - certified(simulation, "residual"));
      worst.take_worst(step);
    }
    const std::string which = v.name + ": ";
    table.at_most("s4", which + "|V - U - sum l n| [m/s]", worst.stationarity, 1e-12);
    table.at_most("s4", which + "overlap after a step [m]", worst.overlap, v.tolerance);
    table.at_most("s4", which + "|min(l, u)| dt [m]", worst.complementarity, v.tolerance);
    table.at_most("s4", which + "the same, beyond what is certified [m]", more_than_certified, 1e-12);
    // Most of l u is from few contacts, with u up to tolerance / dt and l of some people's speeds.
    table.at_most("s4", which + "duality gap over sum |U|^2 / 2 [-]", worst.duality_gap, 100 * v.tolerance);
    table.within("s4", which + "largest sum |V - U|^2 over sum |U|^2 [-]", worst.slowed, {0.1, 1});
  }
}

/// The same room with the door shut.
void verify_wall_balance(CrowdTable& table) {
  Simulation<2> simulation(table.comm(), read(room("open_from = [1000]\n", "max_sweeps = 100000\n")));
  Optimality worst;
  Real least_load = HUGE_VAL;
  constexpr int n_steps = 240, n_until_jam = 160;
  for (int step = 0; step < n_steps; ++step) {
    const Optimality judged = judged_step(simulation);
    worst.take_worst(judged);
    if (step >= n_until_jam) least_load = std::min(least_load, judged.wall_load);
  }
  table.at_most("s7", "imbalance over load of walls [-]", worst.imbalance, 1e-12);
  table.within("s7", "least load of walls in the jam [m/s]", least_load, {100, 1000});
}

// ---- S6: files of people --------------------------------------------------------------------------------

/// Equal people in a file that closes on itself walk, in the end, with v = min(v0, max(v_push, (1/rho - 2r) /
/// T)).
void verify_files(CrowdTable& table) {
  constexpr Real radius = 0.2, speed = 1.34, headway_time = 0.8, push_speed = 0.15;
  constexpr int n = 24;
  for (const Real density : {0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 2.45}) {
    const Real length = n / density;
    const std::string text = fmt::format(
        "[domain]\nlower = [0, -1]\nupper = [{}, 3]\nperiodic = [true, false]\n"
        "[time]\nstep = 0.1\n[crowd]\ndirection = [1, 0]\nturning_angle = 0\n"
        "[walkable]\npolygon = [[-5, 0], [{}, 0], [{}, 2], [-5, 2]]\n"
        "[agents.person]\n{}[populations.file]\nplacement = 'lattice'\ncount = {}\n",
        length, length + 5, length + 5,
        agents(radius, speed, fmt::format("headway_time = {}\npush_speed = {}\n", headway_time, push_speed)),
        n);
    Simulation<2> simulation(table.comm(), read(text));
    std::vector<Vec<2>> places;
    const Real free = length / n - 2 * radius;
    // Unequal gaps at first.
    for (int i = 0; i < n; ++i)
      places.push_back({{length * (i + 0.5) / n + 0.3 * free * std::sin(2.0 * M_PI * i / n), 1}});
    put(simulation, places);
    constexpr int n_steps = 6000;
    for (int step = 0; step < n_steps; ++step) simulation.step();
    const Real expected = std::min(speed, std::max(push_speed, (1 / density - 2 * radius) / headway_time));
    Real worst = expected;
    for (const Person& person : everybody(simulation))
      if (std::abs(person.velocity[0] - expected) > std::abs(worst - expected)) worst = person.velocity[0];
    table.exact("s6", fmt::format("speed at {:g} per m, the one that is farthest off [m/s]", density), worst,
                expected, 1e-6);
  }
}

}  // namespace

bool verify_crowd(const Comm& comm, const CrowdVerification& options,
                  const std::function<void(const std::string&)>& show) {
  CrowdTable table(comm, show);
  struct Case {
    std::string_view name;
    void (*verify)(CrowdTable&);
  };
  for (const Case& c :
       {Case{"s1", &verify_head_on}, Case{"s2", &verify_columns}, Case{"s3", &verify_convergence},
        Case{"s4", &verify_optimality}, Case{"s6", &verify_files}, Case{"s7", &verify_wall_balance}})
    if (options.only == "all" || options.only == c.name) c.verify(table);
  table.show("");
  if (!options.csv.empty()) files::on_root(comm, [&] { files::write_atomically(options.csv, table.csv()); });
  return table.finish();
}

}  // namespace scree
