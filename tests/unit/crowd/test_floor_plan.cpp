#include "crowd/plan/floor_plan.hpp"

#include <png.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numbers>
#include <random>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

/// The plan of the lines of [walkable], in a deck in `folder`.
std::unique_ptr<FloorPlan> plan_of(const std::string& lines, const std::string& folder = "") {
  Deck deck = Deck::from_text("[walkable]\n" + lines, folder + "plan.toml");
  auto plan = std::make_unique<FloorPlan>();
  plan->describe(deck.root());
  deck.require_all_read();
  return plan;
}

/// The message that refuses these lines.
std::string refusal_of(const std::string& lines, const std::string& folder = "") {
  return message_of<InputError>([&] { plan_of(lines, folder); });
}

/// The message that refuses an exit.
std::string refusal_of(FloorPlan& plan, const Vec<2>& a, const Vec<2>& b, Real depth = 1) {
  return message_of<InputError>([&] { plan.open_exit(a, b, depth, "deck:1:1"); });
}

const std::string room = "polygon = [[0, 0], [8, 0], [8, 5], [0, 5]]\n";
/// Two rooms of 10 x 10 m; the passage between them is 0.8 m wide at (12, 5).
const std::string hourglass =
    "polygon = [[0, 0], [10, 0], [12, 4.6], [14, 0], [24, 0], [24, 10], [14, 10], [12, 5.4], [10, 10], [0, "
    "10]]\n";

Real perimeter(const std::vector<Edge>& walls) {
  Real sum = 0;
  for (const Edge& wall : walls) sum += wall.length;
  return sum;
}

/// Number of walls whose left side is not free or whose right side is.
int n_walls_turned(const FloorPlan& plan) {
  int n = 0;
  for (const Edge& wall : plan.walls()) {
    const Vec<2> middle = 0.5 * (wall.a + wall.b);
    n += !plan.contains(middle + 1e-6 * wall.normal) || plan.contains(middle - 1e-6 * wall.normal);
  }
  return n;
}

/// Number of walls that pass through x, to within a tenth of a millimetre.
int n_walls_at(const FloorPlan& plan, const Vec<2>& x) {
  int n = 0;
  for (const Edge& wall : plan.walls()) n += foot_on(wall, x, wall.normal).distance < 1e-4;
  return n;
}

/// Whether x is in the area by the even-odd rule on all rings and in no column, side by side.
bool contains_slowly(const FloorPlan& plan, const Vec<2>& x) {
  int n_rings = 0;
  for (const PolygonWithHoles& polygon : plan.area()) {
    n_rings += ring_contains(polygon.outline, x);
    for (const Ring& hole : polygon.holes) n_rings += ring_contains(hole, x);
  }
  bool in_column = false;
  for (const Columns::Column& column : plan.columns())
    in_column = in_column || norm(x - column.centre) < column.radius;
  return n_rings % 2 == 1 && !in_column;
}

int n_disagreements(const FloorPlan& plan, int n_points) {
  std::mt19937_64 bits(42);
  const Box<2> box = plan.bounds();
  int n = 0;
  for (int i = 0; i < n_points; ++i) {
    Vec<2> x;
    for (int k = 0; k < 2; ++k)
      x[k] = box.lower[k] + box.length(k) * (1.2 * std::ldexp(static_cast<Real>(bits() >> 11), -53) - 0.1);
    n += plan.contains(x) != contains_slowly(plan, x);
  }
  return n;
}

/// An image of one letter per pixel, rows from the top: '#' black, '.' white, 'g' green, 'x' nearly black.
void write_image(const std::string& path, const std::vector<std::string>& rows) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(rows[0].size());
  image.height = static_cast<png_uint_32>(rows.size());
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> bytes;
  for (const std::string& row : rows)
    for (const char letter : row) {
      const bool is_dark = letter == '#' || letter == 'g';
      const std::uint8_t grey = letter == 'x' ? 10 : is_dark ? 0 : 255;
      bytes.insert(bytes.end(), {grey, static_cast<std::uint8_t>(letter == 'g' ? 255 : grey), grey});
    }
  REQUIRE(png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr) != 0);
}

}  // namespace

