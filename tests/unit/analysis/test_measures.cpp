#include <catch2/catch.hpp>
#include <map>
#include <numbers>

#include "core/error.hpp"
#include "unit/analysis/scene.hpp"

using namespace scree;

TEST_CASE("overlap: gaps -0.1, -0.3, 0.05 and 0.2 are 2 overlaps of mean 0.2, and 3 contacts within 0.1",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}, {{5, 1}}});
  scene.touch(0, 1, -1, -0.1);
  scene.touch(1, 2, -1, -0.3);
  scene.touch(0, -1, 0, 0.05);
  scene.touch(2, -1, 0, 0.2);
  const std::string lines = "type = 'overlap'\ntolerance = 0.1";
  CHECK(scene.value(lines, "contacts") == 3);
  CHECK(scene.value(lines, "overlaps") == 2);
  CHECK(scene.value(lines, "mean_overlap") == Approx(0.2));
  CHECK(scene.value(lines, "max_overlap") == 0.3);
  CHECK(scene.value(lines, "mean_overlap_share") == Approx(0.1));
  CHECK(scene.value(lines, "max_overlap_share") == Approx(0.15));
  CHECK(scene.value("type = 'overlap'", "contacts") == 2);
}

TEST_CASE("overlap: without contacts everything is 0", "[analysis]") {
  Scene<3> scene(Places<3>{{{1, 1, 1}}});
  for (const auto& [name, number] : scene.row("type = 'overlap'")) CHECK(number == 0);
}

TEST_CASE(
    "extent: two bodies 6 apart have gyration radius 3; half the squared distances from (1, 2) are 18.5",
    "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 3}}, {{7, 3}}});
  CHECK(scene.value("type = 'extent'", "center_x") == 4);
  CHECK(scene.value("type = 'extent'", "center_y") == 3);
  CHECK(scene.value("type = 'extent'", "gyration_radius") == Approx(3));
  CHECK(scene.value("type = 'extent'\npoint = [1, 2]", "half_square_distance") == Approx(0.5 * (1 + 37)));
}

TEST_CASE("extent: a body that left through a periodic face counts where it would be", "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 3}}, {{7, 3}}});
  scene.state.box.periodic = {true, true};
  scene.state.bodies.image()[0] = {1, -2};
  CHECK(scene.value("type = 'extent'", "center_x") == 9);
  CHECK(scene.value("type = 'extent'", "center_y") == -7);
}

TEST_CASE("speed: velocities (3, 4) and (0, 1) have mean 3 and maximum 5", "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 3}}, {{7, 3}}});
  scene.state.bodies.velocity()[0] = {{3, 4}};
  scene.state.bodies.velocity()[1] = {{0, 1}};
  CHECK(scene.value("type = 'speed'", "mean_speed") == 3);
  CHECK(scene.value("type = 'speed'", "max_speed") == 5);
  CHECK(std::isnan(Scene<2>(Places<2>{}).value("type = 'speed'", "mean_speed")));
}

TEST_CASE(
    "coordination: by gap, three bodies in a triangle on a wall have 2 to 3 contacts, a fourth has none",
    "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}, {{2, 2.7}}, {{8, 8}}});
  scene.touch(0, 1, -1, 0);
  scene.touch(0, 2, -1, 0);
  scene.touch(1, 2, -1, 0);
  scene.touch(0, -1, 0, 0);
  scene.touch(1, -1, 0, -0.01);
  scene.touch(2, 3, -1, 0.5);
  const std::string touching = "type = 'coordination'\ntolerance = 0",
                    near = "type = 'coordination'\ntolerance = 1";
  CHECK(scene.value(touching, "coordination") == 2);  // (3 + 3 + 2 + 0) / 4
  CHECK(scene.value(touching, "rattlers") == 0.5);    // fewer than 3: the third and the fourth
  CHECK(scene.value(near, "rattlers") == 0.25);
  CHECK(scene.value(touching, "coordination_without_rattlers") == 3);
  CHECK(scene.value(near, "coordination_without_rattlers") == 3);  // of three
  CHECK(scene.value("type = 'coordination'\nloaded = false", "coordination") == 2);
  CHECK_THROWS_WITH(scene.row(near + "\nloaded = true"), Catch::Contains("no effect with loaded"));
}

