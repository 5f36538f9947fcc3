#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "neighbors/neighborhood.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "state/state.hpp"

namespace scree {

/// What a contact remembers, whether or not rolling has springs.
struct ContactSprings {
  ContactHistory history{};
  RollingHistory rolling{};
};

/// Which candidates touch, and what these contacts remember from step to step. What the others seem to
/// remember is outdated.
template <int D>
class ContactHistories {
 public:
  /// What is known of a candidate at an obstacle. Another part or obstacle stands for one that `is_replaced`.
  enum WallTouch : std::uint8_t { touches = 1, touched_before = 2, is_replaced = 4 };

  explicit ContactHistories(bool has_rolling_springs) : rolls_(has_rolling_springs) {}

  /// After a list build: from state.memory. What remembers something touched. Local.
  void restore(const State<D>& state, const Neighborhood<D>& neighborhood) {
    if (!rolls_) {
      now_.contact.restore(state, neighborhood);
    } else {
      ContactField<ContactSprings> both;
      both.restore(state, neighborhood);
      now_.contact.resize(neighborhood);
      now_.rolling.resize(neighborhood);
      std::ranges::transform(both.pairs(), now_.contact.pairs().begin(), &ContactSprings::history);
      std::ranges::transform(both.walls(), now_.contact.walls().begin(), &ContactSprings::history);
      std::ranges::transform(both.pairs(), now_.rolling.pairs().begin(), &ContactSprings::rolling);
      std::ranges::transform(both.walls(), now_.rolling.walls().begin(), &ContactSprings::rolling);
    }
    const auto record = [](std::vector<std::uint8_t>& states, std::size_t n, auto springs_at) {
      states.resize(n);
      for (std::size_t k = 0; k < n; ++k) {
        const auto [h, r] = springs_at(k);
        const bool any = h.spring[0] != 0 || h.spring[1] != 0 || h.spring[2] != 0 || h.stiffness != 0 ||
                         r.angle[0] != 0 || r.angle[1] != 0 || r.angle[2] != 0;
        states[k] = any ? touches : 0;
      }
    };
    record(pair_states_, now_.contact.pairs().size(), [this](std::size_t k) { return of_pair(now_, k); });
    record(wall_states_, now_.contact.walls().size(), [this](std::size_t k) { return of_wall(now_, k); });
  }
  /// As memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, const Neighborhood<D>& neighborhood) {
    clear_open_contacts();
    if (!rolls_) return now_.contact.remember(state, neighborhood);
    ContactField<ContactSprings> both;
    both.resize(neighborhood);
    for (std::size_t k = 0; k < both.pairs().size(); ++k) both.pairs()[k] = of_pair(now_, k);
    for (std::size_t k = 0; k < both.walls().size(); ++k) both.walls()[k] = of_wall(now_, k);
    return both.remember(state, neighborhood);
  }
  /// Makes outdated ones 0.
  void clear_open_contacts() { clear_open_contacts(now_); }
  /// Contacts are candidates that remember something, and those nearer than `tolerance` [m].
  ContactRules<D> rules(Real tolerance) { return now_.contact.template rules<D>(tolerance); }

  /// Gives kernels the pairs from this batch on.
  void fill(ForceBatches& batches, Index first_batch) {
    const Index first = batch_size * first_batch;
    batches.touched = pair_states_.data() + first;
    batches.history = now_.contact.pairs().data() + first;
    if (rolls_) batches.rolling = now_.rolling.pairs().data() + first;
  }
  bool pair_touches(std::size_t place) const { return pair_states_[place] != 0; }
  /// A pair that did not touch does now.
  void begin_pair(std::size_t place) {
    pair_states_[place] = touches;
    now_.contact.pairs()[place] = {};
    if (rolls_) now_.rolling.pairs()[place] = {};
  }
  /// Of a pair, or of a candidate at an obstacle; nothing where it does not touch.
  ContactSprings pair(std::size_t place) const {
    return pair_touches(place) ? of_pair(now_, place) : ContactSprings{};
  }
  ContactSprings wall(std::size_t place) const {
    return wall_touches(place) ? of_wall(now_, place) : ContactSprings{};
  }

