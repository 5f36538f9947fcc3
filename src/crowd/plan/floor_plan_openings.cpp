#include "crowd/plan/floor_plan_openings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "geometry/direction.hpp"

namespace scree {

namespace {

/// Calls action(a, b) for each side of all rings.
template <class Action>
void for_each_side(std::span<const PolygonWithHoles> polygons, Action&& action) {
  const auto of_ring = [&](const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i) action(ring[i], ring[(i + 1) % ring.size()]);
  };
  for (const PolygonWithHoles& polygon : polygons) {
    of_ring(polygon.outline);
    for (const Ring& hole : polygon.holes) of_ring(hole);
  }
}

struct Nearest {
  Vec<2> at{};
  Real distance = HUGE_VAL;
};

Nearest nearest_on_boundary(std::span<const PolygonWithHoles> polygons, const Vec<2>& x) {
  Nearest nearest;
  for_each_side(polygons, [&](const Vec<2>& p, const Vec<2>& q) {
    const Vec<2> along = q - p;
    const Real t = std::clamp(dot(x - p, along) / dot(along, along), 0.0, 1.0);
    const Vec<2> foot = t == 1 ? q : p + t * along;
    const Real distance = norm(x - foot);
    if (distance < nearest.distance) nearest = {foot, distance};
  });
  return nearest;
}

/// The point of the boundary that `x` means: a corner if one is near, else the nearest point.
Vec<2> snapped(std::span<const PolygonWithHoles> polygons, const Vec<2>& x) {
  Nearest corner;
  for_each_side(polygons, [&](const Vec<2>& p, const Vec<2>&) {
    const Real distance = norm(x - p);
    if (distance < corner.distance) corner = {p, distance};
  });
  if (corner.distance <= snap) return corner.at;
  const Nearest nearest = nearest_on_boundary(polygons, x);
  // The digits of the deck are worth more than those of a projection.
  constexpr Real rounding = 1e-9;
  return nearest.distance < rounding ? x : nearest.at;
}

/// The distance from `a` towards `b` where the boundary leaves the line for the first time; the length
/// of the line if it does not.
Real followed(std::span<const PolygonWithHoles> polygons, const Vec<2>& a, const Vec<2>& b) {
  const Real length = norm(b - a);
  const Vec<2> tangent = (1 / length) * (b - a);
  const Vec<2> normal = left_of(tangent);
  std::vector<std::pair<Real, Real>> near;  // where on the line sides lie beside it
  for_each_side(polygons, [&](const Vec<2>& p, const Vec<2>& q) {
    // The part of the side p + t (q - p) whose height above the line is within the tolerance.
    const Real from = dot(normal, p - a);
    const Real rise = dot(normal, q - a) - from;
    Real first = 0;
    Real last = 1;
    if (rise != 0) {
      const Real enters = (-snap - from) / rise;
      const Real leaves = (snap - from) / rise;
      first = std::max(first, std::min(enters, leaves));
      last = std::min(last, std::max(enters, leaves));
    } else if (std::abs(from) > snap) {
      return;
    }
    if (first > last) return;
    const Real start = dot(tangent, p - a);
    const Real extent = dot(tangent, q - p);
    const Real one = start + first * extent;
    const Real other = start + last * extent;
    near.emplace_back(std::min(one, other), std::max(one, other));
  });
  std::ranges::sort(near);
  Real reached = 0;
  for (const std::pair<Real, Real>& piece : near)
    if (piece.first <= reached + snap) reached = std::max(reached, piece.second);
  return reached >= length - snap ? length : reached;
}

/// Chords for a quarter of a circle: they leave it by 0.1 % of its radius.
constexpr int quarter = 16;

struct Neck {
  Vec<2> at{};
  Real width = 0;
};

/// The narrowest place on the widest path in `local` between `from` and `to`: a margin of width/2 parts it.
Neck neck_between(const Geos& geos, const Geometry& local, const Geometry& from, const Geometry& to,
                  Real width) {
  // The polygons with this margin that one of the two is in.
  const auto with_margin = [&](Real margin, const Geometry& end) {
    const Geometry core = geos.buffer(local, -margin, quarter);
    std::vector<Geometry> touched;
    for (const GEOSGeometry* polygon : geos.polygons_in(core))
      if (geos.intersects(polygon, end)) touched.push_back(geos.copy(polygon));
    return geos.collection(std::move(touched));
  };
  Real open = 0;
  Real closed = 0.5 * width;
  constexpr int n_halvings = 12;
  for (int i = 0; i < n_halvings; ++i) {
    const Real margin = 0.5 * (open + closed);
    (geos.intersects(with_margin(margin, from), to) ? open : closed) = margin;
  }
  const Geometry at_from = with_margin(closed, from);
  const Geometry at_to = with_margin(closed, to);
  const bool is_parted = !geos.is_empty(at_from) && !geos.is_empty(at_to);
  const auto [one, other] = is_parted ? geos.nearest_points(at_from, at_to) : geos.nearest_points(from, to);
  return {0.5 * (one + other), 2 * open};
}

struct Gap {
  Geometry shape;
  std::vector<std::size_t> joined;  // parts that it lies between
};

Box<2> around(const Geos& geos, const Geometry& shape, Real margin) {
  Box<2> box = geos.bounds(shape);
  box.lower -= filled<2>(margin);
  box.upper += filled<2>(margin);
  return box;
}

/// Finds the parts of the area with a margin of width/2, and the gaps between them.
std::vector<Gap> gaps_between_parts(const Geos& geos, const Geometry& free, Real width,
                                    std::vector<Geometry>& parts) {
  const Geometry core = geos.buffer(free, -0.5 * width, quarter);
  // What the parts of the core reach; a little more, so that chords for arcs leave no slivers along walls.
  constexpr Real more = 1.003;
  std::vector<Geometry> reached;
  for (const GEOSGeometry* polygon : geos.polygons_in(core)) {
    if (geos.area(polygon) < width * width) continue;
    reached.push_back(geos.intersection(geos.buffer(polygon, 0.5 * more * width, quarter), free));
    parts.push_back(geos.copy(polygon));
  }
  if (parts.size() < 2) return {};

  // Between the parts: where the reaches of two meet, and what none reaches.
  std::vector<Geometry> between;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = i + 1; j < parts.size(); ++j)
      if (geos.intersects(reached[i], reached[j]))
        between.push_back(geos.intersection(reached[i], reached[j]));
  std::vector<Geometry> copies;
  for (const Geometry& one : reached) copies.push_back(geos.copy(one));
  between.push_back(geos.difference(free, geos.united(geos.collection(std::move(copies)))));
  // Grown a little, or pieces of one gap that meet in a point would count as gaps of their own.
  const Geometry gaps = geos.intersection(
      geos.buffer(geos.united(geos.collection(std::move(between))), 0.01 * width, quarter), free);

