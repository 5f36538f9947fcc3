#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "geometry/driven_motion.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"
#include "schemes/nonsmooth/settings.hpp"

namespace scree {

/// Which pairs are contacts in a step: those within speculative_margin, those that free motion closes within
/// it, and those that only its solution would let overlap (docs/method.md, "Pairs that only the solution
/// brings together"). Springs stay contacts a little beyond the range in which rigid bodies meet. The
/// arguments of the constructor must outlive it; `contacts` is where it puts what it finds. Collective, but
/// where it says local or only returns what is there.
template <int D>
class ContactDetection {
 public:
  ContactDetection(State<D>& state, Neighborhood<D>& neighborhood, const NonsmoothSettings<D>& settings,
                   ContactGraph<D>& contacts)
      : state_(state), neighborhood_(neighborhood), settings_(settings), contacts_(contacts) {}

  /// After a list build, with what contacts remember. Local.
  void restore(const ImpulseMemory<D>& memory) { memory.mark_springs(always_listed_, neighborhood_); }
  /// The contacts of the step of `free`, which gets the displacements of ghosts.
  void find(FreeMotion<D>& free) {
    Scope timer("contacts");
    neighborhood_.ghosts().copy_to_ghosts(free.displacement());
    if (has_shapes()) neighborhood_.ghosts().copy_to_ghosts(free.turn());
    if (n_added_ > 0 && !has_springs()) always_listed_.clear();  // of a step that was refused
    n_added_ = 0;
    if (state_.deformation.is_given())
      affine_ = state_.deformation.affine_displacement_in_step(state_.box, free.dt());
    with_free_walls(free.dt(), [&] { neighborhood_.detect(state_, rules_of(free), contacts_); });
    if (has_springs()) always_listed_.inherit(contacts_, neighborhood_);
  }
  /// Adds pairs that would overlap by more than `deep` [m] with these velocities (n_local * n_velocities<D>).
  /// False on all ranks, with nothing done, if there are none.
  bool add_missed(const FreeMotion<D>& free, std::span<const Real> velocity, Real deep) {
    find_displacements(velocity, free.dt());
    ContactRules<D> rules = rules_of(free);
    rules.other_displacement = displacement_;
    rules.other_turn = turn_;
    if (rules.is_deforming)
      rules.other_affine = state_.deformation.affine_displacement_in_step(state_.box, free.dt());
    rules.overlap_threshold = deep;
    bool misses = false;
    with_free_walls(free.dt(), [&] {
      misses = neighborhood_.misses_contacts(state_, rules);
      if (misses) neighborhood_.detect(state_, rules, extended_);
    });
    if (!misses) return false;
    find_origin();
    n_added_ += state_.comm.sum(static_cast<std::int64_t>(std::ranges::count(origin_, Index{-1})));
    std::swap(contacts_, extended_);
    always_listed_.inherit(contacts_, neighborhood_);
    return true;
  }
  /// After add_missed(), of each contact: its number before, -1 if it is new.
  std::span<const Index> origin() const { return origin_; }
  /// After the step: contacts with is_spring(c) are contacts at any gap from here on. Local.
  template <class F>
  void list_always(const F& is_spring) {
    if (has_springs() || n_added_ > 0) always_listed_.clear();
    for (std::size_t c = 0; c < contacts_.size() && has_springs(); ++c)
      if (is_spring(c)) always_listed_.of(contacts_, c) = 1;
  }
  /// Takes these for n_contacts().
  void count(const ContactGraph<D>& contacts) {
    n_contacts_ = state_.comm.sum(static_cast<std::int64_t>(contacts.size()));
  }
  /// Contacts of all ranks, and those of add_missed(), in the last step.
  std::int64_t n_contacts() const { return n_contacts_; }
  std::int64_t n_added() const { return n_added_; }

