#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "schemes/common/attracted_pairs.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"

namespace scree {

/// Attraction of bodies that touch: an external force on both (docs/method.md, eq. H.15), beside which their
/// contact pushes. Local, but where it says collective.
template <int D>
class CohesionLaw {
 public:
  /// Contacts of rigid bodies have no range, and no other load than that of cohesive Coulomb friction: throws
  /// InputError for what "nonsmooth" does not know. Collective.
  static void check(const State<D>& state) {
    const std::vector<AttractedPair> attracted = attracted_pairs(state);
    for (int a = 0; a < state.materials.size(); ++a)
      for (int b = 0; b <= a; ++b) {
        const PairProperties<D>* pair = state.materials.pair(a, b);
        if (!pair || !pair->cohesion) continue;
        const std::string which = fmt::format("{}: the cohesion of {} and {}", pair->cohesion->where(),
                                              state.materials.name(a), state.materials.name(b));
        if (pair->cohesion->is_ranged())
          throw InputError(which +
                           " acts beyond contact, which the scheme \"nonsmooth\" does not know: take "
                           "type = \"force\" or \"dmt\", or the scheme \"dem\"");
        if (pair->cohesion->pull_share() != 1)
          throw InputError(which +
                           " has friction_load = \"thornton\", which is for the scheme \"dem\": cohesive "
                           "friction of rigid bodies is mu (F_N + F_c); remove it");
      }
    check_cohesion(state, attracted);
  }

  /// Whether it holds rigid bodies that would part with the speed `leaving` [m/s] (docs/method.md, eq. H.16).
  static bool holds(const StepContacts<D>& step, std::size_t c, Real leaving) {
    const auto& cohesion = step.pair[c]->cohesion;
    if (!cohesion || cohesion->range() == 0) return false;
    const Real energy = 0.5 * leaving * leaving / inverse_mass(step.problem, c, false);
    return energy <= cohesion->range() * pull_off(step, c);
  }

  /// After a list build.
  void forget(const Neighborhood<D>& neighborhood) {
    has_last_ = false;
    last_.resize(neighborhood);
  }
  /// Changes free velocities in the order of a sweep, ghosts included. Collective.
  void add_to(const StepContacts<D>& step, const ImpulseMemory<D>& memory) {
    constexpr int q = FrictionProblem<D>::q;
    reset(pull_, step.contacts.size());
    for (std::size_t c = 0; c < pull_.size(); ++c)
      if (step.pair[c]->cohesion && acts(step, c, memory)) pull_[c] = step.law.dt * pull_off(step, c);
    FrictionProblem<D>& problem = step.problem;
    BodyHalo& halo = *problem.halo;
    const std::span<Real> v(problem.free_velocity);
    const auto visit = [&](Index first, Index last) {
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c)
        if (pull_[c] != 0) add_impulse<D>(problem, c, {-pull_[c]}, v);
    };
    run_sweep_colours(halo, problem.colour_first, problem.interior_first, v, q, visit);
    halo.copy_to_ghosts(v, q);
  }
  /// At contact c of the step [N s].
  Real pull(std::size_t c) const { return pull_[c]; }
  /// What acted becomes what is known of the last step, while `memory` is that of the step before.
  /// `pressing_of(c)`: normal impulse of contact c [N s]. Collective.
  template <class Pressing>
  void store(const StepContacts<D>& step, const Pressing& pressing_of, const ImpulseMemory<D>& memory) {
    std::array<std::int64_t, 2> counts{};
    has_last_ = true;
    last_.clear();
    for (std::size_t c = 0; c < pull_.size(); ++c) {
      const Real pressing = pressing_of(c);
      if (pull_[c] != 0 && memory.impulse(step.contacts, c) != Vec<D>{}) {
        ++counts[0];
        if (pressing <= 0) ++counts[1];
      }
      Last& last = last_.of(step.contacts, c);
      last.force += (pull_[c] / step.law.dt) * step.problem.frame[c][0];
      if (pressing != 0) last.pressed = 1;
    }
    step.state.comm.sum(counts);
    n_attracted_ = counts[0];
    n_detached_ = counts[1];
  }
  void add_work(const StepContacts<D>& step, const ContactSolution<D>& solution, ContactWork& work) const {
    reset(work.cohesion, pull_.size());
    for (std::size_t c = 0; c < pull_.size(); ++c) {
      if (pull_[c] == 0) continue;
      const auto of_obstacles = step.working_velocity(c);
      const Vec<D> mean = surface_velocity<D>(step.problem, of_obstacles, c, solution.mean_velocity);
      work.cohesion[c] = -pull_[c] * mean[0];
      work.obstacle[c] += pull_[c] * of_obstacles[c * D];
    }
  }
  /// Takes the attraction that bodies felt in the last step, along its normals, from the forces of contacts
  /// between two steps. After a restart or a new list gaps say what it is, as at the start of a step.
  void subtract_from(ContactGraph<D>& contacts, const ContactGeometry<D>& geometry,
                     const ImpulseMemory<D>& memory) const {
    contacts.load = contacts.force;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (has_last_) {
        const Vec<D>& pull = last_.of(contacts, c).force;
        const Real along = dot(pull, contacts.normal[c]);
        contacts.force[c] -= along;
        contacts.friction[c] -= pull - along * contacts.normal[c];
      } else if (acts(geometry, c, memory)) {
        contacts.force[c] -= pull_off(geometry, c);
      }
    }
  }
  /// What acted in the last step; null before one, and after a list build.
  const auto* last() const { return has_last_ ? &last_ : nullptr; }
  /// Contacts of all ranks that pushed before the last step and were attracted in it, and those of them that
  /// it parted.
  std::int64_t n_attracted() const { return n_attracted_; }
  std::int64_t n_detached() const { return n_detached_; }

 private:
  /// All forces of attraction of a pair, on a [N], and whether it pressed.
  struct Last {
    Vec<D> force;
    Real pressed = 0;
  };

  /// F_c [N]; 0 if the surfaces do not attract each other.
  static Real pull_off(const ContactGeometry<D>& geometry, std::size_t c) {
    const State<D>& state = geometry.state;
    const PairProperties<D>& pair = pair_of(state, geometry.contacts, c);
    if (!pair.cohesion) return 0;
    Real lighter = HUGE_VAL;
    for (const Index body : {geometry.contacts.a[c], geometry.contacts.b[c]})
      if (body >= 0 && state.bodies.mobility()[body] != 0)
        lighter = std::min(lighter, state.bodies.mass()[body]);
    if (std::isinf(lighter)) return 0;
    return pair.cohesion->pull_off(norm(state.gravity)).of(geometry.effective_radius(c), lighter);
  }
  /// Whether contact c touches as far as attraction goes: what was held in the last step still does at a gap
  /// that its solve left.
  static bool acts(const ContactGeometry<D>& geometry, std::size_t c, const ImpulseMemory<D>& memory) {
    constexpr Real left = 10;
    const Real gap = geometry.contacts.gap[c], slop = geometry.slop(c);
    return gap <= slop || (gap <= left * slop && memory.impulse(geometry.contacts, c) != Vec<D>{});
  }

  std::vector<Real> pull_;   // of each contact of the step, beside its impulse [N s]
  ContactField<Last> last_;  // in the last step
  bool has_last_ = false;    // false: there is a new list since
  std::int64_t n_attracted_ = 0, n_detached_ = 0;
};

}  // namespace scree
