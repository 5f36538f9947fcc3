// The velocity of a wall that meets its load, in one visit of a sweep: smooth, kinked, flat and jumping
// functions that never fall.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "friction/wall_root.hpp"

namespace scree {

namespace {

struct SearchResult {
  Real x = 0;
  int looks = 0;
};

/// Until |f| <= error or nothing is better; f(x, slope).
template <class F>
SearchResult search(const F& f, Real x, Real error, Real far = 1e6) {
  WallRoot root(far);
  for (int looks = 1; looks < 200; ++looks) {
    Real slope = 0;
    const Real value = f(x, slope);
    if (std::abs(value) <= error) return {x, looks};
    const Real next = root.next(x, value, slope);
    if (next == x) return {x, looks};
    x = next;
  }
  return {x, 200};
}

}  // namespace

TEST_CASE("wall root: a line with a known slope takes one step, from either side", "[friction]") {
  for (const Real start : {-3.0, 5.0}) {
    const SearchResult found = search(
        [](Real x, Real& slope) {
          slope = 2;
          return 2 * (x - 1);
        },
        start, 1e-12);
    CHECK(found.x == Approx(1).margin(1e-12));
    CHECK(found.looks == 2);
  }
}

TEST_CASE("wall root: contacts that a servo meets one after the other, none where it starts", "[friction]") {
  // From x = 0.3 on a slope of 1, from 0.5 on of 101; the load is 10.
  const auto f = [](Real x, Real& slope) {
    slope = x > 0.5 ? 101 : x > 0.3 ? 1 : 0;
    return std::max(x - 0.3, 0.0) + 100 * std::max(x - 0.5, 0.0) - 10;
  };
  const SearchResult found = search(f, 0, 1e-9);
  CHECK(found.x == Approx(0.5 + 9.8 / 101).margin(1e-9));
  CHECK(found.looks < 12);
}

TEST_CASE("wall root: slopes that are too large or too small by a factor only cost looks", "[friction]") {
  for (const Real factor : {0.2, 5.0}) {
    const SearchResult found = search(
        [&](Real x, Real& slope) {
          slope = factor * (x < 0.7 ? 1e-3 : 1e4);
          return (x < 0.7 ? 1e-3 : 1e4) * (x - 0.7) - 1;
        },
        -1, 1e-8);
    CHECK(found.x == Approx(0.7001).margin(1e-10));
    CHECK(found.looks < 60);
  }
}

TEST_CASE("wall root: a jump is closed in on, and where nothing resists it ends far away", "[friction]") {
  const SearchResult jump = search(
      [](Real x, Real& slope) {
        slope = 0;
        return x < 0.25 ? -1.0 : 2.0;
      },
      1, 1e-6, 10);
  CHECK(jump.x == Approx(0.25).margin(1e-9));
  for (const Real load : {1.0, -1.0}) {
    const SearchResult found = search(
        [&](Real, Real& slope) {
          slope = 0;
          return -load;
        },
        0, 1e-9, 10);
    CHECK(found.x == 10 * load);
    CHECK(found.looks <= 3);
  }
}

}  // namespace scree
