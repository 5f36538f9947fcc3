#include "geometry/convex/manifold.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/convex/candidates.hpp"
#include "geometry/convex/contour.hpp"
#include "geometry/convex/side.hpp"

namespace scree {
namespace {

constexpr int max_features = 4094;
constexpr std::uint32_t of_closest_points = 0xffffffff;
constexpr Real same = same_number;

template <int D>
void add_corners(const PosedCore<D>& body, const CoreSide<D>& side, Contour<D>& contour) {
  side.for_each_corner(body.core, [&](int i) { contour.add(body.vertex(i), i); });
}

/// Cuts off what is beyond the sides of the reference, seen along n.
template <int D>
void cut_to(const PosedCore<D>& reference, const CoreSide<D>& side, const Vec<D>& n, Contour<D>& contour) {
  const Real tolerance = same * reference.pose.size;
  const bool is_segment = D == 2 || !side.is_face();
  if (is_segment) {
    const auto end = [&](std::size_t k) {
      return reference.vertex(side.is_face() ? reference.core.corners(side.face)[k]
                                             : (k == 0 ? side.corner : side.other));
    };
    const Vec<D> from = end(0), to = end(1);
    const Vec<D> along = to - from - dot(to - from, n) * n;
    contour.cut(-along, from, tolerance, 1, 2);
    contour.cut(along, to, tolerance, 2, 2);
    return;
  }
  if constexpr (D == 3) {
    const auto corners = reference.core.corners(side.face);
    const int n_sides = static_cast<int>(corners.size());
    const Vec<3> first = reference.vertex(corners[0]);
    Vec<3> from = first;
    for (int k = 0; k < n_sides && contour.size() > 0; ++k) {
      const Vec<3> to = k + 1 < n_sides ? reference.vertex(corners[static_cast<std::size_t>(k) + 1]) : first;
      contour.cut(cross(to - from, n), from, tolerance, k + 1, n_sides);
      from = to;
    }
  }
}

/// Whether the cores are apart along the unit vector `axis` by so much more than `reach` that no round-off in
/// closest_points() could make it find a contact: what the axis is does not change results.
template <int D>
bool separates(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& axis, Real reach) {
  return separation_along(a, b, axis) > reach + same * (reach + a.pose.size + b.pose.size);
}

template <int D>
void take_points(const Candidates<D>& candidates, Manifold<D>& manifold) {
  candidates.reduce(manifold.normal, [&](const Vec<D>& place, Real gap, std::uint32_t feature) {
    manifold.points[manifold.n++] = {place, gap, feature};
  });
}

/// Edges side by side: both ends of what they have in common, unless they are among the candidates. Where the
/// line between them is beside the normal by no more than half the roundings (rods that lie across each other
/// at a small angle), the gap is what motion along the normal closes; else it must hardly turn from the
/// normal.
template <int D, class Middle>
void add_edges(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n, Real roundings,
               const Middle& middle, Candidates<D>& candidates) {
  constexpr Real max_turn = 0.1;  // sine
  const auto edge_of = [](const PosedCore<D>& body, const Vec<D>& direction) {
    const Vec<D> local = body.pose.in_body(direction);
    return edge_towards(body.core, body.core.support(local), local);
  };
  const CoreSide<D> of_a = edge_of(a, n), of_b = edge_of(b, -n);
  if (!of_a.is_edge() || !of_b.is_edge()) return;
  Contour<D> contour;
  add_corners(b, of_b, contour);
  cut_to(a, of_a, n, contour);
  const Vec<D> end = a.vertex(of_a.corner), along = a.vertex(of_a.other) - end;
  for (int i = 0; i < contour.size(); ++i) {
    const Vec<D> there = contour[i];
    const Real share = std::clamp(dot(there - end, along) / dot(along, along), 0.0, 1.0);
    const Vec<D> here = end + share * along, between = there - here;
    const Real along_normal = dot(between, n), beside = norm(between - along_normal * n);
    const bool is_round = beside <= 0.5 * roundings;
    if (!is_round && beside > max_turn * norm(between)) continue;
    const Real gap = is_round ? along_normal - std::sqrt(roundings * roundings - beside * beside)
                              : norm(between) - roundings;
    const Vec<D> place = middle(here, there);
    constexpr Real same_place = 1e-3;  // of the edge
    if (!candidates.has_near(place, same_place * norm(along)))
      candidates.add(place, gap, 0xfffu << 19 | contour.feature(i));
  }
}

/// NormalsOf::faces. Bodies without faces keep the normal of the closest points.
template <int D>
void turn_to_face(const PosedCore<D>& a, const PosedCore<D>& b, ClosestPoints<D>& closest) {
  Real max = -HUGE_VAL;
  const auto try_faces = [&](const PosedCore<D>& of, Real sign) {
    for (int f = 0; f < of.core.n_faces(); ++f) {
      const Vec<D> n = sign * of.normal(f);
      const Real distance = separation_along(a, b, n);
      if (distance > max + same * (a.pose.size + b.pose.size)) max = distance, closest.normal = n;
    }
  };
  try_faces(a, 1);
  try_faces(b, -1);
  if (std::isfinite(max)) closest.distance = max;
}

}  // namespace

template <int D>
Manifold<D> contact_points(const PosedCore<D>& a, const PosedCore<D>& b, Real rounding_a, Real rounding_b,
                           Real reach, Real width, Vec<D>* axis, NormalsOf normals) {
  Manifold<D> manifold;
  const Real roundings = rounding_a + rounding_b, size = a.pose.size + b.pose.size;
  if (axis && *axis != Vec<D>{} && separates(a, b, *axis, reach + roundings)) return manifold;
  ClosestPoints<D> closest = closest_points(a, b, reach + roundings);
  if (axis) *axis = closest.state == SeparationState::apart ? closest.normal : Vec<D>{};
  if (closest.state == SeparationState::apart) return manifold;
  if (normals == NormalsOf::faces) turn_to_face(a, b, closest);
  const Vec<D>& n = closest.normal;
  manifold.normal = n;
  manifold.cores_overlap = closest.state == SeparationState::overlap;
  // A point of the gap from those of the cores: half the way between the surfaces.
  const auto middle = [&](const Vec<D>& on_a, const Vec<D>& on_b) {
    return 0.5 * (on_a + on_b + (rounding_a - rounding_b) * n);
  };

  const CoreSide<D> of_a = side_towards(a, n), of_b = side_towards(b, -n);
  const bool swaps = of_b.is_face() && (!of_a.is_face() || of_b.alignment > of_a.alignment + same);
  const CoreSide<D>&reference = swaps ? of_b : of_a, &incident = swaps ? of_a : of_b;
  const PosedCore<D>&from = swaps ? b : a, &to = swaps ? a : b;
  Candidates<D> candidates(size);
  const Vec<D> outwards = swaps ? -n : n;
  const std::uint32_t name = (swaps ? 1u << 31 : 0u) | (static_cast<std::uint32_t>(reference.face) & 0xfffu)
                                                           << 19;
  Contour<D> contour;
  if (reference.is_face()) {
    add_corners(to, incident, contour);
    cut_to(from, reference, outwards, contour);
    const Real offset = dot(reference.normal, from.vertex(from.core.corners(reference.face)[0]));
    const Real slope = dot(reference.normal, outwards);
    for (int i = 0; i < contour.size(); ++i) {
      const Vec<D> there = contour[i];
      const Real distance = (dot(reference.normal, there) - offset) / slope;
      const Vec<D> here = there - distance * outwards;
      candidates.add(swaps ? middle(there, here) : middle(here, there), distance - roundings,
                     name | contour.feature(i));
    }
  }
  // A face that n is not normal to does not hold the closest points: these are on edges or corners.
  const bool on_face = reference.is_face() && reference.alignment > 1 - same;
  if (!on_face && !manifold.cores_overlap) add_edges(a, b, n, roundings, middle, candidates);
  const Real closest_gap = closest.distance - roundings;
  if (candidates.empty() || (!manifold.cores_overlap && candidates.min_gap() > closest_gap + same * size))
    candidates.add(middle(closest.on_a, closest.on_b), closest_gap, of_closest_points);
  candidates.drop_above(std::min(reach, candidates.min_gap() + width));
  take_points(candidates, manifold);
  return manifold;
}

template <int D>
Manifold<D> contact_points_with_plane(const PosedCore<D>& body, Real rounding, const Plane<D>& wall,
                                      Real reach, Real width) {
  Manifold<D> manifold;
  manifold.normal = wall.normal;
  const auto gap_of = [&](const Vec<D>& vertex) { return wall.offset - dot(wall.normal, vertex) - rounding; };
  const Real min = gap_of(body.vertex(body.support(wall.normal)));
  if (min > reach) return manifold;
  manifold.cores_overlap = min <= -rounding;
  Candidates<D> candidates(body.pose.size);
  side_towards(body, wall.normal).for_each_corner(body.core, [&](int i) {
    const Vec<D> vertex = body.vertex(i);
    const Real gap = gap_of(vertex);
    if (gap <= std::min(reach, min + width))
      candidates.add(vertex + (rounding + 0.5 * gap) * wall.normal, gap, static_cast<std::uint32_t>(i) << 7);
  });
  take_points(candidates, manifold);
  return manifold;
}

template <int D>
bool core_fits(const ConvexCore<D>& core) {
  if (core.n_faces() > max_features || core.vertices().size() > max_features) return false;
  for (int f = 0; f < core.n_faces(); ++f)
    if (core.corners(f).size() > Contour<D>::max_corners) return false;
  return true;
}

template Manifold<2> contact_points(const PosedCore<2>&, const PosedCore<2>&, Real, Real, Real, Real, Vec<2>*,
                                    NormalsOf);
template Manifold<3> contact_points(const PosedCore<3>&, const PosedCore<3>&, Real, Real, Real, Real, Vec<3>*,
                                    NormalsOf);
template Manifold<2> contact_points_with_plane(const PosedCore<2>&, Real, const Plane<2>&, Real, Real);
template Manifold<3> contact_points_with_plane(const PosedCore<3>&, Real, const Plane<3>&, Real, Real);
template bool core_fits(const ConvexCore<2>&);
template bool core_fits(const ConvexCore<3>&);

}  // namespace scree
