// The measure "repose": surfaces of known angle, and where there is none.
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"
#include "unit/analysis/scene.hpp"

using namespace scree;

namespace {

constexpr Real half = 26.565051177077990;  // atan(1/2) in degrees

template <int D>
Scene<D> under_gravity(const Places<D>& places) {
  Scene<D> scene(places);
  scene.state.gravity = unit_vector<D>(D - 1, -9.81);
  return scene;
}

}  // namespace

TEST_CASE("repose: the tops of a heap fall by 1/2 on both sides; bodies below them do not count",
          "[analysis]") {
  Places<2> places;
  for (int k = 0; k < 5; ++k)
    for (const Real side : {-1.0, 1.0})
      for (const Real below : {0.0, 0.7}) places.push_back({{5 + side * (k + 0.5), 6 - 0.5 * k - below}});
  auto scene = under_gravity(places);
  const std::string lines = "type = 'repose'\npoint = [5, 0]\nbin = 1";
  CHECK(scene.value(lines, "angle") == Approx(half));
  CHECK(scene.value(lines, "bins") == 3);  // the highest and the lowest lie outside of 0.1 to 0.9
  CHECK(std::isnan(scene.value("type = 'repose'\npoint = [5, 0]\nbin = 4", "angle")));
}

TEST_CASE("repose: a cone about a line that is not vertical in the axes but against gravity", "[analysis]") {
  Places<3> places;
  for (int k = 0; k < 6; ++k)
    for (int turn = 0; turn < 4; ++turn) {
      const Real angle = 0.3 + 1.7 * turn, s = k + 0.5;
      places.push_back({{8 - 0.5 * k, 4 + s * std::cos(angle), 5 + s * std::sin(angle)}});
    }
  auto scene = under_gravity(places);
  scene.state.gravity = {{-3, 0, 0}};
  CHECK(scene.value("type = 'repose'\npoint = [0, 4, 5]\nbin = 1", "angle") == Approx(half));
}

TEST_CASE("repose: a slope counts in the middle half, with its sign", "[analysis]") {
  Places<3> places;
  for (int k = 0; k < 8; ++k) places.push_back({{9 - k - 0.5, 1, k < 2 || k > 5 ? 0.0 : 0.5 * k}});
  auto scene = under_gravity(places);
  const std::string lines = "type = 'repose'\nkind = 'slope'\nbin = 1";
  CHECK(scene.value(lines, "angle") == Approx(-half));
  CHECK(scene.value(lines, "bins") == 4);
  CHECK_THROWS_WITH(scene.row(lines + "\naxis = 'z'"), Catch::Contains("horizontal"));
}

TEST_CASE("repose: without bodies there is no angle; without gravity no up", "[analysis]") {
  auto empty = under_gravity(Places<2>{});
  CHECK(std::isnan(empty.value("type = 'repose'", "angle")));
  CHECK(empty.value("type = 'repose'", "bins") == 0);
  Scene<2> weightless(Places<2>{{{1, 1}}});
  CHECK_THROWS_WITH(weightless.row("type = 'repose'"), Catch::Contains("needs gravity"));
}
