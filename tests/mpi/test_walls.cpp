// Walls of many parts and walls without thickness: a wall cut into pieces is the wall, and no body changes
// the side of a thin one, on any number of ranks.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "core/error.hpp"
#include "geometry/direction.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

// Seams
// -----------------------------------------------------------------------------------------------------------

const Vec<2> floor_start{{-1, -0.3}}, floor_end{{3, 0.9}};
constexpr Real disk_radius = 0.05;

Vec<2> along_floor() {
  return (floor_end - floor_start) * (1 / norm(floor_end - floor_start));
}

/// A disk on an inclined floor that gravity is at right angles to, `share` of the way along it and `height`
/// above it.
std::string disk_on(const std::string& scheme, const std::string& floor, Real share, Real height) {
  const Vec<2> up = left_of(along_floor());
  const Vec<2> x = floor_start + share * (floor_end - floor_start) + (disk_radius + height) * up;
  constexpr Real room = disk_radius + 1e-7;  // for the one site of the lattice
  const std::string source = fmt::format(
      "[particles.disk]\nradius = {{ distribution = 'constant', value = {} }}\n"
      "source = {{ type = 'lattice', spacing = 0.1, region = {{ lower = [{}, {}], upper = [{}, {}] }} }}\n",
      disk_radius, x[0] - room, x[1] - room, x[0] + room, x[1] + room);
  return "[simulation]\ndimension = 2\nend_time = 100\nallow_overlap = true\nscheme = '" + scheme +
         "'\n[domain]\nlower = [-2, -2]\nupper = [4, 3]\n[decomposition]\nblock_cells = 1\n" + source +
         "[obstacles.floor]\n" + floor + (scheme == "pbd" ? "" : "material = 'stone'\n");
}

std::string one_edge() {
  return fmt::format("type = 'segment'\na = [{}, {}]\nb = [{}, {}]\n", floor_start[0], floor_start[1],
                     floor_end[0], floor_end[1]);
}
/// The same, cut into n edges; as the top of a block if `solid`.
std::string cut_floor(int n, bool solid = false) {
  std::string points;
  for (int i = 0; i <= n; ++i) {
    const Vec<2> x = floor_start + (static_cast<Real>(i) / n) * (floor_end - floor_start);
    points += fmt::format("{}[{}, {}]", i > 0 ? ", " : "", x[0], x[1]);
  }
  if (solid) points += ", [3, -1.5], [-1, -1.5]";
  return fmt::format("type = '{}'\npoints = [{}]\n", solid ? "polygon" : "polyline", points);
}

std::string grains(Real step, const std::string& more, const Vec<2>& velocity = {}) {
  const Vec<2> gravity = -9.81 * left_of(along_floor());
  return fmt::format("[time]\nstep = {}\n[physics]\ngravity = [{}, {}]\n", step, gravity[0], gravity[1]) +
         "[materials.stone]\ndensity = 2500\n[particles.disk]\nmaterial = 'stone'\n" +
         fmt::format("velocity = [{}, {}]\n", velocity[0], velocity[1]) + more;
}
const std::string soft =
    "[dem]\nlaw = 'linear'\n[pairs.'stone-stone']\nfriction = 0.3\nrestitution = 0.3\nstiffness = 1e5\n";
const std::string rigid =
    "[solver]\ntype = 'nsgs'\ntolerance = 1e-11\n[pairs.'stone-stone']\nfriction = 0.3\nrestitution = 0\n";

/// TOML knows a table once only: the keys of [particles.disk] come together.
std::string merged(const std::string& first, const std::string& second) {
  const std::string header = "[particles.disk]\n";
  const auto from = second.find(header);
  if (from == std::string::npos) return first + second;
  const auto keys = from + header.size();
  const auto to = std::min(second.find("\n[", keys), second.size());
  std::string text = first;
  text.insert(text.find(header) + header.size(), second.substr(keys, to - keys) + "\n");
  return text + second.substr(0, from) + (to < second.size() ? second.substr(to + 1) : "");
}

