// Periodic boxes of one to three cells: a body meets several images of the same neighbour. They move as one
// layer of a thick box made of copies does, have the same bits on any number of ranks and after a restart.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Spheres of up to 0.05 m fall on a floor that slides in itself; periodic along x and z.
std::string slab(const std::string& scheme, const std::string& rest) {
  return "[simulation]\nscheme = '" + scheme + "'\n" + R"(dimension = 3
end_time = 100
seed = 8
[domain]
lower = [0, -0.1, 0]
upper = [0.8, 2, 0.15]
periodic = [true, false, true]
[physics]
gravity = [0, -40, 3]
[neighbors]
skin = 0.03
[decomposition]
block_cells = 2
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 1, 0]
motion = { type = "translate", velocity = [1.5, 0, -0.4] }
)" + rest;
}

const std::string slab_of_dem = slab("dem", R"(
[time]
step = 4e-4
[dem]
overlap_limit = 1
[materials.stone]
density = 2500
young_modulus = 4e7
poisson_ratio = 0.3
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.4, rolling_friction = 0.05 }
)");
const std::string slab_of_nonsmooth = slab("nonsmooth", R"(
[time]
step = 0.002
[solver]
type = "nsgs"
tolerance = 1e-3
[nonsmooth]
overlap_limit = 1
[materials.stone]
density = 2500
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.2 }
)");
const std::string grains = R"(
[particles.grains]
material = "stone"
velocity = [0, -1, 0]
radius = { distribution = "uniform", min = 0.04, max = 0.05 }
source = { type = "random", count = 60, region = { lower = [0, 0.05, 0], upper = [0.8, 1.1, 0.15] } }
)";

/// Disks between two walls that shear them; the box is periodic along x, where it is `upper` long.
const std::string strip = deck({.scheme = "nonsmooth",
                                .lower = "[0, -0.1]",
                                .upper = "[0.16, 2]",
                                .periodic = "[true, false]",
                                .step = 0.002,
                                .seed = 3,
                                .gravity = "[0, -20]",
                                .block_cells = 2},
                               R"(
[solver]
type = "nsgs"
tolerance = 1e-3
[nonsmooth]
overlap_limit = 1
[materials.stone]
density = 2500
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.2 }
[particles.grains]
material = "stone"
random_speed = 0.5
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
source = { type = "random", count = 20, region = { lower = [0, 0.05], upper = [0.16, 1.9] } }
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0]
normal = [0, 1]
motion = { type = "translate", velocity = [2, 0] }
)");

Overrides thickness(Real z) {
  return {"domain.upper=[0.8, 2, " + std::to_string(z) + "]",
          "particles.grains.source.region.upper=[0.8, 1.1, " + std::to_string(z) + "]",
          "particles.grains.source.count=" + std::to_string(z < 0.15 ? 36 : 60)};
}

/// Places and radii in the order of ids on every rank, followed through periodic faces.
template <int D>
std::vector<Real> rows_of(const Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  std::vector<Real> rows(static_cast<std::size_t>(simulation.n_bodies()) * (D + 1), -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const Vec<D> x = followed_position(state, i);
    Real* row = &rows[static_cast<std::size_t>(state.bodies.id()[i]) * (D + 1)];
    std::copy(x.component.begin(), x.component.end(), row);
    row[D] = state.bodies.radius()[i];
  }
  state.comm.max(rows);
  return rows;
}

/// Pairs with a contact through two images at once.
template <int D>
std::int64_t n_double_contacts(Simulation<D>& simulation) {
  const ContactGraph<D>& graph = simulation.find_contacts(1e-4);
  std::map<std::pair<GlobalId, GlobalId>, int> times;
  const auto id = [&](Index i) { return simulation.state().bodies.id()[i]; };
  for (std::size_t c = 0; c < graph.size(); ++c)
    if (graph.b[c] >= 0) ++times[{id(graph.a[c]), id(graph.b[c])}];
  std::int64_t n = 0;
  for (const auto& [pair, count] : times) n += count > 1 ? 1 : 0;
  return simulation.state().comm.sum(n);
}

