#include "neighbors/sweep_schedule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "unit/geometry/read_obstacles.hpp"
#include "unit/neighbors/schedule.hpp"

using namespace scree;

namespace {

template <int D>
std::vector<IdPair> sorted(std::vector<IdPair> pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Everything that a sweep relies on.
template <int D>
void check_schedule(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin, int cells_per_block) {
  CAPTURE(D, cells_per_block, skin, bodies.size());
  const Schedule<D> s(box, bodies, skin, cells_per_block);
  const std::vector<IdPair> expected = near_pairs(box, bodies, skin);
  REQUIRE(expected.size() >= bodies.size());  // otherwise little is tested
  CHECK(sorted<D>(s.pairs()) == expected);
  CHECK(s.schedule.n_pairs() == static_cast<std::int64_t>(expected.size()));

  // The shift code carries the smaller id's body to the image that is near.
  const auto position = s.state.bodies.position();
  int n_wrong_image = 0, n_shifted = 0;
  s.schedule.for_each_pair([&](std::size_t, Index low, Index high, Index code) {
    Vec<D> d = position[low] - position[high];
    const Vec<D> nearest = nearest_image(box, position[low], position[high]);
    n_shifted += code >= 0;
    for (int k = 0; k < D && code >= 0; ++k, code /= 3) d[k] += (code % 3 - 1) * box.length(k);
    n_wrong_image += norm(d - nearest) > 1e-12;
  });
  CHECK(n_wrong_image == 0);
  const bool any_periodic = std::ranges::any_of(box.periodic, [](bool p) { return p; });
  CHECK((n_shifted == 0 || any_periodic));
  if (std::ranges::all_of(box.periodic, [](bool p) { return p; })) CHECK(n_shifted > 0);

  // Within a batch every body comes once; unused places are the two dummies.
  const auto ends = s.schedule.ends();
  const auto n = static_cast<Index>(bodies.size());
  int n_repeated = 0;
  for (std::size_t batch = 0; batch < ends.size(); batch += 2 * batch_size) {
    std::set<Index> met;
    for (std::size_t k = 0; k < batch_size; ++k) {
      const Index low = ends[batch + k], high = ends[batch + batch_size + k];
      if (low == n) {
        CHECK(high == n + 1);
        continue;
      }
      n_repeated += !met.insert(low).second + !met.insert(high).second;
    }
  }
  CHECK(n_repeated == 0);

  // Blocks of one colour share no body.
  int n_shared = 0;
  std::size_t n_blocks = 0;
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    std::set<Index> met;
    n_blocks += s.schedule.blocks(colour).size();
    for (const auto& block : s.schedule.blocks(colour))
      for (const Index i : bodies_of(s.schedule, block)) n_shared += !met.insert(i).second;
  }
  CHECK(n_shared == 0);
  CHECK(n_blocks == s.schedule.all_blocks().size());
}

/// The pairs of images with gap < skin by looking at every image up to three periods away: ids, and what is
/// to be added to x_low - x_high, in periods; in ascending order.
template <int D>
struct ImagePair {
  IdPair ids;
  std::array<int, D> periods;
  auto operator<=>(const ImagePair&) const = default;
};
template <int D>
std::vector<ImagePair<D>> near_images(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin) {
  std::vector<ImagePair<D>> pairs;
  constexpr int far = 3;
  for (const Body<D>& a : bodies)
    for (const Body<D>& b : bodies) {
      if (a.id >= b.id) continue;
      std::array<int, D> s;
      for (int code = 0; code < (D == 2 ? 49 : 343); ++code) {
        int rest = code;
        Vec<D> d = a.position - b.position;
        bool exists = true;
        for (int k = 0; k < D; ++k, rest /= 2 * far + 1) {
          s[k] = rest % (2 * far + 1) - far;
          exists = exists && (s[k] == 0 || box.is_periodic(k));
          d[k] += s[k] * box.length(k);
        }
        if (exists && norm(d) < a.radius + b.radius + skin) pairs.push_back({{a.id, b.id}, s});
      }
    }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Everything that a sweep relies on where bodies see several images of each other.
template <int D>
void check_images(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin, int cells_per_block) {
  CAPTURE(D, cells_per_block, skin, bodies.size(), box.upper[D - 1]);
  const Schedule<D> s(box, bodies, skin, cells_per_block);
  const auto id = s.state.bodies.id();
  std::vector<ImagePair<D>> found;
  s.schedule.for_each_pair([&](std::size_t, Index low, Index high, Index code) {
    ImagePair<D> pair{{id[low], id[high]}, {}};
    for (std::size_t k = 0; k < D && code >= 0; ++k, code /= 3) pair.periods[k] = code % 3 - 1;
    found.push_back(pair);
  });
  std::sort(found.begin(), found.end());
  const std::vector<ImagePair<D>> expected = near_images(box, bodies, skin);
  CHECK(found == expected);
  std::set<IdPair> different;
  for (const ImagePair<D>& pair : expected) different.insert(pair.ids);
  if (box.upper[D - 1] < 1.6) CHECK(different.size() < expected.size());  // otherwise nothing is tested
  const auto ends = s.schedule.ends();
  const auto n = static_cast<Index>(bodies.size());
  int n_repeated = 0;
  for (std::size_t batch = 0; batch < ends.size(); batch += 2 * batch_size) {
    std::set<Index> met;
    for (std::size_t k = 0; k < batch_size; ++k) {
      if (ends[batch + k] == n) continue;
      n_repeated += !met.insert(ends[batch + k]).second + !met.insert(ends[batch + batch_size + k]).second;
    }
  }
  CHECK(n_repeated == 0);
  int n_shared = 0;
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    std::set<Index> met;
    for (const auto& block : s.schedule.blocks(colour))
      for (const Index i : bodies_of(s.schedule, block)) n_shared += !met.insert(i).second;
  }
  CHECK(n_shared == 0);
}

template <int D>
Box<D> box_of(Real length, std::array<bool, D> periodic) {
  return {filled<D>(-1), filled<D>(length - 1), periodic};
}

}  // namespace