struct Ride {
  Vec<2> position, velocity;
  Real spin = 0;
  std::int64_t n_contacts = 0, max_contacts = 0;
  Real load = 0;  ///< normal forces, at the end
};

Ride ride(const std::string& text, int n_steps) {
  const Comm world;
  Simulation<2> simulation(world, read_deck<2>(text));
  Ride ride;
  for (int step = 0; step < n_steps; ++step) {
    simulation.step(step + 1 == n_steps);
    if (step % 16 != 0 && step + 1 < n_steps) continue;
    const ContactGraph<2>& contacts = simulation.find_contacts(1e-9);  // gaps of rounding
    ride.n_contacts = world.sum(static_cast<std::int64_t>(contacts.size()));
    ride.max_contacts = std::max(ride.max_contacts, ride.n_contacts);
    Real load = 0;
    for (const Real force : contacts.force) load += force;
    ride.load = world.max(load);  // of one disk: on one rank
  }
  const BodyStore<2>& bodies = simulation.state().bodies;
  const auto of_owner = [&](auto number) { return world.max(bodies.n_owned() > 0 ? number() : -HUGE_VAL); };
  for (int k = 0; k < 2; ++k) {
    ride.position[k] = of_owner([&] { return bodies.position()[0][k]; });
    ride.velocity[k] = of_owner([&] { return bodies.velocity()[0][k]; });
  }
  if (bodies.has_inertia()) ride.spin = of_owner([&] { return bodies.angular_velocity()[0][0]; });
  return ride;
}

// Sides
// -----------------------------------------------------------------------------------------------------------

/// Bodies for which `is_beyond` holds, on all ranks.
template <int D, class F>
std::int64_t count(const Simulation<D>& simulation, F&& is_beyond) {
  std::int64_t n = 0;
  const BodyStore<D>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    n += is_beyond(bodies.position()[i]) ? 1 : 0;
  return simulation.state().comm.sum(n);
}

/// Runs to `end`, or until the scheme says that it cannot go on; then the message. Never in silence:
/// `is_right` is asked after every step.
template <int D, class F>
std::optional<std::string> run_until(Simulation<D>& simulation, Real end, F&& is_right) {
  try {
    while (simulation.state().clock.time < end - 1e-9) {
      simulation.step();
      if (!is_right()) {
        CAPTURE(simulation.state().clock.step, simulation.state().clock.time);
        CHECK(is_right());
        return {};
      }
    }
  } catch (const StepRefused& refusal) {
    return refusal.what();
  }
  return {};
}

std::string in_plane(const std::string& scheme, Real step, int seed) {
  const bool soft_scheme = scheme == "dem";
  std::string text = fmt::format(
      "[simulation]\ndimension = 2\nend_time = 100\nscheme = '{}'\nseed = {}\n[time]\nstep = {}\n"
      "[decomposition]\nblock_cells = 2\n",
      scheme, seed, step);
  if (scheme == "pbd") return text + "[velocity]\ntype = 'rest'\n[pbd]\noverlap_limit = 0\n";
  text += "[neighbors]\nskin = 0.01\n[physics]\ngravity = [0, 0]\n[materials.stone]\ndensity = 2500\n";
  text += soft_scheme ? "[dem]\nlaw = 'linear'\noverlap_limit = 0.5\n"
                        "[pairs.'stone-stone']\nfriction = 0.3\nrestitution = 0.3\nstiffness = 1e5\n"
                      : "[solver]\ntype = 'nsgs'\ntolerance = 1e-4\n"
                        "[pairs.'stone-stone']\nfriction = 0.3\nrestitution = 0.3\n";
  return text;
}
std::string material_of(const std::string& scheme) {
  return scheme == "pbd" ? "" : "material = 'stone'\n";
}