  std::vector<Gap> between_parts;
  for (const GEOSGeometry* polygon : geos.polygons_in(gaps)) {
    Gap gap{geos.copy(polygon), {}};
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (geos.intersects(reached[i], gap.shape)) gap.joined.push_back(i);
    if (gap.joined.size() > 1) between_parts.push_back(std::move(gap));
  }
  return between_parts;
}

}  // namespace

OpeningLine opening_line(const Geos& geos, const Geometry& area, std::span<const PolygonWithHoles> rings,
                         const Vec<2>& a, const Vec<2>& b, Real probe, const std::string& what,
                         const std::string& where) {
  const std::string line = place_text(a) + "-" + place_text(b);
  const auto off_boundary = [&](const Vec<2>& x) {
    const Nearest nearest = nearest_on_boundary(rings, x);
    throw InputError(
        fmt::format("{}: {} outside the area: the line {} is not on the boundary at {}; the nearest boundary "
                    "point {} is {:.3g} m away",
                    where, what, line, place_text(x), place_text(nearest.at), nearest.distance));
  };
  for (const Vec<2>& end : {a, b})
    if (nearest_on_boundary(rings, end).distance > snap) off_boundary(end);
  Vec<2> start = snapped(rings, a);
  Vec<2> end = snapped(rings, b);
  const Real length = norm(end - start);
  if (!(length > 4 * snap))
    throw InputError(fmt::format("{}: the line {} of the {} is {:.3g} m long; it must be longer than {} m",
                                 where, line, what, length, 4 * snap));
  if (const Real end_of_wall = followed(rings, start, end); end_of_wall < length) {
    // Where the line is farthest from any wall says more than where it leaves one.
    Vec<2> worst = start;
    Real distance = 0;
    constexpr int n_probes = 32;
    for (int i = 0; i <= n_probes; ++i) {
      const Vec<2> x = start + (end_of_wall + (length - end_of_wall) * i / n_probes) / length * (end - start);
      const Real here = nearest_on_boundary(rings, x).distance;
      if (here > distance) worst = x, distance = here;
    }
    off_boundary(worst);
  }

  const Vec<2> middle = 0.5 * (start + end);
  const Vec<2> tangent = (1 / length) * (end - start);
  const auto is_free = [&](const Vec<2>& x) { return geos.intersects(area, geos.point(x)); };
  const bool free_left = is_free(middle + probe * left_of(tangent));
  const bool free_right = is_free(middle - probe * left_of(tangent));
  if (free_left && free_right)
    throw InputError(fmt::format("{}: both sides of the line {} are walkable, so it leads nowhere{}", where,
                                 line,
                                 what == "exit" ? "; give a polygon instead, in which people vanish" : ""));
  if (!free_left && !free_right)
    throw InputError(fmt::format("{}: neither side of the line {} is walkable within {} m of its middle",
                                 where, line, probe));
  // From here on the pocket is to the left of start -> end.
  if (free_left) std::swap(start, end);
  const Vec<2> along = free_left ? -tangent : tangent;
  return {start, end, along, left_of(along)};
}

