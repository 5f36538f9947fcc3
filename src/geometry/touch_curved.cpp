#include <algorithm>
#include <cmath>

#include "geometry/rim_arcs.hpp"
#include "geometry/round.hpp"
#include "geometry/touch.hpp"

namespace scree {
namespace {

constexpr std::uint32_t of_edge = 1u << 24, of_rim = 2u << 24;
constexpr std::uint32_t of_min = 8;
constexpr std::size_t max_passages = 16;
constexpr std::size_t max_stops = 18;  // on an edge: its ends, eight for each of two rims
constexpr Real flat = 1e-4;            // [rad] a face turned less from a rim has no lowest place on it
constexpr std::uint32_t of_cut = 6;
constexpr std::uint32_t divides = 7;  // names a stop that is no point

/// A body and a curved wall; all places from the centre of the body.
class CurvedTouch {
 public:
  CurvedTouch(const Shape<3>& shape, int part, const TouchQuery<3>& query, const Vec<3>& from,
              std::span<const WallRim> rims)
      : shape_(shape), part_(part), query_(query), rims_(rims), points_(query) {
    const Vec<3>& centre = query.body.pose.centre;
    SurfacePoint<3> seen;
    shape.nearest(part, {&centre, 1}, {&from, 1}, {&seen, 1});
    is_pushed_through_ = seen.distance < 0;
    from_ = is_pushed_through_ ? from : centre;
    is_within_reach_ = seen.distance <= query.body.pose.size + query.rounding + query.reach;
  }

  void run(WallContacts<3>& found) {
    if (is_within_reach_) {
      add_corners(shape_, part_, query_, from_, points_);
      const auto& edges = query_.body.core.edges();
      for (std::size_t e = 0; e < edges.size(); ++e) meet_edge(edges[e], static_cast<std::uint32_t>(e));
      leave_thin_wall();
      for (std::size_t r = 0; r < rims_.size(); ++r) meet_rim(rims_[r], static_cast<std::uint32_t>(r));
    }
    points_.give(found);
  }

 private:
  /// A place where an edge passes through a thin wall (a contact with the way out) or over its rim.
  struct Passage {
    Vec<3> x, normal;
    Real distance;  ///< over the rim: height over the wall
    std::uint32_t feature;
  };
  struct OnEdge {
    Real share = 0;
    SurfacePoint<3> seen{};
    Real slope = 0;  // of the distance along the edge
    std::uint32_t name = 0;
  };
  /// Places on an edge, in order once sorted.
  struct Stops {
    std::array<OnEdge, max_stops> all;
    std::size_t n = 0;

    OnEdge& operator[](std::size_t k) { return all[k]; }
    std::span<OnEdge> span() { return std::span(all).first(n); }
    void add(Real share, std::uint32_t name) {
      if (share >= 0 && share <= 1) all[n++] = {share, {}, 0, name};
    }
    void sort() {
      for (std::size_t i = 1; i < n; ++i)
        for (std::size_t k = i; k > 0 && all[k].share < all[k - 1].share; --k) std::swap(all[k], all[k - 1]);
    }
  };
  void look(std::span<OnEdge> points) const {
    std::array<Vec<3>, max_stops> at, from;
    std::array<SurfacePoint<3>, max_stops> seen;
    const std::size_t n = points.size();
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = query_.body.pose.centre + start_ + points[k].share * along_;
      from[k] = from_;
    }
    shape_.nearest(part_, std::span(at).first(n), std::span(from).first(n), std::span(seen).first(n));
    for (std::size_t k = 0; k < n; ++k) {
      points[k].seen = seen[k];
      points[k].slope = dot(seen[k].normal, along_) / length_;
    }
  }
  /// A point counts if no point of the core lies much farther towards the wall.
  void add(const OnEdge& point, std::uint32_t edge) {
    const Vec<3> x = start_ + point.share * along_, normal = -point.seen.normal;
    if (point.seen.distance - query_.rounding > points_.highest_gap()) return;
    const Real round_off = same_number * query_.body.pose.size;
    if (point.seen.distance > -round_off) {
      const Real farthest = dot(normal, query_.corner(query_.body.support(normal)));
      if (farthest - dot(normal, x) > query_.width + round_off) return;
    }
    points_.add(x, normal, point.seen.distance, of_edge | edge << 4 | point.name);
  }

  /// Whether all of an edge between two places is too far: no distance changes faster than the place.
  bool is_out_of_reach(const OnEdge& p, const OnEdge& q) const {
    const Real distance = (q.share - p.share) * length_;
    return 0.5 * (p.seen.distance + q.seen.distance - distance) - query_.rounding > points_.highest_gap();
  }

