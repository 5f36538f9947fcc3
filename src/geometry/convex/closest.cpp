#include "geometry/convex/closest.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/convex/features.hpp"
#include "geometry/convex/simplex.hpp"

namespace scree {
namespace {

constexpr Real contact_tolerance = 1e-12;  // cores closer than this many sizes have a common point

/// Two cores, and what is asked of them all the time.
template <int D>
class Pair {
 public:
  Pair(const PosedCore<D>& a, const PosedCore<D>& b)
      : a_(a), b_(b), size_(a.pose.size + b.pose.size), offset_(b.pose.centre) {}

  ClosestPoints<D> search(Real reach) const;

 private:
  Difference<D> support(const Vec<D>& direction) const {
    const int i = a_.support(direction), j = b_.support(-direction);
    return {a_.vertex(i) - b_.vertex(j), i, j};
  }
  /// How far b is beyond a along the unit vector n.
  Real separation(const Vec<D>& n) const { return -dot(support(n).w, n); }
  /// Bounds of a distance that differ by no more than this are the same number.
  Real round_off(Real distance) const { return 1e-12 * (distance + size_); }

  bool take_face(const PosedCore<D>& of, Real sign, int corner, ClosestPoints<D>& found) const;
  Vec<D> normal_between(const CoreFeature& of_a, const CoreFeature& of_b,
                        const ClosestPoints<D>& found) const;
  void finish(const Simplex<D>& end, ClosestPoints<D>& found) const;
  void compare(const Vec<D>& n, Real slack, ClosestPoints<D>& found) const;
  void turn_to_best(const ClosestFeatures<D>& best, ClosestPoints<D>& found) const;
  void overlap(Real bound, ClosestPoints<D>& found) const;
  void points_of_overlap(ClosestPoints<D>& found) const;
  template <class Try>
  void try_axes(const Try& try_axis) const;

