#include "geometry/convex/features.hpp"

#include <algorithm>
#include <cmath>

namespace scree {
namespace {

/// A core in the world, and which corners are within the slack along its direction to the other.
template <int D>
struct Placed {
  const PosedCore<D>& body;
  std::vector<Vec<D>> corner;
  std::vector<char> is_near;

  Placed(const PosedCore<D>& of, const Vec<D>& direction, Real slack) : body(of) {
    const int n = static_cast<int>(of.core.vertices().size());
    Real max = -HUGE_VAL;
    std::vector<Real> along;
    for (int i = 0; i < n; ++i) {
      corner.push_back(of.vertex(i));
      along.push_back(dot(direction, corner.back()));
      max = std::max(max, along.back());
    }
    for (const Real at : along) is_near.push_back(at >= max - slack);
  }
  const Vec<D>& at(int i) const { return corner[i]; }
  bool near(int i) const { return is_near[i] != 0; }
};

/// Whether the point x of a face's plane is between its sides.
bool is_between_sides(const Placed<3>& of, int face, const Vec<3>& x) {
  const Vec<3> normal = of.body.normal(face);
  const auto corners = of.body.core.corners(face);
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const Vec<3>&from = of.at(corners[k]), &to = of.at(corners[(k + 1) % corners.size()]);
    if (dot(cross(to - from, normal), x - from) > 0) return false;
  }
  return true;
}

template <int D>
class Comparison {
 public:
  Comparison(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n, Real slack)
      : a_(a, n, slack), b_(b, -n, slack) {}

  ClosestFeatures<D> run() {
    for (int i = 0; i < static_cast<int>(a_.corner.size()); ++i) {
      if (!a_.near(i)) continue;
      for (int j = 0; j < static_cast<int>(b_.corner.size()); ++j)
        if (b_.near(j)) take({i}, {j}, a_.at(i), b_.at(j));
      for (const auto& edge : b_.body.core.edges())
        if (b_.near(edge[0]) || b_.near(edge[1]))
          take({i}, {edge[0], edge[1]}, a_.at(i), closest_on(b_, edge, a_.at(i)));
    }
    for (const auto& edge : a_.body.core.edges()) {
      if (!a_.near(edge[0]) && !a_.near(edge[1])) continue;
      for (int j = 0; j < static_cast<int>(b_.corner.size()); ++j)
        if (b_.near(j)) take({edge[0], edge[1]}, {j}, closest_on(a_, edge, b_.at(j)), b_.at(j));
      if constexpr (D == 3)
        for (const auto& other : b_.body.core.edges())
          if (b_.near(other[0]) || b_.near(other[1])) cross_edges(edge, other);
    }
    if constexpr (D == 3) {
      meet_faces(a_, b_, [&](int face, int corner, const Vec<3>& foot) {
        take({a_.body.core.corners(face)[0], -1, face}, {corner}, foot, b_.at(corner));
      });
      meet_faces(b_, a_, [&](int face, int corner, const Vec<3>& foot) {
        take({corner}, {b_.body.core.corners(face)[0], -1, face}, a_.at(corner), foot);
      });
    }
    best_.distance = std::sqrt(squared_);
    return best_;
  }

 private:
  void take(const CoreFeature& of_a, const CoreFeature& of_b, const Vec<D>& on_a, const Vec<D>& on_b) {
    const Vec<D> between = on_b - on_a;
    const Real squared = dot(between, between);
    if (squared >= squared_) return;
    squared_ = squared;
    best_ = {of_a, of_b, on_a, on_b, 0};
  }
  static Vec<D> closest_on(const Placed<D>& of, const std::array<int, 2>& edge, const Vec<D>& x) {
    const Vec<D> from = of.at(edge[0]), along = of.at(edge[1]) - from;
    return from + std::clamp(dot(x - from, along) / dot(along, along), 0.0, 1.0) * along;
  }
  void cross_edges(const std::array<int, 2>& edge, const std::array<int, 2>& other) {
    const Vec<D> p = a_.at(edge[0]), q = b_.at(other[0]), u = a_.at(edge[1]) - p, v = b_.at(other[1]) - q;
    const Vec<D> normal = cross(u, v);
    const Real squared = dot(normal, normal);
    if (!(squared > 0)) return;
    const Real s = dot(cross(q - p, v), normal) / squared, t = dot(cross(q - p, u), normal) / squared;
    if (s > 0 && s < 1 && t > 0 && t < 1)
      take({edge[0], edge[1]}, {other[0], other[1]}, p + s * u, q + t * v);
  }
  template <class Take>
  static void meet_faces(const Placed<D>& of, const Placed<D>& other, const Take& found) {
    for (int face = 0; face < of.body.core.n_faces(); ++face) {
      const auto corners = of.body.core.corners(face);
      if (std::ranges::none_of(corners, [&](int i) { return of.near(i); })) continue;
      const Vec<D> normal = of.body.normal(face);
      for (int i = 0; i < static_cast<int>(other.corner.size()); ++i) {
        if (!other.near(i)) continue;
        const Real above = dot(normal, other.at(i) - of.at(corners[0]));
        const Vec<D> foot = other.at(i) - above * normal;
        if (above > 0 && is_between_sides(of, face, foot)) found(face, i, foot);
      }
    }
  }

  Placed<D> a_, b_;
  ClosestFeatures<D> best_;
  Real squared_ = HUGE_VAL;
};

}  // namespace

template <int D>
ClosestFeatures<D> compare_features(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n,
                                    Real slack) {
  return Comparison<D>(a, b, n, slack).run();
}

template ClosestFeatures<2> compare_features(const PosedCore<2>&, const PosedCore<2>&, const Vec<2>&, Real);
template ClosestFeatures<3> compare_features(const PosedCore<3>&, const PosedCore<3>&, const Vec<3>&, Real);

}  // namespace scree
