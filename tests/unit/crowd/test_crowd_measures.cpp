// Measures of crowds, against numbers worked out by hand.
#include <numbers>

#include "core/error.hpp"
#include "core/random.hpp"
#include "crowd/crowd_world.hpp"
#include "crowd/plan/polygon_area.hpp"
#include "crowd/plan/voronoi_cells.hpp"
#include "unit/analysis/scene.hpp"

using namespace scree;

namespace {

/// A line that sees bodies move, one step of 0.5 s after the other.
struct Line {
  Line(const std::vector<Vec<2>>& places, const std::string& keys)
      : scene(places), measure(scene.measure_of("type = 'line_flow'\n" + keys)) {}

  void move(std::size_t body, const Vec<2>& to) {
    const auto position = scene.state.bodies.position();
    std::ranges::copy(position, scene.state.bodies.previous().begin());
    position[body] = to;
    scene.state.clock.last_dt = 0.5;
    scene.state.clock.time += 0.5;
    measure->after_step(scene.state);
  }
  void rest(int n_steps) {
    for (int k = 0; k < n_steps; ++k) move(0, scene.state.bodies.position()[0]);
  }
  Real column(const std::string& name) {
    for (const auto& [column, value] : scene.row(*measure))
      if (column == name) return value;
    FAIL("no column " << name);
    return 0;
  }

  Scene<2> scene;
  std::unique_ptr<Measure<2>> measure;
};

Real speed_of_row(const std::vector<std::pair<std::string, Real>>& row) {
  return row.at(2).second;
}

void give_speed(Scene<2>& scene, const std::vector<Real>& speed) {
  for (std::size_t i = 0; i < speed.size(); ++i)
    scene.state.bodies.velocity()[i] = {{0.6 * speed[i], -0.8 * speed[i]}};
}

/// n x n places in the cells of a square grid of the domain [0, 10]^2.
Places<2> grid(int n) {
  Places<2> places;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) places.push_back({{10 * (i + 0.5) / n, 10 * (j + 0.5) / n}});
  return places;
}

}  // namespace

TEST_CASE("count: the bodies that are there", "[analysis]") {
  CHECK(Scene<2>(grid(3)).value("type = 'count'", "n_bodies") == 9);
  CHECK(Scene<2>(Places<2>{}).value("type = 'count'", "n_bodies") == 0);
}

TEST_CASE("line_flow: from left to right counts, back counts back, beyond the ends nothing counts",
          "[analysis]") {
  Line line(Places<2>{{{6, 5}}, {{6, 7}}}, "line = [[5, 6], [5, 4]]");
  CHECK(line.column("flow") == 0);
  line.move(0, {{4.5, 5.5}});
  CHECK(line.column("net") == 1);
  line.move(1, {{4, 7}});
  CHECK(line.column("net") == 1);
  line.move(0, {{5.5, 4.5}});
  CHECK(line.column("net") == 0);
  CHECK(line.column("total") == 2);
  line.move(0, {{5, 4.5}});  // on the line is to its left
  CHECK(line.column("net") == 0);
  line.move(0, {{4, 4.5}});
  CHECK(line.column("net") == 1);
  line.move(0, {{6, 3}});  // meets the line through it at y = 3.75
  CHECK(line.column("total") == 3);
}

TEST_CASE("line_flow: of two lines that share an end a path crosses one", "[analysis]") {
  const auto crossings = [](const Vec<2>& from, const Vec<2>& to) {
    Real sum = 0;
    for (const std::string line : {"[[2, 3], [5, 5]]", "[[5, 5], [9, 6]]"}) {
      Line half(Places<2>{from}, "line = " + line);
      half.move(0, to);
      sum += half.column("total");
    }
    return sum;
  };
  CHECK(crossings({{5, 3}}, {{5, 7}}) == 1);
  CHECK(crossings({{5, 7}}, {{5, 3}}) == 1);
  CHECK(crossings({{6, 4}}, {{4, 6}}) == 1);
  CHECK(crossings({{4.75, 7}}, {{5.25, 3}}) == 1);
}

TEST_CASE("line_flow: the flow is the mean over the last window, or over the time so far", "[analysis]") {
  Line line(Places<2>{{{6, 5}}, {{6, 5}}}, "line = [[5, 6], [5, 4]]\nwindow = 5");
  line.move(0, {{4, 5}});
  line.move(1, {{4, 5}});
  CHECK(line.column("flow") == Approx(2 / 1.0));
  CHECK(line.column("specific_flow") == Approx(2 / 1.0 / 2));
  line.rest(8);
  CHECK(line.column("flow") == Approx(2 / 5.0));
  line.rest(1);  // the first crossing, in the step to 0.5 s, is now more than 5 s ago
  CHECK(line.column("flow") == Approx(1 / 5.0));
  line.rest(1);
  CHECK(line.column("flow") == 0);
  line.rest(1000);
  line.move(0, {{6, 5}});
  CHECK(line.column("flow") == Approx(-1 / 5.0));
}

