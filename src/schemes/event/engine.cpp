#include "schemes/event/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "geometry/direction.hpp"
#include "schemes/event/first_fall.hpp"

namespace scree {

namespace {

/// Speeds and accelerations below this share of their scale are round-off.
constexpr Real round_off = 1e-12;
/// A contact of two round surfaces is steady if they pass by each other slower than this share of the scale:
/// the normal then keeps its direction for as long as anybody looks.
constexpr Real steady_share = 1e-9;

constexpr std::size_t place(int index) {
  return static_cast<std::size_t>(index);
}

/// Ends of an edge closer than this belong to the corner [m].
template <int D>
Real margin(const SurfacePiece<D>& edge, Real radius) {
  return round_off * (edge.length + radius);
}

template <int D>
bool is_over(const SurfacePiece<D>& edge, const Vec<D>& x, Real radius) {
  const Real along = dot(edge.tangent, x - edge.point);
  const Real least = 2 * margin(edge, radius);
  return along > least && along < edge.length - least;
}

/// Of 1, t, ..., t^4 in |d + u t + w t^2 / 2|^2 - reach^2.
template <int D>
std::array<Real, 5> distance_polynomial(const Vec<D>& d, const Vec<D>& u, const Vec<D>& w, Real reach) {
  // The difference of two squares: a gap near 0 keeps its digits.
  const Real length = norm(d);
  return {(length - reach) * (length + reach), 2 * dot(d, u), dot(u, u) + dot(d, w), dot(u, w),
          0.25 * dot(w, w)};
}

}  // namespace

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
    flights_.push_back(body.held ? Flight{body.position, {}, {}, 0}
                                 : Flight{body.position, body.velocity, settings_.gravity, 0});
  closed_.assign(bodies.size(), {});
  place_.assign(bodies.size(), -1);
  predictions_.assign(bodies.size(), {});
  find_corners();

  std::vector<bool> settled(bodies.size());
  for (int i = 0; i < n; ++i) {
    if (settled[place(i)] || !mobile(i)) continue;
    settle(i, 0, place_in_run);
    for (const int member : members_) settled[place(member)] = true;
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
                      bodies[static_cast<std::size_t>(next - predictions_.begin())].id));
    const Real now = next->time;
    settle(static_cast<int>(next - predictions_.begin()), now, place_in_run);
    std::vector<int> changed = members_;
    for (int i = 0; i < n; ++i)
      if (place_[place(i)] < 0 &&
          std::ranges::find(members_, predictions_[place(i)].partner) != members_.end())
        changed.push_back(i);
    for (const int i : changed) predictions_[place(i)] = {};
    for (const int i : changed) predict(i, now);
  }

  for (int i = 0; i < n; ++i) {
    book(i, dt);
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
    if (corner.kind != SurfacePiece<D>::Kind::ball || corner.radius > 0) continue;
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
    case SurfacePiece<D>::Kind::ball:
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
    case SurfacePiece<D>::Kind::ball:
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

/// What happens to a body and all that it touches: impacts, and accelerations until their next event.
template <int D>
void EventEngine<D>::settle(int body, Real time, const std::string& place_in_run) {
  find_cluster(body, time);
  for (const int member : members_) {
    book(member, time);
    flights_[place(member)] = at(member, time);
    closed_[place(member)].clear();
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    velocity_[m] = flights_[place(members_[m])].v;
    mass_[m] = (*bodies_)[place(members_[m])].mass;
  }
  const std::vector<Vec<D>> before = velocity_;
  start_speed_ = largest_speed<D>(velocity_);
  collide();
  keep_closed(place_in_run);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    counts_.dissipated += 0.5 * mass_[m] * dot(before[m] - velocity_[m], before[m] + velocity_[m]);
    flights_[place(members_[m])].v = velocity_[m];
    flights_[place(members_[m])].a = acceleration_[m];
  }
}

/// The bodies that hang together with this one by contacts, and these contacts.
template <int D>
void EventEngine<D>::find_cluster(int body, Real time) {
  for (const int member : members_) place_[place(member)] = -1;
  members_.clear();
  contacts_.clear();
  repeats_.clear();
  const auto enter = [&](int i) {
    place_[place(i)] = static_cast<int>(members_.size());
    members_.push_back(i);
  };
  enter(body);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const int i = members_[m];
    for (int j = 0; j < static_cast<int>(bodies_->size()); ++j) {
      const bool is_done = place_[place(j)] >= 0 && place(place_[place(j)]) <= m;
      if (is_done || !touches(i, j, time)) continue;
      if (mobile(j) && place_[place(j)] < 0) enter(j);
      add_contact(i, j, time);
    }
    for (int k = 0; k < static_cast<int>(pieces_.size()); ++k)
      if (touches(i, -1 - k, time)) add_contact(i, -1 - k, time);
  }
  velocity_.resize(members_.size());
  acceleration_.resize(members_.size());
  mass_.resize(members_.size());
}

