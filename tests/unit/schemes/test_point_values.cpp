// What contact points remember by their names, and what becomes of it when points have other names.
#include <catch2/catch.hpp>
#include <vector>

#include "schemes/common/point_values.hpp"

namespace scree {

namespace {

std::vector<Vec<3>> read(const PointValues<3>& kept, const std::vector<std::uint32_t>& names) {
  std::vector<Vec<3>> values(names.size(), Vec<3>{{9, 9, 9}});
  kept.read([&](std::size_t k) { return names[k]; }, values);
  return values;
}

}  // namespace

TEST_CASE("point values go by name, and those of points that are gone to new ones", "[convex][unit]") {
  const Vec<3> x{{1, 2, 3}}, y{{0, 0, 4}}, z{{6, 0, 0}}, none{};
  PointValues<3> kept;
  CHECK_FALSE(kept.any());
  kept.add(7, x);
  kept.add(5, none);  // not kept
  kept.add(9, y);
  kept.add(4, z);
  CHECK(kept.any());

  CHECK(read(kept, {4, 9, 7}) == std::vector{z, y, x});
  CHECK(read(kept, {9, 1, 7, 2}) == std::vector{y, 0.5 * z, x, 0.5 * z});
  CHECK(read(kept, {1}) == std::vector{x + y + z});
  CHECK(read(kept, {7, 4}) == std::vector{x + 0.5 * y, z + 0.5 * y});
  CHECK(read(PointValues<3>{}, {7, 4}) == std::vector{none, none});
}

TEST_CASE("point values keep as many points as a pair can have", "[convex][unit]") {
  PointValues<2> kept;
  for (const std::uint32_t name : {1U, 2U, 3U}) kept.add(name, Vec<2>{{Real(name), 0}});
  CHECK(kept.point[0].feature == 1);
  CHECK(kept.point[1].feature == 2);
}

}  // namespace scree