TEST_CASE("floor plan: a room of corners has 4 walls with the room to the left, 40 m2", "[geometry]") {
  const auto plan = plan_of(room);
  CHECK(plan->free_area() == 40);
  CHECK(plan->walls().size() == 4);
  CHECK(perimeter(plan->walls()) == 26);
  CHECK(n_walls_turned(*plan) == 0);
  CHECK(plan->bounds().lower == Vec<2>{{0, 0}});
  CHECK(plan->bounds().upper == Vec<2>{{8, 5}});
  CHECK(plan->contains({{4, 2}}));
  CHECK_FALSE(plan->contains({{8.001, 2}}));
  CHECK_FALSE(plan->contains({{100, 2}}));
  CHECK(plan->free_area(Ring{{{6, 4}}, {{10, 4}}, {{10, 6}}, {{6, 6}}}) == 2);
  CHECK(plan->where() == "plan.toml:1:1");
}

TEST_CASE("floor plan: corners given clockwise, and on straight walls, give the same walls", "[geometry]") {
  const auto plan = plan_of("polygon = [[0, 0], [0, 5], [4, 5], [8, 5], [8, 0], [3, 0], [1, 0]]");
  CHECK(plan->walls().size() == 4);
  CHECK(perimeter(plan->walls()) == 26);
  CHECK(n_walls_turned(*plan) == 0);
}

TEST_CASE("floor plan: well-known text with a hole, in units of half a metre", "[geometry]") {
  const auto plan = plan_of("wkt = 'POLYGON((0 0,16 0,16 10,0 10,0 0),(4 4,8 4,8 8,4 8,4 4))'\nscale = 0.5");
  CHECK(plan->free_area() == 36);
  CHECK(plan->walls().size() == 8);
  CHECK(n_walls_turned(*plan) == 0);
  CHECK_FALSE(plan->contains({{3, 3}}));
  CHECK(plan->contains({{1, 3}}));
}

TEST_CASE("floor plan: two polygons that touch are one, two that do not are two", "[geometry]") {
  const auto two = plan_of("wkt = 'MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0)),((6 0,9 0,9 4,6 4,6 0)))'");
  CHECK(two->area().size() == 2);
  CHECK(two->free_area() == 28);
  CHECK(two->part_of({{2, 2}}, 0.2) >= 0);
  CHECK(two->part_of({{7, 2}}, 0.2) >= 0);
  CHECK(two->part_of({{2, 2}}, 0.2) != two->part_of({{7, 2}}, 0.2));
  CHECK(two->part_of({{0.1, 2}}, 0.2) == -1);
  CHECK(two->part_of({{5, 2}}, 0.2) == -1);
  CHECK(n_walls_turned(*two) == 0);

  const auto one =
      plan_of("wkt = 'GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 4,0 0)),POLYGON((3 0,9 0,9 4,3 4,3 0)))'");
  CHECK(one->area().size() == 1);
  CHECK(one->walls().size() == 4);
  CHECK(one->free_area() == Approx(36));
}

TEST_CASE("floor plan: files of well-known text and GeoJSON lie beside the deck", "[geometry]") {
  const Scratch scratch;
  const std::string folder = scratch.folder() + "/";
  put(scratch / "plan.wkt", "POLYGON Z ((0 0 1, 4 0 1, 4 3 1, 0 3 1, 0 0 1))\n");
  CHECK(plan_of("file = 'plan.wkt'", folder)->free_area() == 12);
  CHECK(plan_of("file = 'plan.wkt'\nscale = '1 cm'", folder)->free_area() == Approx(12e-4));
  put(scratch / "plan.geojson", R"({"type": "FeatureCollection", "features": [
      {"type": "Feature", "properties": {"name": "hall"}, "geometry":
        {"type": "Polygon", "coordinates": [[[0,0],[4,0],[4,4],[0,4],[0,0]], [[1,1],[2,1],[2,2],[1,2],[1,1]]]}},
      {"type": "Feature", "properties": {}, "geometry":
        {"type": "MultiPolygon", "coordinates": [[[[4,1],[6,1],[6,2],[4,2],[4,1]]]]}}]})");
  const auto plan = plan_of("file = 'plan.geojson'", folder);
  CHECK(plan->free_area() == 17);
  CHECK(plan->area().size() == 1);
  CHECK(plan->area()[0].holes.size() == 1);
}

