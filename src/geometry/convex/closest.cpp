#include "geometry/convex/closest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scree {
namespace {

/// A corner of the difference a - b of two cores.
template <int D>
struct Difference {
  Vec<D> w;
  int a = 0, b = 0;
};

/// Up to D + 1 corners, and weights of the point of theirs that is closest to 0.
template <int D>
struct Simplex {
  std::array<Difference<D>, D + 1> corner;
  std::array<Real, D + 1> weight{};
  int n = 0;

  Vec<D> closest() const {
    Vec<D> sum;
    for (int i = 0; i < n; ++i) sum += weight[static_cast<std::size_t>(i)] * at(i).w;
    return sum;
  }
  const Difference<D>& at(int i) const { return corner[static_cast<std::size_t>(i)]; }
  bool has(const Difference<D>& other) const {
    for (int i = 0; i < n; ++i)
      if (at(i).a == other.a && at(i).b == other.b) return true;
    return false;
  }
  void add(const Difference<D>& next) { corner[static_cast<std::size_t>(n++)] = next; }
};

template <int D>
Simplex<D> point(const Difference<D>& p) {
  Simplex<D> s;
  s.add(p);
  s.weight[0] = 1;
  return s;
}

/// The part of the segment pq that is closest to 0.
template <int D>
Simplex<D> closest_on_segment(const Difference<D>& p, const Difference<D>& q) {
  const Vec<D> along = q.w - p.w;
  const Real share = -dot(p.w, along), whole = dot(along, along);
  if (!(share > 0)) return point(p);
  if (share >= whole) return point(q);
  Simplex<D> s;
  s.add(p);
  s.add(q);
  s.weight[1] = share / whole;
  s.weight[0] = 1 - s.weight[1];
  return s;
}

template <int D>
const Simplex<D>& nearer(const Simplex<D>& s, const Simplex<D>& t) {
  const Vec<D> x = s.closest(), y = t.closest();
  return dot(y, y) < dot(x, x) ? t : s;
}

/// Twice the signed areas that 0 makes with two corners of a triangle in the plane, or above it as seen along
/// its normal.
template <int D>
Simplex<D> closest_on_triangle(const Difference<D>& p, const Difference<D>& q, const Difference<D>& r) {
  std::array<Real, 3> area;
  if constexpr (D == 2) {
    const auto twice = [](const Vec<2>& x, const Vec<2>& y) { return x[0] * y[1] - x[1] * y[0]; };
    const Real whole = twice(q.w - p.w, r.w - p.w);
    area = {whole * twice(q.w, r.w), whole * twice(r.w, p.w), whole * twice(p.w, q.w)};
  } else {
    const Vec<3> normal = cross(q.w - p.w, r.w - p.w);
    area = {dot(cross(q.w, r.w), normal), dot(cross(r.w, p.w), normal), dot(cross(p.w, q.w), normal)};
  }
  const Real whole = area[0] + area[1] + area[2];
  if (area[0] > 0 && area[1] > 0 && area[2] > 0 && whole > 0) {
    Simplex<D> s;
    s.add(p);
    s.add(q);
    s.add(r);
    for (std::size_t k = 0; k < 3; ++k) s.weight[k] = area[k] / whole;
    return s;
  }
  return nearer(nearer(closest_on_segment(p, q), closest_on_segment(q, r)), closest_on_segment(r, p));
}

Simplex<3> closest_on_tetrahedron(const Simplex<3>& given) {
  const auto volume = [](const Vec<3>& x, const Vec<3>& y, const Vec<3>& z) { return dot(x, cross(y, z)); };
  const Difference<3>&p = given.at(0), &q = given.at(1), &r = given.at(2), &s = given.at(3);
  const Real whole = volume(q.w - p.w, r.w - p.w, s.w - p.w);
  const std::array<Real, 4> part{whole * volume(q.w, r.w, s.w), -whole * volume(p.w, r.w, s.w),
                                 whole * volume(p.w, q.w, s.w), -whole * volume(p.w, q.w, r.w)};
  if (part[0] > 0 && part[1] > 0 && part[2] > 0 && part[3] > 0) {
    Simplex<3> inside = given;
    const Real sum = part[0] + part[1] + part[2] + part[3];
    for (std::size_t k = 0; k < 4; ++k) inside.weight[k] = part[k] / sum;
    return inside;
  }
  // The new corner, the last one, is part of the answer but for round-off.
  Simplex<3> best = closest_on_triangle(p, q, s);
  best = nearer(best, closest_on_triangle(q, r, s));
  best = nearer(best, closest_on_triangle(r, p, s));
  return nearer(best, closest_on_triangle(p, q, r));
}

template <int D>
Simplex<D> closest_on(const Simplex<D>& s) {
  if (s.n == 1) return point(s.at(0));
  if (s.n == 2) return closest_on_segment(s.at(0), s.at(1));
  if constexpr (D == 2) return closest_on_triangle(s.at(0), s.at(1), s.at(2));
  if (s.n == 3) return closest_on_triangle(s.at(0), s.at(1), s.at(2));
  if constexpr (D == 3) return closest_on_tetrahedron(s);
}

/// Two cores, and what is asked of them all the time.
template <int D>
class Pair {
 public:
  Pair(const PosedCore<D>& a, const PosedCore<D>& b) : a_(a), b_(b) {}

  Difference<D> support(const Vec<D>& direction) const {
    const int i = a_.support(direction), j = b_.support(-direction);
    return {a_.vertex(i) - b_.vertex(j), i, j};
  }
  /// How far b is beyond a along the unit vector n.
  Real separation(const Vec<D>& n) const { return -dot(support(n).w, n); }

