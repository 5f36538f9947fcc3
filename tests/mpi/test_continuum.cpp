// Continuum fields have the same bits on any number of ranks, and after a restart on another number in the
// middle of an average.
#include "mpi/simulate.hpp"
#include "run/checkpoint.hpp"
#include "run/outputs/continuum.hpp"
#include "unit/io/scratch.hpp"

namespace scree {

namespace {

const std::string grains = R"(
[materials.glass]
density = 2500
[pairs]
"glass-glass" = { friction = 0.4, restitution = 0.3 }
)";

/// Disks that fall on a floor, periodic along x: a profile over y, averages of four frames.
const std::string rain = deck({.scheme = "nonsmooth",
                               .lower = "[0, -0.5]",
                               .upper = "[6, 8]",
                               .periodic = "[true, false]",
                               .seed = 3,
                               .gravity = "[2, -9.81]"},
                              grains + R"(
[solver]
type = "nsgs"
tolerance = 1e-3
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
[output.continuum]
every = 0.1
average = 0.4
kernel = "gauss"
width = 0.3
cell = 0.25
)");

/// The same on a grid, with a kernel that ends, averages that begin late, every other step.
const Overrides on_a_grid{"output.continuum.axes=xy", "output.continuum.kernel=lucy",
                          "output.continuum.average=0.08", "output.continuum.stride=2"};

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

ContinuumFields<2>& fields_of(Simulation<2>& simulation) {
  for (const auto& output : simulation.deck().outputs)
    if (auto* const continuum = dynamic_cast<ContinuumOutput<2>*>(output.get())) return continuum->fields();
  throw std::logic_error("there is no output \"continuum\"");
}

/// A number that changes with any bit of any sum of a frame: the same for any number of ranks.
std::uint64_t digest(Simulation<2>& simulation, const ContactGraph<2>& contacts) {
  ContinuumFields<2>& fields = fields_of(simulation);
  const Comm& comm = simulation.state().comm;
  const auto sums = fields.frame(simulation.state(), contacts);
  const ContinuumGrid<2>& grid = fields.grid();
  std::uint64_t cell = static_cast<std::uint64_t>(EvenShare(comm, grid.layers(), grid.layer_size()).first);
  std::uint64_t all = 0;
  for (const auto& of_cell : sums) {
    std::uint64_t h = mix(++cell);
    for (const FixedPoint sum : of_cell)
      h = mix(mix(h ^ static_cast<std::uint64_t>(sum)) ^ static_cast<std::uint64_t>(sum >> 64));
    all += h;
  }
  return static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(all)));
}

/// Takes steps up to `last` as the run of a deck does, and adds what each frame holds.
void go(Simulation<2>& simulation, int last, std::vector<std::uint64_t>& frames) {
  ContinuumFields<2>& fields = fields_of(simulation);
  const Clock& clock = simulation.state().clock;
  while (clock.step < last) {
    const Real before = clock.time;
    simulation.step(true);
    const ContactGraph<2>& contacts = simulation.find_contacts(1e-3);
    fields.after_step(simulation.state(), before, contacts);
    if (!fields.every().due(clock.step, before, clock.time)) continue;
    frames.push_back(digest(simulation, contacts));
    fields.frame_is_written();
  }
}

void check(const Overrides& overrides) {
  const Comm world, self(MPI_COMM_SELF);
  const Scratch scratch(world);
  const int split = 75, end = 120;
  const std::string path = scratch / "split.scree";

  Simulation<2> alone(self, read_deck<2>(rain, overrides));
  std::vector<std::uint64_t> expected;
  go(alone, end, expected);
  REQUIRE(expected.size() == 12);
  CHECK(std::ranges::count(expected, expected.back()) == 1);

  std::vector<std::uint64_t> frames;
  {
    Simulation<2> together(world, read_deck<2>(rain, overrides));
    go(together, split, frames);
    together.save_memory();
    write_checkpoint(together.state(), path, "test", "deck", {}, together.measure_memories(), "",
                     together.shared_rows());
    std::vector<std::uint64_t> rest = frames;
    go(together, end, rest);
    CHECK(rest == expected);
  }
  for (const Comm& comm : {world, self}) {
    Simulation<2> resumed(comm, read_deck<2>(rain, overrides), path);
    std::vector<std::uint64_t> rest = frames;
    go(resumed, end, rest);
    CHECK(rest == expected);
  }
}

}  // namespace

TEST_CASE("continuum: a moving average of a profile has the same bits on any ranks and through a restart",
          "[mpi]") {
  check({});
}

TEST_CASE("continuum: averages on a grid have the same bits on any ranks and through a restart", "[mpi]") {
  check(on_a_grid);
}

TEST_CASE("continuum: instants have the same bits on any ranks", "[mpi]") {
  check({"output.continuum.average=0"});
}

TEST_CASE("continuum: another width after a restart starts the average anew", "[mpi]") {
  const Comm world;
  const Scratch scratch(world);
  const std::string path = scratch / "split.scree";
  std::vector<std::uint64_t> frames;
  Simulation<2> first(world, read_deck<2>(rain));
  go(first, 15, frames);
  first.save_memory();
  write_checkpoint(first.state(), path, "test", "deck", {}, first.measure_memories(), "",
                   first.shared_rows());
  Simulation<2> same(world, read_deck<2>(rain), path);
  CHECK(fields_of(same).covered() == fields_of(first).covered());
  CHECK(fields_of(same).covered() > 0.3);
  Simulation<2> other(world, read_deck<2>(rain, {"output.continuum.width=0.31"}), path);
  CHECK(fields_of(other).covered() == 0);
}

}  // namespace scree