TEST_CASE("floor plan: obstacles are cut out, columns stay columns", "[geometry]") {
  const auto plan = plan_of(room +
                            "[walkable.obstacles.kiosk]\npolygon = [[1, 1], [2, 1], [2, 2], [1, 2]]\n"
                            "[walkable.obstacles.columns]\ncircles = [[4, 2, 0.5], [6, 2, 0.25]]\n");
  const Real disks = std::numbers::pi * (0.25 + 0.0625);
  CHECK(plan->free_area() == Approx(39 - disks).epsilon(1e-12));
  CHECK(plan->columns().size() == 2);
  CHECK(plan->walls().size() == 8);
  CHECK_FALSE(plan->contains({{4.49, 2}}));
  CHECK(plan->contains({{4.51, 2}}));
  CHECK_FALSE(plan->contains({{1.5, 1.5}}));
  CHECK(plan->part_of({{4.69, 2}}, 0.2) == -1);
  CHECK(plan->part_of({{4.71, 2}}, 0.2) == 0);
}

TEST_CASE("floor plan: what is in it agrees with a count of all rings at 100000 points", "[geometry]") {
  std::string lines = hourglass;
  for (int i = 0; i < 40; ++i) {
    const int x = 1 + i % 8;
    const Real y = 1.1 + 1.7 * (i / 8);  // NOLINT(bugprone-integer-division): rows of eight
    lines += "[walkable.obstacles.triangle_" + std::to_string(i) + "]\npolygon = [[" + std::to_string(x) +
             ", " + std::to_string(y) + "], [" + std::to_string(x + 0.45) + ", " + std::to_string(y + 0.2) +
             "], [" + std::to_string(x) + ".1, " + std::to_string(y + 0.7) + "]]\n";
  }
  lines += "[walkable.obstacles.columns]\ncircles = [[18, 5, 2], [20, 8, 0.3], [16, 8, 0.1], [24, 2, 1]]\n";
  const auto plan = plan_of(lines);
  CHECK(plan->area()[0].holes.size() == 40);
  CHECK(n_disagreements(*plan, 100000) == 0);
  CHECK(n_walls_turned(*plan) == 0);
}

TEST_CASE("floor plan: points on a grid of round numbers belong to one of two adjacent squares",
          "[geometry]") {
  const Ring left{{{0, 0}}, {{1, 0}}, {{1, 1}}, {{0, 1}}};
  const Ring right{{{1, 0}}, {{2, 0}}, {{2, 1}}, {{1, 1}}};
  int n = 0;
  for (int i = 0; i <= 8; ++i)
    for (int j = 0; j <= 4; ++j) {
      const Vec<2> x{{0.25 * i, 0.25 * j}};
      n += ring_contains(left, x) + ring_contains(right, x);
    }
  CHECK(n == 8 * 4);
}

TEST_CASE("floor plan: an exit in a wall opens it and has a pocket behind", "[geometry]") {
  const auto plan = plan_of(room);
  CHECK(n_walls_at(*plan, {{8, 2.5}}) == 1);
  const Ring pocket = plan->open_exit({{8, 2}}, {{8, 3}}, 0.8, "deck:1:1");
  CHECK(pocket == Ring{{{8, 3}}, {{8, 2}}, {{8.8, 2}}, {{8.8, 3}}});
  CHECK(n_walls_at(*plan, {{8, 2.5}}) == 0);
  CHECK(plan->walls().size() == 8);
  CHECK(plan->free_area() == Approx(40.8).epsilon(1e-14));
  CHECK(plan->contains({{8.4, 2.5}}));
  CHECK(perimeter(plan->walls()) == Approx(26 + 1.6).epsilon(1e-14));
  CHECK(n_walls_turned(*plan) == 0);
  for (const Edge& wall : plan->walls()) CHECK(wall.length > 0.5);
}

