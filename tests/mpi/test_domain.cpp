// Who owns what, who holds copies of what, and how values travel between the holders.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "comm/domain.hpp"
#include "comm/ghost_exchange.hpp"
#include "comm/migration.hpp"
#include "core/error.hpp"
#include "core/sparse_all_to_all.hpp"
#include "neighbors/neighborhood.hpp"
#include "unit/neighbors/random_state.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

/// Concatenates what the ranks have; every rank gets all of it.
template <class T>
std::vector<T> gather(const Comm& comm, const std::vector<T>& mine) {
  const int n_bytes = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> counts(comm.size()), starts(counts.size());
  MPI_Allgather(&n_bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.handle());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<T> all(static_cast<std::size_t>(starts.back() + counts.back()) / sizeof(T));
  MPI_Allgatherv(mine.data(), n_bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE,
                 comm.handle());
  return all;
}

NeighborhoodSettings settings(Real skin, int block_cells) {
  NeighborhoodSettings s;
  s.skin = skin;
  s.block_cells = block_cells;
  s.rebalance_threshold = 1;
  s.rebalance_cost = 0;
  return s;
}

/// A number for each body, and for each pair.
Real value_of(GlobalId a, GlobalId b = 0) {
  return 0.25 * static_cast<Real>(a) + 1000 * static_cast<Real>(b) + 1;
}

template <int D>
struct Scene {
  Comm comm;
  Box<D> box;
  std::vector<Body<D>> bodies;  // all of them, on every rank
  State<D> state;
  Neighborhood<D> neighborhood;

  Scene(const Comm& on, const Box<D>& in, const std::vector<Body<D>>& all, Real skin, int block_cells)
      : comm(on),
        box(in),
        bodies(all),
        state(state_of(on, in, all, [&](GlobalId id) { return id % on.size() == on.rank(); })),
        neighborhood(on, settings(skin, block_cells), Outside::keep) {
    neighborhood.make_lattice(state, 0);
  }

  /// Moves every body by up to `distance` along periodic axes and by up to 0.3 along open ones.
  void move(Real distance, std::uint64_t seed) {
    const auto shift_of = [&](GlobalId id) {
      RandomStream stream(seed, id, 2);
      Vec<D> shift;
      for (int k = 0; k < D; ++k) {
        const Real max = box.is_periodic(k) ? distance : 0.3;
        shift[k] = stream.uniform(-max, max);
      }
      return shift;
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      state.bodies.previous()[i] = state.bodies.position()[i];
      state.bodies.position()[i] += shift_of(state.bodies.id()[i]);
    }
    for (Body<D>& body : bodies) body.position += shift_of(body.id);
  }

  std::span<const GlobalId> ids() const { return state.bodies.id(); }

