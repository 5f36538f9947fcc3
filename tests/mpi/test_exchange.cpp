// How many messages and bytes travel, against what follows from the lattice and the owners of its blocks; and
// that what travels is right.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "comm/ghost_exchange.hpp"
#include "comm/migration.hpp"
#include "comm/record_exchange.hpp"
#include "core/body_halo.hpp"
#include "unit/neighbors/random_state.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

ExchangeVolume sum(const Comm& comm, const ExchangeVolume& volume) {
  return {comm.sum(volume.messages), comm.sum(volume.bytes)};
}

/// Bodies on a square lattice, the same on all ranks.
template <int D>
std::vector<Body<D>> lattice_packing(const Box<D>& box, Real spacing) {
  std::vector<Body<D>> bodies;
  std::array<int, D> n{};
  int total = 1;
  for (int k = 0; k < D; ++k) total *= n[k] = static_cast<int>(std::floor(box.length(k) / spacing));
  for (int number = 0; number < total; ++number) {
    Body<D> body{number, {}, 0.45 * spacing};
    int rest = number;
    for (int k = 0; k < D; ++k) {
      const int along = n[k];
      body.position[k] = box.lower[k] + (rest % along + 0.5) * spacing;
      rest /= along;
    }
    bodies.push_back(body);
  }
  return bodies;
}

/// Bodies, their lattice, and as many blocks for each rank as for the others.
template <int D>
struct Packing {
  Comm comm;
  std::vector<Body<D>> bodies;  // all of them, on every rank
  Lattice<D> lattice;
  Domain domain;
  State<D> state;
  BlockTable<D> table;
  std::vector<Place> places;
  GhostExchange<D> ghosts;

  Packing(const Comm& on, const Box<D>& box, const std::vector<Body<D>>& all, int block_cells)
      : comm(on),
        bodies(all),
        lattice(Lattice<D>::make(box, 0.45, 0.1, block_cells)),
        domain(shared_out(on, lattice)),
        state(state_of(on, box, all,
                       [&](GlobalId id) {
                         const auto& body = all[id];
                         return domain.owner_of(block_of(body)) == on.rank();
                       })),
        ghosts(on) {
    rebuild();
  }

  static Domain shared_out(const Comm& comm, const Lattice<D>& lattice) {
    std::vector<BlockKey> keys;
    for_each_block(lattice, [&](const Cell<D>& block) { keys.push_back(lattice.key_of(block)); });
    std::sort(keys.begin(), keys.end());
    if (!comm.is_root()) keys.clear();
    Domain domain(comm);
    domain.adopt(domain.propose(keys, std::vector<std::int64_t>(keys.size(), 1), D * lattice.curve_bits()));
    return domain;
  }
  static void for_each_block(const Lattice<D>& lattice, const std::function<void(const Cell<D>&)>& visit) {
    std::int64_t n = 1;
    for (const std::int32_t along : lattice.n_blocks) n *= along;
    for (std::int64_t number = 0; number < n; ++number) {
      Cell<D> block;
      std::int64_t rest = number;
      for (std::size_t k = 0; k < D; ++k) {
        block[k] = static_cast<std::int32_t>(rest % lattice.n_blocks[k]);
        rest /= lattice.n_blocks[k];
      }
      visit(block);
    }
  }
  BlockKey block_of(const Body<D>& body) const {
    return lattice.key_of(lattice.block_of(lattice.cell_of(body.position)));
  }

  void rebuild() {
    state.bodies.resize(state.bodies.n_owned(), 0);
    find_places<D>(lattice, std::as_const(state.bodies).position(), places);
    std::vector<Index> order;
    sort_by_place(places, state.bodies.id(), order);
    state.bodies.reorder(order);
    find_places<D>(lattice, std::as_const(state.bodies).position(), places);
    state.memory.clear(state.bodies.n_owned());
    table = {};
    table.add(lattice, std::as_const(state.bodies).position(), places, 0, true);
    ghosts.rebuild(domain, lattice, table, places, state.bodies, state.memory);
  }

