// What a step allocates: nothing while the list of neighbours stays, once work arrays have grown to the size
// of the run; with a new list no more for many bodies than for few. Left out: "event", whose steps gather all
// bodies anew and keep lists for each (at most 2000 of them, and no step is alike another), and solvers with
// matrices, whose memory is PETSc's.
#include <fmt/format.h>

#include <algorithm>

#include "core/memory.hpp"
#include "mpi/simulate.hpp"

namespace scree {

namespace {

template <int D>
std::string glass() {
  return fmt::format(R"(
[physics]
gravity = [{}, -9.81]
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
)",
                     D == 2 ? "0" : "0, 0");
}

/// Grains on a lattice that falls on a floor; periodic sideways, `columns` grains across.
template <int D>
std::string grains(int columns, const std::string& scheme, bool has_inertia = true) {
  const std::string across =
      D == 2 ? fmt::format("{}", 0.01 * columns) : fmt::format("{0}, {0}", 0.01 * columns);
  const std::string zeros = D == 2 ? "0" : "0, 0";
  return fmt::format(R"(
[simulation]
dimension = {0}
end_time = 100
seed = 3
[domain]
lower = [{1}, -0.01]
upper = [{2}, 0.2]
periodic = [{3}, false]
[decomposition]
block_cells = 4
[particles.grains]
{4}
radius = {{ distribution = "uniform", min = 4.3e-3, max = 4.8e-3 }}
source = {{ type = "lattice", spacing = 0.01, region = {{ lower = [{1}, 0], upper = [{2}, 0.06] }} }}
[obstacles.floor]
type = "plane"
point = [{1}, 0]
normal = [{1}, 1]
{5}
{6}
)",
                     D, zeros, across, D == 2 ? "true" : "true, true",
                     has_inertia ? "material = \"glass\"\nrandom_speed = 0.1" : "",
                     has_inertia ? "material = \"glass\"" : "", has_inertia ? glass<D>() + scheme : scheme);
}

template <int D>
std::string nonsmooth() {
  return fmt::format(R"(
[time]
step = "2 ms"
[solver]
type = "nsgs"
tolerance = 1e-2
[pairs."glass-glass"]
friction = 0.5
restitution = 0.3
[measures.through]
type = "flow"
point = [{0}, 0.02]
normal = [{0}, 1]
)",
                     D == 2 ? "0" : "0, 0");
}

const std::string hertz = R"(
[time]
step = 2e-5
[pairs."glass-glass"]
friction = 0.5
restitution = 0.5
rolling_friction = 0.05
)";

/// Disks are 1 m thick, hence heavier. `more`: keys of [dem].
template <int D>
std::string linear(const std::string& more = "") {
  return fmt::format(R"(
[time]
step = 2e-5
[dem]
law = "linear"
{}
[pairs."glass-glass"]
friction = 0.5
restitution = 0.5
stiffness = {}
)",
                     more, D == 2 ? "2e6" : "1e4");
}

template <int D>
std::string pbd(const std::string& sweeps = "3") {
  return fmt::format(R"(
[time]
step = "2 ms"
[velocity]
type = "constant"
velocity = [0.01, {}-0.1]
[pbd]
sweeps = {}
)",
                     D == 2 ? "" : "0, ", sweeps);
}

#ifdef SCREE_CROWD
/// A hall which people leave through a door that lets few through; more come in.
std::string hall(int metres, const std::string& crowd) {
  return fmt::format(R"(
[simulation]
dimension = 2
scheme = "crowd"
end_time = 1000
seed = 11
[time]
step = 0.05
[walkable]
polygon = [[0, 0], [{0}, 0], [{0}, {0}], [0, {0}]]
[exits.east]
line = [[{0}, 3.4], [{0}, 4.8]]
[exits.west]
line = [[0, 3], [0, 5]]
[journeys.leave]
[[journeys.leave.steps]]
choice = "quickest"
update = 0.3
[navigation]
cell = 0.2
[agents.usual]
[populations.crowd]
region = [[1, 1], [{1}, 1], [{1}, {1}], [1, {1}]]
count = {2}
[measures.door]
type = "line_flow"
line = [[1, 3], [1, 5]]
window = 1
{3}
)",
                     metres, metres - 1, 2 * (metres - 2) * (metres - 2), crowd);
}
#endif