/// A paddle moves at 1 m/s through a bed of 60 grains between two walls.
std::string paddle(const std::string& scheme, Real step, int seed) {
  const std::string material = material_of(scheme);
  return in_plane(scheme, step, seed) +
         "[domain]\nlower = [-0.1, -0.1]\nupper = [1, 0.2]\n"
         "[particles.grains]\nradius = { distribution = 'uniform', min = 0.002, max = 0.003 }\n" +
         material +
         "source = { type = 'random', count = 60, region = { lower = [0.021, 0], upper = [0.1, 0.06] } }\n"
         "[obstacles.low]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n" +
         material + "[obstacles.high]\ntype = 'plane'\npoint = [0, 0.06]\nnormal = [0, -1]\n" + material +
         "[obstacles.paddle]\ntype = 'polyline'\npoints = [[0.02, 0], [0.02, 0.03], [0.02, 0.06]]\n" +
         material + "motion = { type = 'translate', velocity = [1, 0] }\n";
}

/// A blade through the centre of a drum of radius 0.1 parts 60 grains into two halves and turns.
std::string blade(const std::string& scheme, Real step, Real rate, int seed) {
  const std::string material = material_of(scheme);
  return in_plane(scheme, step, seed) +
         "[domain]\nlower = [-0.11, -0.11]\nupper = [0.11, 0.11]\noutside = 'keep'\n"
         "[particles.grains]\nradius = { distribution = 'uniform', min = 0.004, max = 0.006 }\n" +
         material +
         "source = { type = 'random', count = 60 }\n"
         "[obstacles.drum]\ntype = 'disk'\ncenter = [0, 0]\nradius = 0.1\nside = 'inside'\n" +
         material + "[obstacles.blade]\ntype = 'polyline'\npoints = [[-0.1, 0], [0.02, 0], [0.1, 0]]\n" +
         material + fmt::format("motion = {{ type = 'rotate', center = [0, 0], rate = {} }}\n", rate);
}

}  // namespace

TEST_CASE("seams: a soft disk over a joint of a polyline or polygon sinks as on a segment, with one contact",
          "[mpi][walls]") {
  const auto at_rest = [](const std::string& floor, Real share) {
    return ride(merged(disk_on("dem", floor, share, 1e-4), grains(1e-4, soft)), 1500);
  };
  const Ride whole = at_rest(one_edge(), 0.5);
  CHECK(whole.n_contacts == 1);
  for (const bool solid : {false, true})
    for (const int n : {2, 20}) {
      CAPTURE(solid, n);
      const Ride cut = at_rest(cut_floor(n, solid), 0.5);
      CHECK(cut.max_contacts == 1);
      CHECK(norm(cut.position - whole.position) < 1e-12);
      CHECK(cut.load == Approx(whole.load).epsilon(1e-12));
    }
}

TEST_CASE(
    "seams: a disk that slides and rolls over 2, 20, 200 edges moves as over one, and ends at 2/3 of its "
    "speed",
    "[mpi][walls]") {
  const Vec<2> u0 = 1.0 * along_floor();
  const auto roll = [&](const std::string& scheme, const std::string& floor) {
    const bool is_soft = scheme != "nonsmooth";
    std::string text = merged(disk_on(is_soft ? "dem" : scheme, floor, 0.2, 1e-6),
                              grains(is_soft ? 1e-4 : 1e-3, is_soft ? soft : rigid, u0));
    if (scheme == "dae") text.replace(text.find("law = 'linear'"), 14, "law = 'linear'\nfriction = 'dae'");
    return ride(text, is_soft ? 4000 : 400);
  };
  for (const std::string scheme : {"dem", "dae", "nonsmooth"}) {
    const Real tolerance = scheme == "dem" ? 1e-12 : 1e-9;
    const Ride whole = roll(scheme, one_edge());
    CHECK(dot(whole.velocity, along_floor()) == Approx(2.0 / 3).epsilon(scheme == "nonsmooth" ? 1e-3 : 0.03));
    for (const int n : {2, 20, 200})
      for (const bool solid : {false, true}) {
        if (solid && n == 200) continue;
        CAPTURE(scheme, n, solid);
        const Ride cut = roll(scheme, cut_floor(n, solid));
        CHECK(norm(cut.position - whole.position) < tolerance);
        CHECK(norm(cut.velocity - whole.velocity) < 100 * tolerance);
        CHECK(std::abs(cut.spin - whole.spin) < 1000 * tolerance);
        CHECK(cut.max_contacts == 1);
        CHECK(cut.load == Approx(whole.load).epsilon(100 * tolerance));
      }
  }
}

