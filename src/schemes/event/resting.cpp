// EventEngine: contacts that stay closed after an impact.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "schemes/event/engine_detail.hpp"

namespace scree {

using namespace event_engine;

namespace {

/// A contact of two round surfaces is steady if they pass by each other slower than this share of the scale:
/// the normal then keeps its direction for as long as anybody looks.
constexpr Real steady_share = 1e-9;

}  // namespace

/// Finds out which contacts stay closed, and the accelerations that keep them so. Where round surfaces would
/// stay closed and slide, so that their normal turns, bodies hop instead.
template <int D>
void EventEngine<D>::keep_closed(const std::string& place_in_run) {
  std::vector<bool> hops(cluster_.contacts.size());
  while (true) {
    find_closed();
    bool is_new = false;
    for (std::size_t c = 0; c < cluster_.closed_contacts.size(); ++c) {
      const std::size_t i = cluster_.closed_contacts[c];
      if (cluster_.force[c] <= 0 || hops[i] || is_steady(c)) continue;
      hops[i] = is_new = true;
      ++counts_.hops;
    }
    if (!is_new) break;
    hop(hops, place_in_run);
  }
  for (std::size_t c = 0; c < cluster_.closed_contacts.size(); ++c) {
    const Contact& contact = cluster_.contacts[cluster_.closed_contacts[c]];
    const int body = cluster_.members[place(contact.constraint.a)];
    const bool opens = cluster_.bound[c] - approach_speed<D>(cluster_.constraints[c], cluster_.acceleration) >
                       round_off * cluster_.acceleration_scale;
    const bool kept = is_steady(c) && (cluster_.force[c] > 0 || !opens);
    closed_[place(body)].push_back({contact.partner, kept, cluster_.force[c]});
    if (contact.partner >= 0 && mobile(contact.partner))
      closed_[place(contact.partner)].push_back({body, kept, 0});
    for (const auto& [i, partner] : cluster_.repeats)
      if (i == cluster_.closed_contacts[c]) closed_[place(body)].push_back({partner, kept, 0});
  }
}

/// Closed contacts, and accelerations M a = M g + J^T force that open none of them the wrong way:
///     gap'' = -J a + curvature |v_t|^2 >= 0,  force >= 0,  gap'' force = 0
template <int D>
void EventEngine<D>::find_closed() {
  cluster_.closed_contacts.clear();
  cluster_.constraints.clear();
  cluster_.bound.clear();
  cluster_.acceleration_scale = norm(settings_.gravity);
  for (std::size_t i = 0; i < cluster_.contacts.size(); ++i) {
    const ImpactConstraint<D>& constraint = cluster_.contacts[i].constraint;
    const Real radius = (*bodies_)[place(cluster_.members[place(constraint.a)])].radius;
    const Real min = std::max(speed_floor(radius), round_off * cluster_.start_speed);
    if (std::abs(approach_speed<D>(constraint, cluster_.velocity)) > min) continue;
    cluster_.closed_contacts.push_back(i);
    cluster_.constraints.push_back(constraint);
    const Vec<D> slip = tangential(constraint, cluster_.velocity);
    cluster_.bound.push_back(cluster_.contacts[i].curvature * dot(slip, slip));
    cluster_.acceleration_scale = std::max(cluster_.acceleration_scale, std::abs(cluster_.bound.back()));
  }
  std::ranges::fill(cluster_.acceleration, settings_.gravity);
  cluster_.force.resize(cluster_.constraints.size());
  project_admissible<D>({cluster_.mass, cluster_.constraints}, cluster_.bound, cluster_.acceleration_scale,
                        cluster_.acceleration, cluster_.force);
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
  const Contact& contact = cluster_.contacts[cluster_.closed_contacts[c]];
  if (contact.curvature == 0) return true;
  const Vec<D> slip = tangential(contact.constraint, cluster_.velocity);
  const Vec<D> acceleration = tangential(contact.constraint, cluster_.acceleration);
  return dot(slip, slip) * std::abs(contact.curvature) <=
             steady_share * steady_share * cluster_.acceleration_scale &&
         norm(acceleration) <= steady_share * cluster_.acceleration_scale;
}

/// The nearest velocities with which the chosen contacts open with rest_speed and no other one closes.
template <int D>
void EventEngine<D>::hop(const std::vector<bool>& hops, const std::string& place_in_run) {
  const std::size_t chosen = std::ranges::find(hops, true) - hops.begin();
  const auto refuse = [&](const std::string& why) {
    throw StepRefused(
        ExitCode::runtime_failure,
        fmt::format(
            "{}: body {} stays in contact with a round surface that it slides along, {}", place_in_run,
            (*bodies_)[place(cluster_.members[place(cluster_.contacts[chosen].constraint.a)])].id, why));
  };
  if (settings_.rest_speed <= 0) refuse("which takes [event] rest_speed > 0");
  cluster_.constraints.clear();
  cluster_.bound.clear();
  for (std::size_t i = 0; i < cluster_.contacts.size(); ++i) {
    cluster_.constraints.push_back(cluster_.contacts[i].constraint);
    cluster_.bound.push_back(hops[i] ? -settings_.rest_speed : 0);
  }
  cluster_.impulse.resize(cluster_.constraints.size());
  if (!project_admissible<D>({cluster_.mass, cluster_.constraints}, cluster_.bound,
                             std::max(settings_.rest_speed, cluster_.start_speed), cluster_.velocity,
                             cluster_.impulse))
    refuse("but has no room to hop");
  record_impulses();
}

template void EventEngine<2>::keep_closed(const std::string&);
template void EventEngine<3>::keep_closed(const std::string&);

}  // namespace scree
