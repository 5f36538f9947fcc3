#include "schemes/nonsmooth/contact_detection.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "geometry/drive.hpp"

namespace scree {

template <int D>
void ContactDetection<D>::find(FreeMotion<D>& free) {
  Scope timer("contacts");
  neighborhood_.ghosts().copy_to_ghosts(free.displacement());
  if (state_.bodies.carries_shapes()) neighborhood_.ghosts().copy_to_ghosts(free.turn());
  if (n_added_ > 0 && !has_springs()) always_listed_.clear();  // of a step that was refused
  n_added_ = 0;
  with_fastest_walls([&] { neighborhood_.detect(state_, rules_of(free), contacts_); });
  if (has_springs()) always_listed_.pass_on(contacts_, neighborhood_);
}

template <int D>
ContactRules<D> ContactDetection<D>::rules_of(const FreeMotion<D>& free) const {
  ContactRules<D> rules;
  if (has_springs() || n_added_ > 0) rules = always_listed_.template rules<D>(0);
  rules.tolerance = settings_.speculative_margin;
  rules.displacement = free.displacement();
  rules.turn = free.turn();
  rules.dt = free.dt();
  return rules;
}

/// Calls detect() while walls under load have their largest speeds, so that the contacts of a step do not
/// depend on the velocities that are tried.
template <int D>
void ContactDetection<D>::with_fastest_walls(auto&& detect) {
  const auto walls = state_.obstacles.driven();
  wall_speeds_.resize(walls.size());
  for (std::size_t k = 0; k < walls.size(); ++k) {
    wall_speeds_[k] = walls[k].velocity;
    if (walls[k].order.kind == DrivenOrder::Kind::speed) continue;
    walls[k].velocity =
        std::copysign(state_.obstacles.drive_of(walls[k]).max_speed(), target_of(state_.obstacles, walls[k]));
  }
  detect();
  for (std::size_t k = 0; k < walls.size(); ++k) walls[k].velocity = wall_speeds_[k];
}

template <int D>
bool ContactDetection<D>::add_missed(const FreeMotion<D>& free, std::span<const Real> velocity, Real deep) {
  move_on(velocity, free.dt());
  ContactRules<D> rules = rules_of(free);
  rules.other_displacement = displacement_;
  rules.other_turn = turn_;
  rules.deep = deep;
  bool misses = false;
  with_fastest_walls([&] {
    misses = neighborhood_.misses_contacts(state_, rules);
    if (misses) neighborhood_.detect(state_, rules, extended_);
  });
  if (!misses) return false;
  match(extended_);
  n_added_ += state_.comm.sum(static_cast<std::int64_t>(std::ranges::count(origin_, Index{-1})));
  std::swap(contacts_, extended_);
  if (has_springs() || n_added_ > 0) always_listed_.pass_on(contacts_, neighborhood_);
  return true;
}

/// How far bodies go and turn in dt with these velocities.
template <int D>
void ContactDetection<D>::move_on(std::span<const Real> velocity, Real dt) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  displacement_.resize(static_cast<std::size_t>(state_.bodies.n_held()));
  turn_.resize(state_.bodies.carries_shapes() ? displacement_.size() : 0);
  for (std::size_t i = 0; i < displacement_.size(); ++i)
    for (std::size_t k = 0; k < D; ++k) displacement_[i][static_cast<int>(k)] = dt * velocity[i * q + k];
  for (std::size_t i = 0; i < turn_.size(); ++i)
    for (std::size_t k = D; k < q; ++k) turn_[i][static_cast<int>(k - D)] = dt * velocity[i * q + k];
}

/// Finds origin(). Both lists are in the same order, and the extended one has all pairs of the other; of
/// bodies with shapes it may have other points.
template <int D>
void ContactDetection<D>::match(const ContactGraph<D>& extended) {
  reset(origin_, extended.size(), Index{-1});
  const bool has_shapes = state_.bodies.carries_shapes();
  for (std::size_t e = 0, c = 0; e < extended.size();) {
    const std::size_t e_end = has_shapes ? extended.end_of_pair(e) : e + 1;
    if (c == contacts_.size() || !extended.same_pair(e, contacts_, c)) {
      always_listed_.of(extended, e) = 1;
      e = e_end;
      continue;
    }
    const std::size_t c_end = has_shapes ? contacts_.end_of_pair(c) : c + 1;
    for (; e < e_end; ++e) {
      std::size_t same = c;
      while (has_shapes && same < c_end && contacts_.feature[same] != extended.feature[e]) ++same;
      if (same < c_end) origin_[e] = static_cast<Index>(same);
    }
    c = c_end;
  }
}

template class ContactDetection<2>;
template class ContactDetection<3>;

}  // namespace scree
