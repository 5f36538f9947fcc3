// EventEngine: when contacts close next.
#include <algorithm>
#include <array>

#include "schemes/event/engine_detail.hpp"
#include "schemes/event/first_root.hpp"

namespace scree {

using namespace event_engine;

namespace {

/// Of 1, t, ..., t^4 in |d + u t + w t^2 / 2|^2 - reach^2.
template <int D>
std::array<Real, 5> distance_polynomial(const Vec<D>& d, const Vec<D>& u, const Vec<D>& w, Real reach) {
  // The difference of two squares: a gap near 0 keeps its digits.
  const Real length = norm(d);
  return {(length - reach) * (length + reach), 2 * dot(d, u), dot(u, u) + dot(d, w), dot(u, w),
          0.25 * dot(w, w)};
}

}  // namespace

/// Finds the next event of a body, and of others with it.
template <int D>
void EventEngine<D>::predict(int body, Real now) {
  const auto lower = [&](int i, Real time, Partner partner) {
    Prediction& prediction = predictions_[place(i)];
    if (time < prediction.time) prediction = {time, partner};
  };
  if (!mobile(body)) return;
  for (int j = 0; j < static_cast<int>(bodies_->size()); ++j) {
    if (j == body) continue;
    const Real time = contact_time(body, j, now);
    lower(body, time, j);
    if (mobile(j)) lower(j, time, body);
  }
  for (int k = 0; k < static_cast<int>(pieces_.size()); ++k)
    lower(body, contact_time(body, -1 - k, now), -1 - k);
}

/// A body on its flight against a partner, from `now` until the end of the step, `left` later.
template <int D>
struct EventEngine<D>::Approach {
  int body;
  Real now, left;
  Real radius;
  Vec<D> x, v, a;  ///< of the body, x from a point of the surface
  bool is_closed, is_kept;

  /// When the polynomial falls to 0. Round-off must not close what has just been found closed and about to
  /// open.
  template <std::size_t n>
  Real fall(std::array<Real, n> p) const {
    if (is_closed)
      for (std::size_t k = 0; k < 3; ++k) p[k] = std::max(p[k], 0.0);
    return first_root(p, left);
  }
  /// Of 1, t, t^2 in factor * (the place along the axis) + offset.
  std::array<Real, 3> component(const Vec<D>& axis, Real factor, Real offset) const {
    return {factor * dot(axis, x) + offset, factor * dot(axis, v), 0.5 * factor * dot(axis, a)};
  }
};

/// When the gap closes next, or the body leaves the edge that it is kept on; later than `now`, infinite if
/// not before the end of the step.
template <int D>
Real EventEngine<D>::contact_time(int body, Partner partner, Real now) const {
  const auto& list = closed_[place(body)];
  const auto closed = std::ranges::find(list, partner, &Closed::partner);
  const bool is_closed = closed != list.end();
  const Real r = (*bodies_)[place(body)].radius;
  const Flight flight = at(body, now);
  Approach approach{
      body, now, end_ - now, r, flight.x, flight.v, flight.a, is_closed, is_closed && closed->kept};
  if (partner >= 0) {
    if (approach.is_kept) return HUGE_VAL;
    const Flight b = at(partner, now);
    const Vec<D> d = b.x - flight.x;
    const Vec<D> u = b.v - flight.v;
    const Vec<D> w = b.a - flight.a;
    const Real reach = r + (*bodies_)[place(partner)].radius;
    if (norm(d) > reach + approach.left * (norm(u) + 0.5 * approach.left * norm(w))) return HUGE_VAL;
    return now + approach.fall(distance_polynomial(d, u, w, reach));
  }
  const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
  approach.x = flight.x - surface.point;
  if (surface.kind == SurfacePiece<D>::Kind::plane)
    return approach.is_kept ? HUGE_VAL : now + approach.fall(approach.component(surface.normal, 1, -r));
  if (surface.kind == SurfacePiece<D>::Kind::edge) return edge_contact_time(approach, surface);
  if (approach.is_kept) return HUGE_VAL;
  auto p = distance_polynomial(approach.x, approach.v, approach.a, surface.radius + surface.front * r);
  if (surface.front < 0)
    for (Real& coefficient : p) coefficient = -coefficient;
  const Real time = now + approach.fall(p);
  return time < HUGE_VAL && hides_corner(-1 - partner, at(body, time).x, r) ? HUGE_VAL : time;
}

template <int D>
Real EventEngine<D>::edge_contact_time(const Approach& approach, const SurfacePiece<D>& edge) const {
  const Real r = approach.radius, now = approach.now;
  const Real inset = margin(edge, r);
  if (approach.is_kept)
    return now +
           std::min(first_root(approach.component(edge.tangent, 1, -inset), approach.left),
                    first_root(approach.component(edge.tangent, -1, edge.length - inset), approach.left));
  Real earliest = HUGE_VAL;
  for (const Real side : {1.0, -1.0}) {
    // A gap that is not positive may be that of a body beyond the ends, or on the other side.
    const Real time = approach.is_closed && side * dot(edge.normal, approach.x) < 0
                          ? HUGE_VAL
                          : now + approach.fall(approach.component(edge.normal, side, -r));
    if (time == HUGE_VAL) continue;
    const Vec<D> x = at(approach.body, time).x;
    if (!(side * dot(edge.normal, x - edge.point) > 0)) continue;
    if (is_over(edge, x, r)) {
      earliest = std::min(earliest, time);
      continue;
    }
    // A body that flies off the corner at a seam is within the margin when it meets the next edge: it does
    // as soon as it is over that edge.
    const Real along = dot(edge.tangent, x - edge.point);
    const Real deeper = 3 * inset;
    const bool at_start = std::abs(along) <= deeper;
    if (!at_start && std::abs(along - edge.length) > deeper) continue;
    const Real over = first_root(at_start ? approach.component(edge.tangent, -1, deeper)
                                          : approach.component(edge.tangent, 1, deeper - edge.length),
                                 approach.left);
    earliest = std::min(earliest, std::max(time, now + over));
  }
  return earliest;
}

template void EventEngine<2>::predict(int, Real);
template void EventEngine<3>::predict(int, Real);

}  // namespace scree
