#include "schemes/nonsmooth/contact_laws.hpp"

#include <algorithm>

#include "core/timing.hpp"

namespace scree {

template <int D>
ContactLaws<D>::ContactLaws(State<D>& state, Neighborhood<D>& neighborhood,
                            const NonsmoothSettings<D>& settings, FrictionAssembler<D>& assembler)
    : state_(state),
      neighborhood_(neighborhood),
      settings_(settings),
      assembler_(assembler),
      memory_(state.materials.has_elastic_pairs(), state.bodies.carries_shapes(),
              state.materials.has_rolling_friction()) {
  if (settings.impacts == NonsmoothSettings<D>::Impacts::sequential) impacts_.emplace();
  if (state.materials.has_elastic_pairs()) springs_.emplace();
  if (state.materials.has_rolling_friction()) rolling_.emplace();
  if (state.materials.has_cohesion()) cohesion_.emplace();
  if (!state.obstacles.driven().empty()) walls_.emplace(state, assembler);
}

template <int D>
void ContactLaws<D>::restore() {
  memory_.recall(state_, neighborhood_);
  if (cohesion_) cohesion_->forget(neighborhood_);
  if (walls_) walls_->forget(neighborhood_);
}

template <int D>
void ContactLaws<D>::begin_step(const FreeMotion<D>& free) {
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
          .impulse_scaling = last_dt > 0 ? std::min(free.dt() / last_dt, max_growth) : 0};
  restitution_.begin_step();
  if (walls_) walls_->begin_step();
}

template <int D>
void ContactLaws<D>::assemble(const FreeMotion<D>& free) {
  FrictionStep<D> step;
  step.dt = free.dt();
  step.has_contacts = true;
  step.velocity_floor = law_.fall_speed;
  step.free_velocity = free.velocity();
  step.start_velocity = free.start_velocity();
  step.laws = [this](const ContactGraph<D>&, FrictionProblem<D>& problem) { add_laws(problem); };
  assembler_.assemble(step);
}

template <int D>
void ContactLaws<D>::add_laws(FrictionProblem<D>& problem) {
  memory_.pass_on(contacts(), neighborhood_);
  pairs_.resize(contacts().size());
  for (std::size_t c = 0; c < pairs_.size(); ++c) {
    pairs_[c] = &pair_of(state_, contacts(), c);
    problem.mu[c] = pairs_[c]->friction;
  }
  const StepContacts<D> now = step();
  const auto restitution = [this](std::size_t c, Real speed) { return restitution_of(c, speed); };
  if (impacts_) impacts_->add_to(problem, now, restitution);
  restitution_.add_to(problem, now, restitution);
  if (springs_) springs_->add_to(problem, now, memory_);
  if (rolling_) rolling_->add_to(problem, now);
  if (cohesion_) cohesion_->add_to(problem, now, memory_);
  if (walls_) walls_->add_to(problem, memory_, law_.impulse_scaling);
}

/// Of an impact at this normal velocity [m/s]: 0 where attraction holds what would bounce, and at a wall
/// under load, which takes the velocity that its load asks for.
template <int D>
Real ContactLaws<D>::restitution_of(std::size_t c, Real speed) const {
  const PairProperties<D>& pair = *pairs_[c];
  if (walls_ && LoadedWalls<D>::wall_of(state_, contacts(), c) >= 0) return 0;
  if (cohesion_ && cohesion_->holds(problem(), step(), pair, c, pair.restitution * speed)) return 0;
  return pair.restitution;
}

template <int D>
bool ContactLaws<D>::disable_restitution(const Residual& residual) {
  constexpr Real far = 0.01;
  return residual.natural >= far &&
         restitution_.disable(problem(), step(),
                              [this](std::size_t c, Real speed) { return restitution_of(c, speed); });
}

template <int D>
void ContactLaws<D>::guess(ContactSolve<D>& solve) const {
  const Real factor = settings_.warm_start * law_.impulse_scaling;
  std::vector<Real>& impulse = solve.restart(problem());
  memory_.guess(problem(), contacts(), factor, impulse);
  if (springs_) springs_->guess(step(), settings_.warm_start, impulse);
  if (rolling_) rolling_->guess(problem(), step(), memory_, factor, impulse);
}

template <int D>
void ContactLaws<D>::store(const ContactSolve<D>& solve) {
  const std::span<const Real> before = problem().start_velocity, after = solve.velocity();
  mean_velocity_.resize(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) mean_velocity_[i] = 0.5 * (before[i] + after[i]);
  const ContactSolution<D> solution{problem(), solve.impulse(), after, mean_velocity_};
  if (cohesion_) cohesion_->store(solution, step(), memory_);
  memory_.store(problem(), contacts(), [&](std::size_t c, std::size_t i) {
    return solution.impulse[c * D + i] + (impacts_ ? impacts_->impulse(c)[i] : 0);
  });
  if (rolling_) rolling_->store(solution, step(), memory_);
  if (springs_) springs_->store(solution, step(), memory_, work_.stored);
  find_work(solution);
}

template <int D>
void ContactLaws<D>::find_work(const ContactSolution<D>& solution) {
  Scope timer("energy");
  const StepContacts<D> now = step();
  work_.clear(contacts().size());
  if (impacts_) impacts_->add_work(now, work_);
  if (rolling_) rolling_->add_work(solution, work_);
  if (cohesion_) cohesion_->add_work(solution, now, work_);
  restitution_.add_work(solution, now, work_);
  if (springs_) springs_->add_work(solution, now, work_);
}

template <int D>
ContactRules<D> ContactLaws<D>::rules(Real tolerance) const {
  const auto* pulls = cohesion_ ? cohesion_->last() : nullptr;
  return pulls ? pulls->template rules<D>(tolerance) : memory_.rules(tolerance);
}

template <int D>
void ContactLaws<D>::find_forces(ContactGraph<D>& contacts) const {
  // A body may have come to another part of a wall since.
  const auto* pulls = cohesion_ ? cohesion_->last() : nullptr;
  if (pulls) pulls->find_places(contacts, neighborhood_);
  memory_.find_places(contacts, neighborhood_);
  memory_.find_forces(contacts, state_.clock.last_dt > 0 ? 1 / state_.clock.last_dt : 1);
  if (cohesion_) cohesion_->subtract_from(contacts, {state_, contacts, settings_.contact_slop}, memory_);
}

template <int D>
std::size_t ContactLaws<D>::bytes() const {
  std::size_t bytes = memory_.bytes() + work_.bytes() + held_bytes(pairs_, mean_velocity_);
  const auto add = [&](const auto& law) { bytes += law ? law->bytes() : 0; };
  add(impacts_), add(springs_), add(cohesion_), add(walls_);
  return bytes;
}

template class ContactLaws<2>;
template class ContactLaws<3>;

}  // namespace scree