/// The worst difference between a thin slab and the copies of it in a thick one; `n_double` counts pairs that
/// touched through two images, over all steps.
Real compare_with_copies(const std::string& base, const Overrides& overrides, Real z, int n_steps,
                         std::int64_t& n_double) {
  constexpr int n_copies = 4;
  const Comm world;
  const Scratch scratch(world);
  Overrides thin_overrides = thickness(z);
  thin_overrides.insert(thin_overrides.end(), overrides.begin(), overrides.end());
  Simulation<3> thin(world, read_deck<3>(base + grains, thin_overrides));
  CHECK(thin.state().lattice.n_cells[2] <= 3);
  const std::vector<Real> start = rows_of(thin);
  const std::size_t n = start.size() / 4;
  const std::string path = scratch / "copies.csv";
  if (world.is_root()) {
    std::ofstream file(path);
    file << "x,y,z,radius\n";
    for (int copy = 0; copy < n_copies; ++copy)
      for (std::size_t i = 0; i < n; ++i)
        file << fmt::format("{:.17g},{:.17g},{:.17g},{:.17g}\n", start[4 * i], start[4 * i + 1],
                            start[4 * i + 2] + copy * z, start[4 * i + 3]);
  }
  world.barrier();
  Overrides thick_overrides{"domain.upper=[0.8, 2, " + std::to_string(n_copies * z) + "]"};
  thick_overrides.insert(thick_overrides.end(), overrides.begin(), overrides.end());
  Simulation<3> thick(world,
                      read_deck<3>(base +
                                       "[particles.grains]\nmaterial = 'stone'\nvelocity = [0, -1, 0]\n"
                                       "source = { type = 'file', path = '" +
                                       path + "' }\n",
                                   thick_overrides));
  CHECK_FALSE(thick.state().lattice.is_thin(2));
  for (int step = 0; step < n_steps; ++step) {
    thin.step();
    thick.step();
    n_double += n_double_contacts(thin);
  }
  const std::vector<Real> of_thin = rows_of(thin), of_thick = rows_of(thick);
  Real worst = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (int copy = 0; copy < n_copies; ++copy)
      for (std::size_t k = 0; k < 3; ++k) {
        const Real there = of_thick[4 * (static_cast<std::size_t>(copy) * n + i) + k];
        worst = std::max(worst, std::abs(there - (k == 2 ? copy * z : 0) - of_thin[4 * i + k]));
      }
  return worst;
}

}  // namespace

TEST_CASE("thin slices: dem in a slab of 1.5, 2 and 3 diameters moves as copies of it in a thick box",
          "[mpi]") {
  for (const Real z : {0.15, 0.2, 0.3}) {
    CAPTURE(z);
    std::int64_t n_double = 0;
    CHECK(compare_with_copies(slab_of_dem, {}, z, 400, n_double) < 1e-10);
    if (z < 0.2) CHECK(n_double > 100);
  }
}

TEST_CASE("thin slices: nonsmooth in a slab of 1.5 and 2 diameters moves as copies of it in a thick box",
          "[mpi]") {
  for (const Real z : {0.15, 0.2}) {
    CAPTURE(z);
    std::int64_t n_double = 0;
    CHECK(compare_with_copies(
              slab_of_nonsmooth,
              {"solver.tolerance=1e-11", "solver.max_sweeps=200000", "nonsmooth.correction='none'"}, z, 60,
              n_double) < 1e-6);
    if (z < 0.2) CHECK(n_double > 10);
  }
}

TEST_CASE("thin slices: the same bits on any number of ranks and after a restart", "[mpi]") {
  for (const Real z : {0.11, 0.15, 0.2, 0.3}) {
    CAPTURE(z);
    CHECK(check_invariant<3>(slab_of_dem + grains, thickness(z), 450).n_contacts > 5);
    CHECK(check_invariant<3>(slab_of_nonsmooth + grains, thickness(z), 100).n_contacts > 5);
  }
  const Coverage soft = check_restarts<3>({slab_of_dem + grains, thickness(0.15), 300, {290}});
  CHECK(soft.n_remembered > 60);
  const Coverage rigid = check_restarts<3>({slab_of_nonsmooth + grains, thickness(0.15), 90, {83}});
  CHECK(rigid.n_remembered > 60);
  // Friction as a constraint solves linear systems, which round in another way on other ranks.
  Simulation<3> constrained(
      Comm(),
      read_deck<3>(slab_of_dem + grains, {"dem.friction='dae'", "pairs.stone-stone.rolling_friction=0"}));
  for (int step = 0; step < 200; ++step) constrained.step();
  CHECK(constrained.state().comm.sum(static_cast<std::int64_t>(constrained.find_contacts(0).size())) > 5);
}

