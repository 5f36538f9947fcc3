#include "schemes/event/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "geometry/direction.hpp"
#include "schemes/event/engine_detail.hpp"

namespace scree {

using namespace event_engine;

template <int D>
auto EventEngine<D>::at(int body, Real time) const -> Flight {
  const Flight& flight = flights_[place(body)];
  const Real dt = time - flight.since;
  return {flight.x + dt * (flight.v + (0.5 * dt) * flight.a), flight.v + dt * flight.a, flight.a, time};
}

template <int D>
void EventEngine<D>::advance(std::vector<FlyingBody<D>>& bodies, std::span<const FixedPiece<D>> pieces,
                             Real dt, const std::string& place_in_run) {
  bodies_ = &bodies;
  pieces_ = pieces;
  end_ = dt;
  counts_ = {};
  impulses_.clear();
  const int n = static_cast<int>(bodies.size());
  flights_.clear();
  for (const FlyingBody<D>& body : bodies)
    flights_.push_back(body.fixed ? Flight{body.position, {}, {}, 0}
                                  : Flight{body.position, body.velocity, settings_.gravity, 0});
  closed_.assign(bodies.size(), {});
  cluster_.place.assign(bodies.size(), -1);
  predictions_.assign(bodies.size(), {});
  find_corners();

  std::vector<bool> settled(bodies.size());
  for (int i = 0; i < n; ++i) {
    if (settled[place(i)] || !mobile(i)) continue;
    settle(i, 0, place_in_run);
    for (const int member : cluster_.members) settled[place(member)] = true;
  }
  for (int i = 0; i < n; ++i) predict(i, 0);

  while (true) {
    const auto next = std::ranges::min_element(predictions_, {}, &Prediction::time);
    if (next == predictions_.end() || !(next->time <= dt)) break;
    if (++counts_.events > settings_.max_events)
      throw StepRefused(
          ExitCode::runtime_failure,
          fmt::format("{}: more than {} events within {:.3g} s, the last one at body {}; raise [event] "
                      "rest_speed, below which contacts do not rebound, or max_events",
                      place_in_run, settings_.max_events, next->time,
                      bodies[next - predictions_.begin()].id));
    const Real now = next->time;
    settle(static_cast<int>(next - predictions_.begin()), now, place_in_run);
    std::vector<int> changed = cluster_.members;
    for (int i = 0; i < n; ++i)
      if (cluster_.place[place(i)] < 0 &&
          std::ranges::find(cluster_.members, predictions_[place(i)].partner) != cluster_.members.end())
        changed.push_back(i);
    for (const int i : changed) predictions_[place(i)] = {};
    for (const int i : changed) predict(i, now);
  }

  for (int i = 0; i < n; ++i) {
    record_resting(i, dt);
    const Flight flight = at(i, dt);
    bodies[place(i)].position = flight.x;
    bodies[place(i)].velocity = flight.v;
  }
  find_smallest_gap();
  std::ranges::sort(impulses_, {}, [](const ContactImpulse& c) { return std::pair(c.a, c.b); });
}

/// Which edges end in each corner: next to it they, not the corner, meet a body over them.
template <int D>
void EventEngine<D>::find_corners() {
  edges_at_.assign(pieces_.size(), {});
  for (std::size_t c = 0; c < pieces_.size(); ++c) {
    const SurfacePiece<D>& corner = pieces_[c].surface;
    if (corner.kind != SurfacePiece<D>::Kind::sphere || corner.radius > 0) continue;
    for (std::size_t e = 0; e < pieces_.size(); ++e) {
      const SurfacePiece<D>& edge = pieces_[e].surface;
      if (edge.kind != SurfacePiece<D>::Kind::edge) continue;
      const Vec<D> far_end = edge.point + edge.length * edge.tangent;
      const Real near = round_off * edge.length;
      if (norm(corner.point - edge.point) <= near || norm(corner.point - far_end) <= near)
        edges_at_[c].push_back(static_cast<int>(e));
    }
  }
}

template <int D>
void EventEngine<D>::find_smallest_gap() {
  smallest_gap_ = HUGE_VAL;
  for (int i = 0; i < static_cast<int>(bodies_->size()); ++i) {
    for (int j = 0; j < i; ++j)
      if (mobile(i) || mobile(j)) smallest_gap_ = std::min(smallest_gap_, gap(i, j, end_));
    for (int k = 0; k < static_cast<int>(pieces_.size()); ++k)
      if (mobile(i)) smallest_gap_ = std::min(smallest_gap_, gap(i, -1 - k, end_));
  }
}

/// Distance of the surfaces [m]; infinite for an edge that the body is not over, and for a corner of one that
/// it is over.
template <int D>
Real EventEngine<D>::gap(int body, Partner partner, Real time) const {
  const Vec<D> x = at(body, time).x;
  const Real r = (*bodies_)[place(body)].radius;
  if (partner >= 0) return norm(at(partner, time).x - x) - (r + (*bodies_)[place(partner)].radius);
  const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
  const Vec<D> d = x - surface.point;
  switch (surface.kind) {
    case SurfacePiece<D>::Kind::plane:
      return dot(surface.normal, d) - r;
    case SurfacePiece<D>::Kind::edge:
      return is_over(surface, x, r) ? std::abs(dot(surface.normal, d)) - r : HUGE_VAL;
    case SurfacePiece<D>::Kind::sphere:
      break;
  }
  return hides_corner(-1 - partner, x, r) ? HUGE_VAL : surface.front * (norm(d) - surface.radius) - r;
}

template <int D>
bool EventEngine<D>::hides_corner(int piece, const Vec<D>& x, Real radius) const {
  return std::ranges::any_of(edges_at_[place(piece)],
                             [&](int edge) { return is_over(pieces_[place(edge)].surface, x, radius); });
}

/// Unit, from the body to its partner.
template <int D>
Vec<D> EventEngine<D>::normal(int body, Partner partner, Real time) const {
  const Vec<D> x = at(body, time).x;
  if (partner >= 0) return direction(at(partner, time).x - x, unit_vector<D>(0)).unit;
  const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
  const Vec<D> d = x - surface.point;
  switch (surface.kind) {
    case SurfacePiece<D>::Kind::plane:
      return -surface.normal;
    case SurfacePiece<D>::Kind::edge:
      return dot(surface.normal, d) < 0 ? surface.normal : -surface.normal;
    case SurfacePiece<D>::Kind::sphere:
      break;
  }
  return -surface.front * direction(d, unit_vector<D>(0)).unit;
}

template <int D>
bool EventEngine<D>::touches(int body, Partner partner, Real time) const {
  Real reach = (*bodies_)[place(body)].radius;
  if (partner >= 0) reach += (*bodies_)[place(partner)].radius;
  const Real distance = gap(body, partner, time);
  if (distance <= settings_.tolerance * reach) return true;
  const auto& list = closed_[place(body)];
  return distance < HUGE_VAL && std::ranges::find(list, partner, &Closed::partner) != list.end();
}

/// Puts what kept the contacts of a body closed since its last event into the impulses of the step.
template <int D>
void EventEngine<D>::record_resting(int body, Real time) {
  for (const Closed& closed : closed_[place(body)])
    if (closed.force > 0) record(body, closed.partner, closed.force * (time - flights_[place(body)].since));
}

template <int D>
void EventEngine<D>::record_impulses() {
  for (std::size_t i = 0; i < cluster_.contacts.size(); ++i)
    if (cluster_.impulse[i] > 0)
      record(cluster_.members[place(cluster_.contacts[i].constraint.a)], cluster_.contacts[i].partner,
             cluster_.impulse[i]);
}

template <int D>
void EventEngine<D>::record(int body, Partner partner, Real magnitude) {
  GlobalId a = (*bodies_)[place(body)].id;
  GlobalId b = partner >= 0 ? (*bodies_)[place(partner)].id : -1 - pieces_[place(-1 - partner)].constraint;
  if (b >= 0 && b < a) std::swap(a, b);
  const auto same =
      std::ranges::find_if(impulses_, [&](const ContactImpulse& c) { return c.a == a && c.b == b; });
  if (same != impulses_.end())
    same->magnitude += magnitude;
  else
    impulses_.push_back({a, b, magnitude});
}

template class EventEngine<2>;
template class EventEngine<3>;

}  // namespace scree
