// The position correction of the scheme "nonsmooth" obeys friction.
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "run/simulation.hpp"

using namespace scree;

namespace {

constexpr Real radius = 0.05;

template <int D>
std::string list(const Vec<D>& x) {
  return fmt::format("[{}]", fmt::join(x.component, ", "));
}

/// Bodies that touch on a floor (two disks, or three spheres), and one on top of all. With alpha the angle of
/// the line between the centres of an upper and a lower body to the vertical, they stand by friction of at
/// least tan(alpha / 2) between bodies: the force at the upper contact must point to that with the floor.
template <int D>
std::vector<Vec<D>> tent_places() {
  if constexpr (D == 2)
    return {{-radius, radius}, {radius, radius}, {0, radius * (1 + std::sqrt(3.0)) + 1e-9}};
  if constexpr (D == 3) {
    const Real r = 2 * radius / std::sqrt(3.0);  // around the middle
    return {{r, 0, radius},
            {-r / 2, radius, radius},
            {-r / 2, -radius, radius},
            {0, 0, radius * (1 + std::sqrt(8.0 / 3)) + 1e-9}};
  }
}

/// tan(15 deg) of disks; sqrt(3) - sqrt(2) of spheres.
template <int D>
Real critical_friction() {
  return std::tan(std::asin(D == 2 ? 0.5 : 1 / std::sqrt(3.0)) / 2);
}

/// A deck of stones on a floor, without the stones.
template <int D>
std::string floor_deck(Real mu) {
  Vec<D> up, side;
  up[D - 1] = 1;
  for (int k = 0; k < D; ++k) side[k] = 1;
  return fmt::format(R"(
[simulation]
dimension = {}
scheme = "nonsmooth"
end_time = "10 s"
[domain]
lower = {}
upper = {}
outside = "keep"
[time]
step = "2 ms"
[physics]
gravity = {}
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
point = {}
normal = {}
)",
                     D, list(-1 * side), list(side), list(-9.81 * up), mu, list(Vec<D>{}), list(up));
}

/// The table of one stone.
template <int D>
std::string stone(std::size_t i, const Vec<D>& place, const Vec<D>& velocity = {}) {
  Vec<D> side;
  for (int k = 0; k < D; ++k) side[k] = 1;
  return fmt::format(R"(
[particles.body{}]
material = "stone"
velocity = {}
radius = {{ distribution = "constant", value = {} }}
source = {{ type = "lattice", spacing = {}, region = {{ lower = {}, upper = {} }} }}
)",
                     i, list(velocity), radius, 2 * radius, list(place - radius * side),
                     list(place + radius * side));
}

template <int D>
std::string tent(Real mu) {
  std::string text = floor_deck<D>(mu);
  const std::vector<Vec<D>> places = tent_places<D>();
  for (std::size_t i = 0; i < places.size(); ++i) text += stone<D>(i, places[i]);
  return text;
}

template <int D>
Vec<D> place_of(const Simulation<D>& simulation, GlobalId id) {
  const BodyStore<D>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < bodies.id().size(); ++i)
    if (bodies.id()[i] == id) return bodies.position()[i];
  return {};
}

template <int D>
Simulation<D> simulation_of(const std::string& text) {
  return Simulation<D>(Comm(MPI_COMM_SELF), read_run_deck<D>(Deck::from_text(text, "tent.toml")));
}

/// How far the body on top sinks within 10 s, in radii.
template <int D>
Real sinking(Real mu) {
  auto simulation = simulation_of<D>(tent<D>(mu));
  const Real start = place_of(simulation, D)[D - 1];
  for (int step = 0; step < 5000; ++step) simulation.step();
  return (start - place_of(simulation, D)[D - 1]) / radius;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "position correction: a tent stands at 1.02 of its critical friction and falls at 0.98", "[dynamics]",
    ((int D), D), 2, 3) {
  CHECK(std::abs(sinking<D>(1.02 * critical_friction<D>())) < 1e-3);
  CHECK(sinking<D>(0.98 * critical_friction<D>()) > 0.5);
}

TEST_CASE("position correction: overlap goes without slip of contacts that stick", "[dynamics]") {
  auto simulation = simulation_of<2>(tent<2>(1.1 * critical_friction<2>()));
  const Vec<2> left = place_of(simulation, 0), right = place_of(simulation, 1);
  BodyStore<2>& bodies = simulation.state().bodies;
  for (std::size_t i = 0; i < bodies.id().size(); ++i)
    if (bodies.id()[i] == 2) bodies.position()[i][1] -= 0.06 * radius;
  Real deepest = 0;
  for (int step = 0; step < 500; ++step) {
    simulation.step();
    for (const CertificateEntry& entry : simulation.stepper().certificate())
      if (entry.name == "corrected") deepest = std::max(deepest, entry.value);
  }
  CHECK(deepest > 0.02 * radius);  // there was something to correct
  // The lower disks make room by rolling: without friction in the correction they would not turn.
  for (const auto& [id, start] : {std::pair{GlobalId{0}, left}, std::pair{GlobalId{1}, right}}) {
    const Real displacement = place_of(simulation, id)[0] - start[0];
    Real turned = 0;
    for (std::size_t i = 0; i < bodies.id().size(); ++i)
      if (bodies.id()[i] == id) turned = bodies.orientation()[i].component[0];
    CHECK(std::abs(displacement) > 2e-3 * radius);
    CHECK(std::abs(displacement + radius * turned) < 2e-4 * radius);
  }
  const Real height = place_of(simulation, 2)[1] - radius * (1 + std::sqrt(3.0));
  CHECK(height > -0.05 * radius);  // two contacts at rest, each with 0.02 R
  CHECK(height < 1e-3 * radius);
}

namespace {

/// The overlap with a floor, in radii, of a disk that starts with `overlap` and `speed` along the floor,
/// after 0.2 s without friction.
Real remaining(Real overlap, Real speed) {
  auto simulation = simulation_of<2>(floor_deck<2>(0) + stone<2>(0, {-0.5, radius}, {speed, 0}));
  simulation.state().bodies.position()[0][1] -= overlap * radius;
  for (int step = 0; step < 100; ++step) simulation.step();
  return 1 - place_of(simulation, 0)[1] / radius;
}

}  // namespace

TEST_CASE("position correction: a contact at rest keeps a fiftieth of its radius, one that slides nothing",
          "[dynamics]") {
  CHECK(std::abs(remaining(0.015, 0) - 0.015) < 1e-6);
  CHECK(std::abs(remaining(0.05, 0) - 0.02) < 6e-3);  // what is below R/200 is not worth it
  CHECK(remaining(0.05, 1) < 6e-3);
}
