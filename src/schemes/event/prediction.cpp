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

/// When the gap closes next, or the body leaves the edge that it is kept on; later than `now`, infinite if
/// not before the end of the step.
template <int D>
Real EventEngine<D>::contact_time(int body, Partner partner, Real now) const {
  const auto& list = closed_[place(body)];
  const auto closed = std::ranges::find(list, partner, &Closed::partner);
  const bool is_closed = closed != list.end();
  const Real left = end_ - now;
  const Flight a = at(body, now);
  const Real r = (*bodies_)[place(body)].radius;
  // Round-off must not close what has just been found closed and about to open.
  const auto fall = [&](auto p) {
    if (is_closed)
      for (std::size_t k = 0; k < 3; ++k) p[k] = std::max(p[k], 0.0);
    return first_root(p, left);
  };
  if (partner >= 0) {
    if (is_closed && closed->kept) return HUGE_VAL;
    const Flight b = at(partner, now);
    const Vec<D> d = b.x - a.x;
    const Vec<D> u = b.v - a.v;
    const Vec<D> w = b.a - a.a;
    const Real reach = r + (*bodies_)[place(partner)].radius;
    if (norm(d) > reach + left * (norm(u) + 0.5 * left * norm(w))) return HUGE_VAL;
    return now + fall(distance_polynomial(d, u, w, reach));
  }
  const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
  const Vec<D> d = a.x - surface.point;
  const auto component = [&](const Vec<D>& axis, Real factor, Real offset) {
    return std::array<Real, 3>{factor * dot(axis, d) + offset, factor * dot(axis, a.v),
                               0.5 * factor * dot(axis, a.a)};
  };
  if (surface.kind == SurfacePiece<D>::Kind::plane)
    return is_closed && closed->kept ? HUGE_VAL : now + fall(component(surface.normal, 1, -r));
  if (surface.kind == SurfacePiece<D>::Kind::edge) {
    const Real inset = margin(surface, r);
    if (is_closed && closed->kept)
      return now + std::min(first_root(component(surface.tangent, 1, -inset), left),
                            first_root(component(surface.tangent, -1, surface.length - inset), left));
    Real earliest = HUGE_VAL;
    for (const Real side : {1.0, -1.0}) {
      // A gap that is not positive may be that of a body beyond the ends, or on the other side.
      const Real time = is_closed && side * dot(surface.normal, d) < 0
                            ? HUGE_VAL
                            : now + fall(component(surface.normal, side, -r));
      if (time == HUGE_VAL) continue;
      const Vec<D> x = at(body, time).x;
      if (!(side * dot(surface.normal, x - surface.point) > 0)) continue;
      if (is_over(surface, x, r)) {
        earliest = std::min(earliest, time);
        continue;
      }
      // A body that flies off the corner at a seam is within the margin when it meets the next edge: it does
      // as soon as it is over that edge.
      const Real along = dot(surface.tangent, x - surface.point);
      const Real deeper = 3 * inset;
      const bool at_start = std::abs(along) <= deeper;
      if (!at_start && std::abs(along - surface.length) > deeper) continue;
      const Real over = first_root(at_start ? component(surface.tangent, -1, deeper)
                                            : component(surface.tangent, 1, deeper - surface.length),
                                   left);
      earliest = std::min(earliest, std::max(time, now + over));
    }
    return earliest;
  }
  if (is_closed && closed->kept) return HUGE_VAL;
  auto p = distance_polynomial(d, a.v, a.a, surface.radius + surface.front * r);
  if (surface.front < 0)
    for (Real& coefficient : p) coefficient = -coefficient;
  const Real time = now + fall(p);
  return time < HUGE_VAL && hides_corner(-1 - partner, at(body, time).x, r) ? HUGE_VAL : time;
}

template void EventEngine<2>::predict(int, Real);
template void EventEngine<3>::predict(int, Real);

}  // namespace scree