TEST_CASE("line_flow: a copy that gets the memory goes on with the same rows", "[analysis]") {
  const std::string keys = "line = [[5, 6], [5, 4]]\nwindow = '7.3 s'";
  Line whole(Places<2>{{{6, 5}}}, keys), restarted(Places<2>{{{6, 5}}}, keys);
  const auto walk = [](Line& line, int from, int to) {
    RandomStream random(1, 2, 3);
    for (int k = 0; k < to; ++k) {
      const Real x = 4 + 2 * random.uniform();
      if (k >= from) line.move(0, {{x, 5}});
    }
  };
  walk(whole, 0, 40);
  std::ranges::copy(whole.measure->memory(), restarted.measure->memory().begin());
  restarted.scene.state.clock = whole.scene.state.clock;
  restarted.scene.state.bodies.position()[0] = whole.scene.state.bodies.position()[0];
  for (int k = 40; k < 80; k += 10) {
    walk(whole, k, k + 10);
    walk(restarted, k, k + 10);
    CHECK(whole.scene.row(*whole.measure) == restarted.scene.row(*restarted.measure));
  }
}

TEST_CASE("line_flow: images of the line in a periodic domain are the line, each turn counts once",
          "[analysis]") {
  for (const std::string line : {"[[0, 1], [0, 3]]", "[[10, 1], [10, 3]]", "[[9.9, 3], [0.1, 1]]"}) {
    Line flow(Places<2>{{{9, 2}}}, "line = " + line);
    flow.scene.state.box.periodic = {true, true};
    if (line.find("9.9") != std::string::npos) {
      flow.move(0, {{9, 1}});
      continue;
    }
    flow.move(0, {{9.75, 2}});
    flow.move(0, {{10.5, 2}});  // wrapped at the next list build
    CHECK(flow.column("net") == 1);
    flow.move(0, {{11, 2}});
    CHECK(flow.column("net") == 1);
    flow.scene.state.bodies.position()[0][0] = 1;
    flow.move(0, {{-1, 2}});
    CHECK(flow.column("net") == 0);
    flow.scene.state.bodies.position()[0] = {{9, -8}};
    flow.move(0, {{11, -8}});
    CHECK(flow.column("net") == 1);
  }
}

TEST_CASE("line_flow: a line without two ends or length, or beyond a periodic face, is an error",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}});
  const std::string type = "type = 'line_flow'\n";
  CHECK_THROWS_WITH(scene.row(type + "line = [[0, 1]]"),
                    Catch::StartsWith("test.toml:2:") && Catch::Contains("two ends"));
  CHECK_THROWS_WITH(scene.row(type + "line = [[0, 1], [0, 1]]"), Catch::Contains("no length"));
  CHECK_NOTHROW(scene.row(type + "line = [[-1, 1], [2, 1]]"));
  scene.state.box.periodic = {true, false};
  CHECK_THROWS_WITH(scene.row(type + "line = [[-1, 1], [2, 1]]"),
                    Catch::StartsWith("test.toml:2:") && Catch::Contains("periodic axis x"));
}

TEST_CASE("window, classic: number, density and speed of those inside; the walls share nobody out twice",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{2, 1}}, {{4, 1}}, {{2, 9}}});
  give_speed(scene, {1, 2, 4, 8});
  const std::string type = "type = 'window'\n";
  CHECK(scene.row(type + "lower = [0, 0]\nupper = [2, 4]") ==
        std::vector<std::pair<std::string, Real>>{{"n_bodies", 1}, {"density", 1 / 8.0}, {"speed", 1}});
  CHECK(scene.row(type + "lower = [2, 0]\nupper = [6, 4]") ==
        std::vector<std::pair<std::string, Real>>{{"n_bodies", 2}, {"density", 2 / 16.0}, {"speed", 3}});
  CHECK(scene.value(type + "polygon = [[0, 0], [0, 10], [3, 10], [3, 0]]", "speed") == Approx(11 / 3.0));
  CHECK(scene.value(type + "polygon = [[5, 5], [6, 5], [6, 6]]", "density") == 0);
  CHECK(std::isnan(scene.value(type + "polygon = [[5, 5], [6, 5], [6, 6]]", "speed")));
}