struct Allocations {
  std::int64_t n_bodies = 0, n_blocks = 0;
  std::int64_t n_quiet = 0;     ///< steps without a new list
  std::int64_t in_quiet = 0;    ///< allocations, all quiet steps together
  std::int64_t in_leaving = 0;  ///< most in a step after which bodies have gone, without a new list
  std::int64_t n_lists = 0;     ///< steps with a new list
  std::int64_t in_list = 0;     ///< most in one of these
};

/// Steps after a warm-up, in which work arrays grow.
template <int D>
Allocations watch(const std::string& text, const Overrides& overrides, int n_warm, int n_steps) {
  const Comm self(MPI_COMM_SELF);
  Simulation<D> simulation(self, read_deck<D>(text, overrides));
  for (int step = 0; step < n_warm; ++step) simulation.step(false);
  Allocations seen;
  seen.n_bodies = simulation.n_bodies();
  seen.n_blocks = static_cast<std::int64_t>(simulation.neighborhood().schedule().all_blocks().size());
  for (int step = 0; step < n_steps; ++step) {
    const std::int64_t lists = simulation.neighborhood().n_rebuilds();
    const std::int64_t bodies = simulation.n_bodies();
    const std::int64_t before = n_allocations();
    simulation.step(false);
    const std::int64_t n = n_allocations() - before;
    if (simulation.neighborhood().n_rebuilds() == lists && simulation.n_bodies() < bodies) {
      seen.in_leaving = std::max(seen.in_leaving, n);
    } else if (simulation.neighborhood().n_rebuilds() == lists) {
      ++seen.n_quiet;
      seen.in_quiet += n;
    } else {
      ++seen.n_lists;
      seen.in_list = std::max(seen.in_list, n);
    }
  }
  return seen;
}

/// `has_lists`: whether there must be steps with a new list. `growth`: allocations, in all quiet steps
/// together, of work arrays that still grow.
/// Nothing in quiet steps; with a new list so many as there are blocks, not bodies.
void check(const std::string& name, const Allocations& seen, bool is_large, bool has_lists = true,
           std::int64_t growth = 0) {
  INFO(name << ": " << seen.n_bodies << " bodies in " << seen.n_blocks << " blocks; " << seen.n_quiet
            << " quiet steps, " << seen.in_quiet << " allocations; " << seen.n_lists
            << " steps with a new list, up to " << seen.in_list << " allocations");
  CHECK(seen.n_quiet >= 10);
  CHECK(seen.in_quiet <= growth);
  if (has_lists) CHECK(seen.n_lists > 0);
  constexpr std::int64_t of_any_list = 120, of_a_block = 16;
  const std::int64_t max = of_any_list + of_a_block * seen.n_blocks;
  CHECK(seen.in_list <= max);
  constexpr std::int64_t of_departures = 10;
  CHECK(seen.in_leaving <= of_departures);
  if (is_large) CHECK(seen.n_bodies > 2 * max);  // one for each body would be found
}

}  // namespace