template <int D>
void EventEngine<D>::add_contact(int body, Partner partner, Real time) {
  const FlyingBody<D>& a = (*bodies_)[place(body)];
  const bool is_pair = partner >= 0;
  const Vec<D> n = normal(body, partner, time);
  const int a_place = place_[place(body)];
  for (std::size_t i = 0; !is_pair && i < contacts_.size(); ++i) {
    const Contact& other = contacts_[i];
    if (other.partner >= 0 || other.constraint.a != a_place) continue;
    if (norm(other.constraint.normal - n) > same_normal) continue;
    repeats_.emplace_back(i, partner);
    return;
  }
  const int material = is_pair ? (*bodies_)[place(partner)].material : pieces_[place(-1 - partner)].material;
  const Real e = settings_.restitution(a.material, material);
  Contact contact;
  contact.partner = partner;
  contact.constraint = {a_place, is_pair && mobile(partner) ? place_[place(partner)] : -1, n, e,
                        e < 1 ? settings_.rest_speed : speed_floor(a.radius)};
  const Vec<D> x = at(body, time).x;
  if (is_pair) {
    contact.curvature = 1 / norm(at(partner, time).x - x);
  } else if (const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
             surface.kind == SurfacePiece<D>::Kind::ball) {
    contact.curvature = surface.front / norm(x - surface.point);
  }
  contacts_.push_back(contact);
}

/// A speed that means rest where gravity acts: a bounce with it is too short and low to be seen [m/s].
template <int D>
Real EventEngine<D>::speed_floor(Real radius) const {
  constexpr Real share = 1e-10;
  return share * std::sqrt(norm(settings_.gravity) * radius);
}

/// Whether all that moves in the cluster is round-off of the forces that balance each other. The law, whose
/// thresholds are relative, would resolve it like any impact.
template <int D>
bool EventEngine<D>::is_at_rest() const {
  return std::ranges::all_of(members_, [&](int member) {
    const Real speed = norm(velocity_[place(place_[place(member)])]);
    return speed <= speed_floor((*bodies_)[place(member)].radius);
  });
}

/// Velocities after the impact, if there is one. A bed at rest that is pressed together by round-off is none.
template <int D>
void EventEngine<D>::collide() {
  constraints_.clear();
  for (const Contact& contact : contacts_) constraints_.push_back(contact.constraint);
  const ImpactProblem<D> problem{mass_, constraints_};
  if (is_at_rest() && !law_.approached(problem, velocity_, start_speed_).empty()) {
    std::ranges::fill(velocity_, Vec<D>{});
    return;
  }
  impulse_.resize(constraints_.size());
  const ImpactReport report = law_.resolve(problem, velocity_, impulse_);
  if (report.steps == 0) return;
  ++counts_.impacts;
  counts_.law_steps += report.steps;
  if (report.stop == ImpactStop::rest) std::ranges::fill(velocity_, Vec<D>{});
  record_impulses();
  if (report.stop != ImpactStop::limit) return;
  ++counts_.unresolved;
  project_admissible<D>(problem, std::vector<Real>(constraints_.size()), start_speed_, velocity_, impulse_);
  record_impulses();
}

/// Finds out which contacts stay closed, and the accelerations that keep them so. Where round surfaces would
/// stay closed and slide, so that their normal turns, bodies hop instead.
template <int D>
void EventEngine<D>::keep_closed(const std::string& place_in_run) {
  std::vector<bool> hops(contacts_.size());
  while (true) {
    find_closed();
    bool is_new = false;
    for (std::size_t c = 0; c < closed_contacts_.size(); ++c) {
      const std::size_t i = closed_contacts_[c];
      if (force_[c] <= 0 || hops[i] || is_steady(c)) continue;
      hops[i] = is_new = true;
      ++counts_.hops;
    }
    if (!is_new) break;
    hop(hops, place_in_run);
  }
  for (std::size_t c = 0; c < closed_contacts_.size(); ++c) {
    const Contact& contact = contacts_[closed_contacts_[c]];
    const int body = members_[place(contact.constraint.a)];
    const bool opens =
        bound_[c] - approach_speed<D>(constraints_[c], acceleration_) > round_off * acceleration_scale_;
    const bool kept = is_steady(c) && (force_[c] > 0 || !opens);
    closed_[place(body)].push_back({contact.partner, kept, force_[c]});
    if (contact.partner >= 0 && mobile(contact.partner))
      closed_[place(contact.partner)].push_back({body, kept, 0});
    for (const auto& [i, partner] : repeats_)
      if (i == closed_contacts_[c]) closed_[place(body)].push_back({partner, kept, 0});
  }
}

