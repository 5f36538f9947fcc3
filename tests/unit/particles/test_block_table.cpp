#include "particles/block_table.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "core/random.hpp"

using namespace scree;

namespace {

template <int D>
struct Cloud {
  std::vector<Vec<D>> positions;
  std::vector<GlobalId> ids;
};

/// Points anywhere in the box, with ids in no order.
template <int D>
Cloud<D> random_cloud(const Box<D>& box, int n) {
  Cloud<D> cloud;
  for (int i = 0; i < n; ++i) {
    RandomStream stream(3, i, 1);
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = stream.uniform(box.lower[k], box.upper[k]);
    cloud.positions.push_back(x);
    cloud.ids.push_back((i * GlobalId{7919}) % n);
  }
  return cloud;
}

template <class T>
std::vector<T> reordered(const std::vector<T>& values, const std::vector<Index>& order) {
  std::vector<T> result;
  for (const Index i : order) result.push_back(values[i]);
  return result;
}

template <int D>
void sort_cloud(const Lattice<D>& lattice, Cloud<D>& cloud, std::vector<Place>& places) {
  find_places<D>(lattice, cloud.positions, places);
  std::vector<Index> order;
  sort_by_place(places, cloud.ids, order);
  cloud.positions = reordered(cloud.positions, order);
  cloud.ids = reordered(cloud.ids, order);
  places = reordered(places, order);
}

template <int D>
void check_table() {
  const Box<D> box{{}, filled<D>(10.0), {}};
  const auto lattice = Lattice<D>::make(box, 0.4, 0.2, 3);
  Cloud<D> owned = random_cloud<D>(box, 400);
  // Ghosts lie in blocks of their own: those at the upper end of the first axis.
  Cloud<D> ghosts;
  const Real border = lattice.cell_edge[0] * 6;
  for (std::size_t i = owned.ids.size(); i-- > 0;)
    if (owned.positions[i][0] > border) {
      ghosts.positions.push_back(owned.positions[i]);
      ghosts.ids.push_back(owned.ids[i]);
      owned.positions.erase(owned.positions.begin() + static_cast<std::ptrdiff_t>(i));
      owned.ids.erase(owned.ids.begin() + static_cast<std::ptrdiff_t>(i));
    }
  REQUIRE(owned.ids.size() > 100);
  REQUIRE(ghosts.ids.size() > 100);
  std::vector<Place> places, ghost_places;
  sort_cloud(lattice, owned, places);
  sort_cloud(lattice, ghosts, ghost_places);

  BlockTable<D> table;
  const auto n_owned = static_cast<Index>(owned.ids.size());
  table.add(lattice, owned.positions, places, 0, true);
  table.add(lattice, ghosts.positions, ghost_places, n_owned, false);
  std::vector<Vec<D>> held = owned.positions;
  held.insert(held.end(), ghosts.positions.begin(), ghosts.positions.end());

  // Every body is in the range of its cell, and of no other.
  std::vector<int> times_met(held.size(), 0);
  std::set<BlockKey> keys;
  for (Index b = 0; b < static_cast<Index>(table.blocks().size()); ++b) {
    const auto& block = table.blocks()[b];
    CHECK(block.key == lattice.key_of(block.place));
    CHECK(table.find(block.key) == b);
    CHECK(block.owned == (block.first < n_owned));
    CHECK(block.first < block.last);
    keys.insert(block.key);
    Index next = block.first;
    for (std::int32_t c = 0; c < lattice.cells_in_block(); ++c) {
      const auto [begin, end] = table.cell(b, c);
      CHECK(begin == next);
      next = end;
      for (Index i = begin; i < end; ++i) {
        const Cell<D> cell = lattice.cell_of(held[i]);
        CHECK((lattice.local_cell(cell) == c && lattice.block_of(cell) == block.place));
        ++times_met[i];
      }
    }
    CHECK(next == block.last);
  }
  CHECK(keys.size() == table.blocks().size());
  CHECK(std::ranges::all_of(times_met, [](int n) { return n == 1; }));
  CHECK(table.find(BlockKey{1} << (D * lattice.curve_bits())) == -1);
}

}  // namespace

TEST_CASE("block table: 400 owned and ghost bodies are each found in their cell and nowhere else",
          "[particles]") {
  check_table<2>();
  check_table<3>();
}

TEST_CASE("block table: the storage order does not depend on the order in memory", "[particles]") {
  const Box<2> box{{}, filled<2>(10.0), {}};
  const auto lattice = Lattice<2>::make(box, 0.4, 0.2, 3);
  Cloud<2> cloud = random_cloud<2>(box, 300);
  // Several bodies in the same place of a cell: their ids decide.
  for (std::size_t i = 0; i < 20; ++i) cloud.positions[i] = cloud.positions[20];
  Cloud<2> other = cloud;
  std::reverse(other.positions.begin(), other.positions.end());
  std::reverse(other.ids.begin(), other.ids.end());

  std::vector<Place> places, other_places;
  sort_cloud(lattice, cloud, places);
  sort_cloud(lattice, other, other_places);
  CHECK(cloud.ids == other.ids);
  CHECK(places == other_places);
  CHECK(std::ranges::is_sorted(places));
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] == places[i - 1]) CHECK(cloud.ids[i] > cloud.ids[i - 1]);
}

TEST_CASE("block table: a place is the block's key and the cell's number", "[particles]") {
  const Box<3> box{{}, filled<3>(10.0), {true, false, false}};
  const auto lattice = Lattice<3>::make(box, 0.4, 0.2, 3);
  const Cloud<3> cloud = random_cloud<3>(box, 200);
  std::vector<Place> places;
  find_places<3>(lattice, cloud.positions, places);
  REQUIRE(places.size() == cloud.positions.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Cell<3> cell = lattice.cell_of(cloud.positions[i]);
    CHECK(block_key(places[i]) == lattice.key_of(lattice.block_of(cell)));
    CHECK(local_cell(places[i]) == lattice.local_cell(cell));
  }
}

TEST_CASE("block table: no bodies make no blocks", "[particles]") {
  const auto lattice = Lattice<2>::make({{}, filled<2>(10.0), {}}, 0.4, 0.2, 3);
  BlockTable<2> table;
  table.add(lattice, {}, {}, 0, true);
  CHECK(table.blocks().empty());
  CHECK(table.find(0) == -1);
}