TEST_CASE("seams: pbd pushes a disk along 20 or 200 edges as along one, with the same load", "[mpi][walls]") {
  const Vec<2> v = 0.5 * along_floor() - left_of(along_floor());
  const auto push = [&](const std::string& floor) {
    return ride(disk_on("pbd", floor, 0.2, 1e-6) +
                    fmt::format("[time]\nstep = 0.01\n[velocity]\ntype = 'constant'\nvelocity = [{}, {}]\n",
                                v[0], v[1]) +
                    "[neighbors]\nskin = 0.1\n",
                200);
  };
  const Ride whole = push(one_edge());
  CHECK(whole.load == Approx(1));
  for (const int n : {20, 200}) {
    CAPTURE(n);
    const Ride cut = push(cut_floor(n));
    CHECK(norm(cut.position - whole.position) < 1e-12);
    CHECK(cut.load == Approx(whole.load).epsilon(1e-9));
    CHECK(cut.max_contacts == 1);
  }
}

TEST_CASE("seams: springs pass on over joints through restarts and new lists, the same bits on any ranks",
          "[mpi][walls]") {
  std::string text =
      merged(disk_on("dem", cut_floor(200), 0.2, 1e-6), grains(1e-3, soft, 1.0 * along_floor()));
  text.insert(text.find("[particles.disk]"), "[neighbors]\nskin = 0.01\n");
  const Coverage covered = check_restarts<2>({text, {}, 90, {19, 20, 21, 40, 41}});
  CHECK(covered.n_remembered > 0);
}

TEST_CASE("sides: a thin paddle at 1 m/s takes a bed along and nobody gets behind it, or the run says why",
          "[mpi][walls]") {
  for (const auto& [scheme, step] :
       {std::pair<std::string, Real>("pbd", 0.01), {"pbd", 0.1}, {"nonsmooth", 1e-3}, {"dem", 1e-5}})
    for (const int seed : {1, 2}) {
      CAPTURE(scheme, step, seed);
      const Comm world;
      Simulation<2> simulation(world, read_deck<2>(paddle(scheme, step, seed)));
      const auto behind = [&] {
        const Real wall = 0.02 + simulation.state().clock.time;
        return count(simulation, [&](const Vec<2>& x) { return x[0] < wall; });
      };
      REQUIRE(behind() == 0);
      const Real end = scheme == "dem" ? 0.02 : 0.2;
      const auto refusal = run_until(simulation, end, [&] { return behind() == 0; });
      if (refusal) WARN(*refusal);
      CHECK_FALSE(refusal.has_value());
      CHECK(behind() == 0);
      CHECK(count(simulation, [&](const Vec<2>& x) { return x[0] > 0.02 + simulation.state().clock.time; }) ==
            60);
    }
}

TEST_CASE("sides: a blade that turns in a drum of grains keeps their halves, at any step or with a message",
          "[mpi][walls]") {
  for (const auto& [scheme, step, rate] : {std::tuple<std::string, Real, Real>("pbd", 0.01, 20),
                                           {"pbd", 0.1, 20},
                                           {"nonsmooth", 1e-3, 5},
                                           {"dem", 1e-5, 20}})
    for (const int seed : {1, 2}) {
      CAPTURE(scheme, step, seed);
      const Comm world;
      Simulation<2> simulation(world, read_deck<2>(blade(scheme, step, rate, seed)));
      const auto on_left = [&, rate = rate] {
        const Real angle = rate * simulation.state().clock.time;
        return count(simulation,
                     [&](const Vec<2>& x) { return std::cos(angle) * x[1] - std::sin(angle) * x[0] > 0; });
      };
      const std::int64_t n = on_left();
      REQUIRE((n > 10 && n < 50));
      const Real end = scheme == "dem" ? 0.02 : 0.6;
      const auto refusal = run_until(simulation, end, [&] { return on_left() == n; });
      if (refusal) WARN(*refusal);
      CHECK_FALSE(refusal.has_value());
    }
}