TEST_CASE("schedule: candidates are all pairs within the skin, each once, in 2D", "[contact]") {
  for (const int cells_per_block : {1, 2, 3, 4, 16})
    for (const std::array<bool, 2> periodic : {std::array{false, false}, {true, false}, {true, true}}) {
      const Box<2> box = box_of<2>(9.7, periodic);
      check_schedule<2>(box, random_bodies<2>(box, 250, 0.2, 0.45, 1), 0.1, cells_per_block);
      check_schedule<2>(box, random_bodies<2>(box, 250, 0.05, 0.6, 2), 0.15, cells_per_block);
    }
}

TEST_CASE("schedule: candidates are all pairs within the skin, each once, in 3D", "[contact]") {
  for (const int cells_per_block : {1, 2, 4})
    for (const std::array<bool, 3> periodic :
         {std::array{false, false, false}, {false, true, false}, {true, true, true}}) {
      const Box<3> box = box_of<3>(5.3, periodic);
      check_schedule<3>(box, random_bodies<3>(box, 400, 0.15, 0.42, 3), 0.1, cells_per_block);
    }
}

TEST_CASE("schedule: a periodic axis of four cells, in two or four blocks, has each pair once", "[contact]") {
  const Box<2> box = box_of<2>(4.2, {true, true});
  for (const int cells_per_block : {1, 2, 4})
    check_schedule<2>(box, random_bodies<2>(box, 60, 0.3, 0.45, 4), 0.1, cells_per_block);
  const Box<3> cube = box_of<3>(4.2, {true, true, true});
  for (const int cells_per_block : {1, 2, 4})
    check_schedule<3>(cube, random_bodies<3>(cube, 150, 0.2, 0.45, 5), 0.1, cells_per_block);
}