  /// Every body has one owner, and every pair within the skin is a candidate on one rank.
  void check_lists() {
    std::vector<GlobalId> owned(ids().begin(), ids().begin() + state.bodies.n_owned());
    owned = gather(comm, owned);
    std::sort(owned.begin(), owned.end());
    REQUIRE(owned.size() == bodies.size());
    for (std::size_t i = 0; i < owned.size(); ++i) CHECK(owned[i] == static_cast<GlobalId>(i));

    std::vector<IdPair> pairs = gather(comm, pairs_of(neighborhood.schedule(), ids()));
    std::sort(pairs.begin(), pairs.end());
    const std::vector<IdPair> expected = near_pairs(box, bodies, state.lattice.skin);
    CHECK(expected.size() > bodies.size());
    CHECK(pairs == expected);

    // Positions are wrapped along periodic axes, with the image counted.
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const Body<D>& body = bodies[ids()[i]];
      for (int k = 0; k < D; ++k) {
        const Real x = state.bodies.position()[i][k];
        if (box.is_periodic(k)) CHECK((x >= box.lower[k] && x < box.upper[k]));
        CHECK(x + state.bodies.image()[i][k] * box.length(k) == Approx(body.position[k]).margin(1e-12));
      }
    }
  }

  /// Blocks of one colour share no body, across all ranks.
  void check_colours() {
    const SweepSchedule<D>& schedule = neighborhood.schedule();
    for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
      std::vector<GlobalId> touched;
      for (const auto& block : schedule.blocks(colour))
        for (const Index i : bodies_of(schedule, block)) touched.push_back(ids()[i]);
      touched = gather(comm, touched);
      std::sort(touched.begin(), touched.end());
      CHECK(std::adjacent_find(touched.begin(), touched.end()) == touched.end());
    }
  }

  void check_ghosts() {
    GhostExchange<D>& ghosts = neighborhood.ghosts();
    const std::size_t n_owned = state.bodies.n_owned();
    const std::size_t n_local = state.bodies.n_local();
    std::vector<Real> scalars(n_local, -1);
    std::vector<Vec<D>> vectors(n_local);
    for (std::size_t i = 0; i < n_owned; ++i) {
      scalars[i] = value_of(ids()[i]);
      vectors[i] = state.bodies.position()[i];
    }
    ghosts.copy_to_ghosts(scalars, 1);
    ghosts.copy_to_ghosts(vectors);
    std::vector<std::int32_t> copies(n_local, 1);
    std::vector<GlobalId> copied;
    for (std::size_t i = n_owned; i < n_local; ++i) {
      CHECK(scalars[i] == value_of(ids()[i]));
      CHECK(vectors[i] == state.bodies.position()[i]);
      copied.push_back(ids()[i]);
    }
    ghosts.add_to_owners(copies);
    copied = gather(comm, copied);
    for (std::size_t i = 0; i < n_owned; ++i)
      CHECK(copies[i] == 1 + std::count(copied.begin(), copied.end(), ids()[i]));
  }

  /// Sends a record through a sweep in which each block that touches a body leaves its mark. What arrives at
  /// the owner says which colours touched the body, in which order.
  std::map<GlobalId, Real> trace_of_sweep() {
    GhostExchange<D>& ghosts = neighborhood.ghosts();
    const SweepSchedule<D>& schedule = neighborhood.schedule();
    const std::size_t n_owned = state.bodies.n_owned();
    std::vector<SweepRecord> records(state.bodies.n_local());
    for (std::size_t i = 0; i < records.size(); ++i)
      records[i] =
          i < n_owned ? SweepRecord{{value_of(ids()[i]), 0, 0}, 1} : SweepRecord{{NAN, NAN, NAN}, NAN};
    ghosts.begin_transfer(0, records);
    ghosts.end_transfer(0, records);
    for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
      const auto run = [&](const auto& blocks, bool boundary) {
        for (const auto& block : blocks)
          for (const Index i : bodies_of(schedule, block)) {
            SweepRecord& record = records[i];
            CHECK(record.x[0] == value_of(ids()[i]));  // never a dead copy
            record.x[1] = record.x[1] * 10 + colour + 1;
            if (!boundary && !ghosts.shared().empty()) CHECK(ghosts.shared()[i] == 0);
          }
      };
      run(schedule.boundary_blocks(colour), true);
      ghosts.begin_transfer(colour + 1, records);
      run(schedule.interior_blocks(colour), false);
      ghosts.end_transfer(colour + 1, records);
    }
    std::map<GlobalId, Real> trace;
    for (std::size_t i = 0; i < n_owned; ++i) {
      CHECK(records[i].x[0] == value_of(ids()[i]));
      trace[ids()[i]] = records[i].x[1];
    }
    return trace;
  }

  /// Gives every candidate pair a multiplier that is a function of its ids.
  void check_multipliers_found() {
    const std::size_t n = neighborhood.schedule().n_batches() * batch_size;
    std::vector<Real> values(n), no_walls;
    neighborhood.list().restore(state, values, no_walls, 1);
    int n_lost = 0;
    neighborhood.schedule().for_each_pair([&](std::size_t place, Index low, Index high, Index) {
      n_lost += values[place] != value_of(ids()[low], ids()[high]);
    });
    CHECK(n_lost == 0);
  }
  void set_multipliers() {
    const std::size_t n = neighborhood.schedule().n_batches() * batch_size;
    std::vector<Real> values(n, 0), no_walls;
    neighborhood.schedule().for_each_pair([&](std::size_t place, Index low, Index high, Index) {
      values[place] = value_of(ids()[low], ids()[high]);
    });
    state.memory = neighborhood.list().remember(state, neighborhood.ghosts(), values, no_walls, 1);
    CHECK(state.memory.n_bodies() == state.bodies.n_owned());
  }
};

