// Rows of the scalars have the same bits on any number of ranks, and after a restart on another number.
#include <optional>

#include "mpi/simulate.hpp"
#include "run/checkpoint.hpp"
#include "unit/io/scratch.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

/// Disks that fall on a floor in a domain that is periodic along x.
const std::string rain = deck({.scheme = "nonsmooth",
                               .lower = "[0, -0.5]",
                               .upper = "[6, 8]",
                               .periodic = "[true, false]",
                               .end_time = 10,
                               .seed = 3,
                               .gravity = "[2, -9.81]"},
                              R"(
[solver]
type = "nsgs"
tolerance = 1e-3
[materials.glass]
density = 2500
[pairs]
"glass-glass" = { friction = 0.4, restitution = 0.3 }
[particles.grains]
material = "glass"
radius = { distribution = "uniform", min = 0.15, max = 0.25 }
velocity = [3, -2]
random_speed = 0.5
source = { type = "random", count = 90, region = { lower = [0, 0.3], upper = [6, 6] } }
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
material = "glass"
[measures.energy]
type = "energy"
[measures.contacts]
type = "coordination"
loaded = true
region = { lower = [1, 0], upper = [5, 2] }
[measures.stress]
type = "stress"
region = { lower = [4, 0.3], upper = [6, 1.7] }
[measures.fabric]
type = "fabric"
[measures.walls]
type = "wall_force"
[measures.down]
type = "flow"
point = [0, 2]
normal = [0, -1]
[measures.along]
type = "flow"
point = [0, 0]
normal = [1, 0]
[measures.bins]
type = "profile"
bins = 4
[measures.friction]
type = "contact_status"
[measures.spin]
type = "rotation"
)");

constexpr int steps_between_rows = 6;

/// Takes steps up to `last` and adds a row whenever one is due, as the run of a deck does.
void go(Simulation<2>& simulation, int last, std::vector<std::vector<Real>>& rows) {
  while (simulation.state().clock.step < last) {
    const bool due = (simulation.state().clock.step + 1) % steps_between_rows == 0;
    simulation.step(due);
    if (!due) continue;
    const ContactGraph<2>& contacts = simulation.find_contacts(1e-3);
    rows.emplace_back();
    for (const NamedMeasure<2>& m : simulation.deck().measures)
      for (const MeasuredValue& column : m.measure->record({simulation.state(), contacts}))
        rows.back().push_back(column.value);
  }
}

std::vector<std::string> names_of(Simulation<2>& simulation) {
  std::vector<std::string> names;
  for (const NamedMeasure<2>& m : simulation.deck().measures)
    for (const MeasuredValue& column : columns_of(*m.measure, simulation.state()))
      names.push_back(m.name + "_" + column.name);
  return names;
}

void check_same_bits(const std::vector<std::string>& names, const std::vector<Real>& row,
                     const std::vector<Real>& expected) {
  REQUIRE(row.size() == names.size());
  REQUIRE(expected.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i], row[i], expected[i]);
    CHECK(((std::isnan(row[i]) && std::isnan(expected[i])) || row[i] == expected[i]));
  }
}

}  // namespace

TEST_CASE("measures: rows of falling disks, flows counted at every step and gone on with after a restart",
          "[mpi]") {
  const Comm world, self(MPI_COMM_SELF);
  const Scratch scratch(world);
  const int split = 64, end = 96;  // the split lies between two rows
  const std::string path = scratch / "split.scree";

  Simulation<2> alone(self, read_deck<2>(rain));
  const auto n_below = [&] {
    return std::ranges::count_if(alone.state().bodies.position(), [](const Vec<2>& x) { return x[1] <= 2; });
  };
  const auto n_below_at_first = n_below();
  const std::vector<std::string> names = names_of(alone);
  std::vector<std::vector<Real>> expected;
  go(alone, end, expected);

  std::vector<std::vector<Real>> rows;
  {
    Simulation<2> together(world, read_deck<2>(rain));
    go(together, split, rows);
    together.save_memory();
    write_checkpoint(together.state(), path, "test", "deck", {}, together.measure_memories());
    std::vector<std::vector<Real>> rest = rows;
    go(together, end, rest);
    REQUIRE(rest.size() == expected.size());
    for (std::size_t i = 0; i < rest.size(); ++i) check_same_bits(names, rest[i], expected[i]);
  }
  for (const Comm& comm : {world, self}) {
    Simulation<2> resumed(comm, read_deck<2>(rain), path);
    std::vector<std::vector<Real>> rest = rows;
    go(resumed, end, rest);
    for (std::size_t i = rows.size(); i < rest.size(); ++i) check_same_bits(names, rest[i], expected[i]);
  }

  // The crossings are those that one finds from the start and the end alone; each body started in the domain.
  const auto last = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    REQUIRE(found != names.end());
    return expected.back()[found - names.begin()];
  };
  std::int64_t n_turns = 0;
  const BodyStore<2>& bodies = alone.state().bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    n_turns += bodies.image()[i][0] + static_cast<std::int64_t>(std::floor(bodies.position()[i][0] / 6));
  CHECK(last("along_n_bodies") == static_cast<Real>(n_turns));
  CHECK(last("down_n_bodies") == static_cast<Real>(n_below() - n_below_at_first));
  CHECK(last("down_n_bodies") > 20);
  CHECK(last("down_mass") > 1000);
  CHECK(last("along_n_bodies") > 30);
  // What was seen is worth comparing.
  CHECK(last("contacts_coordination") > 1);
  CHECK(last("stress_pressure") > 0);
  CHECK(last("friction_sliding") > 0);
  CHECK(std::abs(last("energy_imbalance")) < 1e-9 * last("energy_start"));
}

TEST_CASE("measures: flow in first-order schemes is the change of the number beyond the plane", "[mpi]") {
  const Comm world;
  const std::string door = "[measures.door]\ntype = 'flow'\npoint = [3, 0]\nnormal = [-1, 0]\n";
  Simulation<2> simulation(world, read_deck<2>(disks_deck + door, {"neighbors.skin=0.05"}));
  const auto n_beyond = [&] {
    const BodyStore<2>& bodies = simulation.state().bodies;
    std::int64_t n = 0;
    for (const Vec<2>& x : bodies.position().first(bodies.n_owned())) n += x[0] <= 3;
    return world.sum(n);
  };
  const std::int64_t before = n_beyond();
  for (int step = 0; step < 25; ++step) simulation.step();
  const std::int64_t crossed = n_beyond() - before;
  CHECK(crossed > 50);
  CHECK(simulation.deck().measures[0].measure->memory()[0] == static_cast<Real>(crossed));
}

}  // namespace scree
