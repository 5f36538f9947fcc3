#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "core/random.hpp"
#include "geometry/lattice.hpp"

using namespace scree;

namespace {

/// Every cell of a grid of `size` cells along each axis.
template <int D>
std::vector<Cell<D>> cells_of_grid(const Cell<D>& size) {
  std::vector<Cell<D>> cells{Cell<D>{}};
  for (std::size_t k = 0; k < D; ++k) {
    std::vector<Cell<D>> longer;
    for (const Cell<D>& cell : cells)
      for (std::int32_t c = 0; c < size[k]; ++c) {
        longer.push_back(cell);
        longer.back()[k] = c;
      }
    cells = std::move(longer);
  }
  return cells;
}

/// How far apart two cells or blocks lie along an axis, the short way round if it is periodic.
std::int32_t steps_apart(std::int32_t a, std::int32_t b, std::int32_t n, bool periodic) {
  const std::int32_t direct = std::abs(a - b);
  return periodic ? std::min(direct, n - direct) : direct;
}

template <int D>
void check_hilbert_curve(int bits) {
  Cell<D> size;
  size.fill(std::int32_t{1} << bits);
  const std::vector<Cell<D>> cells = cells_of_grid<D>(size);
  std::vector<Cell<D>> at_key(cells.size());
  std::vector<int> times_met(cells.size(), 0);
  for (const Cell<D>& cell : cells) {
    std::array<std::uint32_t, D> x;
    for (std::size_t k = 0; k < D; ++k) x[k] = static_cast<std::uint32_t>(cell[k]);
    const BlockKey key = hilbert_key<D>(x, bits);
    REQUIRE(key < cells.size());
    at_key[key] = cell;
    ++times_met[key];
  }
  CHECK(std::ranges::all_of(times_met, [](int n) { return n == 1; }));
  int n_jumps = 0;
  for (std::size_t key = 1; key < cells.size(); ++key) {
    std::int32_t distance = 0;
    for (std::size_t k = 0; k < D; ++k) distance += std::abs(at_key[key][k] - at_key[key - 1][k]);
    n_jumps += distance != 1;
  }
  CHECK(n_jumps == 0);
}

/// What every lattice promises, for one room along all axes.
template <int D>
void check_promises(const Box<D>& box, Real radius, Real skin, int cells_per_block) {
  CAPTURE(D, box.length(0), radius, skin, cells_per_block);
  const auto lattice = Lattice<D>::make(box, radius, skin, cells_per_block);
  CHECK(lattice.skin == skin);
  CHECK(lattice.cells_in_block() <= 1 << Lattice<D>::cell_bits);
  for (int k = 0; k < D; ++k) {
    const std::size_t axis = k;
    CAPTURE(k, lattice.n_cells[axis], lattice.block_cells[axis], lattice.n_blocks[axis]);
    REQUIRE(lattice.block_cells[axis] >= 1);
    REQUIRE(lattice.n_blocks[axis] >= 1);
    if (lattice.n_cells[axis] > 1)
      CHECK(lattice.cell_edge[k] >= Lattice<D>::reach(radius, skin) * (1 - 1e-15));
    CHECK(lattice.cell_edge[k] * lattice.n_cells[axis] == Approx(box.length(k)));
    CHECK(lattice.n_cells[axis] <= lattice.n_blocks[axis] * lattice.block_cells[axis]);
    CHECK(lattice.n_cells[axis] > (lattice.n_blocks[axis] - 1) * lattice.block_cells[axis]);
    if (box.is_periodic(k)) {
      const bool thin = box.length(k) < 2 * Lattice<D>::reach(radius, skin);
      CHECK(lattice.is_thin(k) == thin);
      if (thin)
        CHECK(lattice.n_cells[axis] == 1);
      else
        CHECK(lattice.n_blocks[axis] % 2 == 0);
      CHECK(lattice.n_cells[axis] == lattice.n_blocks[axis] * lattice.block_cells[axis]);
    } else {
      CHECK(lattice.block_cells[axis] <= cells_per_block);
    }
  }
}

/// A lattice of 12 x 10 (x 8) cells of edge 1, the first axis periodic.
template <int D>
Lattice<D> sample_lattice(int cells_per_block) {
  Box<D> box;
  for (int k = 0; k < D; ++k) {
    box.lower[k] = -3;
    box.upper[k] = 9 - 2 * k;
  }
  box.periodic[0] = true;
  return Lattice<D>::make(box, 0.45, 0.1, cells_per_block);
}

template <int D>
void check_blocks(int cells_per_block) {
  CAPTURE(D, cells_per_block);
  const Lattice<D> lattice = sample_lattice<D>(cells_per_block);
  std::set<BlockKey> keys;
  const std::vector<Cell<D>> blocks = cells_of_grid<D>(lattice.n_blocks);
  for (const Cell<D>& block : blocks) {
    const BlockKey key = lattice.key_of(block);
    keys.insert(key);
    CHECK(key < BlockKey{1} << (D * lattice.curve_bits()));
  }
  CHECK(keys.size() == blocks.size());

  // Blocks that can share a body are neighbours (through periodic faces too); they must differ in colour.
  int n_clashes = 0;
  for (const Cell<D>& a : blocks)
    for (const Cell<D>& b : blocks) {
      if (a == b || lattice.colour_of(a) != lattice.colour_of(b)) continue;
      bool adjacent = true;
      for (std::size_t k = 0; k < D; ++k)
        adjacent = adjacent && steps_apart(a[k], b[k], lattice.n_blocks[k], lattice.periodic[k]) <= 1;
      n_clashes += adjacent;
    }
  CHECK(n_clashes == 0);

  // A cell is found again from its block and its number there.
  std::set<std::pair<BlockKey, std::int32_t>> places;
  const std::vector<Cell<D>> cells = cells_of_grid<D>(lattice.n_cells);
  for (const Cell<D>& cell : cells) {
    const std::int32_t local = lattice.local_cell(cell);
    CHECK((local >= 0 && local < lattice.cells_in_block()));
    places.emplace(lattice.key_of(lattice.block_of(cell)), local);
  }
  CHECK(places.size() == cells.size());
}

/// Points closer than a cell edge lie in the same or in adjacent cells, outside of open faces too.
template <int D>
void check_adjacency() {
  const Lattice<D> lattice = sample_lattice<D>(3);
  RandomStream stream(1, D, 1);
  int n_far = 0;
  for (int pair = 0; pair < 20'000; ++pair) {
    Vec<D> x, y, d;
    for (int k = 0; k < D; ++k) {
      const Real beyond = lattice.periodic[k] ? 0 : 2;
      const Real length = lattice.cell_edge[k] * lattice.n_cells[k];
      x[k] = stream.uniform(lattice.origin[k] - beyond, lattice.origin[k] + length + beyond);
      d[k] = stream.uniform(-1, 1);
    }
    d *= stream.uniform() / norm(d);  // cell edges are 1
    y = x + d;
    if (y[0] < lattice.origin[0]) y[0] += 12;
    if (y[0] >= lattice.origin[0] + 12) y[0] -= 12;
    const Cell<D> a = lattice.cell_of(x), b = lattice.cell_of(y);
    for (std::size_t k = 0; k < D; ++k)
      n_far += steps_apart(a[k], b[k], lattice.n_cells[k], lattice.periodic[k]) > 1;
  }
  CHECK(n_far == 0);
}

}  // namespace