  std::span<const GlobalId> ids() const { return state.bodies.id(); }
};

/// Who touches a body in which colour, found by looking at every block: it reaches the cells of the block and
/// one layer beyond its upper faces.
template <int D>
std::map<int, int> touchers(const Packing<D>& packing, const Body<D>& body) {
  const Lattice<D>& lattice = packing.lattice;
  const Cell<D> cell = lattice.cell_of(body.position);
  std::map<int, int> rank_of_colour;
  Packing<D>::for_each_block(lattice, [&](const Cell<D>& block) {
    for (std::size_t k = 0; k < D; ++k) {
      const std::int32_t first = block[k] * lattice.block_cells[k];
      std::int32_t offset = cell[k] - first;
      if (lattice.periodic[k]) offset = (offset + lattice.n_cells[k]) % lattice.n_cells[k];
      if (offset < 0 || offset > lattice.block_cells[k]) return;
    }
    const int colour = lattice.colour_of(block);
    REQUIRE(rank_of_colour.count(colour) == 0);
    rank_of_colour[colour] = packing.domain.owner_of(lattice.key_of(block));
  });
  return rank_of_colour;
}

/// What all ranks together send.
struct Expected {
  ExchangeVolume copy, back, sums, sweep, first_sweep, middle_sweep, last_sweep, fetch;
};

using Route = std::pair<int, int>;  // from, to

/// The fewest stages that meet all intervals [ready, due]: tries all sets of stages.
std::int64_t fewest_stages(const std::set<std::pair<int, int>>& intervals, int n_stages) {
  std::int64_t fewest = n_stages;
  for (unsigned stages = 0; stages < 1U << n_stages; ++stages)
    if (std::ranges::all_of(intervals, [&](const auto& interval) {
          for (int s = interval.first; s <= interval.second; ++s)
            if ((stages >> s & 1U) != 0) return true;
          return false;
        }))
      fewest = std::min<std::int64_t>(fewest, std::popcount(stages));
  return fewest;
}

/// By brute force over all bodies and blocks, for `width` numbers per body.
template <int D>
Expected expected_volumes(const Packing<D>& packing, int width) {
  constexpr int n_colours = Lattice<D>::n_colours;
  std::map<Route, std::int64_t> copies, sums;
  std::map<Route, std::int64_t> starts;
  std::map<Route, std::set<std::pair<int, int>>> within, home_too, again_too;
  std::int64_t n_starts = 0, n_within = 0, n_home = 0, n_again = 0;
  for (const Body<D>& body : packing.bodies) {
    const std::map<int, int> rank_of_colour = touchers(packing, body);
    const int home = packing.domain.owner_of(packing.block_of(body));
    std::set<int> others;
    for (const auto& [colour, rank] : rank_of_colour)
      if (rank != home) {
        others.insert(rank);
        ++sums[{rank, home}];
      }
    for (const int rank : others) ++copies[{home, rank}];
    const int first = rank_of_colour.begin()->second;
    const int last = rank_of_colour.rbegin()->second;
    const int after_last = rank_of_colour.rbegin()->first + 1;
    if (first != home) ++starts[{home, first}], ++n_starts;
    for (auto it = rank_of_colour.begin(), next = std::next(it); next != rank_of_colour.end(); ++it, ++next) {
      if (it->second == next->second) continue;
      ++n_within;
      for (auto* list : {&home_too, &again_too})
        (*list)[{it->second, next->second}].insert({it->first + 1, next->first});
    }
    if (last != home) home_too[{last, home}].insert({after_last, n_colours}), ++n_home;
    if (last != first) again_too[{last, first}].insert({after_last, n_colours}), ++n_again;
  }
  const std::int64_t bytes = std::int64_t{8} * width;
  const auto count = [](const std::map<Route, std::int64_t>& numbers) {
    std::int64_t total = 0;
    for (const auto& [route, n] : numbers) total += n;
    return total;
  };
  const auto messages = [](const std::map<Route, std::set<std::pair<int, int>>>& lists) {
    std::int64_t total = 0;
    for (const auto& [route, intervals] : lists) total += fewest_stages(intervals, n_colours + 1);
    return total;
  };
  const auto size = [](const auto& map) { return static_cast<std::int64_t>(map.size()); };
  Expected e;
  e.copy = {size(copies), bytes * count(copies)};
  e.back = e.copy;
  e.sums = {size(sums), bytes * count(sums)};
  e.last_sweep = {messages(home_too), bytes * (n_within + n_home)};
  e.middle_sweep = {messages(again_too), bytes * (n_within + n_again)};
  const ExchangeVolume start{size(starts), bytes * n_starts};
  (e.sweep = e.last_sweep) += start;
  (e.first_sweep = e.middle_sweep) += start;
  // Fetching: a length, then a count, the place and the fields of each ghost, and an empty memory.
  std::int64_t field_bytes = 0;
  packing.state.bodies.for_each_field([&](const FieldInfo& info, const auto& values) {
    if (info.ghosts == Ghosts::keep) field_bytes += static_cast<std::int64_t>(sizeof(values[0]));
  });
  e.fetch.messages = 2 * size(copies);
  e.fetch.bytes = size(copies) * (8 + 4 + 4 + 4) + count(copies) * (4 + field_bytes + 4);
  return e;
}

