#include "geometry/rim_arcs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace scree {
namespace {

/// Of the plane of a face from the centre of the body, along its normal [m].
Real offset(const PosedCore<3>& body, int face) {
  return body.pose.size * body.core.plane(face).offset;
}

struct Nearest {
  int face = -1;
  Real height = -HUGE_VAL;
};

/// The face, not `except`, over which x is highest.
Nearest nearest_face(const PosedCore<3>& body, const Vec<3>& x, int except = -1) {
  Nearest nearest;
  for (int f = 0; f < body.core.n_faces(); ++f) {
    if (f == except) continue;
    const Real height = dot(body.normal(f), x) - offset(body, f);
    if (height > nearest.height) nearest = {f, height};
  }
  return nearest;
}

}  // namespace

Vec<3> RimCircle::at(Real angle) const {
  return centre + std::cos(angle) * u + std::sin(angle) * v;
}

RimArcs arcs_within(const PosedCore<3>& body, const RimCircle& circle) {
  constexpr Real turn = 2 * std::numbers::pi;
  std::array<Real, RimArcs::max> entries, exits;
  std::size_t n_entries = 0, n_exits = 0;
  RimArcs arcs;
  for (int f = 0; f < body.core.n_faces(); ++f) {
    // The height over the face is middle + swing cos(angle - turned).
    const Vec<3> normal = body.normal(f);
    const Real middle = dot(normal, circle.centre) - offset(body, f);
    const Real along_u = dot(normal, circle.u), along_v = dot(normal, circle.v);
    const Real swing = std::hypot(along_u, along_v);
    if (middle >= swing) return arcs;
    if (middle <= -swing) continue;
    const Real turned = std::atan2(along_v, along_u), half = std::acos(-middle / swing);
    const auto keep = [&](Real angle, auto& ends, std::size_t& n) {
      if (n < ends.size() && nearest_face(body, circle.at(angle), f).height <= 0) ends[n++] = angle;
    };
    keep(turned + half, entries, n_entries);
    keep(turned - half, exits, n_exits);
  }
  for (std::size_t k = 0; k < n_entries && n_exits > 0; ++k) {
    Real arc = turn;
    for (std::size_t e = 0; e < n_exits; ++e) {
      const Real to_exit = exits[e] - entries[k];
      arc = std::min(arc, to_exit - turn * std::floor(to_exit / turn));
    }
    const Vec<3> x = circle.at(entries[k] + 0.5 * arc);
    arcs.middles[arcs.n++] = {x, nearest_face(body, x).face};
  }
  return arcs;
}

}  // namespace scree