TEST_CASE("lattice: the block curve meets every block once and steps from neighbour to neighbour",
          "[geometry]") {
  for (const int bits : {0, 1, 2, 4}) check_hilbert_curve<2>(bits);
  for (const int bits : {0, 1, 3}) check_hilbert_curve<3>(bits);
}

TEST_CASE("lattice: cells hold the reach and periodic axes have an even number of full blocks, or one cell",
          "[geometry]") {
  for (const int cells_per_block : {1, 2, 3, 4, 5, 8, 10, 16, 32})
    for (int room = 1; room <= 75; ++room)
      for (const bool periodic : {false, true}) {
        const Real length = room + 0.4;
        check_promises<2>({{}, filled<2>(length), {periodic, false}}, 0.45, 0.1, cells_per_block);
        if (cells_per_block <= 10)
          check_promises<3>({{}, filled<3>(length), {false, periodic, periodic}}, 0.45, 0.1, cells_per_block);
      }
  // An open axis that is shorter than one body is a single cell.
  check_promises<2>({{}, filled<2>(0.5), {}}, 0.45, 0.1, 4);
}

TEST_CASE("lattice: a periodic axis has room for the diameter and the skin", "[geometry]") {
  const Box<3> box{{}, {{2, 1.2, 1}}, {true, true, false}};
  CHECK(Lattice<3>::widest_skin(box, 0.45) == Approx(0.3));
  CHECK(Lattice<3>::widest_skin(box, 0.6) < 0);
  CHECK(Lattice<3>::widest_skin({{}, {{2, 1.2, 1}}, {}}, 0.6) == HUGE_VAL);
  // With exactly that skin, the axis is one cell, whatever rounding does.
  const auto lattice = Lattice<3>::make(box, 0.45, Lattice<3>::widest_skin(box, 0.45), 4);
  CHECK(lattice.n_cells == std::array<std::int32_t, 3>{1, 1, 1});
  CHECK((lattice.is_thin(0) && lattice.is_thin(1) && !lattice.is_thin(2)));
}