template <int D>
void check_scene(const Box<D>& box, int n, Real smallest, Real largest, int block_cells) {
  CAPTURE(D, block_cells, n);
  const std::vector<Body<D>> bodies = random_bodies<D>(box, n, smallest, largest, 21);
  const Comm world;
  Scene<D> together(world, box, bodies, 0.1, block_cells);
  Scene<D> alone(Comm(MPI_COMM_SELF), box, bodies, 0.1, block_cells);
  for (int list = 0; list < 4; ++list) {
    CAPTURE(list);
    together.neighborhood.rebuild(together.state);
    alone.neighborhood.rebuild(alone.state);
    together.check_lists();
    together.check_colours();
    together.check_ghosts();
    const std::map<GlobalId, Real> expected = alone.trace_of_sweep();
    int n_different = 0;
    for (const auto& [id, trace] : together.trace_of_sweep()) n_different += expected.at(id) != trace;
    CHECK(n_different == 0);
    together.set_multipliers();
    // Next bodies stay near, then they fly over the whole box, several times.
    const Real distance = list == 0 ? 0.3 : 3 * box.length(0);
    together.move(distance, static_cast<std::uint64_t>(list));
    alone.move(distance, static_cast<std::uint64_t>(list));
  }
  if (world.size() > 1) CHECK(together.neighborhood.n_migrated() > n / 4);
}

}  // namespace

TEST_CASE("domain: ranks own consecutive keys, together all of them, and agree", "[mpi]") {
  const Comm world;
  Domain domain(world);
  constexpr int bits = 10;
  const auto check = [&] {
    int previous = 0;
    std::vector<std::int64_t> owners;
    for (BlockKey key = 0; key < BlockKey{1} << bits; ++key) {
      const int owner = domain.owner_of(key);
      CHECK((owner >= previous && owner < world.size()));
      previous = owner;
      owners.push_back(owner);
    }
    std::vector<std::int64_t> sum = owners;
    world.sum(sum);
    for (std::size_t key = 0; key < owners.size(); ++key) CHECK(sum[key] == owners[key] * world.size());
    CHECK(domain.owner_of(0) == owners.front());  // after the last key: no memory of earlier queries
  };
  check();

  // Weights in arbitrary blocks, known to arbitrary ranks, some to two.
  std::map<BlockKey, std::int64_t> mine;
  std::vector<std::int64_t> all(std::size_t{1} << bits, 0);
  for (GlobalId n = 0; n < 300; ++n) {
    RandomStream stream(4, n, 1);
    const BlockKey key = stream.bits() % (BlockKey{1} << bits);
    const auto weight = static_cast<std::int64_t>(stream.bits() % 50);
    all[key] += weight;
    if (static_cast<int>(n % world.size()) == world.rank()) mine[key] += weight;
  }
  std::vector<BlockKey> keys;
  std::vector<std::int64_t> weights;
  for (const auto& [key, weight] : mine) keys.push_back(key), weights.push_back(weight);
  domain.adopt(domain.propose(keys, weights, bits));
  check();
  std::vector<std::int64_t> load(world.size(), 0);
  for (BlockKey key = 0; key < all.size(); ++key) load[domain.owner_of(key)] += all[key];
  const std::int64_t total = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  const std::int64_t heaviest = *std::max_element(all.begin(), all.end());
  for (const std::int64_t l : load) CHECK(l <= total / world.size() + heaviest);
}

TEST_CASE("domain: no weight at all, one block, all weight in one block", "[mpi]") {
  const Comm world;
  Domain domain(world);
  domain.adopt(domain.propose({}, {}, 6));
  for (BlockKey key = 0; key < 64; ++key) CHECK(domain.owner_of(key) < world.size());
  domain.adopt(domain.propose(std::vector<BlockKey>{0}, std::vector<std::int64_t>{5}, 0));
  CHECK(domain.owner_of(0) < world.size());
  std::vector<BlockKey> keys;
  std::vector<std::int64_t> weights;
  if (world.is_root()) keys = {17}, weights = {1000};
  domain.adopt(domain.propose(keys, weights, 6));
  const std::int64_t owner = domain.owner_of(17);
  CHECK(world.max(owner) == world.min(owner));
}

