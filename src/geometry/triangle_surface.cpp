#include "geometry/triangle_surface.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/direction.hpp"

namespace scree {

namespace {

/// Nearest point of the segment between two corners. The order in which a triangle has them does not change a
/// bit of it: two triangles at an edge find the same foot.
struct SegmentFoot {
  Vec<3> point;
  int end;  // 0: at p, 1: at q, -1: between
};

SegmentFoot foot_on_segment(const Vec<3>& p, const Vec<3>& q, const Vec<3>& x) {
  const bool swapped = q.component < p.component;
  const Vec<3>&low = swapped ? q : p, &high = swapped ? p : q;
  const Vec<3> along = high - low;
  const Real t = dot(x - low, along);
  if (t <= 0) return {low, swapped ? 1 : 0};
  const Real squared = dot(along, along);
  if (t >= squared) return {high, swapped ? 0 : 1};
  return {low + (t / squared) * along, -1};
}

/// Six times the volume that a path spans with the edge p -> q: its sign says on which side of the edge the
/// path passes. Seen from the other triangle at the edge it is exactly the opposite.
Real passing_side(const Vec<3>& path, const Vec<3>& from, const Vec<3>& p, const Vec<3>& q) {
  const bool swapped = q.component < p.component;
  const Vec<3>&low = swapped ? q : p, &high = swapped ? p : q;
  const Real volume = dot(path, cross(low - from, high - from));
  return swapped ? -volume : volume;
}

bool comes_before(Real distance, int triangle, Real other_distance, int other) {
  return distance != other_distance ? distance < other_distance : triangle < other;
}

}  // namespace

TriangleSurface::TriangleSurface(TriangleMesh mesh, Real flat_angle, Real front)
    : mesh_(std::move(mesh)), front_(front), flat_cosine_(std::cos(flat_angle)) {
  std::vector<Box<3>> boxes;
  for (int t = 0; t < size(); ++t) {
    boxes.push_back(bounds(t));
    for (std::size_t k = 0; k < 3; ++k)
      for (int axis = 0; axis < 3; ++axis) extent_ = std::max(extent_, std::abs(corner(t, k)[axis]));
    const Vec<3> area = cross(corner(t, 1) - corner(t, 0), corner(t, 2) - corner(t, 0));
    normals_.push_back(direction(front_ * area, unit_vector<3>(2)).unit);
    std::array<float, 3>& inverse = inverse_lengths_.emplace_back();
    for (std::size_t k = 0; k < 3; ++k)
      inverse[k] = static_cast<float>(1 / norm(corner(t, k + 1) - corner(t, k)));
  }
  tree_ = BoxTree(boxes);
  find_neighbours();
  find_flat_neighbours();
  find_fronts();
  find_blunt();
}

Box<3> TriangleSurface::bounds(int triangle) const {
  Box<3> box = Box<3>::empty();
  for (std::size_t k = 0; k < 3; ++k) box.include(corner(triangle, k));
  return box;
}

void TriangleSurface::find_neighbours() {
  // Triangles at each vertex, ascending.
  std::vector<std::size_t> first(mesh_.vertices.size() + 1, 0);
  for (const auto& corners : mesh_.triangles)
    for (const int v : corners) ++first[static_cast<std::size_t>(v) + 1];
  for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
  std::vector<int> at_vertex(first.back());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (int t = 0; t < size(); ++t)
    for (const int v : mesh_.triangles[t]) at_vertex[next[v]++] = t;

  first_neighbour_.assign(1, 0);
  across_.resize(mesh_.triangles.size());
  for (int t = 0; t < size(); ++t) {
    const auto& corners = mesh_.triangles[t];
    const auto begin = static_cast<std::ptrdiff_t>(neighbours_.size());
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t v = corners[k];
      const int end = corners[(k + 1) % 3];
      int beyond = t, n_beyond = 0;
      for (std::size_t i = first[v]; i < first[v + 1]; ++i) {
        const int other = at_vertex[i];
        if (other == t) continue;
        neighbours_.push_back(other);
        if (std::ranges::find(mesh_.triangles[other], end) == mesh_.triangles[other].end()) continue;
        beyond = other;
        ++n_beyond;
      }
      across_[t][k] = n_beyond == 1 ? beyond : t;
    }
    std::sort(neighbours_.begin() + begin, neighbours_.end());
    neighbours_.erase(std::unique(neighbours_.begin() + begin, neighbours_.end()), neighbours_.end());
    first_neighbour_.push_back(neighbours_.size());
  }
  neighbours_.shrink_to_fit();
}

bool TriangleSurface::is_flat(int triangle, int other) const {
  return std::abs(dot(normal(triangle), normal(other))) >= flat_cosine_;
}