std::optional<std::pair<Real, Real>> part_along(const Edge& edge, const Ring& border) {
  if (std::abs(edge.height(border[0])) > snap || std::abs(edge.height(border[1])) > snap) return {};
  return std::minmax({dot(edge.tangent, border[0] - edge.a), dot(edge.tangent, border[1] - edge.a)});
}

void add_outside_of(std::span<const Ring> borders, const Edge& wall, std::vector<Edge>& walls) {
  struct Piece {
    Vec<2> a, b;
  };
  std::vector<Piece> pieces{{wall.a, wall.b}};
  constexpr Real shortest = 1e-6;  // [m]
  for (const Ring& border : borders) {
    const auto part = part_along(wall, border);
    if (!part) continue;
    const auto place = [&](const Vec<2>& x) { return dot(wall.tangent, x - wall.a); };
    const bool is_along = place(border[0]) < place(border[1]);
    const Vec<2>& first = border[is_along ? 0 : 1];
    const Vec<2>& last = border[is_along ? 1 : 0];
    std::vector<Piece> left;
    for (const Piece& piece : pieces) {
      if (place(piece.b) - part->first <= snap || part->second - place(piece.a) <= snap) {
        left.push_back(piece);
        continue;
      }
      if (part->first - place(piece.a) > shortest) left.push_back({piece.a, first});
      if (place(piece.b) - part->second > shortest) left.push_back({last, piece.b});
    }
    pieces = std::move(left);
  }
  for (const Piece& piece : pieces) walls.emplace_back(piece.a, piece.b);
}

Opening opened(const Geos& geos, const Geometry& area, std::span<const PolygonWithHoles> rings,
               const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where) {
  const auto [start, end, along, outward] =
      opening_line(geos, area, rings, a, b, std::min(2 * snap, 0.5 * depth), "exit", where);
  Opening opening;
  opening.pocket = {start, end, end + depth * outward, start + depth * outward};
  // A pocket that met the area elsewhere would open other walls too.
  constexpr Real beside = 1e-3;
  const Geometry reach =
      geos.polygon(Ring{start + snap * outward - beside * along, end + snap * outward + beside * along,
                        end + (depth + beside) * outward + beside * along,
                        start + (depth + beside) * outward - beside * along});
  if (depth > snap && geos.intersects(area, reach)) {
    const Vec<2> met = geos.inner_point(geos.intersection(area, reach));
    throw InputError(fmt::format(
        "{}: the pocket behind the line {}, {:g} m deep, would meet the walkable area at {}; make it "
        "less deep, or give a polygon instead, in which people vanish",
        where, place_text(a) + "-" + place_text(b), depth, place_text(met)));
  }
  // The pocket reaches a little into the area, and tapers there so that it stays clear of adjacent walls:
  // else rounding could leave a wall of no thickness.
  const Real hair = snap;
  const Geometry cut =
      geos.polygon(Ring{start, start + hair * (along - outward), end - hair * (along + outward), end,
                        end + depth * outward, start + depth * outward});
  opening.area = geos.united(area, cut);
  return opening;
}

std::vector<PlanFinding> narrow_places_of(const Geos& geos, const Geometry& free, Real width) {
  std::vector<Geometry> parts;
  const std::vector<Gap> between_parts = gaps_between_parts(geos, free, width, parts);
  std::vector<PlanFinding> findings;
  for (const Gap& gap : between_parts) {
    // Widths take time, and nobody reads so many.
    constexpr std::size_t max_measured = 100;
    if (findings.size() >= max_measured) {
      findings.push_back(
          {geos.inner_point(gap.shape), fmt::format("a passage is narrower than {:.3g} m", width)});
      continue;
    }
    // The surroundings of this gap without others, which would be routes round it.
    Geometry local = geos.intersection(free, geos.box(around(geos, gap.shape, 2 * width)));
    for (const Gap& other : between_parts)
      if (&other != &gap && geos.intersects(local, other.shape)) local = geos.difference(local, other.shape);
    const Geometry near = geos.box(around(geos, gap.shape, width));
    for (std::size_t k = 1; k < gap.joined.size(); ++k) {
      const Geometry from = geos.intersection(parts[gap.joined[0]], near);
      const Geometry to = geos.intersection(parts[gap.joined[k]], near);
      if (geos.is_empty(from) || geos.is_empty(to)) continue;
      const Neck neck = neck_between(geos, local, from, to, width);
      findings.push_back({neck.at, fmt::format("a passage is only {:.3g} m wide", neck.width)});
    }
  }
  std::ranges::sort(findings, {}, [](const PlanFinding& finding) { return finding.at.component; });
  return findings;
}

}  // namespace scree
