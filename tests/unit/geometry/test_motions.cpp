#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

template <int D>
struct Moving {
  ObstacleSet<D> obstacles;
  const Motion<D>& motion() const { return *obstacles.list()[0].motion; }
};

template <int D>
Moving<D> moving(const std::string& keys) {
  const std::string shape = D == 2 ? "type = 'disk'\ncenter = [0, 0]\nradius = 1\n"
                                   : "type = 'sphere'\ncenter = [0, 0, 0]\nradius = 1\n";
  return {read_obstacle<D>(shape + "[obstacles.it.motion]\n" + keys)};
}

const std::vector<std::string> motions_2d = {
    "type = 'translate'\nvelocity = [0.3, -1]",
    "type = 'translate'\nvelocity = [0.3, -1]\nstart = 0.2\nstop = 0.7",
    "type = 'rotate'\ncenter = [0.5, -0.2]\nrate = 1.7",
    "type = 'rotate'\ncenter = [0.5, -0.2]\nrate = -1.7\nstart = 0.2\nstop = 0.7",
    "type = 'oscillate'\namplitude = [0.1, 0.2]\nfrequency = 1.3\nphase = 0.4",
    "type = 'swing'\ncenter = [0.5, -0.2]\namplitude = -0.7\nfrequency = 1.3\nphase = 0.4",
    "type = 'table'\ntimes = [0.05, 0.5, 0.6, 1]\npositions = [[0, 0], [0.3, -0.2], [0.3, 0.1], [-1, 0]]",
    "type = 'table'\ntimes = [0.05, 0.5, 0.6, 1]\nangles = [0, 0.7, 0.2, 3]\ncenter = [0.5, -0.2]",
    "type = 'table'\ntimes = [0.05, 0.5, 1]\npositions = [[0, 0], [0.3, -0.2], [-1, 0]]\n"
    "angles = [0.1, 0.7, -2]\ncenter = [0.5, -0.2]",
};
const std::vector<std::string> motions_3d = {
    "type = 'translate'\nvelocity = [0.3, -1, 0.2]",
    "type = 'rotate'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\nrate = 1.7",
    "type = 'rotate'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\nrate = -1.7\nstart = 0.2\nstop = 0.7",
    "type = 'oscillate'\namplitude = [0.1, 0.2, -0.1]\nfrequency = 1.3\nphase = 0.4",
    "type = 'swing'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\namplitude = 0.7\nfrequency = 1.3",
    "type = 'table'\ntimes = [0.05, 0.5, 1]\npositions = [[0, 0, 1], [0.3, -0.2, 1], [-1, 0, 0]]\n"
    "angles = [0.1, 0.7, -2]\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]",
};

template <int D>
Vec<D> marker() {
  Vec<D> x;
  for (int k = 0; k < D; ++k) x[k] = 0.3 + 0.2 * k;
  return x;
}

/// Velocity against central differences of the pose, at times away from start and stop.
template <int D>
void check_velocity(const std::string& keys) {
  INFO(keys);
  const Moving<D> moved = moving<D>(keys);
  constexpr Real h = 1e-6;
  for (const Real t : {0.1, 0.3, 0.55, 0.9, 2.0}) {
    const Vec<D> x = moved.motion().pose(t).to_world(marker<D>());
    const Vec<D> slope = (moved.motion().pose(t + h).to_world(marker<D>()) -
                          moved.motion().pose(t - h).to_world(marker<D>())) *
                         (1 / (2 * h));
    CHECK(is_close(moved.motion().velocity(x, t), slope, 1e-8));
  }
}

/// The pose keeps lengths, and to_own undoes to_world.
template <int D>
void check_rigid(const std::string& keys) {
  INFO(keys);
  const Moving<D> moved = moving<D>(keys);
  const Pose<D> pose = moved.motion().pose(0.61);
  const Vec<D> x = marker<D>();
  CHECK(is_close(pose.to_own(pose.to_world(x)), x, 1e-15));
  CHECK(norm(pose.direction_to_world(x)) == Approx(norm(x)).epsilon(1e-15));
}

}  // namespace

TEST_CASE("motions: the velocity is the time derivative of the pose to 1e-8", "[geometry]") {
  for (const std::string& keys : motions_2d) check_velocity<2>(keys);
  for (const std::string& keys : motions_3d) check_velocity<3>(keys);
}

