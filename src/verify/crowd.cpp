#include <algorithm>
#include <array>
#include <cmath>

#include "verify/crowd_runs.hpp"

namespace scree {

namespace {

std::string agents(Real radius, Real speed, const std::string& more = "") {
  return fmt::format(
      "radius = {{ distribution = 'constant', value = {} }}\n"
      "speed = {{ distribution = 'constant', value = {} }}\n{}",
      radius, speed, more);
}

// ---- S1, S2: pairs and columns

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
  Simulation<2> simulation(table.comm(), read_crowd(text));
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
    Simulation<2> simulation(table.comm(), read_crowd(text));
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

// ---- S3: convergence in the time step

/// 12 people come out of a room, around a column, through a funnel into a long passage.
std::string funnel(int seed, const std::string& law) {
  return fmt::format(
      "seed = {}\n[crowd]\nspeed_law = '{}'\nturning_angle = 0\nspreading = 0\ntolerance = 1e-11\nmax_sweeps "
      "= 100000\n"
      "[walkable]\npolygon = [[0, 0], [4, 0], [6, 1.4], [12, 1.4], [12, 2.5], [6, 2.5], [4, 4], [0, 4]]\n"
      "[walkable.obstacles.column]\ncircles = [[4.4, 1.7, 0.3]]\n"
      "[exits.end]\nline = [[12, 1.4], [12, 2.5]]\n"
      "[populations.crowd]\nregion = [[1.5, 0.5], [3.8, 0.5], [3.8, 3.5], [1.5, 3.5]]\ncount = 12\n",
      seed, law);
}

std::vector<Vec<2>> places_at(const Comm& comm, const std::string& deck, Real dt, Real time) {
  Simulation<2> simulation(comm, read_crowd(deck + fmt::format("[time]\nstep = {:.17g}\n", dt)));
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

// ---- S6: files of people

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
    Simulation<2> simulation(table.comm(), read_crowd(text));
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

bool verify_crowd(const Comm& comm, const VerifyOptions& options, const Show& show) {
  CrowdTable table(comm, show);
  struct Case {
    std::string_view name;
    void (*verify)(CrowdTable&);
  };
  for (const Case& c :
       {Case{"s1", &verify_head_on}, Case{"s2", &verify_columns}, Case{"s3", &verify_convergence},
        Case{"s4", &verify_optimality}, Case{"s6", &verify_files}, Case{"s7", &verify_wall_balance}})
    if (options.only == "all" || options.only == c.name) c.verify(table);
  if (options.only == "all" || options.only == "doors") verify_doors(table, options);
  table.show("");
  return table.finish(options.csv);
}

}  // namespace scree