/// Closed contacts, and accelerations M a = M g + J^T force that open none of them the wrong way:
///     gap'' = -J a + curvature |v_t|^2 >= 0,  force >= 0,  gap'' force = 0
template <int D>
void EventEngine<D>::find_closed() {
  closed_contacts_.clear();
  constraints_.clear();
  bound_.clear();
  acceleration_scale_ = norm(settings_.gravity);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ImpactConstraint<D>& constraint = contacts_[i].constraint;
    const Real radius = (*bodies_)[place(members_[place(constraint.a)])].radius;
    const Real least = std::max(speed_floor(radius), round_off * start_speed_);
    if (std::abs(approach_speed<D>(constraint, velocity_)) > least) continue;
    closed_contacts_.push_back(i);
    constraints_.push_back(constraint);
    const Vec<D> slip = tangential(constraint, velocity_);
    bound_.push_back(contacts_[i].curvature * dot(slip, slip));
    acceleration_scale_ = std::max(acceleration_scale_, std::abs(bound_.back()));
  }
  std::ranges::fill(acceleration_, settings_.gravity);
  force_.resize(constraints_.size());
  project_admissible<D>({mass_, constraints_}, bound_, acceleration_scale_, acceleration_, force_);
}

template <int D>
Vec<D> EventEngine<D>::tangential(const ImpactConstraint<D>& constraint, std::span<const Vec<D>> v) {
  Vec<D> relative = v[place(constraint.a)];
  if (constraint.b >= 0) relative -= v[place(constraint.b)];
  return relative - dot(relative, constraint.normal) * constraint.normal;
}

/// Whether the normal of a closed contact will keep its direction.
template <int D>
bool EventEngine<D>::is_steady(std::size_t c) const {
  const Contact& contact = contacts_[closed_contacts_[c]];
  if (contact.curvature == 0) return true;
  const Vec<D> slip = tangential(contact.constraint, velocity_);
  const Vec<D> acceleration = tangential(contact.constraint, acceleration_);
  return dot(slip, slip) * std::abs(contact.curvature) <= steady_share * steady_share * acceleration_scale_ &&
         norm(acceleration) <= steady_share * acceleration_scale_;
}

/// The nearest velocities with which the chosen contacts open with rest_speed and no other one closes.
template <int D>
void EventEngine<D>::hop(const std::vector<bool>& hops, const std::string& place_in_run) {
  const auto chosen = static_cast<std::size_t>(std::ranges::find(hops, true) - hops.begin());
  const auto refuse = [&](const std::string& why) {
    throw StepRefused(
        ExitCode::runtime_failure,
        fmt::format("{}: body {} stays in contact with a round surface that it slides along, {}",
                    place_in_run, (*bodies_)[place(members_[place(contacts_[chosen].constraint.a)])].id,
                    why));
  };
  if (settings_.rest_speed <= 0) refuse("which takes [event] rest_speed > 0");
  constraints_.clear();
  bound_.clear();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    constraints_.push_back(contacts_[i].constraint);
    bound_.push_back(hops[i] ? -settings_.rest_speed : 0);
  }
  impulse_.resize(constraints_.size());
  if (!project_admissible<D>({mass_, constraints_}, bound_, std::max(settings_.rest_speed, start_speed_),
                             velocity_, impulse_))
    refuse("but has no room to hop");
  record_impulses();
}

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
    return first_fall(p, left);
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
      return now + std::min(first_fall(component(surface.tangent, 1, -inset), left),
                            first_fall(component(surface.tangent, -1, surface.length - inset), left));
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
      const Real over = first_fall(at_start ? component(surface.tangent, -1, deeper)
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

/// Puts what kept the contacts of a body closed since its last event into the impulses of the step.
template <int D>
void EventEngine<D>::book(int body, Real time) {
  for (const Closed& closed : closed_[place(body)])
    if (closed.force > 0) record(body, closed.partner, closed.force * (time - flights_[place(body)].since));
}

template <int D>
void EventEngine<D>::record_impulses() {
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    if (impulse_[i] > 0)
      record(members_[place(contacts_[i].constraint.a)], contacts_[i].partner, impulse_[i]);
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