  void meet_edge(const std::array<int, 2>& edge, std::uint32_t number) {
    start_ = query_.corner(edge[0]);
    along_ = query_.corner(edge[1]) - start_;
    length_ = norm(along_);
    Stops stop;
    stop.add(0, divides);
    stop.add(1, divides);
    look(stop.span());
    if (is_out_of_reach(stop[0], stop[1])) return;
    Stops nearer = stop;
    for (const Real share : {0.25, 0.5, 0.75}) nearer.add(share, divides);
    look(nearer.span().subspan(2));
    nearer.sort();
    bool may_touch = false;
    for (std::size_t k = 0; k + 1 < nearer.n; ++k)
      may_touch = may_touch || !is_out_of_reach(nearer[k], nearer[k + 1]);
    if (!may_touch) return;
    for (std::size_t r = 0; r < rims_.size(); ++r) add_stops(rims_[r], static_cast<std::uint32_t>(r), stop);
    stop.sort();
    look(stop.span());
    std::uint32_t n_min = 0;
    for (std::size_t k = 0; k + 1 < stop.n; ++k) {
      if (k > 0 && is_thin()) add_passage(stop[k], number);
      if (stop[k].name != divides) add(stop[k], number);
      if (stop[k].slope < 0 && stop[k + 1].slope >= 0 && !is_out_of_reach(stop[k], stop[k + 1])) {
        OnEdge lowest = stop[k + 1].slope > 0 ? min_between(stop[k], stop[k + 1]) : stop[k + 1];
        lowest.name = of_min + std::min(n_min++, 7u);
        add(lowest, number);
      }
    }
  }

  /// Divides the edge so that the slope of its distance from the rim changes sign at most once on the way
  /// from stop to stop. With x + t d the edge seen from the centre of the rim, across the axis and (z) along
  /// it, r its distance from the axis, the square of the distance is (r - R)^2 + z^2, half its slope
  ///   (d d t + x d) + z z' - R (d d t + x d) / r.
  /// The last term grows with t, is convex before the place next to the axis and concave beyond it. So there
  /// are at most two zeros on either side, and between them the slope is steepest, r^3 = R (d d x x - (x
  /// d)^2) / (d d + z'^2). Other stops: where the nearest place passes from the wall to its rim, of flat
  /// walls r = R (points that count), of straight ones z = 0, of cones (r - R, z) across the direction in
  /// which they end.
  void add_stops(const WallRim& rim, std::uint32_t number, Stops& stop) const {
    const Vec<3> to = query_.body.pose.centre - rim.centre + start_;
    const Real z = dot(to, rim.axis), dz = dot(along_, rim.axis);
    const Vec<3> x = to - z * rim.axis, d = along_ - dz * rim.axis;
    const Real a = dot(d, d), b = dot(x, d), c = dot(x, x);
    if (std::abs(dz) > same_number * length_) stop.add(-z / dz, divides);
    if (rim.out[0] != 0 && rim.out[1] != 0) {  // r = R + slope z
      const Real slope = -rim.out[1] / rim.out[0], radius = rim.radius + slope * z, dr = slope * dz;
      const Real p = a - dr * dr, q = b - radius * dr, root = q * q - p * (c - radius * radius);
      if (p != 0 && root > 0)
        for (const Real sign : {-1.0, 1.0}) stop.add((-q + sign * std::sqrt(root)) / p, divides);
    }
    if (!(a > same_number * same_number * length_ * length_)) return;
    const Real next = -b / a, min = std::max(c - b * b / a, 0.0);  // to the axis, squared
    stop.add(next, divides);
    const auto add_at = [&](Real squared, std::uint32_t low, std::uint32_t high) {
      if (!(squared > min)) return;
      const Real distance = std::sqrt((squared - min) / a);
      stop.add(next - distance, low);
      stop.add(next + distance, high);
    };
    add_at(rim.radius * rim.radius, 2 * number, 2 * number + 1);
    const Real steepest = std::cbrt(rim.radius * a * min / (a + dz * dz));
    add_at(steepest * steepest, divides, divides);
  }

