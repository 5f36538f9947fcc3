#include <algorithm>
#include <cmath>

#include "geometry/edge.hpp"
#include "geometry/touch.hpp"

namespace scree {

bool EdgeShape::counts(int part, const Vec<2>& x, Real tolerance) const {
  const auto along = [&](int e) { return dot(edge(e).tangent, x - edge(e).a); };
  const auto is_beside = [&](int e) {
    return along(e) > -tolerance && along(e) < edge(e).length + tolerance;
  };
  const auto distance = [&](int e) { return std::abs(edge(e).height(x)); };
  if (is_beside(part)) {
    for (const Foot::Place end : {Foot::Place::start, Foot::Place::end})
      for (const Joint& joint : joints(part, end)) {
        if (!joint.flat || !is_beside(joint.edge)) continue;
        const Real nearer = distance(joint.edge) - distance(part);
        if (nearer < -tolerance || (nearer <= tolerance && joint.edge < part)) return false;
      }
    return true;
  }
  const Foot::Place end = along(part) < 0 ? Foot::Place::start : Foot::Place::end;
  return std::ranges::none_of(joints(part, end), [&](const Joint& joint) {
    const Real beyond =
        joint.place == Foot::Place::start ? along(joint.edge) : edge(joint.edge).length - along(joint.edge);
    return joint.edge < part || beyond > -tolerance;
  });
}

void EdgeShape::push_back(const TouchQuery<2>& query, const Vec<2>& foot, const Vec<2>& out,
                          WallContacts<2>& found) {
  TouchQuery<2> any_gap = query;
  any_gap.reach = HUGE_VAL;
  touch_plane(any_gap, foot, out, found);
}

void EdgeShape::touch_edge(int part, const TouchQuery<2>& query, const Vec<2>& out,
                           WallContacts<2>& found) const {
  static const ConvexCore<2> segment(ConvexHull<2>{{unit_vector<2>(0, -1), unit_vector<2>(0)}, {}});
  const Edge& own = edge(part);
  const BodyPose<2> pose{0.5 * (own.a + own.b), {own.tangent, left_of(own.tangent)}, 0.5 * own.length};
  touch_core(query, {segment, pose}, 0, found);
  if (found.n == 0) return;
  if (found.cores_overlap) {
    constexpr Real along = 0.5;  // cosine of 60 degrees
    const Vec<2> face_to_leave_by = -found.points[0].normal;
    const Real forward = dot(face_to_leave_by, out);
    if (forward >= along) return;
    if (forward <= -along) return push_back(query, own.a, out, found);
    const auto end = dot(face_to_leave_by, own.tangent) > 0 ? Foot::Place::end : Foot::Place::start;
    if (!joints(part, end).empty()) found.n = 0;
    return;
  }
  int kept = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.n); ++i) {
    const auto& p = found.points[i];
    const Vec<2> x = query.body.pose.centre + p.place - (query.rounding + 0.5 * p.gap) * p.normal;
    if (counts(part, x, same_number * query.body.pose.size) && !is_behind(part, x)) found.points[kept++] = p;
  }
  found.n = kept;
}

void ThinWall::touch(int part, const ConvexCore<2>& core, const BodyPose<2>& pose, Real rounding,
                     const Vec<2>& from, Real reach, Real width, WallContacts<2>& found) const {
  const TouchQuery<2> query{{core, pose}, rounding, reach, width};
  if (query.is_sphere()) return Shape::touch(part, core, pose, rounding, from, reach, width, found);
  const int crossed = first_crossed(part, pose.centre, from);
  if (crossed < 0) return touch_edge(part, query, side_of(part, pose.centre), found);
  found.n = 0;
  if (crossed != part) return;
  const SurfacePoint<2> seen = nearest(part, pose.centre, from);
  push_back(query, pose.centre - seen.distance * seen.normal, seen.normal, found);
}

Vec<2> ThinWall::side_of(int part, const Vec<2>& centre) const {
  Real height = edge(part).height(centre);
  const Foot foot = foot_on(edge(part), centre, Vec<2>{});
  if (foot.place != Foot::Place::interior)
    for (const Joint& joint : joints(part, foot.place)) {
      if (foot_on(edge(joint.edge), centre, Vec<2>{}).place != Foot::Place::interior) continue;
      // Edges that run the same way along the wall have normals on the same side of it.
      height = (joint.place != foot.place ? 1 : -1) * edge(joint.edge).height(centre);
      break;
    }
  return height < 0 ? -edge(part).normal : edge(part).normal;
}

}  // namespace scree
