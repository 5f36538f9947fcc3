#include "geometry/convex/mass.hpp"

#include <algorithm>
#include <cmath>

namespace scree {
namespace {

/// Sums of simplices that have one corner at `origin`: their volume and first and second moments about it.
template <int D>
struct Moments {
  Real volume = 0;
  Vec<D> first;
  std::array<std::array<Real, D>, D> second{};

  /// A simplex with corners 0 and `corner`; `volume` may be negative.
  void add(const std::array<Vec<D>, D>& corner, Real simplex_volume) {
    Vec<D> sum;
    for (const Vec<D>& c : corner) sum += c;
    volume += simplex_volume;
    first += simplex_volume / (D + 1) * sum;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        Real squares = sum[i] * sum[j];
        for (const Vec<D>& c : corner) squares += c[i] * c[j];
        second[i][j] += simplex_volume / ((D + 1) * (D + 2)) * squares;
      }
  }
};

template <int D>
Vec<D> mean_of(const std::vector<Vec<D>>& points) {
  Vec<D> sum;
  for (const Vec<D>& point : points) sum += point;
  return 1 / static_cast<Real>(points.size()) * sum;
}

template <int D>
Moments<D> moments_about(const ConvexHull<D>& hull, const Vec<D>& origin) {
  const auto corner = [&](int i) { return hull.vertices[i] - origin; };
  Moments<D> moments;
  if constexpr (D == 2) {
    const int n = static_cast<int>(hull.vertices.size());
    for (int i = 0; i < n; ++i) {
      const Vec<2> a = corner(i), b = corner((i + 1) % n);
      moments.add({a, b}, 0.5 * (a[0] * b[1] - a[1] * b[0]));
    }
  } else {
    for (const std::vector<int>& face : hull.faces)
      for (std::size_t k = 1; k + 1 < face.size(); ++k) {
        const Vec<3> a = corner(face[0]), b = corner(face[k]), c = corner(face[k + 1]);
        moments.add({a, b, c}, dot(a, cross(b, c)) / 6);
      }
  }
  return moments;
}

}  // namespace

template <int D>
MassProperties<D> mass_properties(const ConvexHull<D>& hull) {
  const Vec<D> inside = mean_of(hull.vertices);
  const Moments<D> m = moments_about(hull, inside);
  MassProperties<D> mass;
  mass.volume = m.volume;
  const Vec<D> to_centre = 1 / m.volume * m.first;
  mass.centre = inside + to_centre;
  Real trace = 0;
  std::array<std::array<Real, D>, D> second = m.second;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) second[i][j] -= m.volume * to_centre[i] * to_centre[j];
  for (std::size_t i = 0; i < D; ++i) trace += second[i][i];
  if constexpr (D == 2) {
    mass.inertia[0] = trace;
  } else {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) mass.inertia[3 * i + j] = (i == j ? trace : 0) - second[i][j];
  }
  return mass;
}

PrincipalAxes principal_axes(const std::array<Real, 9>& inertia) {
  constexpr Real round_off = 1e-12;
  constexpr int max_sweeps = 30;
  std::array<Real, 9> a = inertia;
  std::array<Vec<3>, 3> axis{unit_vector<3>(0), unit_vector<3>(1), unit_vector<3>(2)};
  const Real size = std::max({a[0], a[4], a[8]});
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool is_diagonal = true;
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        const auto at = [&](int i, int j) -> Real& { return a[3 * i + j]; };
        // A rotation for less than round-off would turn the axes of a body with equal moments at random.
        if (std::abs(at(p, q)) <= round_off * size) continue;
        is_diagonal = false;
        const Real theta = (at(q, q) - at(p, p)) / (2 * at(p, q));
        const Real t = std::copysign(1, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const Real c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const Real kp = at(k, p), kq = at(k, q);
          at(k, p) = c * kp - s * kq;
          at(k, q) = s * kp + c * kq;
        }
        for (int k = 0; k < 3; ++k) {
          const Real pk = at(p, k), qk = at(q, k);
          at(p, k) = c * pk - s * qk;
          at(q, k) = s * pk + c * qk;
        }
        const Vec<3> old_p = axis[p], old_q = axis[q];
        axis[p] = c * old_p - s * old_q;
        axis[q] = s * old_p + c * old_q;
      }
    if (is_diagonal) break;
  }
  return {.moments = {{a[0], a[4], a[8]}}, .axes = axis};
}

template MassProperties<2> mass_properties(const ConvexHull<2>&);
template MassProperties<3> mass_properties(const ConvexHull<3>&);

}  // namespace scree
