// Rows of measures of crowds have the same bits on any number of ranks, also with few persons.
#include <cstring>

#include "analysis/measure.hpp"
#include "core/deck.hpp"
#include "core/random.hpp"
#include "crowd/crowd_world.hpp"
#include "mpi/simulate.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

/// A hall with a pillar, and n persons somewhere in it, shared out between ranks by their ids.
struct Hall {
  Hall(const Comm& comm, std::int64_t n, bool is_periodic)
      : state{.comm = comm, .box = {{{0, 0}}, {{8, 6}}, {is_periodic, false}}} {
    auto walkable = std::make_shared<BuildingPlan>();
    Deck deck = Deck::from_text(R"(
[walkable]
polygon = [[0, 0], [8, 0], [8, 6], [0, 6]]
[walkable.obstacles.pillar]
polygon = [[3, 2], [4, 2], [4, 4], [3, 4]]
[walkable.obstacles.columns]
circles = [[5.5, 3, 0.3]]
)",
                                "hall.toml");
    walkable->describe(deck.root());
    state.world = CrowdWorld{walkable};
    std::vector<GlobalId> mine;
    for (GlobalId id = 0; id < n; ++id)
      if (id % comm.size() == comm.rank()) mine.push_back(id);
    std::ranges::reverse(mine);
    state.bodies.resize(static_cast<Index>(mine.size()), 0);
    std::ranges::copy(mine, state.bodies.id().begin());
    step();
  }

  /// Everybody walks to another place.
  void step() {
    std::ranges::copy(state.bodies.position(), state.bodies.previous().begin());
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      RandomStream random(static_cast<std::uint64_t>(state.clock.step) + 1, state.bodies.id()[i], 1);
      const Real x = 8 * random.uniform(), y = 6 * random.uniform(), v = random.uniform();
      state.bodies.position()[i] = {{x, y}};
      state.bodies.velocity()[i] = {{v, random.uniform()}};
    }
    ++state.clock.step;
    state.clock.last_dt = 0.1;
    state.clock.time += 0.1;
  }

  State<2> state;
};

/// Rows of all measures after each of some steps.
std::vector<Real> rows(const Comm& comm, std::int64_t n, bool is_periodic) {
  Deck deck = Deck::from_text(R"(
[measures.all]
type = "count"
[measures.door]
type = "line_flow"
line = [[2, 0], [2.5, 5]]
window = 0.5
[measures.front]
type = "window"
lower = [0, 1]
upper = [3, 5]
[measures.cells]
type = "window"
method = "voronoi"
polygon = [[0, 0], [6, 0], [7, 5], [2, 6]]
cutoff = 1.2
[measures.file]
type = "one_dimensional"
)",
                              "measures.toml");
  std::vector<std::unique_ptr<Measure<2>>> measures;
  deck.root().tables("measures", {.doc = ""}, [&](const std::string&, Section& section) {
    std::unique_ptr<Measure<2>> measure;
    section.kind("type", measure, {.required = true, .doc = ""});
    measures.push_back(std::move(measure));
  });
  Hall hall(comm, n, is_periodic);
  const ContactGraph<2> contacts;
  std::vector<Real> all;
  for (int k = 0; k < 5; ++k) {
    hall.step();
    for (const auto& measure : measures) {
      measure->after_step(hall.state);
      for (const MeasuredValue& column : measure->record({hall.state, contacts})) all.push_back(column.value);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("measures of crowds: rows have the same bits on all ranks together as on one", "[mpi]") {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 200})
    for (const bool is_periodic : {false, true}) {
      CAPTURE(n, is_periodic);
      const std::vector<Real> together = rows(Comm(), n, is_periodic);
      const std::vector<Real> alone = rows(Comm(MPI_COMM_SELF), n, is_periodic);
      REQUIRE(together.size() == alone.size());
      CHECK(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(Real)) == 0);
    }
}

TEST_CASE("window: Voronoi cells of a crowd fill the walkable part of the window", "[mpi]") {
  // With everybody within reach of every place, and nobody behind the pillar without one before it, the
  // density is that of all.
  Hall hall(Comm(), 200, true);
  Deck deck = Deck::from_text(
      "type = 'window'\nmethod = 'voronoi'\ncutoff = 9\nlower = [0, 0]\nupper = [8, 6]", "measure.toml");
  std::unique_ptr<Measure<2>> measure;
  deck.root().kind("type", measure, {.required = true, .doc = ""});
  measure->check(hall.state);
  const MeasuredRow row = measure->record({hall.state, ContactGraph<2>{}});
  CHECK(row[0].value == 200);
  // Somebody in the pillar may have a cell that lies in walls altogether.
  CHECK(row[1].value == Approx(200 / crowd_world(hall.state)->building->plan(0).free_area()).epsilon(0.1));
}

}  // namespace scree