TEST_CASE("floor plan: an exit takes its line in both directions, half a millimetre off, and across a slope",
          "[geometry]") {
  const auto turned = plan_of(room);
  CHECK(turned->open_exit({{8.0005, 3}}, {{8.0005, 2}}, 0.8, "deck:1:1") ==
        Ring{{{8, 3}}, {{8, 2}}, {{8.8, 2}}, {{8.8, 3}}});
  CHECK(turned->walls().size() == 8);

  const auto slope = plan_of("polygon = [[0, 0], [9, 0], [9, 7], [0.3, 3.1]]");
  const Vec<2> a{{0.3, 3.1}};
  const Vec<2> along = (1 / std::hypot(8.7, 3.9)) * Vec<2>{{8.7, 3.9}};
  const Ring pocket = slope->open_exit(a + 2.0 * along, a + 3.5 * along, 1, "deck:1:1");
  CHECK(slope->walls().size() == 8);
  CHECK(perimeter(slope->walls()) == Approx(9 + 7 + std::hypot(8.7, 3.9) + std::hypot(0.3, 3.1) + 2));
  CHECK(n_walls_at(*slope, a + 2.75 * along) == 0);
  CHECK(n_walls_turned(*slope) == 0);
  CHECK(ring_contains(pocket, a + 2.75 * along + Vec<2>{{-0.2, 0.5}}));
}

TEST_CASE("floor plan: the whole end of a corridor, an edge with a corner in it, and a hole open",
          "[geometry]") {
  const auto corridor = plan_of("polygon = [[0, 0], [40, 0], [40, 2], [0, 2]]");
  corridor->open_exit({{40, 0}}, {{40, 2}}, 1, "deck:1:1");
  CHECK(corridor->walls().size() == 4);
  CHECK(corridor->bounds().upper == Vec<2>{{41, 2}});

  const auto bent = plan_of("polygon = [[0, 0], [4, 0], [4, 2], [4.004, 3], [4, 4], [0, 4]]");
  bent->open_exit({{4, 1}}, {{4, 3.5}}, 1, "deck:1:1");
  CHECK(n_walls_at(*bent, {{4.002, 2.5}}) == 0);
  CHECK(bent->area().size() == 1);
  CHECK(bent->area()[0].holes.empty());

  const auto court = plan_of("wkt = 'POLYGON((0 0,10 0,10 10,0 10,0 0),(3 3,7 3,7 7,3 7,3 3))'");
  const Ring pocket = court->open_exit({{3, 4}}, {{3, 5}}, 1.5, "deck:1:1");
  CHECK(ring_contains(pocket, {{4, 4.5}}));
  CHECK(n_walls_at(*court, {{3, 4.5}}) == 0);
  CHECK(n_walls_turned(*court) == 0);
  CHECK(court->free_area() == Approx(85.5).epsilon(1e-14));
}

TEST_CASE("floor plan: exits that are no openings are refused with the place", "[geometry]") {
  const auto plan = plan_of("wkt = 'POLYGON((0 0,10 0,10 10,0 10,0 0),(4 0.5,4.2 0.5,4.2 9.5,4 9.5,4 0.5))'");
  CHECK_THAT(
      refusal_of(*plan, {{11, 4}}, {{11, 5}}),
      Catch::StartsWith("deck:1:1: exit outside the area: the line (11, 4)-(11, 5) is not on the boundary") &&
          Catch::Contains("(10, 4) is 1 m away"));
  CHECK_THAT(refusal_of(*plan, {{5, 4}}, {{5, 5}}), Catch::Contains("(4.2, 4) is 0.8 m away"));
  CHECK_THAT(refusal_of(*plan, {{0, 0}}, {{10, 10}}), Catch::Contains("not on the boundary at ("));
  CHECK_THAT(
      refusal_of(*plan, {{4, 4}}, {{4, 5}}),
      Catch::Contains("1 m deep, would meet the walkable area at") && Catch::Contains("give a polygon"));
  CHECK_THAT(refusal_of(*plan, {{10, 4}}, {{10, 4.005}}), Catch::Contains("m long"));
  CHECK(plan->area()[0].holes.size() == 1);

  const auto thin = plan_of("wkt = 'POLYGON((0 0,10 0,10 10,0 10,0 0),(4 3,4.004 3,4.004 7,4 7,4 3))'");
  CHECK_THAT(refusal_of(*thin, {{4, 4}}, {{4, 5}}),
             Catch::Contains("both sides of the line (4, 4)-(4, 5) are walkable"));
}