void TriangleSurface::find_flat_neighbours() {
  flat_tangent_.assign(mesh_.triangles.size(), 0);
  for (int t = 0; t < size(); ++t)
    for (const int other : neighbours(t)) {
      if (!is_flat(t, other)) continue;
      const Real sine = norm(cross(normal(t), normal(other)));
      const Real tangent = sine / std::sqrt(std::max(1 - sine * sine, 1e-30));
      float& largest = flat_tangent_[t];
      largest = std::max(largest, std::nextafter(static_cast<float>(tangent), HUGE_VALF));
    }
}

void TriangleSurface::find_fronts() {
  corner_fronts_.assign(mesh_.vertices.size(), Vec<3>{});
  for (int t = 0; t < size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec<3> p = corner(t, k + 1) - corner(t, k), q = corner(t, k + 2) - corner(t, k);
      const Real angle = std::atan2(norm(cross(p, q)), dot(p, q));
      corner_fronts_[mesh_.triangles[t][k]] += angle * normal(t);
    }
}

/// Let x be in the solid, its nearest foot on t, and w from there to x. The free space near the foot is where
/// u . w <= 0. If x were in front of t (w . n > 0), a line from t along n would leave that half-space, so it
/// would pass from the free space through some triangle at the foot, whose normal then has n_other . n < 0.
void TriangleSurface::find_blunt() {
  constexpr Real rounding = 1e-9;
  is_blunt_.assign(mesh_.triangles.size(), 1);
  for (int t = 0; t < size(); ++t)
    for (const int other : neighbours(t))
      if (dot(normal(t), normal(other)) < -rounding) is_blunt_[t] = 0;
}

Vec<3> TriangleSurface::front_at(int triangle, const TriangleFoot& foot) const {
  if (foot.corner >= 0) return corner_fronts_[mesh_.triangles[triangle][foot.corner]];
  if (foot.edge >= 0) return normal(triangle) + normal(across_[triangle][foot.edge]);
  return normal(triangle);
}

std::vector<std::array<Vec<3>, 2>> TriangleSurface::sharp_edges(bool of_sheet) const {
  std::vector<std::array<Vec<3>, 2>> edges;
  for (int t = 0; t < size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const int other = across_[t][k];
      if (other < t || (other > t && is_flat(t, other) && dot(normal(t), normal(other)) > 0)) continue;
      bool is_sharp = of_sheet;
      for (std::size_t c = 0; c < 3 && other != t; ++c)
        is_sharp = is_sharp || height(t, corner(other, c)) < -1e-9 * extent_;
      if (is_sharp) edges.push_back({corner(t, k), corner(t, k + 1)});
    }
  return edges;
}

TriangleSurface::Sides TriangleSurface::sides(int triangle, const Vec<3>& x) const {
  const Vec<3>& n = normal(triangle);
  // The height is exact to rounding even where x minus the foot has lost all its digits.
  Sides sides{height(triangle, x), {}};
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec<3>&p = corner(triangle, k), &q = corner(triangle, k + 1);
    sides.within[k] = front_ * dot(cross(n, q - p), x - p);
  }
  return sides;
}

TriangleFoot TriangleSurface::foot(int triangle, const Vec<3>& x, const Sides& sides) const {
  const Vec<3>& n = normal(triangle);
  TriangleFoot foot;
  foot.from_edges = HUGE_VAL;
  bool is_within = true;
  Real min = HUGE_VAL;
  for (std::size_t k = 0; k < 3; ++k) {
    const Real within = sides.within[k];
    if (within > 0) {
      foot.from_edges = std::min(foot.from_edges, within * static_cast<Real>(inverse_lengths_[triangle][k]));
      continue;
    }
    is_within = false;
    const SegmentFoot found = foot_on_segment(corner(triangle, k), corner(triangle, k + 1), x);
    const Vec<3> d = x - found.point;
    const Real squared = dot(d, d);
    if (squared >= min) continue;
    min = squared;
    foot.point = found.point;
    foot.corner = static_cast<std::int16_t>(
        found.end < 0 ? -1 : static_cast<int>((k + static_cast<std::size_t>(found.end)) % 3));
    foot.edge = static_cast<std::int16_t>(found.end < 0 ? static_cast<int>(k) : -1);
  }
  if (is_within) {
    const Real height = sides.height;
    foot.point = x - height * n;
    foot.away = height > 0 ? n : height < 0 ? -n : Vec<3>{};
    foot.distance = std::abs(height);
    return foot;
  }
  foot.from_edges = 0;
  const Direction<3> away = direction(x - foot.point, Vec<3>{});
  foot.away = away.unit;
  foot.distance = away.length;
  return foot;
}

