#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "mpi/simulate.hpp"

using namespace scree;

namespace {

/// What schemes need beyond the tables that all of them are given here.
const std::map<std::string, std::string, std::less<>> tables_of{
    {"pbd", "[velocity]\ntype = 'constant'\nvelocity = [0.1, -0.2]\n"},
    {"event", "[event]\nimpact_law = 'multiple'\n"}};

/// Two disks above a floor.
std::string deck_of(std::string_view scheme) {
  const auto own = tables_of.find(scheme);
  std::string text = deck({.scheme = std::string(scheme), .lower = "[0, 0]", .upper = "[4, 4]", .step = 1e-3},
                          R"(
[particles.two]
radius = { distribution = "constant", value = 0.45 }
source = { type = "lattice", spacing = 1, region = { lower = [1, 0], upper = [3, 1] } }
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
)");
  if (scheme != "pbd") {
    for (const std::string_view table : {"particles.two", "obstacles.floor"}) {
      const std::string head = "[" + std::string(table) + "]\n";
      text.insert(text.find(head) + head.size(), "material = 'stone'\n");
    }
    text +=
        "[physics]\ngravity = [0, -10]\n[materials.stone]\ndensity = 2000\nyoung_modulus = "
        "1e7\npoisson_ratio = "
        "0.3\n[pairs.'stone-stone']\nfriction = 0\nrestitution = 0.5\n";
  }
  return own == tables_of.end() ? text : text + own->second;
}

}  // namespace

TEST_CASE(
    "schemes: a step keeps the clock for its caller, obstacles end where it ends, bodies stay who they are",
    "[schemes]") {
  for (const Entry<Stepper<2>>& entry : registry<Stepper<2>>()) {
    CAPTURE(std::string(entry.name));
    Simulation<2> simulation(Comm(), read_deck<2>(deck_of(entry.name)));
    State<2>& state = simulation.state();
    Stepper<2>& scheme = simulation.stepper();
    REQUIRE(simulation.n_bodies() == 2);
    CHECK(state.bodies.has_inertia() == scheme.traits().has_inertia());
    for (int step = 0; step < 20; ++step) {
      const Real time = state.clock.time;
      scheme.advance(state, 1e-3, false);
      CHECK(state.clock.time == time);
      CHECK(state.clock.step == step);
      CHECK((state.clock.last_dt > 0 && state.clock.last_dt <= 1e-3));
      state.clock.time += state.clock.last_dt;
      ++state.clock.step;
    }
    CHECK(simulation.n_bodies() == 2);
    // Names and units of the certificate never change.
    const auto before = scheme.certificate();
    scheme.advance(state, 1e-3, true);
    const auto after = scheme.certificate();
    REQUIRE(before.size() == after.size());
    for (std::size_t k = 0; k < before.size(); ++k)
      CHECK((before[k].name == after[k].name && before[k].unit == after[k].unit));
    // What is saved fits the bodies, and a change of bodies starts from it.
    scheme.save(state, SaveFor::change_of_bodies);
    CHECK(state.memory.start.size() == static_cast<std::size_t>(state.bodies.n_owned()) + 1);
    scheme.bodies_changed(state);
    CHECK(state.clock.reference_time == state.clock.time);
    ContactGraph<2> contacts;
    scheme.find_contacts(state, 10, contacts);
    CHECK(contacts.size() >= 2);  // each with the floor
    CHECK(contacts.force.size() == contacts.size());
  }
}
