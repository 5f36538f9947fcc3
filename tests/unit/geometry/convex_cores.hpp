#pragma once
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "geometry/convex/core.hpp"

namespace scree {

template <int D>
std::array<Vec<D>, D> axes_of(RandomStream& random) {
  if constexpr (D == 2) {
    const Real angle = random.uniform(0, 2 * std::numbers::pi);
    return {{{{std::cos(angle), std::sin(angle)}}, {{-std::sin(angle), std::cos(angle)}}}};
  } else {
    Vec<3> x, y;
    for (int k = 0; k < 3; ++k) x[k] = random.uniform(-1, 1), y[k] = random.uniform(-1, 1);
    x *= 1 / norm(x);
    for (int twice = 0; twice < 2; ++twice) {
      y -= dot(x, y) * x;
      y *= 1 / norm(y);
    }
    return {x, y, cross(x, y)};
  }
}

template <int D>
std::array<Vec<D>, D> world() {
  std::array<Vec<D>, D> axes;
  for (int k = 0; k < D; ++k) axes[k] = unit_vector<D>(k);
  return axes;
}

template <int D>
ConvexHull<D> corners_of_box(const Vec<D>& half) {
  std::vector<Vec<D>> corners;
  for (int i = 0; i < (1 << D); ++i) {
    Vec<D> corner;
    for (int k = 0; k < D; ++k) corner[k] = (i >> k & 1 ? 1 : -1) * half[k];
    corners.push_back(corner);
  }
  return hull_of<D>(corners);
}

template <int D>
ConvexHull<D> random_hull(RandomStream& random, int n) {
  std::vector<Vec<D>> points;
  for (int i = 0; i < n; ++i) {
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = random.uniform(-1, 1);
    points.push_back(x);
  }
  return hull_of<D>(points);
}

template <int D>
std::vector<ConvexCore<D>> cores() {
  RandomStream random(17, 0, 1);
  std::vector<ConvexCore<D>> all;
  all.emplace_back(ConvexHull<D>{{Vec<D>{}}, {}});
  all.emplace_back(ConvexHull<D>{{unit_vector<D>(0, -0.8), unit_vector<D>(0, 0.8)}, {}});
  all.emplace_back(corners_of_box<D>(filled<D>(0.6)));
  Vec<D> card = filled<D>(1);
  card[0] = 0.01;
  card[1] = 0.5;
  all.emplace_back(corners_of_box<D>(card));
  for (const int n : {D + 1, 7, 30}) all.emplace_back(random_hull<D>(random, n));
  return all;
}

/// Whether x is in the core, but for round-off.
template <int D>
bool holds(const PosedCore<D>& body, const Vec<D>& x, Real round_off) {
  for (int f = 0; f < body.core.n_faces(); ++f) {
    const auto corner = body.vertex(body.core.corners(f)[0]);
    if (dot(body.normal(f), x - corner) > round_off) return false;
  }
  if (body.core.n_faces() > 0) return true;
  const Vec<D> first = body.vertex(0), last = body.vertex(static_cast<int>(body.core.vertices().size()) - 1);
  return norm(x - first) + norm(last - x) - norm(last - first) <= round_off;
}

}  // namespace scree
