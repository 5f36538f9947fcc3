#include "geometry/convex/manifold.hpp"

#include <algorithm>
#include <cmath>

namespace scree {
namespace {

constexpr int most_corners = 32, most_features = 4095;
constexpr std::uint32_t of_closest_points = 0xffffffff;

/// A convex polygon in space, or a segment, or a point; each corner with the part of its name.
template <int D>
struct Contour {
  struct Corner {
    Vec<D> place;
    std::uint32_t name = 0;  // corner << 7 | side
  };
  std::array<Corner, 2 * most_corners> corner;
  int n = 0;

  void add(const Vec<D>& place, std::uint32_t name) { corner[static_cast<std::size_t>(n++)] = {place, name}; }
  const Corner& at(int i) const { return corner[static_cast<std::size_t>(i)]; }
};

/// What of a core looks along a direction: a face, or all of a segment or point (face -1).
template <int D>
struct Side {
  int face = -1;
  Real alignment = -1;  // cosine
  Vec<D> normal;
};

template <int D>
Side<D> side_towards(const PosedCore<D>& body, const Vec<D>& direction) {
  Side<D> best;
  constexpr Real same = 1e-9;  // the first one of faces that are as near
  for (const int f : body.core.faces_of_vertex(body.support(direction))) {
    const Vec<D> normal = body.normal(f);
    const Real alignment = dot(normal, direction);
    if (alignment > best.alignment + same) best = {f, alignment, normal};
  }
  const auto& vertices = body.core.vertices();
  if (best.face < 0 && vertices.size() == 2) {
    // A segment looks along n with all of itself if it is nearly normal to n.
    const Vec<D> along = body.pose.direction(vertices[1] - vertices[0]);
    const Vec<D> across = direction - dot(direction, along) / dot(along, along) * along;
    const Real length = norm(across);
    if (length > 0) best = {-1, length, 1 / length * across};
  }
  return best;
}

/// Corners of a face, or of a core without faces.
template <int D>
Contour<D> contour_of(const PosedCore<D>& body, int face) {
  Contour<D> contour;
  if (face < 0) {
    for (int i = 0; i < static_cast<int>(body.core.vertices().size()); ++i)
      contour.add(body.vertex(i), static_cast<std::uint32_t>(i) << 7);
  } else {
    for (const int i : body.core.corners(face))
      contour.add(body.vertex(i), static_cast<std::uint32_t>(i) << 7);
  }
  return contour;
}

/// Keeps the part of `contour` that is not beyond the plane through `on_plane` with the normal n; corners
/// within `tolerance` [m] are on it. New corners get the name of the edge and `side`.
template <int D>
void cut(Contour<D>& contour, const Vec<D>& n, const Vec<D>& on_plane, Real tolerance, std::uint32_t side) {
  Contour<D> kept;
  const Real limit = tolerance * norm(n);
  // A polygon is closed, a segment is not, and a point has no edge.
  const int n_edges = contour.n > 2 ? contour.n : contour.n - 1;
  for (int i = 0; i < contour.n; ++i) {
    const auto& from = contour.at(i);
    const Real here = dot(n, from.place - on_plane);
    if (here <= limit) kept.add(from.place, from.name);
    if (i >= n_edges) continue;
    const auto& to = contour.at((i + 1) % contour.n);
    const Real there = dot(n, to.place - on_plane);
    if ((here < -limit && there > limit) || (here > limit && there < -limit))
      kept.add(from.place + here / (here - there) * (to.place - from.place), (from.name & ~127u) | side);
  }
  contour = kept;
}

/// Cuts off what is beyond the sides of the reference, seen along n.
template <int D>
void cut_to(const PosedCore<D>& reference, int face, const Vec<D>& n, Contour<D>& contour) {
  const Real tolerance = 1e-9 * reference.pose.size;
  if (face < 0 || D == 2) {
    const Contour<D> ends = contour_of(reference, face);
    if (ends.n < 2) return;
    const Vec<D> from = ends.at(0).place, to = ends.at(1).place;
    const Vec<D> along = to - from - dot(to - from, n) * n;
    cut(contour, -along, from, tolerance, 1);
    cut(contour, along, to, tolerance, 2);
    return;
  }
  if constexpr (D == 3) {
    const auto corners = reference.core.corners(face);
    for (std::size_t k = 0; k < corners.size() && contour.n > 0; ++k) {
      const Vec<3> from = reference.vertex(corners[k]),
                   to = reference.vertex(corners[(k + 1) % corners.size()]);
      cut(contour, cross(to - from, n), from, tolerance, static_cast<std::uint32_t>(k + 1));
    }
  }
}

/// Whether more than one point of the contour can be as near to the reference: segments must be parallel for
/// that.
template <int D>
bool meet_alongside(const PosedCore<D>& reference, int face, const Contour<D>& contour) {
  if (face >= 0) return true;
  if (reference.core.vertices().size() < 2 || contour.n != 2) return false;
  constexpr Real parallel = 1e-3;  // sine
  const Vec<D> along = reference.vertex(1) - reference.vertex(0),
               other = contour.at(1).place - contour.at(0).place;
  const Real across = dot(along, other), product = dot(along, along) * dot(other, other);
  return product - across * across < parallel * parallel * product;
}

/// Points that may stay.
template <int D>
class Candidates {
 public:
  using Point = typename Manifold<D>::Point;
  /// Of too many those with the least gaps stay.
  void add(const Point& point) {
    if (n_ < static_cast<int>(all_.size())) {
      all_[static_cast<std::size_t>(n_++)] = point;
      return;
    }
    Point& worst = *std::ranges::max_element(all_, {}, &Point::gap);
    if (point.gap < worst.gap) worst = point;
  }
  bool empty() const { return n_ == 0; }
  Real least_gap() const {
    Real least = HUGE_VAL;
    for (int i = 0; i < n_; ++i) least = std::min(least, at(i).gap);
    return least;
  }
  void drop_above(Real gap) {
    int kept = 0;
    for (int i = 0; i < n_; ++i)
      if (at(i).gap <= gap) all_[static_cast<std::size_t>(kept++)] = at(i);
    n_ = kept;
  }