TEST_CASE("window, Voronoi: on a square lattice the density is that of the lattice wherever the window is",
          "[analysis]") {
  Scene<2> scene(grid(10));
  give_speed(scene, std::vector<Real>(100, 1.5));
  for (const std::string where : {"lower = [4, 4]\nupper = [6, 6]", "lower = [3.8, 4.1]\nupper = [4.9, 6.3]",
                                  "polygon = [[3.3, 3.1], [6.2, 5], [4, 6.7]]"}) {
    const auto row = scene.row("type = 'window'\nmethod = 'voronoi'\n" + where);
    CHECK(row[1].second == Approx(1).epsilon(1e-5));
    CHECK(row[2].second == Approx(1.5));
  }
}

TEST_CASE("window, Voronoi: one person alone has a disk of the cutoff; two share the space by halves",
          "[analysis]") {
  const std::string window =
      "type = 'window'\nmethod = 'voronoi'\ncutoff = 1.5\nlower = [0, 0]\nupper = [10, 10]";
  Scene<2> one(Places<2>{{{5, 5}}});
  CHECK(one.value(window, "density") == Approx(0.01));
  // All of the window is the left half of the disk.
  const std::string left =
      "type = 'window'\nmethod = 'voronoi'\ncutoff = 1.5\nlower = [0, 0]\nupper = [5, 10]";
  CHECK(one.value(left, "density") == Approx(0.5 / 50));
  Scene<2> two(Places<2>{{{4.75, 5}}, {{5.25, 5}}});
  give_speed(two, {1, 4});
  CHECK(two.value(left, "density") == Approx(1 / 50.0));
  CHECK(two.value(left, "speed") == Approx(1));
  CHECK(two.value(window, "speed") == Approx(2.5));
  Scene<2> none(Places<2>{});
  CHECK(none.value(window, "density") == 0);
  CHECK(std::isnan(none.value(window, "speed")));
}

TEST_CASE("window, Voronoi: people in one place count all", "[analysis]") {
  Scene<2> scene(Places<2>{{{5, 5}}, {{5, 5}}, {{5, 5}}});
  give_speed(scene, {1, 2, 6});
  const std::string window = "type = 'window'\nmethod = 'voronoi'\nlower = [2, 2]\nupper = [8, 8]";
  CHECK(scene.value(window, "density") == Approx(3 / 36.0));
  CHECK(scene.value(window, "speed") == Approx(3));
}

TEST_CASE("window, Voronoi: in a periodic domain the window at the seam sees the same as elsewhere",
          "[analysis]") {
  Places<2> places;
  for (int k = 0; k < 60; ++k) {
    RandomStream random(5, k, 1);
    const Real x = 10 * random.uniform();
    places.push_back({{x, 10 * random.uniform()}});
  }
  Places<2> shifted = places;
  for (Vec<2>& x : shifted) x = {{std::fmod(x[0] + 6, 10), std::fmod(x[1] + 7, 10)}};
  const auto row = [&](const Places<2>& at, const std::string& where) {
    Scene<2> scene(at);
    scene.state.box.periodic = {true, true};
    for (std::size_t i = 0; i < at.size(); ++i) scene.state.bodies.velocity()[i][0] = static_cast<Real>(i);
    return scene.row("type = 'window'\nmethod = 'voronoi'\n" + where);
  };
  const auto middle = row(places, "lower = [4, 3]\nupper = [7, 5]");
  const auto seam = row(shifted, "lower = [0, 0]\nupper = [3, 2]");
  CHECK(middle[0].second == seam[0].second);
  CHECK(middle[1].second == Approx(seam[1].second).epsilon(1e-5));
  CHECK(speed_of_row(middle) == Approx(speed_of_row(seam)).epsilon(1e-5));
  // Over the whole domain the density is that of all.
  CHECK(row(places, "lower = [0, 0]\nupper = [10, 10]")[1].second == Approx(0.6).epsilon(1e-5));
}