TEST_CASE("lattice: blocks have distinct keys, neighbours differ in colour, cells have distinct places",
          "[geometry]") {
  for (const int cells_per_block : {1, 2, 3, 5, 8}) {
    check_blocks<2>(cells_per_block);
    check_blocks<3>(cells_per_block);
  }
}

TEST_CASE("lattice: points nearer than a cell edge are in adjacent cells, beyond open faces too",
          "[geometry]") {
  check_adjacency<2>();
  check_adjacency<3>();
}

TEST_CASE("lattice: points on faces and far outside belong to the border cells", "[geometry]") {
  const Lattice<2> lattice = sample_lattice<2>(3);
  CHECK(lattice.cell_of({{-3, -3}}) == Cell<2>{0, 0});
  CHECK(lattice.cell_of({{9, 7}}) == Cell<2>{11, 9});
  CHECK(lattice.cell_of({{0, 0}}) == Cell<2>{3, 3});  // a corner of four cells counts to the upper one
  CHECK(lattice.cell_of({{0, -1e300}}) == Cell<2>{3, 0});
  CHECK(lattice.cell_of({{0, 1e300}}) == Cell<2>{3, 9});
}

TEST_CASE("lattice: steps to neighbours wrap through periodic faces and end at open ones", "[geometry]") {
  const Lattice<2> lattice = sample_lattice<2>(3);  // 4 x 4 blocks, x periodic
  Cell<2> result;
  unsigned wrapped = 7;
  REQUIRE(lattice.neighbour({1, 1}, 0b11, -1, result, wrapped));
  CHECK((result == Cell<2>{0, 0} && wrapped == 0));
  REQUIRE(lattice.neighbour({0, 1}, 0b11, -1, result, wrapped));
  CHECK((result == Cell<2>{3, 0} && wrapped == 0b01));
  REQUIRE(lattice.neighbour({3, 1}, 0b01, +1, result, wrapped));
  CHECK((result == Cell<2>{0, 1} && wrapped == 0b01));
  CHECK_FALSE(lattice.neighbour({2, 0}, 0b10, -1, result, wrapped));
  CHECK_FALSE(lattice.neighbour({2, 3}, 0b10, +1, result, wrapped));
}

TEST_CASE("lattice: low layers are the first cells of a block along each axis", "[geometry]") {
  const Lattice<3> lattice = sample_lattice<3>(3);
  CHECK(lattice.low_layers(lattice.local_cell({3, 4, 6})) == 0b101);
  CHECK(lattice.low_layers(lattice.local_cell({1, 3, 2})) == 0b010);
  CHECK(lattice.low_layers(lattice.local_cell({4, 5, 1})) == 0);
}