TEST_CASE("sparse all-to-all: everything arrives, empty and long messages too, in order of the senders",
          "[mpi]") {
  const Comm world;
  for (int round = 0; round < 3; ++round) {
    Outgoing outgoing;
    const auto length = [&](int from, int to) {
      return std::size_t(from * 1000 + to * 37) * (from % 2 == 0);
    };
    // A rank sends to those above it and to itself.
    for (int to = world.size() - 1; to >= world.rank(); --to)
      outgoing.to(to).put(std::span<const std::byte>(
          std::vector<std::byte>(length(world.rank(), to), std::byte(world.rank() + round))));
    const std::vector<PackedMessage> arrived = outgoing.exchange(world);
    REQUIRE(arrived.size() == static_cast<std::size_t>(world.rank()) + 1);
    for (int from = 0; from <= world.rank(); ++from) {
      const PackedMessage& message = arrived[from];
      CHECK(message.rank == from);
      CHECK(message.bytes == std::vector<std::byte>(length(from, world.rank()), std::byte(from + round)));
    }
  }
  CHECK(Outgoing().exchange(world).empty());
}

TEST_CASE("neighborhood: lists, ghosts and transfers in 2D, for blocks of 1, 2 and 4 cells", "[mpi]") {
  for (const int block_cells : {1, 2, 4})
    for (const bool periodic : {false, true})
      check_scene<2>({filled<2>(-1), filled<2>(9.3), {periodic, true}}, 300, 0.15, 0.45, block_cells);
}

TEST_CASE("neighborhood: lists, ghosts and transfers in 3D", "[mpi]") {
  check_scene<3>({filled<3>(-1), filled<3>(4.3), {true, true, true}}, 300, 0.15, 0.42, 1);
  check_scene<3>({filled<3>(-1), filled<3>(4.3), {false, true, false}}, 300, 0.15, 0.42, 2);
}

TEST_CASE("neighborhood: two blocks along each periodic axis", "[mpi]") {
  check_scene<2>({filled<2>(0), filled<2>(4.1), {true, true}}, 60, 0.3, 0.45, 4);
  check_scene<3>({filled<3>(0), filled<3>(4.1), {true, true, true}}, 150, 0.2, 0.45, 2);
}

TEST_CASE("neighborhood: multipliers follow their pairs to other ranks", "[mpi]") {
  const Box<2> box{filled<2>(-1), filled<2>(9.3), {true, false}};
  const std::vector<Body<2>> bodies = random_bodies<2>(box, 300, 0.15, 0.45, 22);
  const Comm world;
  Scene<2> scene(world, box, bodies, 0.1, 2);
  scene.neighborhood.rebuild(scene.state);
  scene.set_multipliers();
  // The whole scene is shifted along the periodic axis: the same pairs, most of them elsewhere.
  for (int turn = 0; turn < 5; ++turn) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(scene.state.bodies.n_owned()); ++i)
      scene.state.bodies.position()[i][0] += 2.0;
    scene.neighborhood.rebuild(scene.state);
    scene.check_multipliers_found();
    scene.set_multipliers();
  }
  if (world.size() > 1) CHECK(scene.neighborhood.n_migrated() > 100);
}

TEST_CASE("migration: fields and memory go along, over any distance", "[mpi]") {
  const Comm world;
  const Box<3> box{filled<3>(0), filled<3>(10), {}};
  State<3> state = state_of(world, box, random_bodies<3>(box, 100, 0.1, 0.2, 23),
                            [&](GlobalId id) { return id % world.size() == world.rank(); });
  std::vector<RememberedContact> contacts;
  for (Index i = 0; i < state.bodies.n_owned(); ++i) {
    const std::size_t at = i;
    const GlobalId id = state.bodies.id()[at];
    state.bodies.velocity()[at] = filled<3>(value_of(id));
    state.bodies.image()[at] = {static_cast<std::int32_t>(id), -1, 2};
    state.bodies.type()[at] = static_cast<std::int32_t>(id % 3);
    for (GlobalId other = 0; other < id % 4; ++other) contacts.push_back({i, other, {value_of(id, other)}});
  }
  state.memory = collect(state.bodies.n_owned(), 1, [&](const auto& f) {
    for (const RememberedContact& contact : contacts) f(contact.body, contact.other, contact.value);
  });
  std::vector<int> destination;
  for (Index i = 0; i < state.bodies.n_owned(); ++i)
    destination.push_back(static_cast<int>(state.bodies.id()[i] / 3) % world.size());
  const std::int64_t n_moved = migrate<3>(world, destination, state.bodies, state.memory);
  if (world.size() > 1) CHECK(n_moved > 30);
  CHECK(world.sum(static_cast<std::int64_t>(state.bodies.n_owned())) == 100);
  CHECK(state.memory.n_bodies() == state.bodies.n_owned());
  for (Index i = 0; i < state.bodies.n_owned(); ++i) {
    const std::size_t at = i;
    const GlobalId id = state.bodies.id()[at];
    CHECK(static_cast<int>(id / 3) % world.size() == world.rank());
    CHECK(state.bodies.velocity()[at] == filled<3>(value_of(id)));
    CHECK(state.bodies.image()[at] == PeriodicImage<3>{static_cast<std::int32_t>(id), -1, 2});
    CHECK(state.bodies.type()[at] == id % 3);
    CHECK(state.memory.start[at + 1] - state.memory.start[at] == id % 4);
    for (GlobalId other = 0; other < id % 4; ++other) {
      Real found = 0;
      state.memory.restore(i, other, {&found, 1});
      CHECK(found == value_of(id, other));
    }
  }
}