TEST_CASE("motions: poses are rigid to 1e-15", "[geometry]") {
  for (const std::string& keys : motions_2d) check_rigid<2>(keys);
  for (const std::string& keys : motions_3d) check_rigid<3>(keys);
}

TEST_CASE("translate: velocity 2 from 1 s to 4 s has gone 0, 2, 6, 6 at 0.5, 2, 4, 9 s", "[geometry]") {
  const auto moved = moving<2>("type = 'translate'\nvelocity = [2, 0]\nstart = 1\nstop = 4");
  CHECK(moved.motion().pose(0.5).translation[0] == 0);
  CHECK(moved.motion().pose(2).translation[0] == 2);
  CHECK(moved.motion().pose(4).translation[0] == 6);
  CHECK(moved.motion().pose(9).translation[0] == 6);
  CHECK(moved.motion().velocity({}, 0.5)[0] == 0);
  CHECK(moved.motion().velocity({}, 1)[0] == 2);
  CHECK(moved.motion().velocity({}, 4)[0] == 0);
  CHECK_THROWS_WITH(moving<2>("type = 'translate'\nvelocity = [2, 0]\nstart = 1\nstop = 0.5"),
                    Catch::StartsWith("test.toml:9:"));
}

TEST_CASE("rotate: a quarter turn about (1, 0) takes (2, 0) to (1, 1); about z in 3D alike", "[geometry]") {
  const Real quarter = std::numbers::pi / 2;
  const auto in_2d = moving<2>("type = 'rotate'\ncenter = [1, 0]\nrate = 1");
  CHECK(is_close(in_2d.motion().pose(quarter).to_world({{2, 0}}), {{1, 1}}));
  const auto in_3d = moving<3>("type = 'rotate'\npoint = [1, 0, 7]\naxis = [0, 0, 5]\nrate = 1");
  CHECK(is_close(in_3d.motion().pose(quarter).to_world({{2, 0, 3}}), {{1, 1, 3}}));
  CHECK_THROWS_WITH(moving<3>("type = 'rotate'\npoint = [0, 0, 0]\naxis = [0, 0, 0]\nrate = 1"),
                    Catch::Contains("no direction"));
}

TEST_CASE("oscillate: amplitude 3 at 0.25 Hz is at 3 after 1 s, at 0 with speed -1.5 pi after 2 s",
          "[geometry]") {
  const auto moved = moving<2>("type = 'oscillate'\namplitude = [3, 0]\nfrequency = 0.25");
  CHECK(moved.motion().pose(0).translation[0] == 0);
  CHECK(moved.motion().pose(1).translation[0] == Approx(3));
  CHECK(moved.motion().pose(2).translation[0] == Approx(0).margin(1e-15));
  CHECK(moved.motion().velocity({}, 2)[0] == Approx(-1.5 * std::numbers::pi));
}

TEST_CASE("swing: amplitude 90 deg at 0.25 Hz takes (2, 0) about (1, 0) to (1, 1) after 1 s, back after 2 s",
          "[geometry]") {
  const auto moved = moving<2>("type = 'swing'\ncenter = [1, 0]\namplitude = '90 deg'\nfrequency = 0.25");
  CHECK(is_close(moved.motion().pose(1).to_world({{2, 0}}), {{1, 1}}));
  CHECK(is_close(moved.motion().pose(2).to_world({{2, 0}}), {{2, 0}}));
  CHECK(is_close(moved.motion().velocity({{1, 1}}, 0), {{-0.25 * std::numbers::pi * std::numbers::pi, 0}}));
}

TEST_CASE("table: rows (1 s, 0), (2 s, 3), (4 s, 1) give 0, 1.5, 3, 2, 1 at 0, 1.5, 2, 3, 9 s",
          "[geometry]") {
  const auto moved =
      moving<2>("type = 'table'\ntimes = [1, '2000 ms', 4]\npositions = [[0, 0], [3, 0], [1, 0]]");
  const std::pair<Real, Real> places[] = {{0, 0}, {1.5, 1.5}, {2, 3}, {3, 2}, {4, 1}, {9, 1}};
  for (const auto& [time, x] : places) CHECK(moved.motion().pose(time).translation == Vec<2>{{x, 0}});
  const std::pair<Real, Real> speeds[] = {{0.5, 0}, {1, 3}, {1.5, 3}, {2, -1}, {3, -1}, {4, 0}, {9, 0}};
  for (const auto& [time, v] : speeds) CHECK(moved.motion().velocity({{5, 5}}, time) == Vec<2>{{v, 0}});
}