 private:
  bool has_springs() const { return state_.materials.has_elastic_pairs(); }
  bool has_shapes() const { return state_.bodies.carries_shapes(); }
  ContactRules<D> rules_of(const FreeMotion<D>& free) const {
    ContactRules<D> rules;
    if (has_springs() || n_added_ > 0) rules = always_listed_.template rules<D>(0);
    rules.tolerance = settings_.speculative_margin;
    rules.displacement = free.displacement();
    rules.turn = free.turn();
    rules.dt = free.dt();
    rules.includes_fixed = !state_.obstacles.driven().empty();
    rules.is_deforming = state_.deformation.is_given();
    rules.affine = affine_;
    return rules;
  }
  /// Calls detect() while driven walls go as they would without contacts: servos at their largest speeds.
  template <class F>
  void with_free_walls(Real dt, const F& detect) {
    const auto walls = state_.obstacles.driven();
    wall_speeds_.resize(walls.size());
    for (std::size_t k = 0; k < walls.size(); ++k) {
      wall_speeds_[k] = walls[k].velocity;
      if (walls[k].order.kind == DrivenOrder::Kind::speed) continue;
      const DrivenMotion<D>& driven_motion = state_.obstacles.driven_motion_of(walls[k]);
      const Real load = target_of(state_.obstacles, walls[k]), max = driven_motion.max_speed();
      walls[k].velocity = driven_motion.inertia() > 0
                              ? std::clamp(walls[k].velocity + dt * load / driven_motion.inertia(), -max, max)
                              : std::copysign(max, load);
    }
    detect();
    for (std::size_t k = 0; k < walls.size(); ++k) walls[k].velocity = wall_speeds_[k];
  }
  /// How far bodies go and turn in dt with these velocities.
  void find_displacements(std::span<const Real> velocity, Real dt) {
    constexpr std::size_t q = n_velocities<D>;
    displacement_.resize(state_.bodies.n_local());
    turn_.resize(has_shapes() ? displacement_.size() : 0);
    for (std::size_t i = 0; i < displacement_.size(); ++i)
      for (std::size_t k = 0; k < D; ++k) displacement_[i][static_cast<int>(k)] = dt * velocity[i * q + k];
    for (std::size_t i = 0; i < turn_.size(); ++i)
      for (std::size_t k = D; k < q; ++k) turn_[i][static_cast<int>(k - D)] = dt * velocity[i * q + k];
  }
  /// Both lists are in the same order, and the extended one has all pairs of the other; of bodies with shapes
  /// it may have other points.
  void find_origin() {
    reset(origin_, extended_.size(), Index{-1});
    for (std::size_t e = 0, c = 0; e < extended_.size();) {
      const std::size_t e_end = has_shapes() ? extended_.end_of_pair(e) : e + 1;
      if (c == contacts_.size() || !extended_.same_pair(e, contacts_, c)) {
        always_listed_.of(extended_, e) = 1;
        e = e_end;
        continue;
      }
      const std::size_t c_end = has_shapes() ? contacts_.end_of_pair(c) : c + 1;
      for (; e < e_end; ++e) {
        std::size_t same = c;
        while (has_shapes() && same < c_end && contacts_.feature[same] != extended_.feature[e]) ++same;
        if (same < c_end) origin_[e] = static_cast<Index>(same);
      }
      c = c_end;
    }
  }

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  const NonsmoothSettings<D>& settings_;
  ContactGraph<D>& contacts_;
  ContactGraph<D> extended_;
  ContactField<Real> always_listed_;  // not 0: a contact at any gap
  // By the flow that find() met: the one that a stress is answered with may be another.
  typename DomainDeformation<D>::AffineDisplacement affine_;
  // Of add_missed().
  std::vector<Vec<D>> displacement_;
  std::vector<Spin<D>> turn_;
  std::vector<Index> origin_;
  std::vector<Real> wall_speeds_;
  std::int64_t n_contacts_ = 0, n_added_ = 0;
};

}  // namespace scree
