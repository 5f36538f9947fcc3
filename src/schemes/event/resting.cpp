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

template void EventEngine<2>::keep_closed(const std::string&);
template void EventEngine<3>::keep_closed(const std::string&);

}  // namespace scree