/// What a rank sends in one sweep of `width` numbers per body.
template <int D>
ExchangeVolume volume_of_sweep(const GhostExchange<D>& ghosts, int width, bool follows = false,
                               bool goes_on = false) {
  constexpr int colours = Lattice<D>::n_colours;
  ExchangeVolume volume;
  if (!follows) volume += ghosts.volume_of_stage(0, width);
  for (int colour = 0; colour < colours; ++colour)
    volume += ghosts.volume_of_stage(colour + 1 + (goes_on ? colours : 0), width);
  return volume;
}

template <int D>
void check_volumes(const Box<D>& box, Real spacing, int block_cells) {
  const Comm world;
  CAPTURE(D, block_cells, world.size());
  Packing<D> packing(world, box, lattice_packing<D>(box, spacing), block_cells);
  GhostExchange<D>& ghosts = packing.ghosts;
  constexpr int width = 4;
  const Expected expected = expected_volumes(packing, width);
  CHECK((expected.copy.bytes > 0) == (world.size() > 1));

  CHECK(sum(world, ghosts.volume_of_copy(width)) == expected.copy);
  CHECK(sum(world, ghosts.volume_to_owners(width)) == expected.back);
  CHECK(sum(world, ghosts.volume_of_partial_sums(width)) == expected.sums);
  CHECK(sum(world, volume_of_sweep(ghosts, width)) == expected.sweep);
  CHECK(sum(world, volume_of_sweep(ghosts, width, false, true)) == expected.first_sweep);
  CHECK(sum(world, volume_of_sweep(ghosts, width, true, true)) == expected.middle_sweep);
  CHECK(sum(world, volume_of_sweep(ghosts, width, true, false)) == expected.last_sweep);
  CHECK(expected.middle_sweep.bytes <= expected.sweep.bytes);
  CHECK(sum(world, ghosts.sent(Traffic::ghost_fetches)) == expected.fetch);

  std::set<int> neighbours;  // of this rank
  for (int peer = 0; peer < world.size(); ++peer) {
    // Whoever touches a body of a rank is its neighbour, and so is who gets an active copy from it.
    for (const Body<D>& body : packing.bodies) {
      std::vector<int> ranks{packing.domain.owner_of(packing.block_of(body))};
      for (const auto& [colour, rank] : touchers(packing, body)) ranks.push_back(rank);
      const int home = ranks.front();
      ranks.push_back(ranks[1]);
      ranks.push_back(home);
      for (std::size_t k = 0; k + 1 < ranks.size(); ++k) {
        const std::set<int> ends{ranks[k], ranks[k + 1]}, copy{home, ranks[k]};
        for (const auto& pair : {ends, copy})
          if (pair == std::set<int>{peer, world.rank()} && peer != world.rank()) neighbours.insert(peer);
      }
    }
  }
  CHECK(std::set<int>(ghosts.neighbours().begin(), ghosts.neighbours().end()) == neighbours);

  // What is counted is what was planned.
  std::vector<Real> values(static_cast<std::size_t>(packing.state.bodies.n_local()) * width);
  const auto sent_by = [&](Traffic kind, const auto& work) {
    const ExchangeVolume before = ghosts.sent(kind);
    work();
    return ghosts.sent(kind) - before;
  };
  CHECK(sent_by(Traffic::ghost_copies, [&] { ghosts.copy_to_ghosts(values, width); }) ==
        ghosts.volume_of_copy(width));
  CHECK(sent_by(Traffic::to_owners, [&] { ghosts.add_to_owners(values, width); }) ==
        ghosts.volume_to_owners(width));
}