TEST_CASE("coordination: a pair that touches at two points is one contact, of a body and a wall too",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}});
  scene.touch(0, 1, -1, 0);
  scene.touch(0, 1, -1, 0.5, {}, 1);  // only its second point carries load
  scene.touch(0, -1, 0, 0, {}, 1);
  scene.touch(0, -1, 0, 0, {}, 1);
  scene.contacts.place = {0, 0, 1, 1};
  CHECK(scene.value("type = 'coordination'", "coordination") == 1.5);  // 2 and 1
  CHECK(scene.value("type = 'coordination'\ntolerance = 1", "coordination") == 1.5);
}

TEST_CASE("coordination: contacts that carry load count, at a gap too, and those that only touch do not",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}, {{5, 1}}});
  scene.touch(0, 1, -1, 1e-7, {{1, 0}}, 2);  // rigid contacts are solved for with gaps of either sign
  scene.touch(1, 2, -1, -1e-7);
  CHECK(scene.value("type = 'coordination'", "coordination") == Approx(2.0 / 3));
  scene.touch(2, -1, 0, 1e-7, {{0, 1}}, 1);
  CHECK(scene.value("type = 'coordination'", "coordination") == 1);
  CHECK(scene.value("type = 'coordination'\nloaded = false", "coordination") == Approx(2.0 / 3));
}

TEST_CASE("coordination: of the bodies in a region, with contacts of bodies outside it; of pushing pairs",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}, {{2, 2.7}}, {{8, 8}}});
  scene.touch(0, 1, -1, 0, {{1, 0}}, 2);
  scene.touch(0, 2, -1, 0);
  scene.touch(1, 2, -1, 0.01, {{0, 1}}, 1);
  scene.touch(0, -1, 0, 0);
  const std::string low = "type = 'coordination'\nregion = { lower = [0, 0], upper = [10, 2] }\n";
  CHECK(scene.value(low + "tolerance = 0", "coordination") == 2);  // 3 and 1
  CHECK(scene.value(low + "tolerance = 0", "rattlers") == 0.5);
  CHECK(scene.value(low + "tolerance = 0", "coordination_without_rattlers") == 3);
  CHECK(scene.value(low, "coordination") == 1.5);  // 1 and 2
  CHECK(std::isnan(scene.value(low, "coordination_without_rattlers")));
  scene.state.box.periodic = {true, false};
  scene.state.bodies.position()[0][0] = 10.5;  // wrapped at the next list build only
  CHECK(scene.value("type = 'coordination'\nloaded = false\nregion = { lower = [0, 0], upper = [1, 2] }",
                    "coordination") == 3);
  CHECK_THROWS_WITH(scene.row("type = 'coordination'\nregion = { lower = [-1, 0], upper = [1, 2] }"),
                    Catch::Contains("beyond the domain") && Catch::Contains("axis x"));
}

TEST_CASE(
    "inlets: 3 of 5 due in 2 s are 1.5 per second and 2 that wait; one more in the next second is 1 per "
    "second",
    "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}});
  CHECK_THROWS_WITH(scene.row("type = 'inlets'"), Catch::Contains("[inlets.NAME]"));
  scene.state.inlets.push_back({.name = "rain"});
  const auto measure = scene.measure_of("type = 'inlets'");
  const auto row = [&](Real time, std::int64_t made, std::int64_t due) {
    scene.state.clock.time = time;
    scene.state.inlets[0].n_made = made;
    scene.state.inlets[0].n_due = due;
    std::map<std::string, Real> values;
    for (const auto& [name, value] : scene.row(*measure)) values[name] = value;
    return values;
  };
  using Row = std::map<std::string, Real>;
  CHECK(row(0, 0, 0) == Row{{"rate", 0}, {"made_rain", 0}, {"waiting_rain", 0}});
  CHECK(row(2, 3, 5) == Row{{"rate", 1.5}, {"made_rain", 3}, {"waiting_rain", 2}});
  CHECK(row(3, 4, 4) == Row{{"rate", 1}, {"made_rain", 4}, {"waiting_rain", 0}});
}