  void reduce_into(Manifold<D>& manifold) const {
    if (n_ <= Manifold<D>::most) {
      for (int i = 0; i < n_; ++i) keep(i, manifold);
      return;
    }
    const int deepest = best([&](const Point& p) { return -p.gap; });
    const Vec<D> first = at(deepest).place;
    const int farthest = best([&](const Point& p) { return dot(p.place - first, p.place - first); });
    keep(deepest, manifold);
    keep(farthest, manifold);
    if constexpr (D == 3) {
      const Vec<3> across = cross(at(farthest).place - first, manifold.normal);
      const auto side = [&](const Point& p) { return dot(p.place - first, across); };
      const int left = best(side), right = best([&](const Point&p) { return -side(p); });
      if (side(at(left)) > 0) keep(left, manifold);
      if (side(at(right)) < 0) keep(right, manifold);
    }
  }

 private:
  const Point& at(int i) const { return all_[static_cast<std::size_t>(i)]; }
  void keep(int i, Manifold<D>& manifold) const {
    manifold.points[static_cast<std::size_t>(manifold.n++)] = at(i);
  }
  template <class Measure>
  int best(const Measure& measure) const {
    int found = 0;
    for (int i = 1; i < n_; ++i) {
      const Real here = measure(at(i)), there = measure(at(found));
      if (here > there || (here == there && at(i).feature < at(found).feature)) found = i;
    }
    return found;
  }

