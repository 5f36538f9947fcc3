// The search by size classes: the candidates of the search by cells, in the same order, and all pairs of a
// reference.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "unit/neighbors/schedule.hpp"

using namespace scree;

namespace {

/// Everything of a schedule that a sweep reads.
template <int D>
struct Order {
  std::vector<Index> ends;
  std::vector<std::uint8_t> shifts;
  bool operator==(const Order&) const = default;
};
template <int D>
Order<D> order_of(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin, int block_cells,
                  int classes) {
  const Schedule<D> s(box, bodies, skin, block_cells, {}, classes);
  const auto ends = s.schedule.ends();
  const auto shifts = s.schedule.shifts();
  return {{ends.begin(), ends.end()}, {shifts.begin(), shifts.end()}};
}

/// Radii of `n` bodies anywhere: spread evenly over the logarithm, so most are small.
template <int D>
std::vector<Body<D>> spread_bodies(const Box<D>& box, int n, Real smallest, Real largest,
                                   std::uint64_t seed) {
  std::vector<Body<D>> bodies = random_bodies<D>(box, n, 0, 1, seed);
  for (Body<D>& body : bodies)
    body.radius = smallest * std::pow(largest / smallest, std::pow(body.radius, 3));
  return bodies;
}
/// A few large ones among many small ones.
template <int D>
std::vector<Body<D>> two_sizes(const Box<D>& box, int n, int n_large, Real small, Real large,
                               std::uint64_t seed) {
  std::vector<Body<D>> bodies = random_bodies<D>(box, n, small, small, seed);
  for (int i = 0; i < n_large; ++i) bodies[7 * i].radius = large;
  return bodies;
}

template <int D>
void check_classes(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin) {
  for (const int block_cells : {1, 2, 3}) {
    CAPTURE(D, block_cells, bodies.size());
    const Order<D> by_cells = order_of<D>(box, bodies, skin, block_cells, 1);
    REQUIRE(by_cells.ends.size() > 2 * batch_size);
    for (const int classes : {0, 2, 3, 5, 8}) {
      CAPTURE(classes);
      CHECK(order_of<D>(box, bodies, skin, block_cells, classes) == by_cells);
    }
  }
}

/// Rows of a reference file, without comments and the head.
std::vector<std::vector<Real>> reference(const std::string& name) {
  std::ifstream file(SCREE_TESTS "/reference/practice/" + name);
  REQUIRE(file);
  std::vector<std::vector<Real>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || std::isalpha(static_cast<unsigned char>(line[0])) != 0) continue;
    std::vector<Real>& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(std::stod(field));
  }
  return rows;
}

}  // namespace

TEST_CASE(
    "size classes: 1, 2, 3, 5, 8 and auto give the same candidates in the same order, on three distributions "
    "of radii, in open and periodic boxes",
    "[contact]") {
  for (const bool periodic : {false, true}) {
    const Box<2> plane{{}, filled<2>(12), {periodic, false}};
    check_classes<2>(plane, random_bodies<2>(plane, 400, 0.1, 0.2, 31), 0.05);
    check_classes<2>(plane, spread_bodies<2>(plane, 500, 0.03, 1.2, 32), 0.04);
    check_classes<2>(plane, two_sizes<2>(plane, 600, 6, 0.06, 1.4, 33), 0.03);
    const Box<3> space{{}, filled<3>(6), {periodic, false, periodic}};
    check_classes<3>(space, random_bodies<3>(space, 700, 0.1, 0.2, 34), 0.05);
    check_classes<3>(space, spread_bodies<3>(space, 900, 0.03, 1.1, 35), 0.04);
    check_classes<3>(space, two_sizes<3>(space, 900, 5, 0.06, 1.3, 36), 0.03);
  }
}

TEST_CASE("size classes: the same in boxes one large body thick, and with bodies outside of open faces",
          "[contact]") {
  const Box<3> slab{{}, {{6, 5, 2.5}}, {false, true, true}};
  check_classes<3>(slab, two_sizes<3>(slab, 500, 3, 0.06, 1.1, 41), 0.05);
  const Box<2> box{{}, filled<2>(6), {false, false}};
  check_classes<2>(box, two_sizes<2>({filled<2>(-4), filled<2>(9), {}}, 500, 4, 0.05, 1.1, 42), 0.05);
}

TEST_CASE(
    "size classes: of radii 0.5, 2 and 8 mm the 588 pairs of the reference, no more and no fewer, for every "
    "number of classes",
    "[contact]") {
  std::vector<Body<3>> bodies;
  for (const auto& row : reference("size_classes_start.csv"))
    bodies.push_back({static_cast<GlobalId>(row[4]), {{row[0], row[1], row[2]}}, row[3]});
  std::vector<IdPair> expected;
  for (const auto& row : reference("size_classes_pairs.csv"))
    expected.emplace_back(static_cast<GlobalId>(row[0]), static_cast<GlobalId>(row[1]));
  REQUIRE(bodies.size() == 4043);
  REQUIRE(expected.size() == 588);
  std::sort(expected.begin(), expected.end());
  const Box<3> box{{}, filled<3>(0.04), {}};
  for (const int classes : {0, 1, 2, 3, 8}) {
    CAPTURE(classes);
    std::vector<IdPair> pairs = Schedule<3>(box, bodies, 2e-4, 1, {}, classes).pairs();
    std::sort(pairs.begin(), pairs.end());
    CHECK(pairs == expected);
  }
}

TEST_CASE(
    "size classes: 30 000 grains of dust around one boulder have the pairs of the search by cells, and a "
    "single boulder leaves cells half as wide",
    "[contact]") {
  const Box<3> box{{}, filled<3>(30), {}};
  std::vector<Body<3>> bodies{{0, filled<3>(15), 8}};
  RandomStream stream(5, 0, 3);
  while (bodies.size() < 30'001) {
    Vec<3> x;
    for (int k = 0; k < 3; ++k) x[k] = stream.uniform(0, 30);
    if (norm(x - filled<3>(15)) > 8.3) bodies.push_back({static_cast<GlobalId>(bodies.size()), x, 0.3});
  }
  const Schedule<3> by_cells(box, bodies, 0.1, 1, {}, 1), by_classes(box, bodies, 0.1, 1, {}, 0);
  CHECK(by_classes.pairs() == by_cells.pairs());
  std::int64_t n_of_boulder = 0;
  for (const IdPair& pair : by_classes.pairs()) n_of_boulder += pair.first == 0;
  CHECK(n_of_boulder > 64);
  // Set before it was seen: the many pairs of the boulder leave few places of batches empty.
  const Real places = static_cast<Real>(by_classes.schedule.n_batches()) * batch_size;
  CHECK(static_cast<Real>(by_classes.schedule.n_pairs()) > 0.7 * places);
  CHECK(by_classes.lattice.n_cells[0] == 3);  // 30 / (8 + 0.3 + 0.1); two boulders would leave one cell
}