TEST_CASE("floor plan: as well-known text and read again it is the same", "[geometry]") {
  const auto plan =
      plan_of("wkt = 'MULTIPOLYGON(((0 0,4.1 0,4.1 4.7,0 4,0 0),(1 1,2 1,2 2,1 1)),((6 0,9 0,9 4,6 0)))'");
  plan->open_exit({{0, 1}}, {{0, 2}}, 1. / 3, "deck:1:1");
  const auto again = plan_of("wkt = '" + plan->wkt() + "'");
  CHECK(again->free_area() == Approx(plan->free_area()).epsilon(1e-15));
  CHECK(again->wkt() == plan_of("wkt = '" + again->wkt() + "'")->wkt());
  CHECK(again->walls().size() == plan->walls().size());

  const auto column = plan_of(room + "[walkable.obstacles.post]\ncircles = [[4, 2, 0.5]]\n");
  const auto with_hole = plan_of("wkt = '" + column->wkt() + "'");
  CHECK(with_hole->free_area() == Approx(40 - 0.25 * std::numbers::pi).epsilon(1e-12));
  CHECK(with_hole->walls().size() == 4 + 32);
}

TEST_CASE("floor plan: an hourglass is narrow at its waist, not in its corners", "[geometry]") {
  const auto plan = plan_of(hourglass);
  CHECK(plan->narrow_places(0.75).empty());
  const auto places = plan->narrow_places(1.0);
  REQUIRE(places.size() == 1);
  CHECK(norm(places[0].at - Vec<2>{{12, 5}}) < 0.01);
  CHECK_THAT(places[0].text, Catch::Contains("a passage is only 0.8 m wide"));
  CHECK(plan->part_of({{5, 5}}, 0.39) == plan->part_of({{20, 5}}, 0.39));
  CHECK(plan->part_of({{5, 5}}, 0.41) != plan->part_of({{20, 5}}, 0.41));
}

TEST_CASE("floor plan: of three doors the two that are too narrow are named, and a gap beside a column",
          "[geometry]") {
  // Rooms of 5 x 10 m, a wall 0.2 m thick between them; doors of 0.7, 1.2 and 0.8 m.
  const std::string rooms =
      "wkt = 'POLYGON((0 0,10.2 0,10.2 10,0 10,0 0),(5 0.7,5.2 0.7,5.2 4,5 4,5 0.7),"
      "(5 5.2,5.2 5.2,5.2 8,5 8,5 5.2),(5 8.8,5.2 8.8,5.2 9.5,5 9.5,5 8.8))'\n";
  CHECK(plan_of(rooms)->narrow_places(1).empty());  // the wide door joins the rooms

  const auto blocked = plan_of(rooms + "[walkable.obstacles.post]\ncircles = [[5.1, 4.6, 0.2]]\n");
  const auto places = blocked->narrow_places(1);
  REQUIRE(places.size() == 5);
  const std::vector<Vec<2>> known{{{5.1, 0.35}}, {{5.1, 4.2}}, {{5.1, 5}}, {{5.1, 8.4}}, {{5.1, 9.75}}};
  const std::vector<std::string> widths{"0.7", "0.4", "0.4", "0.8", "0.5"};
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto place = std::ranges::find_if(
        places, [&](const PlanFinding& finding) { return norm(finding.at - known[i]) < 0.05; });
    REQUIRE(place != places.end());
    CHECK_THAT(place->text, Catch::Contains("only " + widths[i] + " m wide"));
  }
}

