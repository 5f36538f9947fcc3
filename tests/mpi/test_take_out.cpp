// Bodies go, and pairs are listed up to other gaps, without a new neighbour list: what is left is what a list
// of those who stay would be, on any number of ranks.
#include <map>

#include "geometry/walls.hpp"
#include "mpi/simulate.hpp"
#include "unit/neighbors/random_state.hpp"

namespace scree {
namespace {

const Box<2> field{{{0, 0}}, {{14, 9}}, {true, false}};
constexpr Real skin = 0.6;

bool stays(GlobalId id) {
  return id % 5 != 3;
}

/// A list of bodies that are alike on all ranks, without classes.
struct Listed {
  State<2> state;
  Neighborhood<2> neighborhood;

  Listed(const Comm& comm, const std::vector<Body<2>>& bodies, std::optional<Lattice<2>> lattice = {})
      : state(state_of(comm, field, bodies, [&](GlobalId id) { return id % comm.size() == comm.rank(); })),
        neighborhood(comm, for_crowds(), Outside::keep) {
    const std::vector<Edge> post{
        {{{6, 3}}, {{8, 3}}}, {{{8, 3}}, {{8, 5}}}, {{{8, 5}}, {{6, 5}}}, {{{6, 5}}, {{6, 3}}}};
    state.obstacles.add("post", "test", std::make_unique<WallSegments>(post));
    state.obstacles.place(0);
    if (lattice)
      state.lattice = *lattice;
    else
      neighborhood.make_lattice(state, 0, {}, skin);
    neighborhood.rebuild(state);
  }
  static NeighborhoodSettings for_crowds() {
    NeighborhoodSettings settings;
    settings.block_cells = 2;
    settings.in_classes = false;
    settings.searches_pairs = true;
    return settings;
  }
  void remove_bodies() {
    std::vector<Index> staying, numbers, kept_walls;
    for (Index i = 0; i < state.bodies.n_owned(); ++i)
      if (stays(state.bodies.id()[i])) staying.push_back(i);
    neighborhood.remove_bodies(state, staying, numbers, kept_walls);
  }
  GlobalId id(Index body) const { return state.bodies.id()[body]; }
  /// Pairs of each block of this rank in the order of a sweep, then who is near which part of an obstacle.
  std::map<BlockKey, std::vector<std::array<GlobalId, 3>>> by_block() const {
    std::map<BlockKey, std::vector<std::array<GlobalId, 3>>> found;
    for (const auto& block : neighborhood.schedule().all_blocks()) {
      std::vector<std::array<GlobalId, 3>> list;
      neighborhood.schedule().for_each_pair(block, [&](std::size_t, Index low, Index high, Index shift) {
        list.push_back({id(low), id(high), shift});
      });
      CHECK(static_cast<std::int64_t>(list.size()) == block.n_pairs);
      for (const auto& wall : neighborhood.schedule().walls(block))
        for (const Index body : neighborhood.schedule().wall_bodies(wall))
          list.push_back({id(body), -1 - GlobalId{wall.constraint}, -1});
      if (!list.empty()) found[block.key] = list;
    }
    return found;
  }
};

std::vector<Body<2>> those_who_stay(const std::vector<Body<2>>& bodies) {
  std::vector<Body<2>> staying;
  std::ranges::copy_if(bodies, std::back_inserter(staying), [](const auto& body) { return stays(body.id); });
  return staying;
}

}  // namespace

TEST_CASE("take out: pairs and walls of those who stay keep their order", "[mpi]") {
  const std::vector<Body<2>> bodies = random_bodies<2>(field, 600, 0.1, 0.25, 5);
  Listed listed(Comm(), bodies);
  listed.remove_bodies();
  const Listed alone(Comm(MPI_COMM_SELF), those_who_stay(bodies), listed.state.lattice);
  const auto expected = alone.by_block();
  std::int64_t n = 0;
  for (const auto& [key, list] : listed.by_block()) {
    REQUIRE(expected.contains(key));
    CHECK(list == expected.at(key));
    n += static_cast<std::int64_t>(list.size());
  }
  std::int64_t n_expected = 0;
  for (const auto& [key, list] : expected) n_expected += static_cast<std::int64_t>(list.size());
  CHECK(Comm().sum(n) == n_expected);
  CHECK(n_expected > 1000);
}

TEST_CASE("take out: values still reach the ghosts of those who stay, and come back", "[mpi]") {
  const std::vector<Body<2>> bodies = random_bodies<2>(field, 600, 0.1, 0.25, 6);
  Listed listed(Comm(), bodies);
  const std::int64_t n_before = Comm().sum(std::int64_t{listed.state.bodies.n_ghosts()});
  listed.remove_bodies();
  GhostExchange<2>& ghosts = listed.neighborhood.ghosts();
  const BodyStore<2>& held = std::as_const(listed.state).bodies;
  REQUIRE(ghosts.n_local() == held.n_local());
  REQUIRE(ghosts.n_owned() == held.n_owned());
  CHECK(Comm().sum(std::int64_t{held.n_owned()}) == static_cast<std::int64_t>(those_who_stay(bodies).size()));
  const std::int64_t n_ghosts = Comm().sum(std::int64_t{held.n_ghosts()});
  CHECK((Comm().size() == 1 || (n_ghosts > 0 && n_ghosts < n_before)));

  const std::size_t n = held.n_local();
  std::vector<Real> values(n, -1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(held.n_owned()); ++i)
    values[i] = static_cast<Real>(held.id()[i]);
  ghosts.copy_to_ghosts(values, 1);
  for (std::size_t i = 0; i < n; ++i) CHECK(values[i] == static_cast<Real>(held.id()[i]));

  // Each who is held says 1: owners hear it once from each rank.
  std::vector<std::int32_t> counts(n, 1);
  ghosts.add_to_owners(counts);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(held.n_owned()); ++i) sum += counts[i];
  CHECK(Comm().sum(sum) == Comm().sum(static_cast<std::int64_t>(n)));

