// EventEngine: the bodies that meet at an event, and their impact.
#include <algorithm>

#include "schemes/event/engine_detail.hpp"

namespace scree {

using namespace event_engine;

/// What happens to a body and all that it touches: impacts, and accelerations until their next event.
template <int D>
void EventEngine<D>::settle(int body, Real time, const std::string& place_in_run) {
  find_cluster(body, time);
  for (const int member : cluster_.members) {
    record_resting(member, time);
    flights_[place(member)] = at(member, time);
    closed_[place(member)].clear();
  }
  for (std::size_t m = 0; m < cluster_.members.size(); ++m) {
    cluster_.velocity[m] = flights_[place(cluster_.members[m])].v;
    cluster_.mass[m] = (*bodies_)[place(cluster_.members[m])].mass;
  }
  const std::vector<Vec<D>> before = cluster_.velocity;
  cluster_.start_speed = largest_speed<D>(cluster_.velocity);
  collide();
  keep_closed(place_in_run);
  for (std::size_t m = 0; m < cluster_.members.size(); ++m) {
    counts_.dissipated +=
        0.5 * cluster_.mass[m] * dot(before[m] - cluster_.velocity[m], before[m] + cluster_.velocity[m]);
    flights_[place(cluster_.members[m])].v = cluster_.velocity[m];
    flights_[place(cluster_.members[m])].a = cluster_.acceleration[m];
  }
}

/// The bodies that hang together with this one by contacts, and these contacts.
template <int D>
void EventEngine<D>::find_cluster(int body, Real time) {
  for (const int member : cluster_.members) cluster_.place[place(member)] = -1;
  cluster_.members.clear();
  cluster_.contacts.clear();
  cluster_.repeats.clear();
  const auto enter = [&](int i) {
    cluster_.place[place(i)] = static_cast<int>(cluster_.members.size());
    cluster_.members.push_back(i);
  };
  enter(body);
  for (std::size_t m = 0; m < cluster_.members.size(); ++m) {
    const int i = cluster_.members[m];
    for (int j = 0; j < static_cast<int>(bodies_->size()); ++j) {
      const bool is_done = cluster_.place[place(j)] >= 0 && place(cluster_.place[place(j)]) <= m;
      if (is_done || !touches(i, j, time)) continue;
      if (mobile(j) && cluster_.place[place(j)] < 0) enter(j);
      add_contact(i, j, time);
    }
    for (int k = 0; k < static_cast<int>(pieces_.size()); ++k)
      if (touches(i, -1 - k, time)) add_contact(i, -1 - k, time);
  }
  cluster_.velocity.resize(cluster_.members.size());
  cluster_.acceleration.resize(cluster_.members.size());
  cluster_.mass.resize(cluster_.members.size());
}

template <int D>
void EventEngine<D>::add_contact(int body, Partner partner, Real time) {
  const FlyingBody<D>& a = (*bodies_)[place(body)];
  const bool is_pair = partner >= 0;
  const Vec<D> n = normal(body, partner, time);
  const int a_place = cluster_.place[place(body)];
  for (std::size_t i = 0; !is_pair && i < cluster_.contacts.size(); ++i) {
    const Contact& other = cluster_.contacts[i];
    if (other.partner >= 0 || other.constraint.a != a_place) continue;
    if (norm(other.constraint.normal - n) > same_normal) continue;
    cluster_.repeats.emplace_back(i, partner);
    return;
  }
  const int material = is_pair ? (*bodies_)[place(partner)].material : pieces_[place(-1 - partner)].material;
  const Real e = settings_.restitution(a.material, material);
  Contact contact;
  contact.partner = partner;
  contact.constraint = {a_place, is_pair && mobile(partner) ? cluster_.place[place(partner)] : -1, n, e,
                        e < 1 ? settings_.rest_speed : speed_floor(a.radius)};
  const Vec<D> x = at(body, time).x;
  if (is_pair) {
    contact.curvature = 1 / norm(at(partner, time).x - x);
  } else if (const SurfacePiece<D>& surface = pieces_[place(-1 - partner)].surface;
             surface.kind == SurfacePiece<D>::Kind::sphere) {
    contact.curvature = surface.front / norm(x - surface.point);
  }
  cluster_.contacts.push_back(contact);
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
  return std::ranges::all_of(cluster_.members, [&](int member) {
    const Real speed = norm(cluster_.velocity[place(cluster_.place[place(member)])]);
    return speed <= speed_floor((*bodies_)[place(member)].radius);
  });
}

/// Velocities after the impact, if there is one. A bed at rest that is pressed together by round-off is none.
template <int D>
void EventEngine<D>::collide() {
  cluster_.constraints.clear();
  for (const Contact& contact : cluster_.contacts) cluster_.constraints.push_back(contact.constraint);
  const ImpactProblem<D> problem{cluster_.mass, cluster_.constraints};
  if (is_at_rest() && !law_.approached(problem, cluster_.velocity, cluster_.start_speed).empty()) {
    std::ranges::fill(cluster_.velocity, Vec<D>{});
    return;
  }
  cluster_.impulse.resize(cluster_.constraints.size());
  const ImpactReport report = law_.resolve(problem, cluster_.velocity, cluster_.impulse);
  if (report.steps == 0) return;
  ++counts_.impacts;
  counts_.law_steps += report.steps;
  if (report.stop == ImpactStop::rest) std::ranges::fill(cluster_.velocity, Vec<D>{});
  record_impulses();
  if (report.stop != ImpactStop::limit) return;
  ++counts_.unresolved;
  project_admissible<D>(problem, std::vector<Real>(cluster_.constraints.size()), cluster_.start_speed,
                        cluster_.velocity, cluster_.impulse);
  record_impulses();
}

template void EventEngine<2>::settle(int, Real, const std::string&);
template void EventEngine<3>::settle(int, Real, const std::string&);
template Real EventEngine<2>::speed_floor(Real) const;
template Real EventEngine<3>::speed_floor(Real) const;

}  // namespace scree
