#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "neighbors/flush_walls.hpp"
#include "unit/geometry/read_obstacles.hpp"
#include "unit/neighbors/schedule.hpp"

namespace scree {

namespace {

/// The floor to the left of x = 5 at y = 1, and to the right of it, `slot` further, `step` higher; a wall
/// that meets neither near bodies.
ObstacleSet<2> floor_of(Real step, Real slot) {
  return read_obstacles<2>(fmt::format(R"(
[obstacles.left]
type = "box"
lower = [-1.0, 0.0]
upper = [5.0, 1.0]
[obstacles.right]
type = "box"
lower = [{}, 0.0]
upper = [11.0, {}]
[obstacles.high]
type = "box"
lower = [4.0, 3.5]
upper = [6.0, 4.0])",
                                       5 + slot, 1 + step));
}

/// A ball of radius 1 at x, and what turn_ahead() makes of its contact with the right floor.
struct Ahead {
  Schedule<2> s;
  SurfacePoint<2> seen;
  bool counts;

  Ahead(Real step, Real slot, const Vec<2>& x)
      : s({{{0, 0}}, {{10, 10}}, {}}, {{0, x, 1}}, 0.7, 3, floor_of(step, slot)) {
    s.state.obstacles = floor_of(step, slot);
    seen = nearest(s.state.obstacles, 1, x);
    counts = turn_ahead<2>(s.state, s.schedule, place_of(1), 0, 1, x, 1, seen);
  }
  std::size_t place_of(int constraint) const {
    const auto walls = s.schedule.walls();
    const auto wall =
        std::ranges::find_if(walls, [&](const auto& batch) { return batch.constraint == constraint; });
    REQUIRE(wall != walls.end());
    return static_cast<std::size_t>(wall->first);
  }
};

}  // namespace

TEST_CASE("flush walls: a body's candidates know those beside them that they may meet, both ways",
          "[contact]") {
  const Ahead ahead(0, 0, {{4.2, 2}});
  const auto beside = [&](int constraint) {
    std::vector<int> found;
    for (const auto& other : ahead.s.schedule.walls_beside(ahead.place_of(constraint)))
      found.push_back(other.constraint);
    return found;
  };
  CHECK(beside(0) == std::vector<int>{1});
  CHECK(beside(1) == std::vector<int>{0});
  CHECK(beside(2).empty());
}

TEST_CASE("flush walls: a ball ahead of a step has the normal with which it touches first", "[contact]") {
  for (const Real step : {0.3, 0.1, 1e-3}) {
    const Real sine = 1 - step, along = std::sqrt(1 - sine * sine);
    const Ahead ahead(step, 0, {{4.2, 2}});
    REQUIRE(ahead.counts);
    CHECK(is_close<2>(ahead.seen.normal, {{-along, sine}}, 1e-12));
    // Where it touches floor and edge the gap is 0: it gets there on the floor.
    CHECK(std::abs(ahead.seen.distance - 1 - along * (0.8 - along)) < 1e-12);
  }
  // From where the edge is met by the straight way to it, nothing is turned.
  const Ahead above(0.3, 0, {{4.9, 2.45}});
  CHECK(above.counts);
  CHECK(is_close<2>(above.seen.normal, nearest<2>(above.s.state.obstacles, 1, {{4.9, 2.45}}).normal, 0));
}

TEST_CASE("flush walls: a face ahead keeps its normal, and a slot has none before the ball is over it",
          "[contact]") {
  const Ahead face(1.5, 0, {{3.7, 2}});
  CHECK(face.counts);
  CHECK(is_close<2>(face.seen.normal, {{-1, 0}}, 0));
  CHECK_FALSE(Ahead(0, 0.05, {{4.2, 2}}).counts);
  CHECK(Ahead(0, 0.5, {{5.1, 2}}).counts);
}

}  // namespace scree