TEST_CASE("sides: bullets at a thin wall stay before it in every scheme, or the run says why",
          "[mpi][walls]") {
  for (const auto& [scheme, step] : {std::pair<std::string, Real>("pbd", 0.01),
                                     {"nonsmooth", 1e-3},
                                     {"dem", 1e-4},
                                     {"dem", 1e-5},
                                     {"event", 0.01}}) {
    CAPTURE(scheme, step);
    const bool is_event = scheme == "event";
    const std::string material = material_of(scheme);
    std::string text =
        is_event
            ? "[simulation]\ndimension = 2\nend_time = 100\nscheme = 'event'\n[time]\nstep = 0.01\n[event]\n"
              "impact_law = 'sequential'\n[physics]\ngravity = [0, 0]\n[materials.stone]\ndensity "
              "= "
              "2500\n[pairs.'stone-stone']\nfriction = 0\nrestitution = 0.3\n"
            : in_plane(scheme, step, 1);
    if (scheme == "pbd")
      text.replace(text.find("type = 'rest'"), 13, "type = 'constant'\nvelocity = [3, 0.2]");
    text +=
        "[domain]\nlower = [-1, -1]\nupper = [1, 1]\noutside = 'keep'\n"
        "[particles.bullets]\nradius = { distribution = 'uniform', min = 0.002, max = 0.003 }\n" +
        material + (scheme == "pbd" ? "" : "velocity = [20, 1]\n") +
        "source = { type = 'random', count = 40, region = { lower = [-0.1, -0.05], upper = [-0.02, 0.05] } "
        "}\n"
        "[obstacles.wall]\ntype = 'polyline'\npoints = [[-0.2, -0.4], [0, -0.1], [0, 0.05], [-0.01, 0.1], "
        "[-0.3, 0.5]]\n" +
        material;
    const Comm world;
    Simulation<2> simulation(world, read_deck<2>(text));
    // The wall is convex to the right.
    const auto beyond = [&] { return count(simulation, [](const Vec<2>& x) { return x[0] > 0; }); };
    const auto refusal = run_until(simulation, scheme == "dem" ? 0.02 : 0.2, [&] { return beyond() == 0; });
    if (refusal) WARN(*refusal);
    if (scheme == "pbd" || is_event) CHECK_FALSE(refusal.has_value());
    CHECK(beyond() == 0);
  }
}

TEST_CASE("sides: pbd: bullets pass no solid, however thin, or the run says why", "[mpi][walls]") {
  const auto deck = [](const std::string& solid, Real speed, int n, Real depth) {
    std::string text = in_plane("pbd", 0.01, 1);
    text.replace(text.find("type = 'rest'"), 13, fmt::format("type = 'constant'\nvelocity = [{}, 0]", speed));
    text.replace(text.find("overlap_limit = 0"), 17, "overlap_limit = 0.5\non_overlap = 'stop'");
    return text +
           fmt::format(
               "[domain]\nlower = [-1, -1]\nupper = [1, 1]\noutside = 'keep'\n[particles.bullets]\n"
               "radius = {{ distribution = 'uniform', min = 0.002, max = 0.003 }}\nsource = {{ type = "
               "'random', count = {}, region = {{ lower = [{}, -0.05], upper = [-0.02, 0.05] }} }}\n",
               n, -0.02 - depth) +
           "[obstacles.solid]\n" + solid;
  };
  const std::string moving =
      "type = 'box'\nlower = [0, -0.4]\nupper = [1e-4, 0.4]\n"
      "motion = { type = 'translate', velocity = [-1, 0] }\n";
  const Comm world;
  for (const std::string& solid :
       {std::string("type = 'box'\nlower = [0, -0.4]\nupper = [1e-4, 0.4]\n"),
        std::string("type = 'polygon'\npoints = [[0, -0.4], [1e-3, -0.4], [2e-3, 0.4], [0, 0.4]]\n"), moving})
    for (const Real speed : {0.4, 3.0, 50.0}) {  // 1 to 2, 10 to 15 and 170 to 250 radii in a step
      CAPTURE(solid, speed);
      const auto run = [&](int n, Real depth) {
        Simulation<2> simulation(world, read_deck<2>(deck(solid, speed, n, depth)));
        const auto beyond = [&] {
          const Real face = solid == moving ? -simulation.state().clock.time : 0;
          return count(simulation, [&](const Vec<2>& x) { return x[0] > face; });
        };
        const auto refusal = run_until(simulation, 0.1, [&] { return beyond() == 0; });
        CHECK(simulation.neighborhood().list().n_cut_steps() > 0);
        return refusal;
      };
      CHECK_FALSE(run(8, 0.008).has_value());
      // A crowd that comes so fast presses those in front into the solid: right, or the run says why.
      if (const auto refusal = run(40, 0.08)) CHECK(refusal->find("overlap") != std::string::npos);
    }
  check_invariant<2>(deck(moving, 3, 8, 0.008), {}, 20);
}