/// Sends a record through sweeps in a row, in which each block that touches a body leaves its mark.
template <int D>
std::map<GlobalId, Real> trace_of_sweeps(Packing<D>& packing, int n_sweeps) {
  const Lattice<D>& lattice = packing.lattice;
  const BodyStore<D>& bodies = packing.state.bodies;
  const std::size_t n_owned = bodies.n_owned();
  const std::size_t n_local = bodies.n_local();
  // The colours in which this rank touches a body.
  std::vector<std::set<int>> mine(n_local);
  std::vector<Real> values(n_local, NAN);
  for (std::size_t i = 0; i < n_local; ++i) {
    const std::size_t id = packing.ids()[i];
    for (const auto& [colour, rank] : touchers(packing, packing.bodies[id]))
      if (rank == packing.comm.rank()) mine[i].insert(colour);
    if (i < n_owned) values[i] = 0;
  }
  for (int sweep = 0; sweep < n_sweeps; ++sweep) {
    const SweepTurn turn = SweepTurn::of(sweep, n_sweeps);
    if (turn.first) {
      packing.ghosts.begin_transfer(0, values, 1);
      packing.ghosts.end_transfer(0, values, 1);
    }
    for (int colour = 0; colour < lattice.n_colours; ++colour) {
      for (std::size_t i = 0; i < n_local; ++i)
        if (mine[i].count(colour) > 0)
          values[i] = std::fmod(values[i] * 9 + colour + 1, 1e9 + 7);  // depends on all that came before
      const int stage = colour + 1 + (turn.last ? 0 : lattice.n_colours);
      packing.ghosts.begin_transfer(stage, values, 1);
      packing.ghosts.end_transfer(stage, values, 1);
    }
#ifdef SCREE_ASSERTS
    // One copy of each body is live, and none but the live ones look so.
    const auto n_live = std::count_if(values.begin(), values.end(), [](Real x) { return !std::isnan(x); });
    CHECK(packing.comm.sum(std::int64_t{n_live}) == packing.comm.sum(static_cast<std::int64_t>(n_owned)));
#endif
  }
  std::map<GlobalId, Real> trace;
  for (std::size_t i = 0; i < n_owned; ++i) trace[packing.ids()[i]] = values[i];
  return trace;
}

template <int D>
void check_sweeps_in_a_row(const Box<D>& box, int block_cells) {
  const std::vector<Body<D>> bodies = lattice_packing<D>(box, 1);
  Packing<D> together(Comm(), box, bodies, block_cells);
  Packing<D> alone(Comm(MPI_COMM_SELF), box, bodies, block_cells);
  for (const int n_sweeps : {1, 2, 5}) {
    CAPTURE(D, block_cells, n_sweeps);
    const std::map<GlobalId, Real> expected = trace_of_sweeps(alone, n_sweeps);
    const ExchangeVolume before = together.ghosts.sent(Traffic::transfers);
    int n_different = 0;
    for (const auto& [id, trace] : trace_of_sweeps(together, n_sweeps))
      n_different += expected.at(id) != trace;
    CHECK(n_different == 0);
    ExchangeVolume planned;
    for (int sweep = 0; sweep < n_sweeps; ++sweep)
      planned += volume_of_sweep(together.ghosts, 1, sweep > 0, sweep + 1 < n_sweeps);
    CHECK(together.ghosts.sent(Traffic::transfers) - before == planned);
  }
}