  /// Where the slope changes its sign, at an infinite distance if there is no such place: by regula falsi
  /// with halved weights (Illinois).
  OnEdge min_between(OnEdge low, OnEdge high) const {
    constexpr int max_rounds = 60;
    constexpr Real round_off = 1e-12,
                   no_slope = 1e-10;  // changes the distance by its square, times the radius of curvature
    Real weight_low = low.slope, weight_high = high.slope;
    OnEdge middle = low;
    for (int round = 0; round < max_rounds && high.share - low.share > round_off; ++round) {
      Real share = low.share + (high.share - low.share) * (weight_low / (weight_low - weight_high));
      // A kink is found by halving.
      if (round % 4 == 3 || !(share > low.share && share < high.share))
        share = 0.5 * (low.share + high.share);
      middle.share = share;
      look({&middle, 1});
      if (std::abs(middle.slope) <= no_slope) return middle;
      if (middle.slope < 0) {
        low = middle;
        weight_low = middle.slope;
        weight_high *= 0.5;
      } else {
        high = middle;
        weight_high = middle.slope;
        weight_low *= 0.5;
      }
    }
    // At a thin wall's far side the distance changes its sign at once: no least one.
    const Real deep = -1e-6 * length_;
    const bool is_jump = (low.seen.distance < deep) != (high.seen.distance < deep);
    if (is_jump) middle.seen.distance = HUGE_VAL;
    return middle;
  }

  /// Where a point lies by a thin wall whose rims are known.
  struct Meridian {
    Real beyond = -HUGE_VAL;  ///< of its rim, negative over the wall [m]
    Real height = 0;          ///< along `normal` [m]
    Vec<3> normal{};          ///< of the wall, always on the same side
  };
  Meridian meridian(const Vec<3>& x) const {
    Meridian m;
    for (const WallRim& rim : rims_) {
      const Vec<3> to = query_.body.pose.centre + x - rim.centre;
      const Direction<3> radial = direction_across(to, rim.axis, rim.across);
      const Real r = radial.length - rim.radius, z = dot(to, rim.axis);
      m.beyond = std::max(m.beyond, r * rim.out[0] + z * rim.out[1]);
      if (&rim != rims_.data()) continue;
      m.height = z * rim.out[0] - r * rim.out[1];
      m.normal = rim.out[0] * rim.axis - rim.out[1] * radial.unit;
    }
    return m;
  }
  bool is_thin() const { return !rims_.empty() && (rims_[0].out[0] != 0 || rims_[0].out[1] != 0); }

  /// Keeps where an edge passes through a thin wall, with the way out over the nearest rim, across edge and
  /// rim, and where it passes over a rim.
  void add_passage(const OnEdge& at, std::uint32_t edge) {
    const Real round_off = same_number * query_.body.pose.size;
    const Vec<3> x = start_ + at.share * along_;
    const Meridian m = meridian(x);
    if (std::abs(m.beyond) <= round_off && n_over_rim_ < max_passages)
      over_rim_[n_over_rim_++] = {x, {}, m.height, of_edge | edge << 4 | at.name};
    if (std::abs(m.height) > round_off || m.beyond > 0 || n_cuts_ == max_passages) return;
    Real nearest = HUGE_VAL;
    for (const WallRim& rim : rims_) {
      const Vec<3> to = query_.body.pose.centre + x - rim.centre;
      const Direction<3> radial = direction_across(to, rim.axis, rim.across);
      const Vec<3> out = rim.out[0] * radial.unit + rim.out[1] * rim.axis;
      const Real distance = std::hypot(radial.length - rim.radius, dot(to, rim.axis));
      const Vec<3> across = cross(along_, cross(rim.axis, radial.unit));
      const Real sine = norm(across);
      if (!(sine > flat * length_) || distance >= nearest) continue;
      nearest = distance;
      const Real cosine = dot(across, out) / sine;
      cuts_[n_cuts_] = {x, (cosine > 0 ? -1 / sine : 1 / sine) * across, -distance * std::abs(cosine),
                        of_edge | edge << 4 | of_cut};
    }
    if (std::isfinite(nearest)) ++n_cuts_;
  }