TEST_CASE("sides: soft bullets that a thin wall cannot stop end the run, however deep an overlap may be",
          "[mpi][walls]") {
  std::string text = in_plane("dem", 1e-5, 1);
  text.replace(text.find("overlap_limit = 0.5"), 19, "overlap_limit = 100");
  text +=
      "[domain]\nlower = [-1, -1]\nupper = [1, 1]\n"
      "[particles.bullets]\nradius = { distribution = 'constant', value = 0.003 }\nmaterial = "
      "'stone'\nvelocity = [20, 1]\n"
      "source = { type = 'random', count = 5, region = { lower = [-0.1, -0.05], upper = [-0.02, 0.05] } }\n"
      "[obstacles.fence]\ntype = 'segment'\na = [0, -0.5]\nb = [0, 0.5]\nmaterial = 'stone'\n";
  for (const std::string friction : {"spring", "dae"}) {
    const Comm world;
    Simulation<2> simulation(world, read_deck<2>(text, {"dem.friction=" + friction}));
    const auto beyond = [&] { return count(simulation, [](const Vec<2>& x) { return x[0] > 0; }); };
    const auto refusal = run_until(simulation, 0.05, [&] { return beyond() == 0; });
    REQUIRE(refusal.has_value());
    CAPTURE(*refusal);
    CHECK(refusal->find("passed through the thin obstacle \"fence\"") != std::string::npos);
  }
}

TEST_CASE("seams: a disk bounces on a joint from impact to impact as on one edge", "[mpi][walls]") {
  const auto bounce = [](const std::string& floor) {
    const std::string event =
        "[event]\nimpact_law = 'sequential'\n[pairs.'stone-stone']\nfriction = 0\nrestitution = "
        "0.7\n";
    return ride(merged(disk_on("event", floor, 0.5, 0.1), grains(0.01, event)), 60);
  };
  const Ride whole = bounce(one_edge());
  for (const int n : {2, 20}) CHECK(norm(bounce(cut_floor(n)).position - whole.position) < 1e-12);
  CHECK(norm(bounce(cut_floor(2, true)).position - whole.position) < 1e-12);
}

TEST_CASE("sides: neighbours press nobody through a thin wall in two sweeps", "[mpi][walls]") {
  const std::string text =
      in_plane("pbd", 0.05, 3) +
      "[domain]\nlower = [-2, -1]\nupper = [3, 1]\noutside = 'keep'\n"
      "[particles.disks]\nradius = { distribution = 'uniform', min = 0.03, max = 0.05 }\n"
      "source = { type = 'random', count = 120, region = { lower = [-0.9, -0.9], upper = [0.9, 0.9] } }\n"
      "[obstacles.fence]\ntype = 'polyline'\nclosed = true\n"
      "points = [[-0.95, -0.95], [0.95, -0.95], [0.95, 0.3], [0.95, 0.95], [-0.95, 0.95]]\n";
  std::string drawn = text;
  drawn.replace(drawn.find("type = 'rest'"), 13, "type = 'attraction'\npoint = [2.5, 0.1]\nrate = 10");
  const Comm world;
  Simulation<2> simulation(world, read_deck<2>(drawn));
  for (int step = 0; step < 40; ++step) simulation.step();
  CHECK(count(simulation, [](const Vec<2>& x) { return std::max(std::abs(x[0]), std::abs(x[1])) < 0.95; }) ==
        120);
}