template <int D>
void check_partial_sums(const Box<D>& box, int block_cells) {
  const Comm world;
  CAPTURE(D, block_cells);
  Packing<D> packing(world, box, lattice_packing<D>(box, 1), block_cells);
  GhostExchange<D>& ghosts = packing.ghosts;
  const auto id_of = [&](Index body) { return static_cast<Real>(packing.ids()[body]); };
  // Two numbers: the body, and colour and rank.
  const auto leaving = ghosts.sums_leaving();
  const auto arriving = ghosts.sums_arriving();
  ghosts.begin_partial_sums(2, [&](Index k, Real* out) {
    const auto& sum = leaving[k];
    out[0] = id_of(sum.body);
    out[1] = 100 * sum.colour + world.rank();
  });
  std::map<std::pair<Index, int>, Real> found;
  int n_wrong = 0;
  ghosts.end_partial_sums(2, [&](Index k, const Real* in) {
    const auto& sum = arriving[k];
    n_wrong += in[0] != id_of(sum.body) || found.count({sum.body, sum.colour}) > 0;
    found[{sum.body, sum.colour}] = in[1];
  });
  CHECK(n_wrong == 0);
  std::map<std::pair<Index, int>, Real> expected;
  for (Index i = 0; i < packing.state.bodies.n_owned(); ++i) {
    const std::size_t id = packing.ids()[i];
    for (const auto& [colour, rank] : touchers(packing, packing.bodies[id]))
      if (rank != world.rank()) expected[{i, colour}] = 100 * colour + rank;
  }
  CHECK(found == expected);
}

}  // namespace

TEST_CASE("exchange: messages and bytes are those that owners and cells ask for", "[mpi]") {
  for (const int block_cells : {1, 2, 3})
    for (const bool periodic : {false, true})
      check_volumes<2>({filled<2>(0), filled<2>(12), {periodic, true}}, 1, block_cells);
  check_volumes<3>({filled<3>(0), filled<3>(8), {true, true, true}}, 1, 1);
  check_volumes<3>({filled<3>(0), filled<3>(9), {false, true, false}}, 1, 2);
}

TEST_CASE("exchange: sweeps in a row take active copies on without the way home", "[mpi]") {
  for (const int block_cells : {1, 2})
    check_sweeps_in_a_row<2>({filled<2>(0), filled<2>(12), {true, false}}, block_cells);
  check_sweeps_in_a_row<3>({filled<3>(0), filled<3>(8), {true, true, false}}, 1);
  check_sweeps_in_a_row<3>({filled<3>(0), filled<3>(9), {true, true, true}}, 2);
}

TEST_CASE("exchange: owners get the sums of every colour that other ranks run", "[mpi]") {
  check_partial_sums<2>({filled<2>(0), filled<2>(12), {true, false}}, 2);
  check_partial_sums<3>({filled<3>(0), filled<3>(8), {true, true, true}}, 1);
}