TEST_CASE("floor plan: an image keeps its right angles, and slanted walls are straight", "[geometry]") {
  const Scratch scratch;
  const std::string folder = scratch.folder() + "/";
  // A room of 60 x 40 pixels in a wall 2 pixels thick, its upper right corner cut off by a wall at 45
  // degrees.
  std::vector<std::string> rows(44, std::string(64, '#'));
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x)
      if (x + y < 80) rows[41 - y][x + 2] = '.';
  for (const std::size_t y : {10U, 11U, 12U}) rows[y].replace(20, 3, "xxx");
  for (const std::size_t y : {30U, 31U, 32U, 33U}) rows[y].replace(0, 2, "gg");
  write_image(scratch / "plan.png", rows);
  const std::string keys = "file = 'plan.png'\npixel = '0.1 m'\norigin = [1, 2]\n";
  const auto plan = plan_of(keys, folder);
  REQUIRE(plan->area().size() == 1);
  REQUIRE(plan->area()[0].holes.size() == 1);
  CHECK(n_walls_turned(*plan) == 0);
  CHECK(plan->bounds().lower[0] == Approx(1).margin(1e-12));
  CHECK(plan->bounds().lower[1] == Approx(2.2).margin(1e-12));
  CHECK(plan->bounds().upper[1] == Approx(6.2).margin(1e-12));
  int n_slanted = 0;
  for (const Edge& wall : plan->walls()) {
    const bool is_upright = std::abs(wall.normal[0]) < 1e-9 || std::abs(wall.normal[1]) < 1e-9;
    if (is_upright || wall.length < 1) continue;
    ++n_slanted;
    CHECK(wall.normal[0] == Approx(-std::sqrt(0.5)));
    CHECK(wall.length == Approx(2 * std::sqrt(2)).margin(0.2));
  }
  CHECK(n_slanted == 1);
  // Pixels count 60 x 40 less the corner, a column of 9 and, in the wall, 8 of the exit.
  CHECK(plan->free_area() == Approx(0.01 * (2400 - 190 - 9 + 8)).margin(0.02));
  CHECK(plan_of(keys + "color_tolerance = 5", folder)->area()[0].holes.empty());

  const std::vector<Ring> exits = plan->regions_of_colour("#00ff00", "deck:2:2");
  REQUIRE(exits.size() == 1);
  CHECK(exits[0].size() == 4);
  CHECK(ring_contains(exits[0], {{1.1, 3.2}}));
  CHECK_FALSE(ring_contains(exits[0], {{1.25, 3.2}}));
  CHECK_THAT(message_of<InputError>([&] { plan->regions_of_colour("#ff0000", "deck:2:2"); }),
             Catch::StartsWith("deck:2:2: ") &&
                 Catch::Contains("no pixel of the plan has the colour #ff0000") &&
                 Catch::Contains("#ffffff (2201 pixels)") && Catch::Contains("#0a0a0a (9 pixels)"));
  CHECK_THAT(message_of<InputError>([&] { plan->regions_of_colour("red", "deck:2:2"); }),
             Catch::Contains("the form is \"#rrggbb\""));
}

TEST_CASE("floor plan: a wall drawn at a slope of 1 to 3 is one straight wall, within a pixel",
          "[geometry]") {
  const Scratch scratch;
  std::vector<std::string> rows(50, std::string(90, '.'));
  for (int x = 0; x < 90; ++x)
    for (int y = 0; y < 50; ++y)
      if (y >= 10 + x / 3) rows[49 - y][x] = '#';
  write_image(scratch / "plan.png", rows);
  const auto plan = plan_of("file = 'plan.png'\npixel = 1", scratch.folder() + "/");
  int n_slanted = 0;
  for (const Edge& wall : plan->walls()) {
    if (wall.length < 20 || std::abs(wall.tangent[0] * wall.tangent[1]) < 0.01) continue;
    ++n_slanted;
    CHECK(std::abs(wall.tangent[1] / wall.tangent[0]) == Approx(1. / 3).margin(0.02));
    CHECK(std::abs(wall.height({{45, 25}})) < 1);
  }
  CHECK(n_slanted == 1);
  CHECK(plan->walls().size() <= 6);
}

