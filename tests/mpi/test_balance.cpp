// Sharing out of blocks: how even it is, when it happens, and what it costs in messages.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "comm/domain.hpp"
#include "core/random.hpp"
#include "mpi/simulate.hpp"
#include "neighbors/block_costs.hpp"

namespace scree {

namespace {

/// A few thousand blocks with weights up to 100, most of them in two corners of the key space; rank
/// `id % ranks` knows of block `id`, and the neighbour as well of every tenth.
struct RandomBlocks {
  std::vector<BlockKey> keys;  // of this rank
  std::vector<std::int64_t> weights;
  std::map<BlockKey, std::int64_t> all;

  RandomBlocks(const Comm& comm, int key_bits, GlobalId count) {
    std::map<BlockKey, std::int64_t> mine;
    for (GlobalId id = 0; id < count; ++id) {
      RandomStream stream(9, id, 3);
      const BlockKey width = BlockKey{1} << (id % 2 == 0 ? key_bits : std::max(0, key_bits - 9));
      const BlockKey key = (id % 4 == 0 ? 0 : (BlockKey{1} << key_bits) - width) + stream.bits() % width;
      const auto weight = static_cast<std::int64_t>(stream.bits() % 100);
      all[key] += weight;
      const bool known_to_two = id % 10 == 0 && weight > 1;
      if (id % comm.size() == comm.rank()) mine[key] += known_to_two ? weight - weight / 2 : weight;
      if (known_to_two && (id + 1) % comm.size() == comm.rank()) mine[key] += weight / 2;
    }
    for (const auto& [key, weight] : mine) keys.push_back(key), weights.push_back(weight);
  }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [key, weight] : all) sum += weight;
    return sum;
  }
  std::int64_t heaviest() const {
    std::int64_t max = 0;
    for (const auto& [key, weight] : all) max = std::max(max, weight);
    return max;
  }
  std::vector<std::int64_t> loads(const Domain::Shares& shares, int n_ranks) const {
    std::vector<std::int64_t> load(n_ranks, 0);
    for (const auto& [key, weight] : all) load[shares.owner_of(key)] += weight;
    return load;
  }
  /// The fullest rank if each takes blocks until it has its share, and the fullest with the least that any
  /// splitters along the curve can do.
  std::int64_t fullest_of_greedy(int n_ranks) const {
    std::vector<std::int64_t> load(n_ranks, 0);
    std::int64_t before = 0;
    for (const auto& [key, weight] : all) {
      // The rank in whose share the block begins.
      std::int64_t rank = 0;
      while (rank + 1 < n_ranks && before + weight > total() * (rank + 1) / n_ranks) ++rank;
      load[rank] += weight;
      before += weight;
    }
    return *std::max_element(load.begin(), load.end());
  }
  std::int64_t fullest_of_best(int n_ranks) const {
    const auto fits = [&](std::int64_t limit) {
      int ranks = 1;
      std::int64_t load = 0;
      for (const auto& [key, weight] : all) {
        if (weight > limit) return false;
        if (load + weight > limit) ++ranks, load = 0;
        load += weight;
      }
      return ranks <= n_ranks;
    };
    std::int64_t low = 0, high = total();
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (fits(middle))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

/// A cloud of disks that flies along a long hall.
const std::string heap_deck =
    deck({.lower = "[-30, -8]", .upper = "[30, 8]", .step = 0.005, .seed = 11, .block_cells = 3}, R"(
[velocity]
type = "target"
point = [24, 0]
speed = 4
arrival = 3
[pbd]
overlap_limit = 0
[particles.disks]
radius = { distribution = "uniform", min = 0.08, max = 0.12 }
source = { type = "random", count = 1500, region = { lower = [-29, -6], upper = [-17, 6] } }
)");

LoadReport fly(const Comm& comm, const Overrides& overrides, int n_steps, Outcome& outcome) {
  Simulation<2> simulation(comm, read_deck<2>(heap_deck, overrides));
  take_steps(simulation, n_steps, outcome);
  look_at(simulation, outcome);
  return simulation.neighborhood().load_report(simulation.state());
}

}  // namespace

TEST_CASE("balance: splitters give every rank its share up to a block, and name the fullest", "[mpi]") {
  const Comm world;
  for (const int key_bits : {1, 2, 7, 12, 24, 50}) {
    const RandomBlocks blocks(world, key_bits, 3000);
    const Domain domain(world);
    const Domain::Shares shares = domain.propose(blocks.keys, blocks.weights, key_bits);
    CAPTURE(key_bits, shares.splitter);
    CHECK(std::is_sorted(shares.splitter.begin(), shares.splitter.end()));
    CHECK(shares.total == blocks.total());
    const std::vector<std::int64_t> load = blocks.loads(shares, world.size());
    const std::int64_t fullest = *std::max_element(load.begin(), load.end());
    CHECK(fullest == shares.max);
    CHECK(fullest <= blocks.total() / world.size() + blocks.heaviest());
    CHECK(fullest <= blocks.fullest_of_greedy(world.size()));
    CHECK(fullest >= blocks.fullest_of_best(world.size()));
    // Where blocks are small, nearly the best that there is.
    if (key_bits >= 12) CHECK(fullest <= blocks.fullest_of_best(world.size()) + blocks.heaviest() / 2);
    // All ranks hold the same.
    for (const BlockKey splitter : shares.splitter) {
      const auto number = static_cast<std::int64_t>(splitter >> 1);
      CHECK(world.max(number) == world.min(number));
    }
  }
}

TEST_CASE("balance: a million blocks take two or three reductions, the longest curve six", "[mpi]") {
  const Comm world;
  const Domain domain(world);
  const auto reductions = [&](int key_bits) {
    const RandomBlocks blocks(world, key_bits, 1000);
    return domain.propose(blocks.keys, blocks.weights, key_bits).n_reductions;
  };
  // One for the total; none to find splitters that are not there.
  CHECK(reductions(20) == (world.size() == 1 ? 1 : 3));
  CHECK(reductions(51) <= 7);
  CHECK(reductions(0) == 1);
}

TEST_CASE("block costs: found from what ranks held and how long they took, in the presence of noise",
          "[mpi]") {
  const Comm world;
  BlockCosts costs(world);
  CHECK(costs.weights() == LoadCounts{1, 1, 0, 0});
  const std::array<Real, n_loads> truth{20e-9, 8e-9, 60e-9, 150e-9};
  for (int list = 0; list < 40; ++list) {
    RandomStream stream(3, list * 64 + world.rank(), 1);
    LoadCounts counts;
    counts[0] = 1000 + static_cast<std::int64_t>(stream.bits() % 1000);
    counts[1] = 2 * counts[0] + static_cast<std::int64_t>(stream.bits() % 4000);
    counts[2] = static_cast<std::int64_t>(stream.bits() % 500);
    counts[3] = static_cast<std::int64_t>(stream.bits() % 2000);
    Real seconds = 0;
    for (std::size_t k = 0; k < n_loads; ++k) seconds += truth[k] * static_cast<Real>(counts[k]);
    costs.observe(counts, seconds * stream.uniform(0.97, 1.03));
  }
  for (std::size_t k = 0; k < n_loads; ++k) {
    CAPTURE(k, costs.seconds());
    CHECK(costs.seconds()[k] == Approx(truth[k]).epsilon(k < 3 ? 0.6 : 0.15));
    CHECK(world.max(costs.seconds()[k]) == world.min(costs.seconds()[k]));
  }
  // Whatever the parts, a rank's whole is right.
  const LoadCounts weights = costs.weights();
  CHECK(weights[3] == 1 << 20);
  const LoadCounts some{1500, 5000, 250, 1000};
  Real expected = 0, found = 0;
  for (std::size_t k = 0; k < n_loads; ++k) {
    expected += truth[k] * static_cast<Real>(some[k]);
    found += costs.seconds()[k] * static_cast<Real>(some[k]);
  }
  CHECK(found == Approx(expected).epsilon(0.03));
}

TEST_CASE("block costs: what is never there costs nothing, what cannot be distinguished follows the guess",
          "[mpi]") {
  const Comm world;
  BlockCosts costs(world);
  costs.observe({0, 0, 0, 0}, 1e-3);
  CHECK(costs.seconds() == std::array<Real, n_loads>{});
  // The same on all ranks, always: one equation for two unknowns.
  for (int list = 0; list < 50; ++list) costs.observe({1000, 3000, 0, 0}, 4e-6);
  CHECK(costs.seconds()[0] == Approx(1e-9).epsilon(0.01));
  CHECK(costs.seconds()[1] == Approx(1e-9).epsilon(0.01));
  CHECK(costs.seconds()[2] == 0);
  CHECK(costs.seconds()[3] == 0);
  costs.observe({1000, 3000, 0, 0}, 0);  // a clock that stood still
  CHECK(costs.seconds()[1] == Approx(1e-9).epsilon(0.01));
}

TEST_CASE("balance: weights found from times share time out evenly where counts do not", "[mpi]") {
  const Comm world;
  const int n_ranks = world.size();
  constexpr int key_bits = 12;
  constexpr std::size_t n_blocks = 2000;
  constexpr std::array<Real, n_loads> truth{20e-9, 8e-9, 60e-9, 150e-9};
  // Along the curve: a gas, then a bed at a wall in which half of the pairs touch.
  std::vector<BlockKey> all_keys;
  std::vector<LoadCounts> all_counts;
  for (std::size_t block = 0; block < n_blocks; ++block) {
    RandomStream stream(4, static_cast<std::int64_t>(block), 1);
    const auto up_to = [&](std::uint64_t n) { return static_cast<std::int64_t>(stream.bits() % n); };
    all_keys.push_back(2 * block);
    LoadCounts& counts = all_counts.emplace_back(LoadCounts{20 + up_to(20), 60 + up_to(60), 0, 0});
    if (block < n_blocks / 2) continue;
    counts[2] = up_to(4);
    counts[3] = counts[1] / 2 + up_to(10);
  }
  const Domain domain(world);
  BlockCosts costs(world);
  // Loads of all ranks with these weights of what blocks hold, by what each rank says of the blocks it had.
  std::vector<int> owner(n_blocks, 0);
  const auto share_out = [&](const LoadCounts& weight_of) {
    std::vector<BlockKey> keys;
    std::vector<std::int64_t> weights;
    for (std::size_t block = 0; block < n_blocks; ++block) {
      if (owner[block] != world.rank()) continue;
      keys.push_back(all_keys[block]);
      weights.push_back(
          std::inner_product(weight_of.begin(), weight_of.end(), all_counts[block].begin(), std::int64_t{0}));
    }
    const Domain::Shares shares = domain.propose(keys, weights, key_bits);
    std::vector<LoadCounts> loads(n_ranks);
    for (std::size_t block = 0; block < n_blocks; ++block) {
      owner[block] = shares.owner_of(all_keys[block]);
      for (std::size_t k = 0; k < n_loads; ++k) loads[owner[block]][k] += all_counts[block][k];
    }
    return loads;
  };
  const auto time_of = [&](const LoadCounts& counts) {
    Real seconds = 0;
    for (std::size_t k = 0; k < n_loads; ++k) seconds += truth[k] * static_cast<Real>(counts[k]);
    return seconds;
  };
  const auto unevenness = [&](const std::vector<LoadCounts>& loads) {
    Real max = 0, sum = 0;
    for (const LoadCounts& counts : loads) {
      max = std::max(max, time_of(counts));
      sum += time_of(counts);
    }
    return max / sum * n_ranks;
  };
  std::vector<LoadCounts> loads = share_out({1, 1, 0, 0});
  if (n_ranks > 1) CHECK(unevenness(loads) > 1.2);
  for (int list = 0; list < 10; ++list) {
    const LoadCounts& mine = loads[world.rank()];
    RandomStream stream(5, list * 64 + world.rank(), 1);
    costs.observe(mine, time_of(mine) * stream.uniform(0.97, 1.03));
    loads = share_out(costs.weights());
  }
  CHECK(unevenness(loads) < 1.05);
}

TEST_CASE("balance: a heap that travels stays spread evenly if blocks move along, and only then", "[mpi]") {
  const Comm world;
  const int n_ranks = world.size();
  constexpr int n_steps = 2000;
  Outcome moving, standing, counting;
  const LoadReport even = fly(world, {"decomposition.weights=measured"}, n_steps, moving);
  const LoadReport counted = fly(world, {"decomposition.weights=counts"}, n_steps, counting);
  const LoadReport left = fly(world, {"decomposition.rebalance=false"}, n_steps, standing);
  CHECK(moving.same_result(standing));
  CHECK(counting.same_result(standing));
  CHECK(even.measured);
  CHECK_FALSE(counted.measured);
  CAPTURE(counting, standing);
  if (n_ranks == 1) {
    CHECK(counted.bodies_and_pairs.max == 1);
    CHECK(counting.n_rebalances == 0);
    return;
  }
  CHECK(standing.n_rebalances == 0);
  CHECK(counting.n_rebalances > 2);
  CHECK(counting.n_rebalances < counting.n_rebuilds / 2);
  // All but one rank end up with nothing, or nearly so.
  CHECK(left.bodies_and_pairs.max > 0.999 * n_ranks);  // 4 on four ranks
  CHECK(left.bodies_and_pairs.mean > 0.6 * n_ranks);
  CHECK(counted.bodies_and_pairs.mean < 1.1);
  // The worst list is one that was widened for a step: its blocks are larger, hence fewer. Measured 1.22 on
  // three and 1.24 on four ranks before this band was set; 1.14 on three where no list is widened.
  CHECK(counted.bodies_and_pairs.max < 1.3);
  CHECK(counted.bodies.mean < 1.25);
  CHECK(counted.pairs_by_colour.mean >= counted.pairs.mean);
}

TEST_CASE("balance: what costs more than it saves is not done", "[mpi]") {
  const Comm world;
  const auto n_rebalances = [&](const std::string& cost) {
    Outcome outcome;
    fly(world, {"decomposition.weights=counts", "decomposition.rebalance_cost=" + cost}, 400, outcome);
    return outcome.n_rebalances;
  };
  if (world.size() == 1) return;
  const std::int64_t free = n_rebalances("0");
  const std::int64_t usual = n_rebalances("10");
  const std::int64_t dear = n_rebalances("1e6");
  CHECK(free > usual);
  CHECK(usual > 0);
  CHECK(dear == 0);
}

TEST_CASE("balance: owners go by time only where that cannot change a bit of the results", "[mpi]") {
  using Weights = NeighborhoodSettings::Weights;
  const auto weights = [](const std::string& scheme, const Overrides& overrides) {
    const std::string text = deck({.scheme = scheme,
                                   .lower = "[0, 0]",
                                   .upper = "[1, 1]",
                                   .step = 1e-3,
                                   .end_time = 1,
                                   .gravity = "[0, -9.81]"},
                                  R"(
[materials.stone]
density = 2500
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0 }
[particles.grains]
material = "stone"
radius = { distribution = "uniform", min = 0.01, max = 0.02 }
source = { type = "random", count = 10 }
)");
    return read_deck<2>(text, overrides).neighbors.weights;
  };
  CHECK(read_deck<2>(disks_deck).neighbors.weights == Weights::measured);
  CHECK(read_deck<2>(disks_deck, {"decomposition.weights=counts"}).neighbors.weights == Weights::counts);
  CHECK(weights("nonsmooth", {"solver.type=nsgs"}) == Weights::measured);
  for (const std::string solver : {"ipm", "admm", "auto"})
    CHECK(weights("nonsmooth", {"solver.type=" + solver}) == Weights::counts);
  CHECK(weights("nonsmooth", {"solver.type=ipm", "decomposition.weights=measured"}) == Weights::measured);
}

}  // namespace scree