TEST_CASE("thin slices: strips, and boxes that are thin along all axes", "[mpi]") {
  for (const std::string length : {"0.103", "0.16", "0.25", "0.35"}) {
    CAPTURE(length);
    const Overrides upper{"domain.upper=[" + length + ", 2]",
                          "particles.grains.source.region.upper=[" + length + ", 1.9]",
                          "particles.grains.source.count=14"};
    CHECK(check_invariant<2>(strip, upper, 200).n_contacts > 0);
  }
  check_restarts<2>({strip, {}, 110, {97, 104}});
  // Thin along x and z: a column.
  Overrides column = thickness(0.15);
  column[0] = "domain.upper=[0.16, 2, 0.15]";
  column[1] = "particles.grains.source.region.upper=[0.16, 1.9, 0.15]";
  column.emplace_back("particles.grains.source.count=16");
  check_invariant<3>(slab_of_dem + grains, column, 300);
  check_invariant<3>(slab_of_nonsmooth + grains, column, 80);
}

TEST_CASE("thin slices: position-based dynamics", "[mpi]") {
  const std::string thin = deck({.dimension = 3,
                                 .lower = "[-3, -3, 0]",
                                 .upper = "[4, 3, 1.2]",
                                 .periodic = "[false, false, true]",
                                 .step = 0.05,
                                 .seed = 6,
                                 .block_cells = 2},
                                R"(
[velocity]
type = "attraction"
point = [0, -0.5, 0.6]
rate = 0.7
[pbd]
sweeps = 3
overlap_limit = 0
[particles.grains]
radius = { distribution = "uniform", min = 0.25, max = 0.4 }
source = { type = "random", count = 60 }
)");
  check_pushing<3>(thin, {}, 40);
  check_pushing<3>(thin, {"pbd.warm_start=0"}, 40);
  check_restarts<3>({thin, {}, 30, {20, 27}});
}

TEST_CASE("thin slices: all solvers find the same motion", "[mpi]") {
  const Comm world;
  const auto end_of = [&](const std::string& solver, const Overrides& more) {
    Overrides overrides{"solver.type=" + solver, "solver.tolerance=1e-9", "particles.grains.source.count=12",
                        "nonsmooth.correction='none'"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    Simulation<2> simulation(world, read_deck<2>(strip, overrides));
    for (int step = 0; step < 60; ++step) simulation.step();
    CHECK(n_double_contacts(simulation) >= 0);
    return rows_of(simulation);
  };
  const std::vector<Real> sweeps = end_of("nsgs", {"solver.max_sweeps=200000"});
  for (const std::string solver : {"newton", "ipm", "admm"}) {
    CAPTURE(solver);
    const std::vector<Real> other = end_of(solver, {});
    Real worst = 0;
    for (std::size_t i = 0; i < sweeps.size(); ++i) worst = std::max(worst, std::abs(sweeps[i] - other[i]));
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("thin slices: a box in which bodies would touch themselves is refused with the least length",
          "[mpi]") {
  std::string alike = strip;
  const std::string radii = "{ distribution = \"uniform\", min = 0.03, max = 0.05 }";
  alike.replace(alike.find(radii), radii.size(), "{ distribution = \"constant\", value = 0.05 }");
  const auto with_length = [&](const std::string& length) {
    return read_deck<2>(alike, {"domain.upper=[" + length + ", 2]", "particles.grains.source.count=3",
                                "particles.grains.source.region.upper=[" + length + ", 1]"});
  };
  CHECK_THROWS_WITH(Simulation<2>(Comm(), with_length("0.1015")),
                    Catch::Contains("periodic axis x") && Catch::Contains("at least 0.102 m"));
  Simulation<2> min(Comm(), with_length("0.1021"));
  for (int step = 0; step < 20; ++step) min.step();
}

}  // namespace scree
