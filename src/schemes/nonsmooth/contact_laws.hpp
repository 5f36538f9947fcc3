#pragma once
#include <optional>
#include <vector>

#include "schemes/common/assembler.hpp"
#include "schemes/nonsmooth/cohesion_law.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/loaded_walls.hpp"
#include "schemes/nonsmooth/restitution_law.hpp"
#include "schemes/nonsmooth/rolling_law.hpp"
#include "schemes/nonsmooth/sequential_impacts.hpp"
#include "schemes/nonsmooth/settings.hpp"
#include "schemes/nonsmooth/spring_law.hpp"

namespace scree {

/// The laws of the contacts of a step, each a type of its own that knows none of the others, and what
/// contacts remember: they make a friction problem of the contacts that were found (docs/method.md, eq.
/// D.2-D.11). The arguments of the constructor must outlive it. Collective, but where it only returns what is
/// there.
template <int D>
class ContactLaws {
 public:
  ContactLaws(State<D>& state, Neighborhood<D>& neighborhood, const NonsmoothSettings<D>& settings,
              FrictionAssembler<D>& assembler);

  /// After a list build: takes what bodies remember of the candidates. Local.
  void restore();
  const ImpulseMemory<D>& memory() const { return memory_; }
  void begin_step(const FreeMotion<D>& free);
  /// Makes the problem of the contacts of the assembler, with the present velocities of walls.
  void assemble(const FreeMotion<D>& free);
  /// The first guess: what contacts remember, and what springs will give. Local.
  void guess(ContactSolve<D>& solve) const;
  /// Where a problem is far from solved, as bodies have no room to bounce (docs/method.md, D.4), rigid
  /// contacts do not bounce in this step. False on all ranks: it is not, or none does anyway.
  bool disable_restitution(const Residual& residual);
  /// What came of the step becomes what contacts remember, and their work().
  void store(const ContactSolve<D>& solve);

  /// Which candidates are contacts between two steps, and the forces of these in the last step.
  ContactRules<D> rules(Real tolerance) const;
  void find_forces(ContactGraph<D>& contacts) const;

  FrictionProblem<D>& problem() { return assembler_.problem(); }
  const FrictionProblem<D>& problem() const { return assembler_.problem(); }
  const ContactGraph<D>& contacts() const { return assembler_.contacts(); }
  StepContacts<D> step() const {
    return {{state_, contacts(), settings_.contact_slop},
            law_,
            pairs_,
            assembler_.surface_velocity(),
            assembler_.start_surface_velocity()};
  }
  /// Null if no wall is under load.
  LoadedWalls<D>* walls() { return walls_ ? &*walls_ : nullptr; }
  bool has_walls() const { return walls_.has_value(); }
  /// The problem for programs that know no resistance to rolling.
  FrictionProblem<D> problem_without_rolling(const ContactSolve<D>& solve) const {
    return RollingLaw<D>::problem_without({problem(), solve.impulse(), solve.velocity(), {}});
  }
  /// Of the last store().
  const ContactWork& work() const { return work_; }
  std::int64_t n_without_rebound() const { return restitution_.n_disabled(); }
  const std::optional<CohesionLaw<D>>& cohesion() const { return cohesion_; }
  std::size_t bytes() const;

 private:
  void add_laws(FrictionProblem<D>& problem);
  Real restitution_of(std::size_t c, Real speed) const;
  void find_work(const ContactSolution<D>& solution);

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  const NonsmoothSettings<D>& settings_;
  FrictionAssembler<D>& assembler_;
  ImpulseMemory<D> memory_;
  ContactLaw law_;
  std::vector<const PairProperties<D>*> pairs_;  // of each contact
  RestitutionLaw<D> restitution_;
  std::optional<SequentialImpacts<D>> impacts_;
  std::optional<SpringLaw<D>> springs_;
  std::optional<RollingLaw<D>> rolling_;
  std::optional<CohesionLaw<D>> cohesion_;
  std::optional<LoadedWalls<D>> walls_;
  std::vector<Real> mean_velocity_;  // of bodies held, in the step
  ContactWork work_;
};

}  // namespace scree