TEST_CASE("window: walls cut cells, and the area of the window is what people can walk on", "[analysis]") {
  Scene<2> scene(Places<2>{{{2, 5}}});
  auto plan = std::make_shared<BuildingPlan>();
  Deck deck = Deck::from_text(R"(
[walkable]
polygon = [[0, 0], [10, 0], [10, 10], [0, 10]]
[walkable.obstacles.wall]
polygon = [[4.9, 1], [5.1, 1], [5.1, 9], [4.9, 9]]
)",
                              "hall.toml");
  plan->describe(deck.root());
  scene.state.world = CrowdWorld{plan};
  // The disk of 3 m around (2, 5) less what lies beyond x = 0 and x = 4.9; the part behind the wall is gone,
  // too.
  const auto segment = [](Real distance) {
    return 9 * std::acos(distance / 3) - distance * std::sqrt(9 - distance * distance);
  };
  const Real cell = 9 * std::numbers::pi - segment(2) - segment(2.9);
  const std::string voronoi = "type = 'window'\nmethod = 'voronoi'\ncutoff = 3\n";
  CHECK(scene.value(voronoi + "lower = [1, 4]\nupper = [3, 6]", "density") == Approx(1 / cell).epsilon(2e-3));
  CHECK(scene.value(voronoi + "lower = [0, 0]\nupper = [10, 10]", "density") == Approx(1 / 98.4));
  CHECK(scene.value(voronoi + "lower = [5.1, 4]\nupper = [6, 6]", "density") == 0);
  CHECK(scene.value("type = 'window'\nlower = [0, 0]\nupper = [10, 10]", "density") == Approx(1 / 98.4));
  CHECK_THROWS_WITH(scene.row("type = 'window'\nlower = [11, 0]\nupper = [12, 10]"),
                    Catch::StartsWith("test.toml:2:") && Catch::Contains("walkable"));
  CHECK_THROWS_WITH(scene.row("type = 'window'\nlower = [4.9, 4]\nupper = [5.1, 5]"),
                    Catch::Contains("walkable"));
}

TEST_CASE("window: what makes no window is an error of the deck", "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}});
  const std::string type = "type = 'window'\n";
  CHECK_THROWS_WITH(scene.row(type), Catch::Contains("one of the two"));
  CHECK_THROWS_WITH(scene.row(type + "lower = [0, 0]"), Catch::Contains("one of the two"));
  CHECK_THROWS_WITH(scene.row(type + "lower = [0, 0]\nupper = [1, 1]\npolygon = [[0, 0], [1, 0], [1, 1]]"),
                    Catch::StartsWith("test.toml:4:") && Catch::Contains("one of the two"));
  CHECK_THROWS_WITH(scene.row(type + "lower = [0, 0]\nupper = [0, 1]"), Catch::Contains("empty"));
  CHECK_THROWS_WITH(scene.row(type + "polygon = [[0, 0], [2, 0], [0, 2], [2, 2]]"),
                    Catch::StartsWith("test.toml:2:") && Catch::Contains("Self-intersection"));
  CHECK_THROWS_WITH(scene.row(type + "polygon = [[0, 0], [2, 0]]"), Catch::Contains("three corners"));
  scene.state.box.periodic = {false, true};
  CHECK_THROWS_WITH(scene.row(type + "lower = [0, 0]\nupper = [2, 11]"), Catch::Contains("periodic axis y"));
}

TEST_CASE("one_dimensional: a closed file has the density of all, an open one that between its ends",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{7, 5}}, {{1, 5}}, {{3, 5}}, {{4, 5}}});
  give_speed(scene, {1, 2, 3, 6});
  const std::string type = "type = 'one_dimensional'\n";
  // In order: 1, 3, 4, 7; 3 has (4 - 1) / 2, 4 has (7 - 3) / 2.
  CHECK(scene.value(type, "density") == Approx(2 / 3.5));
  CHECK(scene.value(type, "speed") == Approx(4.5));
  CHECK(scene.value(type, "n_bodies") == 4);
  scene.state.box.periodic = {true, false};
  CHECK(scene.value(type, "density") == Approx(0.4));
  CHECK(scene.value(type, "speed") == Approx(3));
  CHECK(std::isnan(scene.value(type + "axis = 'y'", "density")));
  const std::string part = type + "region = { lower = [0, 0], upper = [5, 10] }";
  CHECK(scene.value(part, "density") == Approx(1 / 1.5));
  CHECK(scene.value(part, "speed") == Approx(3));
  CHECK(std::isnan(Scene<2>(Places<2>{{{1, 1}}, {{2, 2}}}).value(type, "density")));
  CHECK(std::isnan(Scene<2>(Places<2>{}).value(type, "speed")));
}