Real TriangleSurface::at_least(int triangle, const Sides& sides) const {
  const std::array<float, 3>& inverse = inverse_lengths_[triangle];
  Real farthest = std::abs(sides.height);
  for (std::size_t k = 0; k < 3; ++k)
    farthest = std::max(farthest, -sides.within[k] * static_cast<Real>(inverse[k]));
  // Lengths of edges are floats.
  return farthest * (1 - 1e-6) - 1e-12 * extent_;
}

bool TriangleSurface::is_in_front(int triangle, const Vec<3>& x) const {
  return is_blunt_[triangle] != 0 && height(triangle, x) > 1e-6 * extent_;
}

bool TriangleSurface::answers(int triangle, const Vec<3>& x, const TriangleFoot& foot) const {
  const Real one_foot = 1e-6 * foot.distance + 1e-12 * extent_;
  const Real tangent = flat_tangent_[triangle];
  if (foot.from_edges > one_foot + tangent * foot.distance) return true;
  const auto comes_first = [&](int other) {
    const Sides of_other = sides(other, x);
    return at_least(other, of_other) <= foot.distance &&
           comes_before(this->foot(other, x, of_other).distance, other, foot.distance, triangle);
  };
  if (foot.edge >= 0) {
    // Beyond an edge most often: x is over the triangle there, so that is nearer. The rest only confirms it.
    const std::size_t k = foot.edge;
    const int other = across_[triangle][k];
    const auto inverse = static_cast<Real>(inverse_lengths_[triangle][k]);
    if (other != triangle &&
        over(other, corner(triangle, k), corner(triangle, k + 1), x) * inverse > one_foot)
      return false;
  }
  if (tangent > 0)
    for (const int other : neighbours(triangle))
      if (is_flat(triangle, other) && comes_first(other)) return false;
  if (foot.from_edges > one_foot) return true;
  return tree_.for_each_within(foot.point, one_foot, [&](int other) {
    return other == triangle || !comes_first(other) || this->foot(other, foot.point).distance > one_foot;
  });
}

Real TriangleSurface::over(int triangle, const Vec<3>& p, const Vec<3>& q, const Vec<3>& x) const {
  Real within = front_ * dot(cross(normal(triangle), q - p), x - p);
  for (std::size_t k = 0; k < 3; ++k)
    if (corner(triangle, k) == p && corner(triangle, k + 1) != q) within = -within;
  return within;
}

int TriangleSurface::nearest(const Vec<3>& x, TriangleFoot& foot, Real max) const {
  int first = -1;
  tree_.search_nearest(x, max, [&](int other, Real min) {
    const Sides of_other = sides(other, x);
    if (at_least(other, of_other) > min) return min;
    const TriangleFoot candidate = this->foot(other, x, of_other);
    if (candidate.distance > min ||
        (first >= 0 && !comes_before(candidate.distance, other, foot.distance, first)))
      return min;
    first = other;
    foot = candidate;
    return candidate.distance;
  });
  return first;
}

bool TriangleSurface::is_nearest(int triangle, const Vec<3>& x, const TriangleFoot& foot) const {
  TriangleFoot found;
  return nearest(x, found, foot.distance) == triangle;
}

bool TriangleSurface::passes(int triangle, const Vec<3>& from, const Vec<3>& at) const {
  const Real before = height(triangle, from);
  if (before == 0 || same_side(before, height(triangle, at))) return false;
  const Vec<3> path = at - from;
  bool any_left = false, any_right = false;
  for (std::size_t k = 0; k < 3; ++k) {
    const Real side = passing_side(path, from, corner(triangle, k), corner(triangle, k + 1));
    any_left = any_left || side > 0;
    any_right = any_right || side < 0;
  }
  return !(any_left && any_right);
}

int TriangleSurface::first_passed(int triangle, const Vec<3>& from, const Vec<3>& at) const {
  if (from == at) return -1;
  const Real length = norm(at - from) * (1 + 1e-12) + 1e-15 * extent_;
  int first = -1;
  Real earliest = HUGE_VAL;
  const auto consider = [&](int t) {
    if (std::abs(height(t, at)) > length || !passes(t, from, at)) return;
    const Real before = height(t, from);
    const Real when = before / (before - height(t, at));
    if (first >= 0 && !comes_before(when, t, earliest, first)) return;
    earliest = when;
    first = t;
  };
  consider(triangle);
  for (const int other : neighbours(triangle)) consider(other);
  return first;
}

TriangleFoot TriangleSurface::foot_beyond(int triangle, const Vec<3>& x) const {
  TriangleFoot nearest = foot(triangle, x);
  if (nearest.from_edges > 0) return nearest;
  for (const int other : neighbours(triangle)) {
    if (!is_flat(triangle, other)) continue;
    const TriangleFoot candidate = foot(other, x);
    if (candidate.distance < nearest.distance) nearest = candidate;
  }
  return nearest;
}

}  // namespace scree