TEST_CASE("sides: a plate that moves through spheres keeps them before it", "[mpi][walls]") {
  const std::string text =
      "[simulation]\ndimension = 3\nend_time = 100\nseed = 4\n[time]\nstep = "
      "0.01\n[decomposition]\nblock_cells = 2\n"
      "[velocity]\ntype = 'rest'\n[pbd]\noverlap_limit = 0\n"
      "[domain]\nlower = [-0.1, 0, 0]\nupper = [1, 0.03, 0.03]\n"
      "[particles.grains]\nradius = { distribution = 'uniform', min = 0.002, max = 0.003 }\n"
      "source = { type = 'random', count = 80, region = { lower = [0.021, 0, 0], upper = [0.08, 0.03, 0.03] "
      "} }\n"
      "[obstacles.tube]\ntype = 'box'\nlower = [-1, 0, 0]\nupper = [2, 0.03, 0.03]\nside = 'inside'\n"
      "[obstacles.plate]\ntype = 'plate'\npoint = [0.02, 0.015, 0.015]\nnormal = [1, 0, 0]\n"
      "motion = { type = 'translate', velocity = [1, 0, 0] }\n";
  const Comm world;
  Simulation<3> simulation(world, read_deck<3>(text));
  const auto behind = [&] {
    const Real wall = 0.02 + simulation.state().clock.time;
    return count(simulation, [&](const Vec<3>& x) { return x[0] < wall; });
  };
  const auto refusal = run_until(simulation, 0.2, [&] { return behind() == 0; });
  CHECK_FALSE(refusal.has_value());
}

#ifdef SCREE_CROWD
TEST_CASE(
    "sides: people who walk towards a thin wall that comes to meet them are pushed back, nobody passes it",
    "[mpi][walls]") {
  const std::string text = deck({.scheme = "crowd", .step = 0.05, .end_time = 1000}, R"(
[walkable]
polygon = [[0, 0], [30, 0], [30, 3], [0, 3]]
[crowd]
direction = [1, 0.1]
[populations.walkers]
region = [[5, 0], [19, 0], [19, 3], [5, 3]]
count = 40
[obstacles.sweep]
type = "polyline"
points = [[20, 0], [20, 1.3], [20, 3]]
motion = { type = "translate", velocity = [-1, 0] }
)");
  for (const Overrides& model : {Overrides{}, Overrides{"crowd.model=pbd"}}) {
    const Comm world;
    Simulation<2> simulation(world, read_deck<2>(text, model));
    const auto beyond = [&] {
      const Real wall = 20 - simulation.state().clock.time;
      return count(simulation, [&](const Vec<2>& x) { return x[0] > wall; });
    };
    REQUIRE(beyond() == 0);
    const auto refusal = run_until(simulation, 10, [&] { return beyond() == 0; });
    CHECK_FALSE(refusal.has_value());
    CHECK(simulation.n_bodies() == 40);
    check_invariant<2>(text, model, 80);
  }
}
#endif

TEST_CASE("sides: paddle, blade and pressed bodies have the same bits on any number of ranks",
          "[mpi][walls]") {
  check_invariant<2>(paddle("pbd", 0.01, 1), {}, 60);
  check_invariant<2>(blade("pbd", 0.01, 20, 1), {}, 60);
  check_invariant<2>(paddle("nonsmooth", 1e-3, 1), {}, 40);
  check_invariant<2>(paddle("dem", 1e-5, 1), {}, 400);
  check_restarts<2>({blade("pbd", 0.01, 20, 2), {}, 40, {7, 20}});
}

}  // namespace scree