  /// A thin wall in the core: of the ways out, over its rim or back to a side, the shortest counts. Sides are
  /// that of the centre, beyond the rim both.
  void leave_thin_wall() {
    if (n_cuts_ == 0 || is_pushed_through_) return;
    Real distance = 0, distance_back = HUGE_VAL, side = 0;
    for (const Passage& cut : std::span(cuts_).first(n_cuts_)) distance = std::max(distance, -cut.distance);
    const Meridian centre = meridian({});
    const Real own = centre.height < 0 ? -1 : 1;
    const int n_corners = static_cast<int>(query_.body.core.vertices().size());
    for (const Real s : {own, -own}) {
      if (s != own && centre.beyond <= 0) break;
      Real deepest = s == own ? std::max(-points_.min_distance(), 0.0) : 0.0;
      for (int i = 0; i < n_corners; ++i)
        if (const Meridian m = meridian(query_.corner(i)); m.beyond <= 0)
          deepest = std::max(deepest, -s * m.height);
      for (const Passage& p : std::span(over_rim_).first(n_over_rim_))
        deepest = std::max(deepest, -s * p.distance);
      if (deepest < distance_back) distance_back = deepest, side = s;
    }
    const Real round_off = same_number * query_.body.pose.size;
    const bool is_over_rim = distance <= distance_back;
    points_.keep_if([&](const Vec<3>& x, const Vec<3>&, Real gap, std::uint32_t feature) {
      if (feature >= of_rim) return true;
      if (is_over_rim) return gap + query_.rounding > round_off;
      if (gap + query_.rounding < -round_off) return side == own;
      const Meridian m = meridian(x);
      return m.beyond > 0 || side * m.height > 0;
    });
    if (is_over_rim) {
      for (const Passage& cut : std::span(cuts_).first(n_cuts_))
        points_.add(cut.x, cut.normal, cut.distance, cut.feature);
      return;
    }
    const auto add_back = [&](const Vec<3>& x, std::uint32_t feature) {
      const Meridian m = meridian(x);
      if (m.beyond <= round_off && side * m.height < 0)
        points_.add(x, -side * m.normal, side * m.height, feature);
    };
    for (int i = 0; i < n_corners; ++i) add_back(query_.corner(i), static_cast<std::uint32_t>(i));
    for (const Passage& p : std::span(over_rim_).first(n_over_rim_)) add_back(p.x, p.feature);
  }

  void meet_rim(const WallRim& rim, std::uint32_t number) {
    const Vec<3> centre = rim.centre - query_.body.pose.centre, u = rim.radius * rim.across,
                 v = rim.radius * cross(rim.axis, rim.across);
    for (int f = 0; f < query_.body.core.n_faces(); ++f) {
      const Vec<3> normal = query_.body.normal(f);
      const std::uint32_t name = of_rim | number << 20 | static_cast<std::uint32_t>(f) << 4;
      // Towards the face, within the plane of the rim.
      const Vec<3> across = normal - dot(normal, rim.axis) * rim.axis;
      const Real slope = norm(across);
      if (height(f, normal, centre) - slope * rim.radius - query_.rounding > points_.highest_gap()) continue;
      const Vec<3> lowest = slope > flat ? centre - (rim.radius / slope) * across : centre + u;
      meet_point(f, normal, lowest, name);
      if (rim.radius == 0) continue;
      meet_point(f, normal, centre + u, name | 1);
      meet_point(f, normal, centre + v, name | 2);
      meet_point(f, normal, centre - u, name | 3);
      meet_point(f, normal, centre - v, name | 4);
    }
    if (n_cuts_ > 0 || rim.radius == 0) return;
    const RimArcs arcs = arcs_within(query_.body, {centre, u, v});
    for (const auto& [x, face] : std::span(arcs.middles).first(arcs.n))
      meet_point(face, query_.body.normal(face), x,
                 of_rim | number << 20 | static_cast<std::uint32_t>(face) << 4 | 5);
  }
  Real height(int face, const Vec<3>& normal, const Vec<3>& x) const {
    return dot(normal, x - query_.corner(query_.body.core.corners(face)[0]));
  }
  /// A point of the wall over the inside of a face, or under it and nearer to it than to others.
  void meet_point(int face, const Vec<3>& normal, const Vec<3>& on_wall, std::uint32_t name) {
    const Real distance = height(face, normal, on_wall);
    if (distance - query_.rounding > points_.highest_gap()) return;
    if (distance < 0)
      for (int other = 0; other < query_.body.core.n_faces(); ++other)
        if (height(other, query_.body.normal(other), on_wall) > distance) return;
    const auto corners = query_.body.core.corners(face);
    Vec<3> before = query_.corner(corners.back());
    for (const int i : corners) {
      const Vec<3> here = query_.corner(i);
      if (dot(cross(here - before, normal), on_wall - before) > 0) return;
      before = here;
    }
    points_.add(on_wall - distance * normal, normal, distance, name);
  }

  const Shape<3>& shape_;
  const int part_;
  const TouchQuery<3>& query_;
  const std::span<const WallRim> rims_;
  TouchPoints<3> points_;
  Vec<3> from_;
  bool is_within_reach_ = false, is_pushed_through_ = false;
  std::array<Passage, max_passages> cuts_, over_rim_;
  std::size_t n_cuts_ = 0, n_over_rim_ = 0;
  Vec<3> start_, along_;  // of the edge that is met
  Real length_ = 0;
};

}  // namespace

void touch_curved(const Shape<3>& shape, int part, const TouchQuery<3>& query, const Vec<3>& from,
                  std::span<const WallRim> rims, WallContacts<3>& found) {
  if (!query.is_sphere()) return CurvedTouch(shape, part, query, from, rims).run(found);
  TouchPoints<3> points(query);
  add_corners(shape, part, query, from, points);
  points.give(found);
}

}  // namespace scree
