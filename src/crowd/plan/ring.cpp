#include "crowd/plan/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/edge.hpp"

namespace scree {

Ring read_ring(Section& section, std::string_view key, bool required, std::string_view doc) {
  std::vector<std::vector<Real>> list;
  section.points(key, list, 2, {.unit = Unit::length, .required = required, .doc = doc});
  if (!section.reading() || list.empty()) {
    if (section.reading() && section.has(key)) section.fail(key, "the polygon has no corners");
    return {};
  }
  Ring ring = ring_of(list);
  // Many programs write the first corner again at the end.
  if (ring.size() > 1 && ring.front() == ring.back()) ring.pop_back();
  const std::size_t n = ring.size();
  if (n < 3) section.fail(key, fmt::format("a polygon needs at least 3 corners, not {}", n));
  for (std::size_t i = 0; i < n; ++i)
    if (ring[i] == ring[(i + 1) % n])
      section.fail(key, fmt::format("corners {} and {} are the same", i + 1, (i + 1) % n + 1));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;  // neighbours
      if (segments_touch(ring[i], ring[i + 1], ring[j], ring[(j + 1) % n]))
        section.fail(key, fmt::format("the polygon meets itself: its edge from ({:g}, {:g}) to ({:g}, {:g}) "
                                      "touches that from ({:g}, {:g}) to ({:g}, {:g})",
                                      ring[i][0], ring[i][1], ring[i + 1][0], ring[i + 1][1], ring[j][0],
                                      ring[j][1], ring[(j + 1) % n][0], ring[(j + 1) % n][1]));
    }
  if (signed_area(ring) == 0) section.fail(key, "the polygon has no area");
  turn_counter_clockwise(ring);
  return ring;
}

std::array<Vec<2>, 2> line_of(const Section& section, std::string_view key,
                              const std::vector<std::vector<Real>>& ends) {
  if (ends.size() != 2) section.fail(key, fmt::format("a line has 2 ends, not {}", ends.size()));
  const std::array<Vec<2>, 2> line{Vec<2>{{ends[0][0], ends[0][1]}}, Vec<2>{{ends[1][0], ends[1][1]}}};
  if (line[0] == line[1]) section.fail(key, "the two ends are the same");
  return line;
}

Ring ring_of(const std::vector<std::vector<Real>>& corners) {
  Ring ring;
  for (const std::vector<Real>& corner : corners) ring.push_back({{corner[0], corner[1]}});
  return ring;
}

bool ring_contains(const Ring& ring, const Vec<2>& x) {
  bool inside = false;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec<2>& a = ring[i];
    const Vec<2>& b = ring[i + 1 < ring.size() ? i + 1 : 0];
    if ((a[1] <= x[1]) == (b[1] <= x[1])) continue;
    // From the lower end up, so that two rings agree about the side that they share.
    const Vec<2>& low = a[1] <= b[1] ? a : b;
    const Vec<2>& high = a[1] <= b[1] ? b : a;
    const Real area = (high[0] - low[0]) * (x[1] - low[1]) - (high[1] - low[1]) * (x[0] - low[0]);
    inside ^= area > 0 || (area == 0 && high[0] > low[0]);
  }
  return inside;
}

Real signed_area(const Ring& ring) {
  Real twice = 0;  // from the first corner, so that a small ring far from the origin keeps its digits
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec<2> a = ring[i] - ring[0];
    const Vec<2> b = ring[(i + 1) % ring.size()] - ring[0];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return twice / 2;
}

void turn_counter_clockwise(Ring& ring) {
  if (signed_area(ring) < 0) std::ranges::reverse(ring);
}

Box<2> bounds_of(const Ring& ring) {
  Box<2> box = Box<2>::empty();
  for (const Vec<2>& corner : ring) box.include(corner);
  return box;
}

Ring clipped(const Ring& ring, const Box<2>& box) {
  // Sutherland and Hodgman: cut by one side of the box after the other.
  Ring rest = ring;
  for (int side = 0; side < 4 && !rest.empty(); ++side) {
    const int axis = side / 2;
    const Real sign = side % 2 == 0 ? 1 : -1;
    const Real at = side % 2 == 0 ? box.lower[axis] : box.upper[axis];
    const auto depth = [&](const Vec<2>& x) { return sign * (x[axis] - at); };
    Ring cut;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const Vec<2>& a = rest[i];
      const Vec<2>& b = rest[(i + 1) % rest.size()];
      if (depth(a) >= 0) cut.push_back(a);
      if ((depth(a) > 0 && depth(b) < 0) || (depth(a) < 0 && depth(b) > 0)) {
        Vec<2> x = a + depth(a) / (depth(a) - depth(b)) * (b - a);
        x[axis] = at;
        cut.push_back(x);
      }
    }
    rest = std::move(cut);
  }
  return rest;
}

Ring polygon_of_disk(const Vec<2>& centre, Real radius, int n_corners) {
  const Real angle = 2 * std::numbers::pi / n_corners;
  const Real reach = radius * std::sqrt(angle / std::sin(angle));  // n sin(angle) reach^2 / 2 = pi radius^2
  Ring ring;
  for (int i = 0; i < n_corners; ++i)
    ring.push_back(centre + reach * Vec<2>{{std::cos(i * angle), std::sin(i * angle)}});
  return ring;
}

}  // namespace scree