TEST_CASE("table: turned by 90 deg about (1, 0), then displaced by (0, 5), (2, 0) is at (1, 6)",
          "[geometry]") {
  const auto moved = moving<2>(
      "type = 'table'\ntimes = [0, 1]\npositions = [[0, 0], [0, 5]]\nangles = [0, '90 deg']\ncenter = [1, "
      "0]");
  CHECK(is_close(moved.motion().pose(1).to_world({{2, 0}}), {{1, 6}}));
}

TEST_CASE("table: a CSV file gives the same motion as the arrays of the deck", "[geometry]") {
  const auto folder = std::filesystem::temp_directory_path() / "scree_test_motion_table";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return "type = 'table'\npath = '" + (folder / name).string() + "'\n";
  };
  const std::string axis = "point = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\n";
  const auto from_deck = moving<3>(
      "type = 'table'\ntimes = [0, 1, 3]\npositions = [[0, 0, 0], [1, 2, 3], [-1, 0, 0.5]]\n"
      "angles = [0, 2, -1]\n" +
      axis);
  const auto from_file = moving<3>(
      write("both.csv",
            "# recorded\ntime, x, y, z, angle\n0, 0, 0, 0, 0\n\n1, 1, 2, 3, 2\n3, -1, 0, 0.5, -1\n") +
      axis);
  for (const Real time : {-1.0, 0.4, 2.9, 7.0}) {
    CHECK(from_file.motion().pose(time).rotation == from_deck.motion().pose(time).rotation);
    CHECK(from_file.motion().pose(time).translation == from_deck.motion().pose(time).translation);
  }
  const auto turning = moving<3>(write("turn.csv", "time,angle\n0,0\n2,1\n") + axis);
  CHECK(turning.motion().velocity({{0.5, -0.2, 0.1}}, 1) == Vec<3>{});

  CHECK_THROWS_WITH(moving<2>(write("short.csv", "time,x,y\n0,0,0\n")), Catch::Contains("at least 2"));
  CHECK_THROWS_WITH(moving<2>(write("bad.csv", "time,x,y\n0,0,0\n1,zero,0\n")),
                    Catch::StartsWith("test.toml:7:") && Catch::Contains("bad.csv:3: 'zero'"));
  CHECK_THROWS_WITH(moving<2>(write("columns.csv", "t,x,y\n0,0,0\n1,0,0\n")), Catch::Contains("time,x,y"));
  CHECK_THROWS_WITH(moving<2>(write("fields.csv", "time,x,y\n0,0\n")), Catch::Contains("2 values"));
  CHECK_THROWS_WITH(moving<2>("type = 'table'\npath = 'nowhere.csv'"), Catch::Contains("nowhere.csv"));
  CHECK_THROWS_WITH(moving<2>(write("fine.csv", "time,x,y\n0,0,0\n1,0,0\n") + "times = [0, 1]"),
                    Catch::StartsWith("test.toml:8:"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("table: rows that do not match or do not increase, and angles without an axis, are refused",
          "[geometry]") {
  const std::string times = "type = 'table'\ntimes = [0, 1]\n";
  CHECK_THROWS_WITH(moving<2>(times + "positions = [[0, 0]]"),
                    Catch::StartsWith("test.toml:8:") && Catch::Contains("1 positions for 2 times"));
  CHECK_THROWS_WITH(moving<2>(times + "angles = [0, 1, 2]\ncenter = [0, 0]"),
                    Catch::Contains("3 angles for 2 times"));
  CHECK_THROWS_WITH(moving<2>(times), Catch::Contains("neither positions nor angles"));
  CHECK_THROWS_WITH(moving<2>(times + "angles = [0, 1]"), Catch::Contains("center"));
  CHECK_THROWS_WITH(moving<3>(times + "angles = [0, 1]\npoint = [0, 0, 0]"), Catch::Contains("axis"));
  CHECK_THROWS_WITH(moving<2>("type = 'table'\ntimes = [0, 0]\npositions = [[0, 0], [1, 1]]"),
                    Catch::StartsWith("test.toml:7:") && Catch::Contains("increase"));
}