  std::array<Point, 2 * most_corners + 1> all_;
  int n_ = 0;
};

}  // namespace

template <int D>
Manifold<D> contact_points(const PosedCore<D>& a, const PosedCore<D>& b, Real rounding_a, Real rounding_b,
                           Real reach, Real width) {
  Manifold<D> manifold;
  const ClosestPoints<D> closest = closest_points(a, b, reach + rounding_a + rounding_b);
  if (closest.meeting == Meeting::apart) return manifold;
  const Vec<D>& n = closest.normal;
  manifold.normal = n;
  manifold.cores_overlap = closest.meeting == Meeting::overlap;
  // A point of the gap from those of the cores: half the way between the surfaces.
  const auto middle = [&](const Vec<D>& on_a, const Vec<D>& on_b) {
    return 0.5 * (on_a + on_b + (rounding_a - rounding_b) * n);
  };
  const Real roundings = rounding_a + rounding_b;

  const Side<D> of_a = side_towards(a, n), of_b = side_towards(b, -n);
  constexpr Real same = 1e-9, least_alignment = 0.5;
  const bool swaps = of_b.alignment > of_a.alignment + same;
  const Side<D>& reference = swaps ? of_b : of_a;
  Candidates<D> candidates;
  const PosedCore<D>&from = swaps ? b : a, &to = swaps ? a : b;
  Contour<D> contour = contour_of(to, (swaps ? of_a : of_b).face);
  if (reference.alignment > least_alignment && meet_alongside(from, reference.face, contour)) {
    const Vec<D> outwards = swaps ? -n : n;
    cut_to(from, reference.face, outwards, contour);
    const Real offset =
        dot(reference.normal, from.vertex(reference.face < 0 ? 0 : from.core.corners(reference.face)[0]));
    const Real slope = dot(reference.normal, outwards);
    const std::uint32_t name =
        (swaps ? 1u << 31 : 0u) | static_cast<std::uint32_t>(reference.face & most_features) << 19;
    for (int i = 0; i < contour.n; ++i) {
      const Vec<D>& there = contour.at(i).place;
      const Real distance = (dot(reference.normal, there) - offset) / slope;
      const Vec<D> here = there - distance * outwards;
      candidates.add({swaps ? middle(there, here) : middle(here, there), distance - roundings,
                      name | contour.at(i).name});
    }
  }
  const Real closest_gap = closest.distance - roundings;
  constexpr Real round_off = 1e-9;
  if (candidates.empty() || candidates.least_gap() > closest_gap + round_off * (a.pose.size + b.pose.size))
    if (!manifold.cores_overlap || candidates.empty())
      candidates.add({middle(closest.on_a, closest.on_b), closest_gap, of_closest_points});
  candidates.drop_above(std::min(reach, candidates.least_gap() + width));
  candidates.reduce_into(manifold);
  return manifold;
}

template <int D>
Manifold<D> contact_points_with_plane(const PosedCore<D>& body, Real rounding, const Plane<D>& wall,
                                      Real reach, Real width) {
  Manifold<D> manifold;
  manifold.normal = wall.normal;
  const int n_vertices = static_cast<int>(body.core.vertices().size());
  Real least = HUGE_VAL;
  for (int i = 0; i < n_vertices; ++i)
    least = std::min(least, wall.offset - dot(wall.normal, body.vertex(i)) - rounding);
  if (least > reach) return manifold;
  manifold.cores_overlap = least <= -rounding;
  Candidates<D> candidates;
  for (int i = 0; i < n_vertices; ++i) {
    const Vec<D> vertex = body.vertex(i);
    const Real distance = wall.offset - dot(wall.normal, vertex);
    if (distance - rounding <= std::min(reach, least + width))
      candidates.add({vertex + 0.5 * (rounding + distance) * wall.normal, distance - rounding,
                      static_cast<std::uint32_t>(i) << 7});
  }
  candidates.reduce_into(manifold);
  return manifold;
}

template <int D>
bool core_fits(const ConvexCore<D>& core) {
  if (core.n_faces() > most_features || core.vertices().size() > most_features) return false;
  for (int f = 0; f < core.n_faces(); ++f)
    if (core.corners(f).size() > most_corners) return false;
  return true;
}

template Manifold<2> contact_points(const PosedCore<2>&, const PosedCore<2>&, Real, Real, Real, Real);
template Manifold<3> contact_points(const PosedCore<3>&, const PosedCore<3>&, Real, Real, Real, Real);
template Manifold<2> contact_points_with_plane(const PosedCore<2>&, Real, const Plane<2>&, Real, Real);
template Manifold<3> contact_points_with_plane(const PosedCore<3>&, Real, const Plane<3>&, Real, Real);
template bool core_fits(const ConvexCore<2>&);
template bool core_fits(const ConvexCore<3>&);

}  // namespace scree