TEST_CASE("a step allocates nothing while the list of neighbours stays", "[dynamics][allocations]") {
  if (!counts_allocations()) return;
  const bool is_large = GENERATE(false, true);
  const int columns = is_large ? 20 : 8;
  SECTION("position-based dynamics") {
    check("2D", watch<2>(grains<2>(12 * columns, pbd<2>(), false), {"simulation.scheme=\"pbd\""}, 50, 100),
          is_large);
    check("3D", watch<3>(grains<3>(columns, pbd<3>(), false), {"simulation.scheme=\"pbd\""}, 50, 100),
          is_large);
    const Overrides primal{"simulation.scheme=\"pbd\""};
    check("converged 2D", watch<2>(grains<2>(12 * columns, pbd<2>("\"converged\""), false), primal, 100, 100),
          is_large, false);
    check("converged 3D", watch<3>(grains<3>(columns, pbd<3>("\"converged\""), false), primal, 50, 100),
          is_large);
  }
  SECTION("non-smooth dynamics") {
    // While grains come to rest, arrays of contacts still grow now and then.
    constexpr std::int64_t now_and_then = 10;
    check("2D",
          watch<2>(grains<2>(12 * columns, nonsmooth<2>()), {"simulation.scheme=\"nonsmooth\""}, 80, 170),
          is_large, true, now_and_then);
    // Steps that are not solved in so few sweeps: more contacts than ever, and a message for each.
    constexpr std::int64_t few = 120;
    check("unsolved 2D",
          watch<2>(grains<2>(12 * columns, nonsmooth<2>()),
                   {"simulation.scheme=\"nonsmooth\"", "solver.max_sweeps=3"}, 150, 100),
          is_large, false, few);
    check("unsolved 3D",
          watch<3>(grains<3>(columns, nonsmooth<3>()),
                   {"simulation.scheme=\"nonsmooth\"", "solver.max_sweeps=3"}, 150, 100),
          is_large, false, few);
    check("3D", watch<3>(grains<3>(columns, nonsmooth<3>()), {"simulation.scheme=\"nonsmooth\""}, 80, 170),
          is_large, true, now_and_then);
    const Overrides elastic{"simulation.scheme=\"nonsmooth\"", "pairs.\"glass-glass\".stiffness=1e4"};
    check("elastic 3D", watch<3>(grains<3>(columns, nonsmooth<3>()), elastic, 150, 100), is_large, false);
  }
  SECTION("soft contact") {
    const Overrides dem{"simulation.scheme=\"dem\""};
    check("Hertz", watch<3>(grains<3>(columns, hertz), dem, 4000, 2000), is_large);
    check("linear", watch<3>(grains<3>(columns, linear<3>()), dem, 4000, 2000), is_large);
    check("2D", watch<2>(grains<2>(12 * columns, linear<2>()), dem, 2000, 500), false, false);
  }
  SECTION("soft contact with friction as constraints") {
    // Contacts close and stick all the time here, so arrays of sticking ones still grow by doubling: a few
    // allocations in many steps, whatever the number of bodies. PETSc's own, in the solution for the
    // multipliers, go past operator new.
    constexpr std::int64_t growth = 20;
    const Overrides dem{"simulation.scheme=\"dem\""};
    const std::vector<std::string> integrators{"gear", "rk4", "symplectic_euler"};
    for (const std::string& integrator : integrators) {
      if (is_large && integrator != "gear") continue;
      const std::string more = fmt::format("friction = \"dae\"\nintegrator = \"{}\"", integrator);
      check(integrator + " 2D", watch<2>(grains<2>(12 * columns, linear<2>(more)), dem, 800, 50), false,
            false, growth);
      check(integrator + " 3D", watch<3>(grains<3>(columns, linear<3>(more)), dem, 800, 50), false, false,
            growth);
    }
  }
#ifdef SCREE_CROWD
  SECTION("people") {
    const int metres = columns + columns / 4;
    // While people gather, arrays of who is near whom still grow now and then.
    constexpr std::int64_t growth = 20;
    check("projection", watch<2>(hall(metres, ""), {}, 200, 40), is_large, true, growth);
    check("sweeps on positions", watch<2>(hall(metres, "[crowd]\nmodel = \"pbd\""), {}, 200, 40), is_large,
          true, growth);
    check("groups", watch<2>(hall(metres, ""), {"populations.crowd.groups.sizes=[4]"}, 200, 40), is_large,
          true, growth);
    check("a solver", watch<2>(hall(metres, "[crowd.solver]\ntype = \"nsgs\""), {}, 200, 40), is_large, true,
          growth);
  }
#endif
}

}  // namespace scree
