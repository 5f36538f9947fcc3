// The search for the velocity of a wall under load: smooth, kinked, jumping and flat functions that never
// fall.
#include <catch2/catch.hpp>
#include <cmath>

#include "schemes/nonsmooth/monotone_root.hpp"

namespace scree {

namespace {

struct Found {
  Real x = 0;
  int looks = 0;
  Real width = HUGE_VAL;
};

/// Until |f| <= error, or the bounds are as near to each other as `error` over the steepest slope.
template <class F>
Found search(const F& f, Real x, Real steepest, Real error) {
  MonotoneRoot root;
  int looks = 0;
  for (; looks < 200; ++looks) {
    const Real value = f(x);
    if (std::abs(value) <= error) break;
    root.note(x, value);
    if (root.width() * steepest <= error) break;
    x = root.next(steepest);
  }
  return {x, looks, root.width()};
}

}  // namespace

TEST_CASE("monotone root: a line needs one step, from either side") {
  for (const Real start : {-3.0, 5.0}) {
    const Found found = search([](Real x) { return 2 * (x - 1); }, start, 2, 1e-12);
    CHECK(found.x == Approx(1).margin(1e-12));
    CHECK(found.looks <= 1);
  }
}

TEST_CASE(
    "monotone root: a reaction that begins at a gap, far away and much softer than the steepest slope") {
  // Nothing up to x = 0.3, then a slope of 1 where one of 1000 is possible; the load is 1.
  const auto f = [](Real x) { return std::max(x - 0.3, 0.0) - 1; };
  const Found found = search(f, 0, 1000, 1e-9);
  CHECK(found.x == Approx(1.3).margin(1e-8));
  CHECK(found.looks < 40);
}

TEST_CASE("monotone root: a kink between a flat and a steep part") {
  const auto f = [](Real x) { return x < 0.7 ? 1e-3 * (x - 0.7) - 1 : 1e4 * (x - 0.7) - 1; };
  const Found found = search(f, -1, 1e4, 1e-3);
  CHECK(std::abs(f(found.x)) <= 1e-3);
  CHECK(found.looks < 60);
}

TEST_CASE("monotone root: a jump is closed in on") {
  const Found found = search([](Real x) { return x < 0.25 ? -1.0 : 2.0; }, 1, 10, 1e-6);
  CHECK(found.x == Approx(0.25).margin(1e-6));
  CHECK(found.width <= 1e-7);
  CHECK(found.looks < 60);
}

}  // namespace scree
