#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "schemes/common/contact_field.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"
#include "schemes/nonsmooth/settings.hpp"

namespace scree {

/// Which pairs are contacts in a step: those within speculative_margin, those that free motion closes within
/// it, and those that only its solution would let overlap (docs/method.md, "Pairs that only the solution
/// brings together"). Springs stay contacts a little beyond the range in which rigid bodies meet. The
/// arguments of the constructor must outlive it; `contacts` is where it puts what it finds. Collective, but
/// where it only returns what is there.
template <int D>
class ContactDetection {
 public:
  ContactDetection(State<D>& state, Neighborhood<D>& neighborhood, const NonsmoothSettings<D>& settings,
                   ContactGraph<D>& contacts)
      : state_(state), neighborhood_(neighborhood), settings_(settings), contacts_(contacts) {}

  /// After a list build, with what contacts remember. Local.
  void restore(const ImpulseMemory<D>& memory) { memory.mark_springs(always_listed_, neighborhood_); }
  /// The contacts of the step of `free`, which gets the displacements of ghosts.
  void find(FreeMotion<D>& free);
  /// Adds pairs that would overlap by more than `deep` [m] with these velocities (n_held * n_velocities<D>).
  /// False on all ranks, with nothing done, if there are none.
  bool add_missed(const FreeMotion<D>& free, std::span<const Real> velocity, Real deep);
  /// After add_missed(), of each contact: its number before, -1 if it is new.
  std::span<const Index> origin() const { return origin_; }
  /// Takes these for n_contacts().
  void count(const ContactGraph<D>& contacts) {
    n_contacts_ = state_.comm.sum(static_cast<std::int64_t>(contacts.size()));
  }
  /// After the step: contacts with is_spring(c) are contacts at any gap from here on. Local.
  template <class F>
  void list_always(const F& is_spring) {
    if (has_springs() || n_added_ > 0) always_listed_.clear();
    for (std::size_t c = 0; c < contacts_.size() && has_springs(); ++c)
      if (is_spring(c)) always_listed_.of(contacts_, c) = 1;
  }

  /// Contacts of all ranks, and those of add_missed(), in the last step.
  std::int64_t n_contacts() const { return n_contacts_; }
  std::int64_t n_added() const { return n_added_; }
  std::size_t bytes() const {
    return always_listed_.bytes() + held_bytes(displacement_, turn_, origin_, wall_speeds_);
  }

 private:
  bool has_springs() const { return state_.materials.has_elastic_pairs(); }
  ContactRules<D> rules_of(const FreeMotion<D>& free) const;
  void move_on(std::span<const Real> velocity, Real dt);
  void match(const ContactGraph<D>& extended);
  void with_fastest_walls(auto&& detect);

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  const NonsmoothSettings<D>& settings_;
  ContactGraph<D>& contacts_;
  ContactGraph<D> extended_;
  ContactField<Real> always_listed_;  // not 0: a contact at any gap
  // Of add_missed().
  std::vector<Vec<D>> displacement_;
  std::vector<Spin<D>> turn_;
  std::vector<Index> origin_;
  std::vector<Real> wall_speeds_;
  std::int64_t n_contacts_ = 0, n_added_ = 0;
};

}  // namespace scree