TEST_CASE("floor plan: pixels that meet at a corner only are apart; any noise gives valid polygons",
          "[geometry]") {
  const Scratch scratch;
  const std::string folder = scratch.folder() + "/";
  write_image(scratch / "corner.png", {"######", "#..###", "#..###", "###..#", "###..#", "######"});
  const auto plan = plan_of("file = 'corner.png'\npixel = 1", folder);
  CHECK(plan->area().size() == 2);
  CHECK(plan->free_area() == 8);

  std::mt19937_64 bits(7);
  for (int k = 0; k < 20; ++k) {
    std::vector<std::string> rows(40, std::string(50, '.'));
    for (std::string& row : rows)
      for (char& letter : row)
        if (bits() % 20 < static_cast<std::uint64_t>(k)) letter = '#';
    write_image(scratch / "noise.png", rows);
    const auto noise = plan_of("file = 'noise.png'\npixel = 1", folder);
    CHECK(n_walls_turned(*noise) == 0);
    CHECK(n_disagreements(*noise, 2000) == 0);
    CHECK(plan_of("wkt = '" + noise->wkt() + "'")->free_area() == Approx(noise->free_area()));
  }
}

TEST_CASE("floor plan: lines of WKT may end anywhere between its corners", "[geometry]") {
  const auto plan =
      plan_of("wkt = \'\'\'POLYGON((\n0 0,\n 9 0,9 9,\r\n0 9,\n\t0 0),\n(1 1,\n1 2,2 2,2 1,1 1))\'\'\'");
  CHECK(plan->free_area() == Approx(81 - 1));
}

TEST_CASE("floor plan: what is no plan is refused with deck, file and coordinates", "[geometry]") {
  const auto starts = Catch::StartsWith("plan.toml:2:1: ");
  CHECK_THAT(refusal_of(""), Catch::Contains("give wkt, file or polygon"));
  CHECK_THAT(refusal_of("wkt = 'POINT(0 0)'\nfile = 'x.wkt'"), Catch::Contains("wkt and file are given"));
  CHECK_THAT(refusal_of("polygon = [[0, 0], [1, 0]]"),
             starts && Catch::Contains("2 corners given, at least 3"));
  CHECK_THAT(refusal_of("polygon = [[0, 0], [4, 4], [4, 0], [0, 4]]"),
             starts && Catch::Contains("Self-intersection at (2, 2)"));
  CHECK_THAT(refusal_of("polygon = [[0, 0], [4, 4], [8, 8]]"), starts);
  CHECK_THAT(refusal_of("wkt = 'POLYGON((0 0,10 0,10 5,0 5))'"),
             starts && Catch::Contains("ring 1 of 1 is open: it starts at (0, 0) and ends at (0, 5)"));
  CHECK_THAT(refusal_of("wkt = 'POLYGON((0 0,9 0,9 9,0 0),(1 1,2 1,1.5 2))'"),
             starts && Catch::Contains("ring 2 of 2 is open: it starts at (1, 1)"));
  CHECK_THAT(refusal_of("wkt = 'POLYGON((0 0,10 0,0 0))'"),
             starts && Catch::Contains("ring 1 of 1, which starts at (0, 0), has 2 corners"));
  CHECK_THAT(refusal_of("wkt = 'POLYGON((0 0,4 4,4 0,0 4,0 0))'"),
             starts && Catch::Contains("Self-intersection at (2, 2)"));
  CHECK_THAT(refusal_of("wkt = 'POLYGON EMPTY'"), starts && Catch::Contains("holds no polygon"));
  CHECK_THAT(refusal_of("wkt = 'POLYGN((0 0,1 0,1 1,0 0))'"), starts && Catch::Contains("POLYGN"));
  CHECK_THAT(refusal_of("wkt = 'MULTILINESTRING((3 1,4 1),(5 5,6 6))'"),
             starts && Catch::Contains("holds 2 lines, the first one starts at (3, 1)"));
  CHECK_THAT(refusal_of("wkt = 'POLYGON((0 0,1 0,1 1,0 0))'\npixel = 1"),
             Catch::StartsWith("plan.toml:3:1: ") && Catch::Contains("'pixel' is a key of images only"));
  CHECK_THAT(refusal_of(room + "scale = 2"),
             Catch::StartsWith("plan.toml:3:1: ") && Catch::Contains("scale"));
  CHECK_THAT(refusal_of("file = 'none.wkt'"), starts && Catch::Contains("'none.wkt' is not there"));
  CHECK_THAT(refusal_of("file = 'plan.dxf'"), starts && Catch::Contains(".wkt, .geojson, .json or .png"));
}