  // Active copies go round the ranks that touch them and come home.
  for (int colour = 0; colour <= Lattice<2>::n_colours; ++colour) {
    ghosts.begin_transfer(colour, values, 1);
    ghosts.end_transfer(colour, values, 1);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(held.n_owned()); ++i)
    CHECK(values[i] == static_cast<Real>(held.id()[i]));

  // What ghosts remember reaches the right bodies.
  std::vector<RememberedContact> remembered;
  for (std::size_t i = static_cast<std::size_t>(held.n_owned()); i < n; ++i)
    remembered.push_back({static_cast<Index>(i), held.id()[i], {}});
  std::int64_t n_wrong = 0;
  for (const RememberedContact& contact : ghosts.send_to_owners(held.n_owned(), remembered))
    n_wrong += listed.id(contact.body) == contact.other ? 0 : 1;
  CHECK(n_wrong == 0);
}

TEST_CASE("take out: pairs listed up to another gap keep their order", "[mpi]") {
  const std::vector<Body<2>> bodies = random_bodies<2>(field, 600, 0.1, 0.25, 7);
  Listed wide(Comm(), bodies), narrow(Comm(), bodies);
  narrow.neighborhood.list().limit_pairs(0.25, 0.05);
  narrow.remove_bodies();
  narrow.neighborhood.relist(narrow.state);
  wide.remove_bodies();
  const Real max = 0.25 * narrow.state.lattice.skin + 0.05;
  std::map<GlobalId, Body<2>> by_id;
  for (const Body<2>& body : bodies) by_id[body.id] = body;
  auto expected = wide.by_block();
  std::int64_t n_left_out = 0;
  for (auto& [key, list] : expected)
    n_left_out += static_cast<std::int64_t>(std::erase_if(list, [&](const auto& pair) {
      if (pair[1] < 0) return false;
      const Body<2>&a = by_id.at(pair[0]), &b = by_id.at(pair[1]);
      return norm(nearest_image(field, a.position, b.position)) >= a.radius + b.radius + max;
    }));
  std::erase_if(expected, [](const auto& entry) { return entry.second.empty(); });
  CHECK(narrow.by_block() == expected);
  CHECK(Comm().sum(n_left_out) > 100);
}

#ifdef SCREE_CROWD
// The gap asked for is wider than what people can close in a step: pairs are listed anew for it.
TEST_CASE("take out: contacts with wide gaps are found in a crowd and change nothing", "[mpi]") {
  const std::string hall = deck(
      {.scheme = "crowd", .step = 0.05, .end_time = 10, .seed = 3, .block_cells = 1},
      "[walkable]\npolygon = [[0, 0], [12, 0], [12, 8], [0, 8]]\n[exits.east]\nline = [[12, 3], [12, 5]]\n"
      "[populations.crowd]\ncount = 150\nregion = [[1, 1], [11.5, 1], [11.5, 7], [1, 7]]\n");
  Simulation<2> asked(Comm(), read_deck<2>(hall)), not_asked(Comm(), read_deck<2>(hall));
  constexpr Real tolerance = 1.5;  // of the sum of radii
  for (int step = 0; step < 90; ++step) {
    asked.step();
    not_asked.step();
    if (step % 30 != 20) continue;
    std::int64_t n_pairs = 0;
    const ContactGraph<2>& contacts = asked.find_contacts(tolerance);
    for (std::size_t c = 0; c < contacts.size(); ++c) n_pairs += contacts.b[c] >= 0 ? 1 : 0;
    // By all pairs, on one rank.
    Simulation<2> alone(Comm(MPI_COMM_SELF), read_deck<2>(hall));
    for (int k = 0; k <= step; ++k) alone.step();
    const BodyStore<2>& bodies = std::as_const(alone.state()).bodies;
    std::int64_t n_near = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      for (std::size_t j = 0; j < i; ++j)
        n_near += norm(bodies.position()[i] - bodies.position()[j]) <=
                          (1 + tolerance) * (bodies.radius()[i] + bodies.radius()[j])
                      ? 1
                      : 0;
    CHECK(Comm().sum(n_pairs) == n_near);
  }
  CHECK(asked.hash() == not_asked.hash());
  CHECK(asked.state().outlets[0].n_removed > 5);
}
#endif

}  // namespace scree
