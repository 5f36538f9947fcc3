// Contacts that attract: for each type of cohesion the same bits on any number of ranks, and after a restart
// while contacts are pulled.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Spheres fall on a floor that moves away again, so that contacts with it and with each other are pulled.
std::string pulled(const std::string& scheme, const std::string& cohesion, Real friction) {
  return deck(
      {.dimension = 3,
       .scheme = scheme,
       .lower = "[0, 0, -0.2]",
       .upper = "[0.8, 0.8, 2]",
       .periodic = "[true, true, false]",
       .step = scheme == "dem" ? 1e-4 : 1e-3,
       .seed = 8,
       .gravity = "[2, 0, -10]",
       .block_cells = 2},
      fmt::format(R"(
[materials.stone]
density = 2500{}
[pairs."stone-stone"]
friction = {}
restitution = 0.2
[pairs."stone-stone".cohesion]
{}
[particles.grains]
material = "stone"
radius = {{ distribution = "uniform", min = 0.03, max = 0.05 }}
source = {{ type = "random", count = 150, region = {{ lower = [0, 0, 0.03], upper = [0.8, 0.8, 0.45] }} }}
velocity = [0, 0, -1]
random_speed = 0.5
angular_velocity = [9, 0, -4]
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = {{ type = "oscillate", amplitude = [0, 0, 0.01], frequency = 20 }}
[measures.energy]
type = "energy"
balance = true
)",
                  scheme == "dem" ? "\nyoung_modulus = 4e7\npoisson_ratio = 0.3" : "", friction, cohesion));
}

const std::string force = "type = \"force\"\nbond_number = 5";
const std::string dmt = "type = \"dmt\"\nwork_of_adhesion = 20";
const std::string jkr = "type = \"jkr\"\nwork_of_adhesion = 20";
const std::string jkr_load = jkr + "\njkr_end = \"load\"\nfriction_load = \"thornton\"";
const std::string bridge =
    "type = \"bridge\"\nsurface_tension = 20\ncontact_angle = 0.3\nvolume_ratio = 0.01";

/// Contacts that have a gap and pull, of all steps from the first restart to the last.
std::int64_t n_pulled(const std::string& text, int first, int last) {
  Simulation<3> simulation(Comm(), read_deck<3>(text));
  std::int64_t count = 0;
  for (int step = 0; step < last; ++step) {
    simulation.step();
    if (step < first) continue;
    const ContactGraph<3>& contacts = simulation.find_contacts(0);
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (contacts.gap[c] > 0 && contacts.force[c] < 0) ++count;
  }
  return Comm().sum(count);
}

void check_soft(const std::string& cohesion, Real friction, bool acts_beyond) {
  const std::string text = pulled("dem", cohesion, friction);
  CAPTURE(cohesion, friction);
  CHECK(check_restarts<3>({text, {}, 900, {700, 820}}).n_contacts > 10);
  CHECK((n_pulled(text, 700, 820) > 0) == acts_beyond);
}

}  // namespace

TEST_CASE("cohesion: the same bits and exact restarts in a pull, dem, force and dmt", "[mpi]") {
  check_soft(force, 0.5, false);
  check_soft(dmt, 0.5, false);
}

TEST_CASE("cohesion: the same bits and exact restarts in a pull, dem, jkr, with and without friction",
          "[mpi]") {
  check_soft(jkr, 0.5, true);
  check_soft(jkr, 0, true);
  check_soft(jkr_load, 0.5, true);
}

TEST_CASE("cohesion: the same bits and exact restarts in a pull, dem, bridge, with and without friction",
          "[mpi]") {
  check_soft(bridge, 0.5, true);
  check_soft(bridge, 0, true);
}

TEST_CASE("cohesion: the same bits and exact restarts, nonsmooth, force and dmt with sticking", "[mpi]") {
  for (const std::string& cohesion : {force, dmt + "\nrange = 1e-4"})
    CHECK(check_restarts<3>({pulled("nonsmooth", cohesion, 0.5), {}, 150, {100, 125}}).n_contacts > 30);
}

TEST_CASE("cohesion: the energy balance closes, to round-off with rigid bodies", "[mpi]") {
  const auto imbalance = [](const std::string& text, Real step, int n_steps) {
    Simulation<3> simulation(Comm(), read_deck<3>(text, {fmt::format("time.step={}", step)}));
    for (int k = 0; k < n_steps; ++k) simulation.step();
    const auto& state = std::as_const(simulation).state();
    CHECK(std::abs(state.energy_balance.cohesion) > 1e-4 * state.energy_balance.impact);
    return std::abs(mechanical_energy(state).total() - state.energy_balance.total()) /
           state.energy_balance.impact;
  };
  CHECK(imbalance(pulled("nonsmooth", force, 0.5), 1e-3, 150) < 1e-10);
  for (const std::string& cohesion : {force, dmt, jkr, bridge}) {
    CAPTURE(cohesion);
    const std::string text = pulled("dem", cohesion, 0.5);
    const Real coarse = imbalance(text, 1e-4, 600), fine = imbalance(text, 2.5e-5, 2400);
    CAPTURE(coarse, fine);
    CHECK(coarse < 0.05);
    CHECK(fine < 0.5 * coarse + 1e-3);
  }
}

}  // namespace scree