TEST_CASE("schedule: thin periodic boxes have every image of every pair, each once", "[contact]") {
  // The reach is 1.0: one cell up to 2, then two. A length that is the reach is the least.
  for (const int cells_per_block : {1, 3})
    for (const Real thickness : {1.0 + 1e-9, 1.05, 1.5, 1.9}) {
      const Box<2> strip{{}, {{6, thickness}}, {false, true}};
      check_images<2>(strip, random_bodies<2>(strip, 60, 0.2, 0.45, 11), 0.1, cells_per_block);
      const Box<2> both{{}, {{thickness, thickness}}, {true, true}};
      check_images<2>(both, random_bodies<2>(both, 30, 0.2, 0.45, 12), 0.1, cells_per_block);
      const Box<3> slab{{}, {{4, 5, thickness}}, {true, false, true}};
      check_images<3>(slab, random_bodies<3>(slab, 90, 0.2, 0.45, 13), 0.1, cells_per_block);
      const Box<3> column{{}, {{thickness, 4, 1.2}}, {true, true, true}};
      check_images<3>(column, random_bodies<3>(column, 40, 0.2, 0.45, 14), 0.1, cells_per_block);
    }
  for (const Real thickness : {2.0 + 1e-9, 2.4, 3.1, 4.2}) {
    const Box<3> slab{{}, {{4, 5, thickness}}, {false, false, true}};
    check_schedule<3>(slab, random_bodies<3>(slab, 120, 0.3, 0.45, 15), 0.1, 2);
  }
}

TEST_CASE("schedule: bodies on block faces, cell corners and the faces of the box", "[contact]") {
  for (const bool periodic : {false, true}) {
    const Box<2> box{{}, filled<2>(8), {periodic, periodic}};
    // Cells have edge 1, blocks edge 2; a periodic body at 8 would be at 0.
    std::vector<Body<2>> bodies;
    for (int x = 0; x <= (periodic ? 7 : 8); ++x)
      for (int y = 0; y <= (periodic ? 7 : 8); ++y)
        bodies.push_back({static_cast<GlobalId>(bodies.size()) * 13 % 101, {{Real(x), Real(y)}}, 0.45});
    check_schedule<2>(box, bodies, 0.1 + 1e-9, 2);
  }
}

TEST_CASE("schedule: bodies outside of open faces still meet", "[contact]") {
  const Box<2> box = box_of<2>(6, {false, false});
  std::vector<Body<2>> bodies = random_bodies<2>({filled<2>(-4), filled<2>(8), {}}, 300, 0.2, 0.45, 6);
  check_schedule<2>(box, bodies, 0.1, 3);
}

TEST_CASE("schedule: a body with 150 partners, and 90 bodies in one spot", "[contact]") {
  const Box<2> box = box_of<2>(60, {false, true});
  std::vector<Body<2>> bodies{{0, {{30, 30}}, 5}};
  for (int i = 1; i <= 150; ++i) {
    const Real angle = 2 * M_PI * i / 150;
    bodies.push_back({i, {{30 + 5.2 * std::cos(angle), 30 + 5.2 * std::sin(angle)}}, 0.1});
  }
  for (int i = 151; i <= 240; ++i) bodies.push_back({i, {{50 + 1e-3 * i, 10}}, 0.3});
  check_schedule<2>(box, bodies, 0.2, 2);
  // The same across a periodic face.
  for (Body<2>& body : bodies) {
    body.position[1] += 29;
    if (body.position[1] >= 59) body.position[1] -= 60;
  }
  check_schedule<2>(box, bodies, 0.2, 2);
}

TEST_CASE("schedule: the order of a sweep does not depend on the order in memory", "[contact]") {
  const Box<3> box = box_of<3>(5.3, {true, false, true});
  std::vector<Body<3>> bodies = random_bodies<3>(box, 300, 0.15, 0.42, 7);
  const std::vector<IdPair> pairs = Schedule<3>(box, bodies, 0.1, 2).pairs();
  std::reverse(bodies.begin(), bodies.end());
  CHECK(Schedule<3>(box, bodies, 0.1, 2).pairs() == pairs);
  CHECK_FALSE(std::ranges::is_sorted(pairs));
}