TEST_CASE("exchange: records of all widths, there and back, with and without traffic", "[mpi]") {
  const Comm world;
  const int me = world.rank();
  // A rank sends n(me, to) entries, none to every third one.
  const auto n_entries = [](int from, int to) { return (from + 2 * to) % 3 * 7; };
  RecordExchange exchange(world);
  CHECK(exchange.empty());
  for (int plan = 0; plan < 2; ++plan) {  // a plan can be made anew
    exchange.clear();
    Index place = 0;
    ExchangeVolume volume, back;
    for (int peer = 0; peer < world.size(); ++peer) {
      if (peer == me) continue;
      for (int k = 0; k < n_entries(me, peer); ++k) exchange.send(peer, 2 * place++);
      if (n_entries(me, peer) > 0) volume += {1, n_entries(me, peer)};
    }
    const Index first_received = 2 * place;
    for (int peer = 0; peer < world.size(); ++peer) {
      if (peer == me) continue;
      for (int k = 0; k < n_entries(peer, me); ++k) exchange.receive(peer, 2 * place++);
      if (n_entries(peer, me) > 0) back += {1, n_entries(peer, me)};
    }
    for (const int width : {1, 2, 3, 4, 5, 6, 8, 9}) {
      CAPTURE(width, plan);
      const std::size_t w = width;
      const std::size_t bytes = w * sizeof(Real);
      CHECK(exchange.volume(bytes) == ExchangeVolume{volume.messages, volume.bytes * std::int64_t(bytes)});
      CHECK(exchange.volume(bytes, RecordExchange::Direction::reverse) ==
            ExchangeVolume{back.messages, back.bytes * std::int64_t(bytes)});
      std::vector<Real> values(static_cast<std::size_t>(2 * place) * w, -1);
      for (std::size_t i = 0; i < static_cast<std::size_t>(first_received) * w; ++i)
        values[i] = 1000 * me + static_cast<Real>(i);
      const std::vector<Real> before = values;
      exchange.begin(std::span<const Real>(values), width);
      exchange.end(std::span(values), width);
      // From each peer, its entries for this rank in order.
      Index at = first_received;
      int n_wrong = 0;
      for (int peer = 0; peer < world.size(); ++peer) {
        if (peer == me) continue;
        Index there = 0;
        for (int rank = 0; rank < me; ++rank)
          if (rank != peer) there += 2 * n_entries(peer, rank);
        for (int k = 0; k < n_entries(peer, me); ++k, at += 2, there += 2)
          for (int c = 0; c < width; ++c) {
            n_wrong += values[at * width + c] != 1000 * peer + there * width + c;
            n_wrong += values[(at + 1) * width + c] != -1;
          }
      }
      CHECK(n_wrong == 0);
      // Back and added: twice what was there.
      exchange.begin(std::span<const Real>(values), width, RecordExchange::Direction::reverse);
      exchange.end_combining(std::span(values), width, RecordExchange::Direction::reverse, std::plus<>());
      for (Index i = 0; i < first_received; ++i)
        for (int c = 0; c < width; ++c) {
          const std::size_t j = i * width + c;
          n_wrong += values[j] != (i % 2 == 0 ? 2 : 1) * before[j];
        }
      CHECK(n_wrong == 0);
    }
  }
}

TEST_CASE("exchange: bodies that migrate are counted", "[mpi]") {
  const Comm world;
  const Box<2> box{filled<2>(0), filled<2>(12), {true, true}};
  Packing<2> packing(world, box, lattice_packing<2>(box, 1), 2);
  BodyStore<2>& bodies = packing.state.bodies;
  bodies.resize(bodies.n_owned(), 0);
  packing.state.memory.clear(bodies.n_owned());
  // Body i goes to rank i % size.
  std::vector<int> destination;
  std::map<int, std::int64_t> leaving;
  for (Index i = 0; i < bodies.n_owned(); ++i) {
    destination.push_back(static_cast<int>(bodies.id()[i]) % world.size());
    if (destination.back() != world.rank()) ++leaving[destination.back()];
  }
  std::int64_t field_bytes = 0;
  std::as_const(bodies).for_each_field([&](const FieldInfo&, const auto& values) {
    field_bytes += static_cast<std::int64_t>(sizeof(values[0]));
  });
  ExchangeVolume expected;
  std::int64_t n_leaving = 0;
  for (const auto& [rank, n] : leaving) {
    // The length, then a count, the fields, and an empty memory.
    expected += {2, 8 + 4 + n * field_bytes + 4 + 4 * (n + 1)};
    n_leaving += n;
  }
  ExchangeVolume volume;
  CHECK(migrate<2>(world, destination, bodies, packing.state.memory, &volume) == world.sum(n_leaving));
  CHECK(volume == expected);
}

}  // namespace scree