TEST_CASE("cells of sites fill the plane between them without holes", "[analysis]") {
  Places<2> sites;
  for (int k = 0; k < 200; ++k) {
    RandomStream random(9, k, 1);
    const Real x = 100 + 4 * random.uniform();
    sites.push_back({{x, -50 + 4 * random.uniform()}});
  }
  const VoronoiCells cells(sites, {{{100, -50}}, {{104, -46}}, {}});
  const WindowAreas window(Ring{{{101, -49}}, {{103, -49}}, {{103, -47}}, {{101, -47}}});
  const Ring everything{{{90, -60}}, {{110, -60}}, {{110, -40}}, {{90, -40}}};
  Real sum = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    REQUIRE(cells.same[i] == i);
    CHECK(ring_contains(cells.ring[i], sites[i]));
    sum += window.around(sites[i], cells.ring[i], everything).in_window;
  }
  CHECK(sum == Approx(4).epsilon(1e-9));
}

TEST_CASE("areas: walls and columns cut a cell; what lies behind a wall is left out", "[analysis]") {
  const Ring window{{{0, 0}}, {{4, 0}}, {{4, 4}}, {{0, 4}}};
  const Ring cell{{{1, 1}}, {{3, 1}}, {{3, 3}}, {{1, 3}}};
  // A room with a wall 0.2 m thick across the cell, and a column in what is left of it.
  const Ring room{{{0, 0}}, {{4, 0}}, {{4, 4}}, {{0, 4}}};
  const Ring wall{{{1.9, 0.5}}, {{2.1, 0.5}}, {{2.1, 3.5}}, {{1.9, 3.5}}};
  const std::vector<PolygonWithHoles> area{{room, {wall}}};
  const std::vector<Columns::Column> columns{{{{1.4, 1.4}}, 0.2}};
  const Box<2> domain{{{-1, -1}}, {{5, 5}}, {}};
  const Box<2> reach{{{-1, -1}}, {{5, 5}}, {}};
  const Real disk = std::numbers::pi * 0.04;
  const WindowAreas areas(window, area, columns, domain, reach);
  CHECK(areas.window() == Approx(16 - 0.6 - disk).epsilon(1e-6));
  CHECK(areas.around({{1.5, 2.5}}, cell, cell).whole == Approx(1.8 - disk).epsilon(1e-6));
  CHECK(areas.around({{2.5, 2.5}}, cell, cell).whole == Approx(1.8).epsilon(1e-6));
  const Ring half{{{2, 0}}, {{3.5, 0}}, {{3.5, 5}}, {{2, 5}}};
  CHECK(areas.around({{2.5, 2.5}}, cell, half).whole == Approx(1.8).epsilon(1e-6));
  CHECK(areas.around({{3, 3.9}}, half, half).whole == Approx(6 - 0.3).epsilon(1e-6));
  // A cell beyond the room.
  const Ring outside{{{6, 6}}, {{7, 6}}, {{7, 7}}};
  CHECK(areas.around({{6.5, 6.5}}, outside, outside).whole == 0);
}

TEST_CASE("areas: a corridor that is periodic has no wall at its seam", "[analysis]") {
  const Ring corridor{{{0, 0}}, {{10, 0}}, {{10, 2}}, {{0, 2}}};
  const std::vector<PolygonWithHoles> area{{corridor, {}}};
  const std::vector<Columns::Column> columns{{{{9.5, 1}}, 0.25}};
  const Ring window{{{0, 0}}, {{2, 0}}, {{2, 2}}, {{0, 2}}};
  const Box<2> domain{{{0, -1}}, {{10, 3}}, {true, false}};
  const WindowAreas areas(window, area, columns, domain, {{{-6, -6}}, {{8, 8}}, {}});
  CHECK(areas.window() == Approx(4).epsilon(1e-6));
  const Ring cell{{{-1, -1}}, {{1, -1}}, {{1, 3}}, {{-1, 3}}};
  const WindowAreas::Share share = areas.around({{0.5, 1}}, cell, cell);
  CHECK(share.whole == Approx(4 - std::numbers::pi * 0.0625).epsilon(1e-6));
  CHECK(share.in_window == Approx(2).epsilon(1e-6));
}

TEST_CASE("areas: polygons and disks", "[analysis]") {
  CHECK(signed_area({{{0, 0}}, {{3, 0}}, {{0, 4}}}) == 6);
  CHECK(signed_area({{{0, 4}}, {{3, 0}}, {{0, 0}}}) == -6);
  CHECK(signed_area(polygon_of_disk({{1, 2}}, 3, 64)) == Approx(9 * std::numbers::pi));
  CHECK(fault_of({{{0, 0}}, {{3, 0}}, {{0, 4}}}).empty());
  CHECK_FALSE(fault_of({{{0, 0}}, {{3, 0}}, {{6, 0}}}).empty());
}