  ClosestPoints<D> search(Real reach) const;
  /// Puts the exact normal of what the search ended at, if there is one, in place of the one found.
  void finish(const Simplex<D>& end, ClosestPoints<D>& found) const;
  ClosestPoints<D> overlap() const;

 private:
  /// Rather than along `found.normal`, along n if that separates no less.
  bool take_if_equal(const Vec<D>& n, ClosestPoints<D>& found) const {
    constexpr Real round_off = 1e-12;
    const Real distance = separation(n);
    if (distance < found.distance - round_off * (found.distance + a_.pose.size + b_.pose.size)) return false;
    found.normal = n;
    found.distance = distance;
    return true;
  }
  bool take_face(const PosedCore<D>& of, Real sign, int corner, ClosestPoints<D>& found) const {
    constexpr Real near = 1 - 1e-8;  // cosine; the search knows the normal to about 1e-8
    for (const int f : of.core.faces_of_vertex(corner)) {
      const Vec<D> n = sign * of.normal(f);
      if (dot(n, found.normal) > near && take_if_equal(n, found)) return true;
    }
    return false;
  }

  const PosedCore<D>&a_, &b_;
};

template <int D>
ClosestPoints<D> Pair<D>::search(Real reach) const {
  constexpr int most_rounds = 64;
  constexpr Real round_off = 1e-14, touching = 1e-12;
  const Real size = a_.pose.size + b_.pose.size;
  ClosestPoints<D> found;
  Vec<D> v = -b_.pose.centre;
  if (dot(v, v) == 0) v = unit_vector<D>(0);
  Simplex<D> simplex;
  while (found.rounds < most_rounds) {
    ++found.rounds;
    const Difference<D> next = support(-v);
    const Real squared = dot(v, v), along = dot(v, next.w);
    // All of a - b lies beyond this along v.
    if (along > 0 && along * along > reach * reach * squared) return found;
    if (simplex.n > 0 && (squared - along <= round_off * squared || simplex.has(next))) break;
    Simplex<D> wider = simplex;
    wider.add(next);
    wider = closest_on(wider);
    if (wider.n == D + 1) return overlap();
    const Vec<D> closer = wider.closest();
    // Round-off can lead in circles where nothing is to be gained.
    if (simplex.n > 0 && dot(closer, closer) >= squared) break;
    simplex = wider;
    v = closer;
    if (dot(v, v) <= touching * touching * size * size) return overlap();
  }
  found.meeting = Meeting::near;
  found.distance = norm(v);
  found.normal = -1 / found.distance * v;
  for (int i = 0; i < simplex.n; ++i) {
    found.on_a += simplex.weight[static_cast<std::size_t>(i)] * a_.vertex(simplex.at(i).a);
    found.on_b += simplex.weight[static_cast<std::size_t>(i)] * b_.vertex(simplex.at(i).b);
  }
  finish(simplex, found);
  if (found.distance > reach) found.meeting = Meeting::apart;
  return found;
}

template <int D>
void Pair<D>::finish(const Simplex<D>& end, ClosestPoints<D>& found) const {
  if (end.n == 1) return;  // two corners: their difference
  if (take_face(a_, 1, end.at(0).a, found) || take_face(b_, -1, end.at(0).b, found)) return;
  // The part of a - b that is closest to 0 is an edge or a triangle, and the normal is normal to it.
  const Vec<D> edge = end.at(1).w - end.at(0).w;
  Vec<D> n = found.normal - dot(found.normal, edge) / dot(edge, edge) * edge;
  if constexpr (D == 3) {
    if (end.n == 3) {
      const Vec<3> other = end.at(2).w - end.at(0).w;
      const Vec<3> product = cross(edge, other);
      constexpr Real thin = 1e-7;
      if (norm(product) > thin * norm(edge) * norm(other))
        n = (dot(product, found.normal) < 0 ? -1 : 1) * product;
    }
  }
  take_if_equal(1 / norm(n) * n, found);
}

template <int D>
ClosestPoints<D> Pair<D>::overlap() const {
  ClosestPoints<D> found;
  found.meeting = Meeting::overlap;
  found.distance = -HUGE_VAL;
  const auto try_axis = [&](const Vec<D>& n) {
    const Real distance = separation(n);
    if (distance <= found.distance) return;
    found.distance = distance;
    found.normal = n;
  };
  for (int f = 0; f < a_.core.n_faces(); ++f) try_axis(a_.normal(f));
  for (int f = 0; f < b_.core.n_faces(); ++f) try_axis(-b_.normal(f));
  if constexpr (D == 3) {
    constexpr Real parallel = 1e-7;
    for (const Vec<3>& edge_a : a_.core.edge_directions())
      for (const Vec<3>& edge_b : b_.core.edge_directions()) {
        const Vec<3> product = cross(a_.pose.direction(edge_a), b_.pose.direction(edge_b));
        const Real length = norm(product);
        if (length <= parallel) continue;
        try_axis(1 / length * product);
        try_axis(-1 / length * product);
      }
  }
  // Points and segments that meet each other have no axis of their own but these.
  if (found.distance == -HUGE_VAL) {
    const Real apart = norm(b_.pose.centre);
    try_axis(apart > 0 ? 1 / apart * b_.pose.centre : unit_vector<D>(0));
  }
  return found;
}

}  // namespace

template <int D>
ClosestPoints<D> closest_points(const PosedCore<D>& a, const PosedCore<D>& b, Real reach) {
  return Pair<D>(a, b).search(reach);
}

template ClosestPoints<2> closest_points(const PosedCore<2>&, const PosedCore<2>&, Real);
template ClosestPoints<3> closest_points(const PosedCore<3>&, const PosedCore<3>&, Real);

}  // namespace scree
