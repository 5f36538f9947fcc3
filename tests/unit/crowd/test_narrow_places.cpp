#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "crowd/floor_field/narrow_places.hpp"

namespace scree {

namespace {

std::vector<NarrowPlace> places_in(const std::string& walkable, Real max,
                                   std::array<bool, 2> periodic = {false, false}) {
  Deck deck = Deck::from_text(walkable, "test.toml", {});
  BuildingPlan plan;
  plan.describe(deck.root());
  const Box<2> box = plan.bounds();
  CellGrid grid{box.lower, 0.1, std::llround(box.length(0) / 0.1), std::llround(box.length(1) / 0.1),
                periodic};
  return find_narrow_places(plan, grid, max);
}

const std::string room = "[walkable]\npolygon = [[0, 0], [10, 0], [10, 6], [0, 6]]\n";

std::string block(const std::string& name, Real x0, Real y0, Real x1, Real y1) {
  const auto point = [](Real x, Real y) { return "[" + std::to_string(x) + ", " + std::to_string(y) + "]"; };
  return "[walkable.obstacles." + name + "]\npolygon = [" + point(x0, y0) + ", " + point(x1, y0) + ", " +
         point(x1, y1) + ", " + point(x0, y1) + "]\n";
}

}  // namespace

TEST_CASE("Of two passages beside each other both widths are found, at their ends") {
  const auto places = places_in(room + block("low", 4, -1, 4.2, 2) + block("high", 4, 2.5, 4.2, 5.2), 1);
  REQUIRE(places.size() == 4);
  for (const std::size_t k : {0, 1}) CHECK(places[k].width == Approx(0.8));
  for (const std::size_t k : {2, 3}) {
    CHECK(places[k].width == Approx(0.5));
    CHECK(0.5 * (places[k].a[1] + places[k].b[1]) == Approx(2.25));
  }
  CHECK(places_in(room + block("low", 4, -1, 4.2, 2) + block("high", 4, 2.5, 4.2, 5.2), 0.4).empty());
}

TEST_CASE("Corners of a wall with steps are no narrow places") {
  std::string corners = "[0, 0], [10, 0], [10, 6]";
  for (int k = 20; k > 0; --k)
    corners += ", [" + std::to_string(0.4 * k) + ", " + std::to_string(4 + 0.05 * k) + "], [" +
               std::to_string(0.4 * (k - 1)) + ", " + std::to_string(4 + 0.05 * k) + "]";
  CHECK(places_in("[walkable]\npolygon = [" + corners + "]\n", 1).empty());
}

TEST_CASE("Columns and walls: the place is across the gap, less the radii") {
  const auto places = places_in(
      room + "[walkable.obstacles.columns]\ncircles = [[5, 0.8, 0.5], [5, 2.2, 0.5], [7, 3, 0.3]]\n", 1);
  REQUIRE(places.size() == 2);
  CHECK(places[0].width == Approx(0.4));
  CHECK(0.5 * (places[0].a[1] + places[0].b[1]) == Approx(1.5));
  CHECK(places[1].width == Approx(0.3));
  CHECK(0.5 * (places[1].a[1] + places[1].b[1]) == Approx(0.15));
}

TEST_CASE("A passage through a periodic face is a narrow place") {
  const std::string blocks = block("left", 0.2, 2, 2, 4) + block("right", 8, 2, 9.9, 4);
  const auto is_there = [](const std::vector<NarrowPlace>& places) {
    return std::ranges::any_of(places, [](const NarrowPlace& p) { return std::abs(p.width - 0.3) < 1e-9; });
  };
  CHECK(is_there(places_in(room + blocks, 1, {true, false})));
  CHECK_FALSE(is_there(places_in(room + blocks, 1)));
}

TEST_CASE("Classes of width: those who fit through the same places, the nearest taken together") {
  std::vector<NarrowPlace> places;
  for (const Real width : {0.9, 0.6, 0.35}) places.push_back({{{0, 0}}, {{width, 0}}, width, 0});
  const std::vector<std::pair<Real, Real>> radii{{0.15, 0.199}, {0.35, 0.35}, {0.5, 0.5}};
  const auto classes = width_classes(places, 1, radii, 4);
  REQUIRE(classes.size() == 4);
  const std::vector<Real> largest{0.175, 0.199, 0.35, 0.5};
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(classes[c].largest == Approx(largest[c]));
    CHECK(classes[c].shut[0].size() == c);
  }
  const auto fewer = width_classes(places, 1, radii, 2);
  REQUIRE(fewer.size() == 2);
  CHECK(fewer[0].largest == Approx(0.199));
  CHECK(fewer[0].shut[0].size() == 1);
  CHECK(fewer[1].shut[0].size() == 3);
  // Nobody whom a place stops: one class without walls.
  const auto one = width_classes({}, 1, radii, 4);
  REQUIRE(one.size() == 1);
  CHECK(one[0].shut[0].empty());
}

TEST_CASE("Whoever is as wide as a place fits through, a tenth of a millimetre more does not") {
  CHECK(fits(0.7, 0.35));
  CHECK_FALSE(fits(0.7, 0.35005));
}

}  // namespace scree