  std::uint8_t& wall_state(std::size_t place) { return wall_states_[place]; }
  std::uint8_t wall_state(std::size_t place) const { return wall_states_[place]; }
  bool wall_touches(std::size_t place) const { return (wall_states_[place] & touches) != 0; }
  ContactHistory& wall_history(std::size_t place) { return now_.contact.walls()[place]; }
  /// Null without springs against rolling.
  RollingHistory* wall_rolling(std::size_t place) { return rolls_ ? &now_.rolling.walls()[place] : nullptr; }
  /// The candidate whose history a contact takes over that begins: one that the same body has just lost on a
  /// neighbouring part, or on another obstacle that this one stands for; of several the smallest. -1: none.
  Index inherits_from(const SweepSchedule<D>& schedule, std::size_t place) const {
    const auto was = [&](const auto& other) { return wall_states_[other.place]; };
    for (const auto& other : schedule.wall_neighbours(place))
      if ((was(other) & (touches | touched_before)) == touched_before) return other.place;
    for (const auto& other : schedule.walls_beside(place))
      if (was(other) == (touched_before | is_replaced)) return other.place;
    return -1;
  }
  /// A contact with an obstacle begins with what is remembered at `from`, or with nothing. The law turns
  /// springs into the tangent plane.
  void inherit(std::size_t place, Index from) {
    const std::size_t at = from;
    wall_history(place) = from < 0 ? ContactHistory{} : wall_history(at);
    if (rolls_) *wall_rolling(place) = from < 0 ? RollingHistory{} : *wall_rolling(at);
    if (from >= 0) wall_states_[at] = 0;
  }

  /// Makes each step to come keep what contacts remembered before it.
  void keep_before() { keeps_before_ = true; }
  /// Begins a step.
  void begin_step() {
    if (!keeps_before_) return;
    before_ = now_;
    clear_open_contacts(before_);
  }
  /// Before the step, 0 where nothing touched.
  ContactSprings pair_before(std::size_t place) const { return of_pair(before_, place); }
  ContactSprings wall_before(std::size_t place) const { return of_wall(before_, place); }
  /// A contact with an obstacle may have inherited its history in the step.
  void record_wall_before(std::size_t place) {
    if (!keeps_before_) return;
    before_.contact.walls()[place] = wall_history(place);
    if (rolls_) before_.rolling.walls()[place] = *wall_rolling(place);
  }

 private:
  struct Histories {
    ContactField<ContactHistory> contact;
    ContactField<RollingHistory> rolling;  // empty without springs against rolling
  };
  void clear_open_contacts(Histories& histories) const {
    const auto clear = [](auto values, const std::vector<std::uint8_t>& states) {
      for (std::size_t k = 0; k < values.size(); ++k)
        if ((states[k] & touches) == 0) values[k] = {};
    };
    clear(histories.contact.pairs(), pair_states_);
    clear(histories.contact.walls(), wall_states_);
    clear(histories.rolling.pairs(), pair_states_);
    clear(histories.rolling.walls(), wall_states_);
  }
  ContactSprings of_pair(const Histories& of, std::size_t place) const {
    return {of.contact.pairs()[place], rolls_ ? of.rolling.pairs()[place] : RollingHistory{}};
  }
  ContactSprings of_wall(const Histories& of, std::size_t place) const {
    return {of.contact.walls()[place], rolls_ ? of.rolling.walls()[place] : RollingHistory{}};
  }

  bool rolls_;
  bool keeps_before_ = false;
  Histories now_, before_;
  std::vector<std::uint8_t> pair_states_, wall_states_;  // pairs: 0 or `touches`
};

}  // namespace scree