TEST_CASE("floor plan: files and obstacles that cannot be used are refused with their place", "[geometry]") {
  const Scratch scratch;
  const std::string folder = scratch.folder() + "/";
  const auto refused = [&](const std::string& name, const std::string& text, const std::string& words) {
    put(scratch / name, text);
    CHECK_THAT(
        refusal_of("file = '" + name + "'", folder),
        Catch::StartsWith(folder + "plan.toml:2:1: " + folder + name + ": ") && Catch::Contains(words));
  };
  refused("bad.json", "{\"type\": \"Polygon\",\n \"coordinates\": [[[0,0],[1,0}", "line 2, column 29");
  refused("open.geojson", R"({"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]})",
          "ring 1 of 1 is open: it starts at (0, 0) and ends at (1, 1)");
  refused("line.geojson", R"({"type":"LineString","coordinates":[[3,4],[1,0],[1,1]]})",
          "holds 1 line, the first one starts at (3, 4)");
  refused("other.geojson", R"({"type":"Topology","objects":{}})", "cannot be read as GeoJSON");
  refused("text.wkt", "a plan", "cannot be read as WKT");
  put(scratch / "text.png", "no image");
  CHECK_THAT(refusal_of("file = 'text.png'\npixel = 1", folder), Catch::Contains("cannot be read as PNG"));
  CHECK_THAT(refusal_of("file = 'text.png'", folder), Catch::Contains("size of a pixel is missing"));
  write_image(scratch / "black.png", {"##", "##"});
  CHECK_THAT(refusal_of("file = 'black.png'\npixel = 1", folder),
             Catch::Contains("black.png: has no walkable pixel: all are of the colour #000000"));
  CHECK_THAT(refusal_of("file = 'black.png'\npixel = 1\nwall_color = 'black'", folder),
             Catch::Contains("plan.toml:4:1: \"black\" is no colour"));

  const std::string post = room + "[walkable.obstacles.post]\n";
  CHECK_THAT(refusal_of(post),
             Catch::StartsWith("plan.toml:3:") && Catch::Contains("give polygon or circles"));
  CHECK_THAT(refusal_of(post + "circles = [[4, 2, 0.5], [9, 2, 0.5]]"),
             Catch::StartsWith("plan.toml:4:1: ") && Catch::Contains("circle 2 at (9, 2)"));
  CHECK_THAT(refusal_of(post + "circles = [[4, 2, 0]]"), Catch::Contains("radius 0, it must be > 0"));
  CHECK_THAT(refusal_of(post + "polygon = [[9, 0], [9, 1], [10, 0]]"), Catch::Contains("wholly outside"));
  CHECK_THAT(refusal_of(post + "polygon = [[-1, -1], [9, -1], [9, 9], [-1, 9]]"),
             Catch::Contains("leaves no walkable area"));
  CHECK_THAT(refusal_of(post + "polygon = [[1, 1], [2, 2], [2, 1], [1, 2]]"),
             Catch::Contains("Self-intersection at (1.5, 1.5)"));
  CHECK_THAT(message_of<InputError>([] { plan_of(room)->regions_of_colour("#00ff00", "deck:1:1"); }),
             Catch::Contains("the plan is no image"));
}
