#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/timing.hpp"
#include "schemes/nonsmooth/cohesion_law.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/restitution_law.hpp"
#include "schemes/nonsmooth/rolling_law.hpp"
#include "schemes/nonsmooth/sequential_impacts.hpp"
#include "schemes/nonsmooth/settings.hpp"
#include "schemes/nonsmooth/spring_law.hpp"
#include "schemes/nonsmooth/wall_unknowns.hpp"
#include "schemes/nonsmooth/wave_impacts.hpp"

namespace scree {

/// The laws of the contacts of a step, each a type of its own that knows none of the others, and what
/// contacts remember: they make a friction problem of the contacts that were found (docs/method.md, eq.
/// D.2-D.11). The arguments of the constructor must outlive it. Local, but where it says collective.
template <int D>
class ContactLaws {
 public:
  ContactLaws(State<D>& state, Neighborhood<D>& neighborhood, const NonsmoothSettings<D>& settings,
              FrictionAssembler<D>& assembler)
      : state_(state),
        neighborhood_(neighborhood),
        settings_(settings),
        assembler_(assembler),
        memory_(state.materials.has_elastic_pairs(), state.bodies.carries_shapes(),
                state.materials.has_rolling_friction()) {
    using Impacts = typename NonsmoothSettings<D>::Impacts;
    if (settings.impacts == Impacts::sequential) impacts_ = &sequential_.emplace();
    if (settings.impacts == Impacts::wave) impacts_ = &wave_.emplace(settings.elasticity);
    if (memory_.has_springs()) springs_.emplace();
    if (memory_.has_rolling()) rolling_.emplace();
    if (state.materials.has_cohesion()) cohesion_.emplace();
    if (!state.obstacles.driven().empty()) walls_.emplace(state, assembler);
  }

  /// After a list build: takes what bodies remember of the candidates.
  void restore() {
    memory_.restore(state_, neighborhood_);
    if (cohesion_) cohesion_->forget(neighborhood_);
  }
  /// Collective.
  void begin_step(const FreeMotion<D>& free) {
    const Real fall_speed = free.fall_speed(state_);
    // In proportion to the step; after a very short one impulses may be those of impacts, which do not grow.
    constexpr Real max_growth = 2;
    const Real last_dt = state_.clock.last_dt;
    const bool pushes = settings_.correction == NonsmoothSettings<D>::Correction::baumgarte;
    law_ = {.dt = free.dt(),
            .fall_speed = fall_speed,
            .rest_speed = settings_.rest_speed_word.empty() ? settings_.rest_speed : fall_speed,
            .contact_slop = settings_.contact_slop,
            .baumgarte = pushes ? settings_.baumgarte : 0,
            .impulse_scaling = last_dt > 0 ? std::min(free.dt() / last_dt, max_growth) : 0,
            .last_dt = last_dt};
    restitution_.begin_step();
    if (springs_) springs_->begin_step();
  }
  /// Makes the problem of the contacts of the assembler, with the present velocities of walls. Collective.
  void assemble(const FreeMotion<D>& free) {
    FrictionStep<D> step;
    step.dt = free.dt();
    step.velocity_floor = law_.fall_speed;
    step.free_velocity = free.velocity();
    step.start_velocity = free.start_velocity();
    step.laws = [this](const ContactGraph<D>&, FrictionProblem<D>&) { add_laws(); };
    assembler_.assemble(step);
  }
  /// The first guess: what contacts remember, and what springs will give.
  void guess(ContactSolve<D>& solve) const {
    const StepContacts<D> now = step();
    const Real factor = settings_.warm_start * law_.impulse_scaling;
    std::vector<Real>& impulse = solve.start_over(now.problem);
    memory_.guess(now.problem, now.contacts, factor, impulse);
    if (springs_) springs_->guess(now, settings_.warm_start, impulse);
    if (rolling_) rolling_->guess(now, memory_, factor, impulse);
  }
  /// Where a problem is far from solved, as bodies have no room to bounce (docs/method.md, D.4), rigid
  /// contacts do not bounce in this step. False on all ranks: it is not, or none does anyway. Collective.
  bool disable_restitution(const Residual& residual) {
    constexpr Real far = 0.01;
    return residual.natural >= far && restitution_.disable(step(), restitution_of());
  }
  /// Whether there are springs that go on in what assemble() makes next, though they ended in what was
  /// solved. Collective.
  bool keep_springs_pressed(const ContactSolve<D>& solve) {
    return springs_ && state_.comm.any(springs_->keep_pressed(step(), solve.impulse(), solve.velocity()));
  }
  /// What came of the step becomes what contacts remember, and their work(). Collective.
  void store(const ContactSolve<D>& solve) {
    if (walls_) walls_->use_working_velocities();
    const StepContacts<D> now = step();
    const std::span<const Real> before = now.problem.start_velocity, after = solve.velocity();
    mean_velocity_.resize(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) mean_velocity_[i] = 0.5 * (before[i] + after[i]);
    const ContactSolution<D> solution{solve.impulse(), after, mean_velocity_};
    const auto impulse = [&](std::size_t c, std::size_t i = 0) {
      return solution.impulse[c * D + i] + (impacts_ ? impacts_->impulse(c)[i] : 0);
    };
    if (cohesion_) cohesion_->store(now, impulse, memory_);
    memory_.store(now.problem, now.contacts, impulse);
    if (rolling_) rolling_->store(now, solution, memory_);
    if (springs_) springs_->store(now, solution, memory_, work_.stored);
    find_work(now, solution);
  }

