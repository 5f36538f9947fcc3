#include <catch2/catch.hpp>
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
};
const std::vector<std::string> motions_3d = {
    "type = 'translate'\nvelocity = [0.3, -1, 0.2]",
    "type = 'rotate'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\nrate = 1.7",
    "type = 'rotate'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\nrate = -1.7\nstart = 0.2\nstop = 0.7",
    "type = 'oscillate'\namplitude = [0.1, 0.2, -0.1]\nfrequency = 1.3\nphase = 0.4",
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

/// No point of a grid over the domain moves farther than travel says.
template <int D>
void check_travel(const std::string& keys) {
  INFO(keys);
  const Moving<D> moved = moving<D>(keys);
  const Box<D> domain{filled<D>(-1), filled<D>(2), {}};
  for (const auto& [from, to] : {std::pair{0.0, 0.1}, {0.25, 0.4}, {0.6, 1.0}, {0.1, 3.0}}) {
    const Real bound = moved.motion().travel(from, to, domain);
    Real farthest = 0;
    for (unsigned c = 0; c < Box<D>::n_corners; ++c)
      for (const Real inwards : {0.0, 0.3, 0.8}) {
        const Vec<D> x = domain.corner(c) * (1 - inwards) + filled<D>(0.5) * inwards;
        const Vec<D> own = moved.motion().pose(from).to_own(x);
        farthest = std::max(farthest, norm(moved.motion().pose(to).to_world(own) - x));
      }
    CHECK(farthest <= bound * (1 + 1e-12) + 1e-14);
    // The set asks only for where its obstacles are, never for more than the domain.
    CHECK(moved.obstacles.travel(from, to, domain) <= bound);
  }
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

TEST_CASE("motions: travel bounds the way of every point in the domain", "[geometry]") {
  for (const std::string& keys : motions_2d) check_travel<2>(keys);
  for (const std::string& keys : motions_3d) check_travel<3>(keys);
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
  CHECK(moved.motion().travel(0, 2, {}) == 2);
  CHECK_THROWS_WITH(moving<2>("type = 'translate'\nvelocity = [2, 0]\nstart = 1\nstop = 0.5"),
                    Catch::StartsWith("test.toml:9:"));
}

TEST_CASE("rotate: a quarter turn about (1, 0) takes (2, 0) to (1, 1); about z in 3D alike", "[geometry]") {
  const Real quarter = std::numbers::pi / 2;
  const auto in_2d = moving<2>("type = 'rotate'\ncenter = [1, 0]\nrate = 1");
  CHECK(is_close(in_2d.motion().pose(quarter).to_world({{2, 0}}), {{1, 1}}));
  const auto in_3d = moving<3>("type = 'rotate'\npoint = [1, 0, 7]\naxis = [0, 0, 5]\nrate = 1");
  CHECK(is_close(in_3d.motion().pose(quarter).to_world({{2, 0, 3}}), {{1, 1, 3}}));
  // The farthest corner of the box [0,3]x[0,4] from (1, 0) is (3, 4).
  CHECK(in_2d.motion().travel(0, 0.1, {{{0, 0}}, {{3, 4}}, {}}) == Approx(0.1 * std::sqrt(20.0)));
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
  CHECK(moved.motion().travel(0, 1, {}) == Approx(3));
}