TEST_CASE("schedule: classes fill more than 80 % of the places of batches in a dense 2D packing",
          "[contact]") {
  const Box<2> box = box_of<2>(40, {false, false});
  const Schedule<2> s(box, random_bodies<2>(box, 1600, 0.45, 0.5, 8), 0.1, 16);
  const Real places = static_cast<Real>(s.schedule.n_batches()) * batch_size;
  CHECK(static_cast<Real>(s.schedule.n_pairs()) / places > 0.8);
}

TEST_CASE("schedule: obstacles have the bodies with gap < skin, by constraint, in the body's own block",
          "[contact]") {
  const Box<2> box = box_of<2>(10, {false, false});
  const std::vector<Body<2>> bodies = random_bodies<2>(box, 300, 0.1, 0.3, 9);
  const std::string obstacles =
      "[obstacles.floor]\ntype = 'plane'\npoint = [0, -1]\nnormal = [0, 1]\n"
      "[obstacles.post]\ntype = 'disk'\ncenter = [4, 4]\nradius = 1.5\n"
      "[obstacles.wedge]\ntype = 'polyline'\npoints = [[0, 2], [2, 3], [0, 6]]\n";
  const Real skin = 0.2;
  const Schedule<2> s(box, bodies, skin, 3, read_obstacles<2>(obstacles));
  const ObstacleSet<2> set = read_obstacles<2>(obstacles);

  std::vector<std::pair<GlobalId, int>> expected, found;
  for (const Body<2>& body : bodies)
    for (int c = 0; c < set.n_constraints(); ++c)
      if (nearest(set, c, body.position).distance - body.radius < skin) expected.emplace_back(body.id, c);
  for (const auto& block : s.schedule.all_blocks()) {
    int previous = -1;
    for (const auto& wall : s.schedule.walls(block)) {
      CHECK(wall.constraint > previous);
      previous = wall.constraint;
      for (const Index i : s.schedule.wall_bodies(wall)) {
        const std::size_t at = i;
        found.emplace_back(s.state.bodies.id()[at], wall.constraint);
        CHECK(s.lattice.key_of(s.lattice.block_of(s.lattice.cell_of(s.state.bodies.position()[at]))) ==
              block.key);
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  CHECK(expected.size() > 50);
  CHECK(found == expected);
}

TEST_CASE("schedule: a fast body that crosses a thin wall within the step is a candidate of the wall",
          "[contact]") {
  const Box<2> box = box_of<2>(10, {false, false});
  Schedule<2> s(box, {{0, {{7, 4}}, 0.2}, {1, {{7, 8}}, 0.2}}, 0.1, 3,
                read_obstacles<2>("[obstacles.wall]\ntype = 'segment'\na = [3, -1]\nb = [3, 9]\n"));
  CHECK(s.schedule.wall_bodies().empty());
  ObstacleSet<2> wall = read_obstacles<2>("[obstacles.wall]\ntype = 'segment'\na = [3, -1]\nb = [3, 9]\n");
  const auto zero =
      std::find(s.state.bodies.id().begin(), s.state.bodies.id().end(), 0) - s.state.bodies.id().begin();
  s.state.bodies.previous()[zero] = {{1, 4}};
  std::vector<Place> places;
  find_places<2>(s.lattice, s.state.bodies.position(), places);
  BlockTable<2> table;
  table.add(s.lattice, s.state.bodies.position(), places, 0, true);
  s.schedule.rebuild(
      s.lattice, box, table, s.state.bodies, wall, {}, [](BlockKey) { return true; },
      std::vector<std::uint8_t>(2, 0));
  REQUIRE(s.schedule.wall_bodies().size() == 1);
  CHECK(s.state.bodies.id()[s.schedule.wall_bodies()[0]] == 0);
}

TEST_CASE("schedule: a single body and no body have no pairs", "[contact]") {
  const Box<2> box = box_of<2>(10, {true, true});
  CHECK(Schedule<2>(box, {{5, {{1, 1}}, 0.4}}, 0.1, 2).schedule.n_pairs() == 0);
  CHECK(Schedule<2>(box, {}, 0.1, 2).schedule.all_blocks().empty());
}