  /// Which candidates are contacts between two steps.
  ContactRules<D> rules(Real tolerance) const {
    ContactRules<D> rules =
        last_pulls() ? last_pulls()->template rules<D>(tolerance) : memory_.rules(tolerance);
    rules.includes_fixed = walls_.has_value();
    return rules;
  }
  /// The forces of these in the last step.
  void find_forces(ContactGraph<D>& contacts) const {
    // A body may have come to another part of a wall since.
    if (last_pulls()) last_pulls()->find_places(contacts, neighborhood_);
    memory_.find_places(contacts, neighborhood_);
    memory_.find_forces(contacts, state_.clock.last_dt > 0 ? 1 / state_.clock.last_dt : 1);
    if (cohesion_) cohesion_->subtract_from(contacts, {state_, contacts, settings_.contact_slop}, memory_);
  }

  StepContacts<D> step() const {
    return {{state_, assembler_.contacts(), settings_.contact_slop},
            assembler_.problem(),
            law_,
            pairs_,
            assembler_.surface_velocity(),
            assembler_.mean_surface_velocity()};
  }
  /// What a contact of the step gives to bodies beside the impulse of the solve, along N, T1[, T2] [N s].
  std::array<Real, D> impulse_beside(std::size_t c) const {
    std::array<Real, D> impulse = impacts_ ? impacts_->impulse(c) : std::array<Real, D>{};
    if (cohesion_) impulse[0] -= cohesion_->pull(c);
    return impulse;
  }
  const ImpulseMemory<D>& memory() const { return memory_; }
  const RestitutionLaw<D>& restitution() const { return restitution_; }
  const std::optional<CohesionLaw<D>>& cohesion() const { return cohesion_; }
  /// Null if no wall is driven.
  WallUnknowns<D>* walls() { return walls_ ? &*walls_ : nullptr; }
  const WallUnknowns<D>* walls() const { return walls_ ? &*walls_ : nullptr; }
  /// Of the last store().
  const ContactWork& work() const { return work_; }

 private:
  const auto* last_pulls() const { return cohesion_ ? cohesion_->last() : nullptr; }
  void add_laws() {
    const ContactGraph<D>& contacts = assembler_.contacts();
    memory_.inherit(contacts, neighborhood_);
    pairs_.resize(contacts.size());
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      pairs_[c] = &pair_of(state_, contacts, c);
      assembler_.problem().mu[c] = pairs_[c]->friction;
    }
    const StepContacts<D> now = step();
    if (rolling_) rolling_->add_to(now);
    if (walls_) walls_->add_to(settings_.solver.tolerance);
    if (sequential_) sequential_->add_to(now, restitution_of());
    if (wave_) wave_->add_to(now);
    restitution_.add_to(now, restitution_of());
    if (springs_) springs_->add_to(now, memory_);
    if (!cohesion_) return;
    cohesion_->add_to(now, memory_);
    if (walls_) walls_->add_attraction([this](std::size_t c) { return cohesion_->pull(c); });
  }
  /// Of an impact of contact c at a normal velocity [m/s]: 0 where attraction holds what would bounce, and at
  /// a servo.
  auto restitution_of() const {
    return [this, now = step()](std::size_t c, Real speed) -> Real {
      const Real e = pairs_[c]->restitution;
      if (walls_ && walls_->is_servo(c)) return 0;
      return cohesion_ && cohesion_->holds(now, c, e * speed) ? 0 : e;
    };
  }
  void find_work(const StepContacts<D>& now, const ContactSolution<D>& solution) {
    Scope timer("energy");
    work_.clear(now.contacts.size());
    if (impacts_) impacts_->add_work(work_);
    if (rolling_) rolling_->add_work(now, solution, work_);
    if (cohesion_) cohesion_->add_work(now, solution, work_);
    for (std::size_t c = 0; c < now.contacts.size(); ++c) work_.add(now, solution, c);
  }

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  const NonsmoothSettings<D>& settings_;
  FrictionAssembler<D>& assembler_;
  ImpulseMemory<D> memory_;
  ContactLaw law_;
  std::vector<const PairProperties<D>*> pairs_;  // of each contact
  RestitutionLaw<D> restitution_;
  std::optional<SequentialImpacts<D>> sequential_;
  std::optional<WaveImpacts<D>> wave_;
  const ImpactRecord<D>* impacts_ = nullptr;  // of the one in use
  std::optional<SpringLaw<D>> springs_;
  std::optional<RollingLaw<D>> rolling_;
  std::optional<CohesionLaw<D>> cohesion_;
  std::optional<WallUnknowns<D>> walls_;
  std::vector<Real> mean_velocity_;  // of local bodies, in the step
  ContactWork work_;
};

}  // namespace scree