TEST_CASE("solid_fraction: a body is cut exactly by the face across the last axis", "[analysis]") {
  Scene<2> disks(Places<2>{{{5, 5}}});
  // Half of the unit disk is below its centre, and below half its radius pi/2 + asin(1/2) + sqrt(3)/4.
  const auto share = [&](const std::string& upper) {
    return 20 *
           disks.value("type = 'solid_fraction'\nregion = { lower = [0, 3], upper = [10, " + upper + "] }",
                       "solid_fraction");
  };
  CHECK(share("5") == Approx(std::numbers::pi / 2));
  CHECK(share("5.5") * 2.5 / 2 == Approx(std::numbers::pi / 2 + std::numbers::pi / 6 + std::sqrt(3) / 4));
  CHECK(disks.value("type = 'solid_fraction'", "solid_fraction") == Approx(std::numbers::pi / 100));

  Scene<3> spheres(Places<3>{{{5, 5, 5}}});
  // A cap of height h = 1/2 has the volume pi h^2 (3 - h) / 3.
  const std::string cap = "type = 'solid_fraction'\nregion = { lower = [0, 0, 5.5], upper = [10, 10, 7.5] }";
  CHECK(200 * spheres.value(cap, "solid_fraction") == Approx(std::numbers::pi / 4 * 2.5 / 3));
  CHECK(spheres.value(cap, "n_bodies") == 0);
}

TEST_CASE("solid_fraction: beside the region nothing counts, and a periodic body re-enters", "[analysis]") {
  Scene<2> scene(Places<2>{{{5, 9.5}}});
  CHECK(scene.value("type = 'solid_fraction'\nregion = { lower = [6, 0], upper = [10, 10] }",
                    "solid_fraction") == 0);
  const std::string bottom = "type = 'solid_fraction'\nregion = { lower = [0, 0], upper = [10, 2] }";
  CHECK(scene.value(bottom, "solid_fraction") == 0);
  scene.state.box.periodic = {true, true};
  CHECK(20 * scene.value(bottom, "solid_fraction") == Approx(std::numbers::pi / 3 - std::sqrt(3) / 4));
}

TEST_CASE("wall_force: reactions of 2 and 3 on a floor push it down by 5", "[analysis]") {
  const std::string obstacles =
      "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n"
      "[obstacles.side]\ntype = 'plane'\npoint = [0, 0]\nnormal = [1, 0]\n";
  Scene<2> scene(Places<2>{{{1, 1}}, {{3, 1}}}, obstacles);
  scene.touch(0, 1, -1, 0, {{1, 0}}, 100);
  scene.touch(0, -1, 0, 0, {{0, -1}}, 2);
  scene.touch(1, -1, 0, 0, {{0, -1}}, 3);
  scene.touch(0, -1, 1, 0, {{-1, 0}}, 7);
  CHECK(scene.row("type = 'wall_force'").size() == 4);
  CHECK(scene.value("type = 'wall_force'", "force_floor_x") == 0);
  CHECK(scene.value("type = 'wall_force'", "force_floor_y") == -5);
  CHECK(scene.value("type = 'wall_force'", "force_side_x") == -7);
  CHECK(scene.row("type = 'wall_force'\nobstacles = ['side']").size() == 2);
  CHECK_THROWS_WITH(scene.row("type = 'wall_force'\nobstacles = ['ceiling']"),
                    Catch::Contains("no obstacle 'ceiling'") && Catch::Contains("floor, side"));
}