TEST_CASE("neighborhood: a body that is not finite is named, with the step before, on all ranks", "[mpi]") {
  const Comm world;
  const Box<2> box{filled<2>(0), filled<2>(10), {true, false}};
  Scene<2> scene(world, box, random_bodies<2>(box, 50, 0.1, 0.2, 24), 0.1, 2);
  scene.neighborhood.rebuild(scene.state);
  for (std::size_t i = 0; i < static_cast<std::size_t>(scene.state.bodies.n_owned()); ++i)
    if (scene.ids()[i] == 31 || scene.ids()[i] == 42) scene.state.bodies.position()[i][0] = NAN;
  CHECK(scene.neighborhood.needs_rebuild(scene.state, 0.5));
  CHECK_THROWS_WITH(scene.neighborhood.rebuild(scene.state),
                    Catch::Contains("body 31 has no finite position"));
}

TEST_CASE("neighborhood: a body that crossed 1e12 periods in a step is an error, not a number", "[mpi]") {
  const Comm world;
  const Box<2> box{filled<2>(0), filled<2>(10), {true, false}};
  Scene<2> scene(world, box, random_bodies<2>(box, 50, 0.1, 0.2, 24), 0.1, 2);
  scene.neighborhood.rebuild(scene.state);
  for (std::size_t i = 0; i < static_cast<std::size_t>(scene.state.bodies.n_owned()); ++i)
    if (scene.ids()[i] == 17) scene.state.bodies.position()[i][0] = 1e13;
  CHECK_THROWS_WITH(scene.neighborhood.rebuild(scene.state), Catch::Contains("body 17"));
}

TEST_CASE("neighborhood: a body a hair below a periodic face is wrapped for good", "[mpi]") {
  const Comm world;
  const Box<2> box{filled<2>(0), {{3.7, 10}}, {true, false}};
  std::vector<Body<2>> bodies{{0, {{1, 5}}, 0.2}, {1, {{2, 5}}, 0.2}};
  Scene<2> scene(world, box, bodies, 0.1, 2);
  scene.neighborhood.rebuild(scene.state);
  const Real hairs[2] = {-1e-18, std::nextafter(3.7, 0)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(scene.state.bodies.n_owned()); ++i)
    scene.state.bodies.position()[i][0] = hairs[scene.ids()[i]];
  scene.neighborhood.rebuild(scene.state);
  const auto look = [&] {
    std::array<Real, 4> seen;  // positions and images by id, whoever owns the bodies
    seen.fill(-HUGE_VAL);
    for (std::size_t i = 0; i < static_cast<std::size_t>(scene.state.bodies.n_owned()); ++i) {
      const std::size_t id = scene.ids()[i];
      seen[id] = scene.state.bodies.position()[i][0];
      seen[2 + id] = scene.state.bodies.image()[i][0];
    }
    world.max(seen);
    return seen;
  };
  const std::array<Real, 4> first = look();
  CHECK((first[0] >= 0 && first[0] < 3.7));
  CHECK((first[1] >= 0 && first[1] < 3.7));
  // A restart finds the list again from the wrapped positions: nothing may move then.
  scene.neighborhood.rebuild(scene.state);
  CHECK(look() == first);
}

}  // namespace scree
