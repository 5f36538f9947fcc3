// Two spheres collide: bodies, a neighbour list and one scheme, composed without a deck file
// (docs/architecture.md). They approach at 2 m/s with restitution 0.5 and part at 1 m/s. Exit code 0: the
// positions are those worked out below.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/deck.hpp"
#include "core/parallel.hpp"
#include "core/plugin.hpp"
#include "schemes/common/stepper.hpp"

int main(int argc, char** argv) {
  using namespace scree;
  const Parallel mpi(argc, argv);
  // Tables of the parts used here, as in a deck. Each part declares and reads its own.
  Deck tables = Deck::from_text(
      "[materials.steel]\ndensity = 7800\n[pairs]\n'steel-steel' = { friction = 0.3, restitution = 0.5 }\n",
      "tables");
  const auto scheme =
      std::ranges::find(registry<Stepper<3>>(), "nonsmooth", &Entry<Stepper<3>>::name)->make();
  scheme->describe(tables.root());
  State<3> state{.comm = mpi.world(), .box = {.lower = {0, 0, 0}, .upper = {1, 1, 1}}};
  state.materials.describe(tables.root());
  state.type_material = {0};

  // Bodies: rank 0 makes both; the neighbour list moves them to the ranks that own their blocks.
  BodyStore<3>& bodies = state.bodies;
  bodies.carry(scheme->traits().field_set);
  bodies.resize(state.comm.is_root() ? 2 : 0, 0);
  for (Index k = 0; k < bodies.n_owned(); ++k) {
    const std::size_t i = k;
    const Real side = k == 0 ? -1 : 1, radius = 0.1;
    bodies.id()[i] = k;
    bodies.radius()[i] = radius;
    bodies.mass()[i] = 7800 * 4. / 3 * 3.14159265358979 * std::pow(radius, 3);
    bodies.mobility()[i] = 1;
    bodies.position()[i] = {0.5 + side * 0.145, 0.5, 0.5};  // a gap of 0.09 m
    bodies.velocity()[i] = {-side, 0, 0};                   // [m/s]
    bodies.orientation()[i] = upright<3>();
  }
  state.memory.clear(bodies.n_owned());

  const Real dt = 0.01;
  Neighborhood<3> neighbors(state.comm, {}, Outside::error);
  neighbors.make_lattice(state, scheme->list_requirements(state, dt, 0.1).travel);
  neighbors.rebuild(state);
  scheme->start(state, neighbors, dt);

  for (state.clock.step = 0; state.clock.step < 20; ++state.clock.step) {
    scheme->advance(state, dt, false);
    state.clock.time += state.clock.last_dt;
  }

  // The gap closes by 0.02 m in each of 4 steps. The fifth would close it, so the spheres part from there:
  // 0.01 m + 16 steps of 0.01 m = 0.17 m, with centres at 0.5 -+ (0.1 + 0.085) m.
  Real error = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    fmt::print("body {}: x = {:.6f} m, v = {:.6f} m/s\n", bodies.id()[i], bodies.position()[i][0],
               bodies.velocity()[i][0]);
    error = std::max(error, std::abs(bodies.position()[i][0] - (bodies.id()[i] == 0 ? 0.315 : 0.685)));
  }
  return state.comm.max(error) < 1e-9 ? 0 : 1;
}