  const PosedCore<D>&a_, &b_;
  const Real size_;
  const Vec<D> offset_;
};

/// An edge that the corners of one core in a simplex lie on, or their one corner. Three corners are no edge.
template <int D, class Corner>
CoreFeature feature_of(const Simplex<D>& simplex, const Corner& corner_of) {
  CoreFeature feature{corner_of(simplex[0])};
  for (int i = 1; i < simplex.size(); ++i) {
    const int corner = corner_of(simplex[i]);
    if (corner != feature.corner) feature.other = corner;
  }
  return feature;
}

template <int D>
ClosestPoints<D> Pair<D>::search(Real reach) const {
  constexpr int max_rounds = 64;
  constexpr Real no_gain = 1e-14;
  ClosestPoints<D> found;
  Vec<D> v = -offset_;
  if (dot(v, v) == 0) v = unit_vector<D>(0);
  Real squared = dot(v, v);
  Simplex<D> simplex;
  while (found.rounds < max_rounds) {
    ++found.rounds;
    const Difference<D> next = support(-v);
    const Real along = dot(v, next.w);
    // All of a - b lies beyond this along v.
    if (along > 0 && along * along > reach * reach * squared) {
      found.normal = -1 / std::sqrt(squared) * v;
      return found;
    }
    if (simplex.size() > 0 && (squared - along <= no_gain * squared || simplex.has(next))) break;
    Simplex<D> wider = simplex;
    if (!wider.add(next)) {
      overlap(simplex.size() > 0 ? std::sqrt(squared) : HUGE_VAL, found);
      break;
    }
    const Vec<D> closer = wider.closest();
    // Round-off can lead in circles where nothing is to be gained.
    if (simplex.size() > 0 && dot(closer, closer) >= squared) break;
    simplex = wider;
    v = closer;
    squared = dot(v, v);
    if (squared <= contact_tolerance * contact_tolerance * size_ * size_) {
      overlap(HUGE_VAL, found);
      break;
    }
  }
  if (found.state == SeparationState::apart) {
    found.state = SeparationState::near;
    found.distance = std::sqrt(squared);
    found.normal = -1 / found.distance * v;
    for (int i = 0; i < simplex.size(); ++i) {
      found.on_a += simplex.weight(i) * a_.vertex(simplex[i].a);
      found.on_b += simplex.weight(i) * b_.vertex(simplex[i].b);
    }
    finish(simplex, found);
  }
  if (found.distance > reach) found.state = SeparationState::apart;
  return found;
}

/// Takes the normal of a face at `corner` that separates the cores no less than the points found do.
template <int D>
bool Pair<D>::take_face(const PosedCore<D>& of, Real sign, int corner, ClosestPoints<D>& found) const {
  constexpr Real near = 1 - 1e-8;  // cosine
  for (const int f : of.core.faces_of_vertex(corner)) {
    const Vec<D> n = sign * of.normal(f);
    if (!(dot(n, found.normal) > near)) continue;
    const Real distance = separation(n);
    if (distance < found.distance - round_off(found.distance)) continue;
    found.normal = n;
    found.distance = distance;
    return true;
  }
  return false;
}

/// The normal of two features without faces, in closed form: across the edges, or the difference of the
/// points.
template <int D>
Vec<D> Pair<D>::normal_between(const CoreFeature& of_a, const CoreFeature& of_b,
                               const ClosestPoints<D>& found) const {
  const bool edge_a = of_a.other >= 0, edge_b = of_b.other >= 0;
  if (!edge_a && !edge_b) return found.normal;
  const Vec<D> u = edge_a ? a_.vertex(of_a.other) - a_.vertex(of_a.corner)
                          : b_.vertex(of_b.other) - b_.vertex(of_b.corner);
  if constexpr (D == 3) {
    if (edge_a && edge_b) {
      const Vec<3> v = b_.vertex(of_b.other) - b_.vertex(of_b.corner), product = cross(u, v);
      // The product is known to round-off / sine, the difference to round-off * size / distance, of which
      // the part along the other edge does harm, sine times.
      const Real squared = dot(product, product);
      if (squared * size_ > found.distance * dot(u, u) * dot(v, v))
        return (dot(product, found.normal) < 0 ? -1 : 1) / std::sqrt(squared) * product;
    }
  }
  const Vec<D> n = found.normal - dot(found.normal, u) / dot(u, u) * u;
  return 1 / norm(n) * n;
}

/// Gives the points that the search ended at their exact normal. The distance of points is a bound from
/// above, the separation along a normal one from below: where they do not agree, features are compared.
template <int D>
void Pair<D>::finish(const Simplex<D>& end, ClosestPoints<D>& found) const {
  if (take_face(a_, 1, end[0].a, found) || take_face(b_, -1, end[0].b, found)) return;
  const Vec<D> n = normal_between(feature_of(end, [](const auto& corner) { return corner.a; }),
                                  feature_of(end, [](const auto& corner) { return corner.b; }), found);
  const Real distance = separation(n);
  if (distance >= found.distance - round_off(found.distance)) {
    found.normal = n;
    found.distance = distance;
    return;
  }
  const Real other = separation(found.normal);
  const Real slack = found.distance - std::max(distance, other);
  compare(distance > other ? n : found.normal, slack, found);
}

template <int D>
void Pair<D>::compare(const Vec<D>& n, Real slack, ClosestPoints<D>& found) const {
  const auto best = compare_features(a_, b_, n, slack + round_off(0));
  found.compared = true;
  found.state = SeparationState::near;
  found.on_a = best.on_a;
  found.on_b = best.on_b;
  found.distance = best.distance;
  if (best.distance <= contact_tolerance * size_) return overlap(HUGE_VAL, found);
  found.normal = 1 / best.distance * (best.on_b - best.on_a);
  if (best.of_a.face >= 0) {
    found.normal = a_.normal(best.of_a.face);
  } else if (best.of_b.face >= 0) {
    found.normal = -b_.normal(best.of_b.face);
  } else if (take_face(a_, 1, best.of_a.corner, found) || take_face(b_, -1, best.of_b.corner, found)) {
    return;
  } else {
    turn_to_best(best, found);
  }
  // Surfaces of cores that have a common point can be apart, too.
  if (separation(found.normal) < best.distance - round_off(0)) overlap(HUGE_VAL, found);
}

/// The distance of points hardly shows which edges at a corner they are on; the separation along the normal
/// does: the best of those of the features and of the edges that end there.
template <int D>
void Pair<D>::turn_to_best(const ClosestFeatures<D>& best, ClosestPoints<D>& found) const {
  const ClosestPoints<D> tried = found;
  Real max = separation(found.normal);
  const auto edges_of = [](const PosedCore<D>& body, const CoreFeature& feature, const auto& take) {
    take(feature);
    if (feature.other < 0)
      for (const int other : body.core.neighbours(feature.corner)) take(CoreFeature{feature.corner, other});
  };
  edges_of(a_, best.of_a, [&](const CoreFeature& of_a) {
    edges_of(b_, best.of_b, [&](const CoreFeature& of_b) {
      const Vec<D> n = normal_between(of_a, of_b, tried);
      const Real distance = separation(n);
      if (distance > max) max = distance, found.normal = n;
    });
  });
}

/// Calls try_axis for the directions along which two cores with a common point can be taken apart with the
/// least motion.
template <int D>
template <class Try>
void Pair<D>::try_axes(const Try& try_axis) const {
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
  // Points and segments have no faces; a segment is left across it.
  const bool thin_a = a_.core.n_faces() == 0, thin_b = b_.core.n_faces() == 0;
  if (D == 2 ? !thin_a && !thin_b : !thin_a || !thin_b) return;
  bool has_segment = false;
  for (const PosedCore<D>* body : {&a_, &b_}) {
    if (body->core.vertices().size() != 2) continue;
    has_segment = true;
    const Vec<D> along = body->vertex(1) - body->vertex(0);
    Vec<D> out = offset_;
    int min = 0;
    for (int k = 1; k < D; ++k)
      if (std::abs(along[k]) < std::abs(along[min])) min = k;
    if (!(dot(out, out) > 0)) out = unit_vector<D>(min);
    out -= dot(out, along) / dot(along, along) * along;
    if (norm(out) <= contact_tolerance * size_) {
      out = unit_vector<D>(min);
      out -= dot(out, along) / dot(along, along) * along;
    }
    try_axis(1 / norm(out) * out);
    try_axis(-1 / norm(out) * out);
  }
  if (thin_a && thin_b && !has_segment) {
    const Real apart = norm(offset_);
    try_axis(apart > 0 ? 1 / apart * offset_ : unit_vector<D>(0));
  }
}

/// Cores with a common point. `bound`: their distance is not more, should they turn out to be apart after
/// all.
template <int D>
void Pair<D>::overlap(Real bound, ClosestPoints<D>& found) const {
  Real max = -HUGE_VAL;
  Vec<D> axis;
  try_axes([&](const Vec<D>& n) {
    const Real distance = separation(n);
    if (distance <= max) return;
    max = distance;
    axis = n;
  });
  if (max > contact_tolerance * size_) {
    if (!found.compared) compare(axis, bound - max, found);
    return;
  }
  found.normal = axis;
  found.state = SeparationState::overlap;
  found.distance = max;
  points_of_overlap(found);
}

/// The closest points once b is moved out along the normal, moved back with it.
template <int D>
void Pair<D>::points_of_overlap(ClosestPoints<D>& found) const {
  constexpr Real margin = 1e-3;
  const Vec<D> out = (margin * size_ - found.distance) * found.normal;
  BodyPose<D> moved = b_.pose;
  moved.centre += out;
  const PosedCore<D> b{b_.core, moved};
  const auto best = compare_features(a_, b, found.normal, margin * size_);
  found.on_a = best.on_a;
  found.on_b = best.on_b - out;
}

}  // namespace

template <int D>
ClosestPoints<D> closest_points(const PosedCore<D>& a, const PosedCore<D>& b, Real reach) {
  return Pair<D>(a, b).search(reach);
}

template <int D>
Real separation_along(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n) {
  return dot(b.vertex(b.support(-n)) - a.vertex(a.support(n)), n);
}

template ClosestPoints<2> closest_points(const PosedCore<2>&, const PosedCore<2>&, Real);
template ClosestPoints<3> closest_points(const PosedCore<3>&, const PosedCore<3>&, Real);
template Real separation_along(const PosedCore<2>&, const PosedCore<2>&, const Vec<2>&);
template Real separation_along(const PosedCore<3>&, const PosedCore<3>&, const Vec<3>&);

}  // namespace scree
