// EventEngine: the bodies that meet at an event, and their impact.
#include <algorithm>

#include "schemes/event/engine_detail.hpp"

namespace scree {

using namespace event_engine;

/// What happens to a body and all that it touches: impacts, and accelerations until their next event.
template <int D>
void EventEngine<D>::settle(int body, Real time, const std::string& place_in_run) {
  find_cluster(body, time);
  for (const int member : members_) {
    record_resting(member, time);
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

template void EventEngine<2>::settle(int, Real, const std::string&);
template void EventEngine<3>::settle(int, Real, const std::string&);
template Real EventEngine<2>::speed_floor(Real) const;
template Real EventEngine<3>::speed_floor(Real) const;

}  // namespace scree
