// The position correction of the scheme "nonsmooth" obeys friction.
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "run/simulation.hpp"

using namespace scree;

namespace {

constexpr Real radius = 0.05;

/// Two disks that touch on a floor, and one on top of both. They stand by friction of at least tan(15 deg)
/// between disks: the force at the upper contact must point to the contact with the floor.
std::string tent(Real mu) {
  const auto disk = [](const std::string& name, Real x, Real y) {
    return fmt::format(R"(
[particles.{}]
material = "stone"
radius = {{ distribution = "constant", value = {} }}
source = {{ type = "lattice", spacing = {}, region = {{ lower = [{}, {}], upper = [{}, {}] }} }}
)",
                       name, radius, 2 * radius, x - radius, y - radius, x + radius, y + radius);
  };
  return fmt::format(R"(
[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = "10 s"
[domain]
lower = [-1, -0.1]
upper = [1, 1]
outside = "keep"
[time]
step = "2 ms"
[physics]
gravity = [0, -9.81]
[solver]
type = "nsgs"
tolerance = 1e-3
[materials.stone]
density = 2500
[pairs."stone-stone"]
friction = {}
restitution = 0
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0]
normal = [0, 1]
)",
                     mu) +
         disk("left", -radius, radius) + disk("right", radius, radius) +
         disk("top", 0, radius * (1 + std::sqrt(3.0)) + 1e-9);
}

const Real critical = std::tan(std::numbers::pi / 12);

Vec<2> place_of(const Simulation<2>& simulation, GlobalId id) {
  const BodyStore<2>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < bodies.id().size(); ++i)
    if (bodies.id()[i] == id) return bodies.position()[i];
  return {};
}

Simulation<2> simulation_of(const std::string& text) {
  return Simulation<2>(Comm(MPI_COMM_SELF), read_run_deck<2>(Deck::from_text(text, "tent.toml")));
}

}  // namespace

TEST_CASE("position correction: a tent stands at 1.02 of its critical friction and falls at 0.98",
          "[dynamics]") {
  for (const Real share : {1.02, 0.98}) {
    INFO("share of the critical friction " << share);
    auto simulation = simulation_of(tent(share * critical));
    const Vec<2> start = place_of(simulation, 2);
    for (int step = 0; step < 5000; ++step) simulation.step();
    const Real sunk = start[1] - place_of(simulation, 2)[1];
    if (share > 1)
      CHECK(std::abs(sunk) < 1e-3 * radius);
    else
      CHECK(sunk > 0.5 * radius);
  }
}

TEST_CASE("position correction: overlap goes without slip of contacts that stick", "[dynamics]") {
  auto simulation = simulation_of(tent(1.1 * critical));
  const Vec<2> left = place_of(simulation, 0), right = place_of(simulation, 1);
  BodyStore<2>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < bodies.id().size(); ++i)
    if (bodies.id()[i] == 2) bodies.position()[i][1] -= 0.02 * radius;
  Real deepest = 0;
  for (int step = 0; step < 500; ++step) {
    simulation.step();
    for (const CertificateEntry& entry : simulation.stepper().certificate())
      if (entry.name == "corrected") deepest = std::max(deepest, entry.value);
  }
  CHECK(deepest > 0.015 * radius);  // there was something to correct
  // The lower disks make room by rolling: without friction in the correction they would not turn.
  for (const auto& [id, start] : {std::pair{GlobalId{0}, left}, std::pair{GlobalId{1}, right}}) {
    const Real way = place_of(simulation, id)[0] - start[0];
    Real turned = 0;
    for (std::size_t i = 0; i < bodies.id().size(); ++i)
      if (bodies.id()[i] == id) turned = bodies.orientation()[i].component[0];
    CHECK(std::abs(way) > 2e-3 * radius);
    CHECK(std::abs(way + radius * turned) < 2e-4 * radius);
  }
  const Real height = place_of(simulation, 2)[1] - radius * (1 + std::sqrt(3.0));
  CHECK(std::abs(height) < 6e-3 * radius);
}
