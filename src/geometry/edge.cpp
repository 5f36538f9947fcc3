#include "geometry/edge.hpp"

#include <fmt/format.h>

namespace scree {

namespace {

/// Twice the signed area of the triangle p, q, r: positive if r is to the left of p -> q.
Real turn(const Vec<2>& p, const Vec<2>& q, const Vec<2>& r) {
  return dot(left_of(q - p), r - p);
}

bool same_side(Real s, Real t) {
  return (s > 0 && t > 0) || (s < 0 && t < 0);
}

/// For a point r on the line through p and q: is it between them?
bool between(const Vec<2>& p, const Vec<2>& q, const Vec<2>& r) {
  return dot(p - r, q - r) <= 0;
}

}  // namespace

Edge::Edge(const Vec<2>& start, const Vec<2>& end, Real front) : a(start), b(end), length(norm(end - start)) {
  tangent = (end - start) * (1 / length);
  normal = front * left_of(tangent);
}

Foot foot_on(const Edge& edge, const Vec<2>& x, const Vec<2>& otherwise) {
  const Real along = dot(edge.tangent, x - edge.a);
  if (along > 0 && along < edge.length) {
    // The height is exact to rounding even where x minus the foot has lost all its digits.
    const Real height = edge.height(x);
    const Vec<2> away = height > 0 ? edge.normal : height < 0 ? -edge.normal : otherwise;
    return {Foot::Place::interior, away, std::abs(height)};
  }
  const bool at_start = along <= 0;
  const auto [away, distance] = direction(x - (at_start ? edge.a : edge.b), otherwise);
  return {at_start ? Foot::Place::start : Foot::Place::end, away, distance};
}

bool crosses(const Edge& edge, const Vec<2>& from, const Vec<2>& at) {
  const Real height_from = edge.height(from);
  if (height_from == 0 || same_side(height_from, edge.height(at))) return false;
  return !same_side(turn(from, at, edge.a), turn(from, at, edge.b));
}

bool segments_touch(const Vec<2>& a, const Vec<2>& b, const Vec<2>& c, const Vec<2>& d) {
  const Real c_side = turn(a, b, c);
  const Real d_side = turn(a, b, d);
  const Real a_side = turn(c, d, a);
  const Real b_side = turn(c, d, b);
  if (c_side == 0 && between(a, b, c)) return true;
  if (d_side == 0 && between(a, b, d)) return true;
  if (a_side == 0 && between(c, d, a)) return true;
  if (b_side == 0 && between(c, d, b)) return true;
  return same_side(c_side, -d_side) && same_side(a_side, -b_side);
}

SurfacePoint<2> thin_nearest(std::span<const Edge> edges, int part, const Vec<2>& at, const Vec<2>& from) {
  SurfacePoint<2> crossed{{}, -HUGE_VAL};
  for (const Edge& edge : edges) {
    if (!crosses(edge, from, at)) continue;
    const Vec<2> back = edge.height(from) > 0 ? edge.normal : -edge.normal;
    const Foot foot = foot_on(edge, at, -back);
    if (-foot.distance > crossed.distance) crossed = {-foot.away, -foot.distance};
  }
  if (crossed.distance > -HUGE_VAL) return crossed;

  const Edge& edge = edges[static_cast<std::size_t>(part)];
  const Vec<2> side = edge.height(from) < 0 ? -edge.normal : edge.normal;
  const Foot foot = foot_on(edge, at, side);
  return {foot.away, foot.distance};
}

Box<2> EdgeShape::bounds(int part, const Box<2>&) const {
  Box<2> box = Box<2>::empty();
  box.include(edge(part).a);
  box.include(edge(part).b);
  return box;
}

Outline<2> EdgeShape::outline(const Box<2>&) const {
  Outline<2> outline;
  for (const Edge& edge : edges_) {
    const int first = static_cast<int>(outline.points.size());
    outline.points.insert(outline.points.end(), {edge.a, edge.b});
    outline.lines.push_back({first, first + 1});
  }
  return outline;
}

std::vector<SurfacePiece<2>> pieces_of(const Edge& edge) {
  using Kind = SurfacePiece<2>::Kind;
  return {{.kind = Kind::edge,
           .point = edge.a,
           .normal = edge.normal,
           .tangent = edge.tangent,
           .length = edge.length},
          {.kind = Kind::ball, .point = edge.a},
          {.kind = Kind::ball, .point = edge.b}};
}

std::vector<SurfacePiece<2>> EdgeShape::pieces(int part) const {
  return pieces_of(edge(part));
}

void ThinWall::nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>> from,
                       std::span<SurfacePoint<2>> result) const {
  for (std::size_t i = 0; i < at.size(); ++i) result[i] = thin_nearest(edges_, part, at[i], from[i]);
}

std::vector<Vec<2>> read_corners(Section& section, std::string_view key, std::size_t least, bool closed,
                                 std::string_view doc) {
  std::vector<std::vector<Real>> list;
  section.points(key, list, 2, {.unit = Unit::length, .required = true, .doc = doc});
  if (!section.reading()) return {};
  if (list.size() < least)
    section.fail(key, fmt::format("{} point{} given, at least {} are needed", list.size(),
                                  list.size() == 1 ? "" : "s", least));
  std::vector<Vec<2>> corners;
  for (const std::vector<Real>& corner : list) corners.push_back({{corner[0], corner[1]}});
  for (std::size_t i = closed ? 0 : 1; i < corners.size(); ++i) {
    const std::size_t before = (i + corners.size() - 1) % corners.size();
    if (!(norm(corners[i] - corners[before]) > 0))
      section.fail(key, fmt::format("points {} and {} are the same{}", before + 1, i + 1,
                                    i == 0 ? ": the ring closes by itself" : ""));
  }
  return corners;
}

}  // namespace scree
