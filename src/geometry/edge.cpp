#include "geometry/edge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scree {

namespace {

/// Twice the signed area of the triangle p, q, r: positive if r is to the left of p -> q.
Real turn(const Vec<2>& p, const Vec<2>& q, const Vec<2>& r) {
  return dot(left_of(q - p), r - p);
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

namespace {

/// Where on the path from -> at it crosses the line of the edge, from 0 to 1; for paths that do.
Real crossing(const Edge& edge, const Vec<2>& from, const Vec<2>& at) {
  const Real before = edge.height(from);
  return before / (before - edge.height(at));
}

}  // namespace

void EdgeShape::join() {
  constexpr Real flat = 0.017452406437283512;  // sine of 1 degree
  struct End {
    Vec<2> point;
    int edge;
    Foot::Place place;
  };
  std::vector<End> ends;
  for (int e = 0; e < n_parts(); ++e) {
    ends.push_back({edge(e).a, e, Foot::Place::start});
    ends.push_back({edge(e).b, e, Foot::Place::end});
  }
  const auto by_point = [](const End& p, const End& q) {
    return std::lexicographical_compare(p.point.component.begin(), p.point.component.end(),
                                        q.point.component.begin(), q.point.component.end());
  };
  std::vector<End> sorted = ends;
  std::stable_sort(sorted.begin(), sorted.end(), by_point);  // so edges at a point are in their order
  const auto away = [this](const End& end) {
    return edge(end.edge).tangent * (end.place == Foot::Place::start ? 1.0 : -1.0);
  };
  joints_.clear();
  neighbours_.clear();
  first_joint_.assign(1, 0);
  first_neighbour_.assign(1, 0);
  for (const End& end : ends) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), end, by_point);
    for (auto other = first; other != last; ++other) {
      if (other->edge == end.edge) continue;
      const bool is_flat = norm(away(end) + away(*other)) < flat || norm(away(end) - away(*other)) < flat;
      joints_.push_back({other->edge, other->place, is_flat});
      neighbours_.push_back(other->edge);
    }
    first_joint_.push_back(static_cast<int>(joints_.size()));
    if (end.place == Foot::Place::start) continue;
    const auto own = neighbours_.begin() + first_neighbour_.back();
    std::sort(own, neighbours_.end());
    neighbours_.erase(std::unique(own, neighbours_.end()), neighbours_.end());
    first_neighbour_.push_back(static_cast<int>(neighbours_.size()));
  }
}

bool EdgeShape::answers(int part, const Foot& foot, const Vec<2>& x) const {
  const auto foot_of = [&](const Joint& joint) { return foot_on(edge(joint.edge), x, Vec<2>{}); };
  if (foot.place != Foot::Place::interior) {
    for (const Joint& joint : joints(part, foot.place))
      if (joint.edge < part || foot_of(joint).place != joint.place) return false;
    return true;
  }
  for (const Foot::Place end : {Foot::Place::start, Foot::Place::end})
    for (const Joint& joint : joints(part, end)) {
      if (!joint.flat) continue;
      const Foot other = foot_of(joint);
      if (other.place != Foot::Place::interior) continue;
      if (other.distance < foot.distance || (other.distance == foot.distance && joint.edge < part))
        return false;
    }
  return true;
}

int ThinWall::first_crossed(int part, const Vec<2>& at, const Vec<2>& from) const {
  if (from == at) return -1;
  const bool is_crossed = crosses(edge(part), from, at);
  const Real own_crossing = is_crossed ? crossing(edge(part), from, at) : HUGE_VAL;
  for (const int other : neighbours(part)) {
    if (!crosses(edge(other), from, at)) continue;
    const Real its_crossing = crossing(edge(other), from, at);
    if (its_crossing < own_crossing || (its_crossing == own_crossing && other < part)) return other;
  }
  return is_crossed ? part : -1;
}

SurfacePoint<2> ThinWall::nearest(int part, const Vec<2>& at, const Vec<2>& from) const {
  const Edge& own = edge(part);
  const int crossed = first_crossed(part, at, from);
  if (crossed == part) {
    const Vec<2> back = own.height(from) > 0 ? own.normal : -own.normal;
    const Foot foot = foot_on(own, at, -back);
    return {-foot.away, -foot.distance};
  }
  if (crossed >= 0) return SurfacePoint<2>::none();
  const Vec<2> side = own.height(from) < 0 ? -own.normal : own.normal;
  const Foot foot = foot_on(own, at, side);
  return answers(part, foot, at) ? SurfacePoint<2>{foot.away, foot.distance} : SurfacePoint<2>::none();
}

void ThinWall::nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>> from,
                       std::span<SurfacePoint<2>> result) const {
  for (std::size_t i = 0; i < at.size(); ++i) result[i] = nearest(part, at[i], from[i]);
}

void EdgeShape::distances(int part, std::span<const Vec<2>> at, std::span<SurfacePoint<2>> result) const {
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Foot foot = foot_on(edge(part), at[i], edge(part).normal);
    result[i] = {foot.away, foot.distance};
  }
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
          {.kind = Kind::sphere, .point = edge.a},
          {.kind = Kind::sphere, .point = edge.b}};
}

std::vector<SurfacePiece<2>> EdgeShape::pieces(int part) const {
  return pieces_of(edge(part));
}

std::vector<Vec<2>> read_corners(Section& section, std::string_view key, std::size_t min, bool closed,
                                 std::string_view doc) {
  std::vector<std::vector<Real>> list;
  section.points(key, list, 2, {.unit = Unit::length, .required = true, .doc = doc});
  if (!section.reading()) return {};
  if (list.size() < min)
    section.fail(key, fmt::format("{} point{} given, at least {} are needed", list.size(),
                                  list.size() == 1 ? "" : "s", min));
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
