#include "schemes/nonsmooth/contact_step.hpp"

#include <algorithm>

#include "core/memory.hpp"
#include "core/reset.hpp"
#include "schemes/common/contact_pair.hpp"
#include "schemes/nonsmooth/rolling.hpp"

namespace scree {

template <int D>
void ContactStep<D>::assemble(FreeMotion<D>& motion) {
  const Real dt = motion.dt();
  const Real fall_speed = motion.fall_speed(state_);
  neighborhood_.ghosts().copy_to_ghosts(motion.displacement());
  // In proportion to the step; after a very short one impulses may be those of impacts, which do not grow.
  constexpr Real most_growth = 2;
  const Real last_dt = state_.clock.last_dt;
  const Real same_force = last_dt > 0 ? std::min(dt / last_dt, most_growth) : 0;
  const bool pushes = settings_.correction == NonsmoothSettings<D>::Correction::baumgarte;
  const ContactLaw law{.dt = dt,
                       .rest_speed = settings_.rest_speed_word.empty() ? settings_.rest_speed : fall_speed,
                       .contact_slop = settings_.contact_slop,
                       .baumgarte = pushes ? settings_.baumgarte : 0,
                       .same_force = same_force};
  FrictionStep<D> step;
  step.dt = dt;
  // A spring pushes a little beyond the range in which rigid bodies meet.
  if (memory_.has_springs()) step.rules = memory_.rules(0);
  step.rules.tolerance = settings_.speculative_margin;
  step.rules.displacement = motion.displacement();
  step.rules.dt = dt;
  step.velocity_floor = fall_speed;
  step.free_velocity = motion.velocity();
  step.start_velocity = motion.start_velocity();
  step.laws = [this, &law](const ContactGraph<D>&, FrictionProblem<D>& problem) {
    memory_.pass_on(contacts(), neighborhood_);
    apply_laws(law, problem);
  };
  assembler_.assemble(step);
  if (state_.materials.has_rolling_friction()) resist_rolling_of_step(same_force);
  guess_impulses(settings_.warm_start * same_force);
}

template <int D>
void ContactStep<D>::apply_laws(const ContactLaw& law, FrictionProblem<D>& problem) {
  start_surface_velocity_.resize(contacts().size());
  if (memory_.has_springs()) start_stretch_.resize(contacts().size());
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    const PairProperties<D>& pair = pair_of(state_, contacts(), c);
    problem.mu[c] = pair.friction;
    start_surface_velocity_[c] = surface_velocity(problem, obstacle_velocity(), c, problem.start_velocity);
    if (pair.elasticity.rigid())
      problem.bias[c * D] += normal_bias_of(law, pair, c);
    else
      apply_springs(law, pair, c, problem);
  }
}

template <int D>
Real ContactStep<D>::normal_bias_of(const ContactLaw& law, const PairProperties<D>& pair,
                                    std::size_t c) const {
  const Real start_speed = start_surface_velocity_[c][0];
  // Gravity turns nothing, and moves both bodies alike unless one is held or an obstacle.
  Real free_speed = start_speed;
  if (problem().a[c] < 0) free_speed += law.dt * dot(state_.gravity, contacts().normal[c]);
  if (problem().b[c] < 0) free_speed -= law.dt * dot(state_.gravity, contacts().normal[c]);
  if (!state_.forces.empty())
    free_speed = surface_velocity(problem(), obstacle_velocity(), c, problem().free_velocity)[0];
  const Real touching = law.contact_slop * sum_of_radii(state_, contacts(), c);
  return normal_bias(law, contacts().gap[c], touching, pair.restitution, start_speed, free_speed);
}

/// Springs with dampers along the normal and, unless the deck says "rigid", along the tangents.
template <int D>
void ContactStep<D>::apply_springs(const ContactLaw& law, const PairProperties<D>& pair, std::size_t c,
                                   FrictionProblem<D>& problem) {
  const auto stiffness = pair.elasticity.stiffness(effective_radius_of(c));
  const auto& remembered = memory_.elastic(contacts(), c);
  start_stretch_[c] = remembered.spring;
  const Vec<D>& speed = start_surface_velocity_[c];
  const Real along_normal = inverse_mass(c, false);
  const ContactLine line = SpringStep(stiffness.normal, along_normal, pair.damping.share, law.dt)
                               .unilateral(pair.damping, {.gap = contacts().gap[c],
                                                          .speed = speed[0],
                                                          .load = law.same_force * remembered.load,
                                                          .rest_speed = law.rest_speed});
  problem.compliance[2 * c] = line.compliance;
  problem.bias[c * D] += line.bias;
  if (std::isinf(stiffness.tangential)) return;
  // The same damper along the tangents, but for sqrt(k_T/k_N).
  const Real along_tangents = inverse_mass(c, true);
  const SpringStep tangent(stiffness.tangential, along_tangents,
                           pair.damping.share * std::sqrt(along_tangents / along_normal), law.dt);
  for (int i = 1; i < D; ++i) {
    const Real stretch = dot(assembler_.frames()[c][static_cast<std::size_t>(i)], remembered.spring);
    const ContactLine slip = tangent.both_ways(stretch, speed[i]);
    problem.compliance[2 * c + 1] = slip.compliance;
    problem.bias[c * D + static_cast<std::size_t>(i)] += slip.bias;
  }
}

/// What a unit impulse at contact c does to the velocity of its surfaces, along the normal or a tangent
/// [1/kg].
template <int D>
Real ContactStep<D>::inverse_mass(std::size_t c, bool along_tangents) const {
  const FrictionProblem<D>& p = problem();
  const Index ends[2] = {p.a[c], p.b[c]};
  Real sum = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    const Real* block = &p.mass[static_cast<std::size_t>(ends[side]) * q * q];
    sum += 1 / block[0];
    const Real arm = p.arm[2 * c + side];
    if (along_tangents) sum += arm * arm / block[q * q - 1];
  }
  return sum;
}

template <int D>
Real ContactStep<D>::effective_radius_of(std::size_t c) const {
  const auto radius = state_.bodies.radius();
  const Real a = radius[static_cast<std::size_t>(contacts().a[c])];
  return contacts().b[c] < 0 ? a : effective_radius(a, radius[static_cast<std::size_t>(contacts().b[c])]);
}

/// With `factor` times the normal impulses that contacts remember.
template <int D>
void ContactStep<D>::resist_rolling_of_step(Real factor) {
  FrictionProblem<D>& problem = assembler_.problem();
  rolling_work_.resize(contacts().size());
  resist_rolling(
      problem,
      [&](std::size_t c) {
        const Real mu = pair_of(state_, contacts(), c).rolling_friction;
        if (mu == 0) return 0.0;
        return mu * effective_radius_of(c) * factor *
               dot(memory_.impulse(contacts(), c), contacts().normal[c]);
      },
      rolling_work_);
  // What contacts do from here on starts with these spins.
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_held()); ++i)
    std::copy_n(&problem.free_velocity[i * q + D], q - D, &problem.start_velocity[i * q + D]);
  for (std::size_t c = 0; c < contacts().size(); ++c)
    start_surface_velocity_[c] = surface_velocity(problem, obstacle_velocity(), c, problem.start_velocity);
}

/// `factor` times what the contacts remember, in their present frames.
template <int D>
void ContactStep<D>::guess_impulses(Real factor) {
  reset(impulse_, contacts().size() * D);
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    const Vec<D> r = factor * memory_.impulse(contacts(), c);
    if (r == Vec<D>{}) continue;
    const auto& frame = assembler_.frames()[c];
    for (std::size_t i = 0; i < D; ++i) impulse_[c * D + i] = dot(frame[i], r);
    if (impulse_[c * D] <= 0) std::fill_n(&impulse_[c * D], D, 0.0);
  }
}

template <int D>
const SolveReport& ContactStep<D>::solve(bool keeps_guess) {
  if (keeps_guess) copy_into(impulse_, guess_);
  velocity_.resize(static_cast<std::size_t>(state_.bodies.n_held()) * q);
  report_ =
      solve_.run(problem(), *settings_.solver.solver, settings_.solver.stop_rule(), impulse_, velocity_);
  n_contacts_ = state_.comm.sum(std::int64_t{problem().n_contacts()});
  return report_;
}

template <int D>
void ContactStep<D>::remember_impulses() {
  memory_.clear();
  for (std::size_t c = 0; c < contacts().size(); ++c) {
    const auto& frame = assembler_.frames()[c];
    Vec<D> r;
    for (std::size_t i = 0; i < D; ++i) r += impulse_[c * D + i] * frame[i];
    memory_.impulse(contacts(), c) = r;
    if (memory_.has_springs()) remember_springs(c);
  }
}

/// The stretch goes on with the slip at the end of the step, up to what friction can carry.
template <int D>
void ContactStep<D>::remember_springs(std::size_t c) {
  auto& remembered = memory_.elastic(contacts(), c);
  remembered.spring = {};
  remembered.load = 0;
  const Real pressing = impulse_[c * D];
  const PairProperties<D>& pair = pair_of(state_, contacts(), c);
  if (pair.elasticity.rigid() || pressing <= 0) return;
  const Vec<D> speed = surface_velocity(problem(), obstacle_velocity(), c, velocity_);
  remembered.load = speed[0] - start_surface_velocity_[c][0] - inverse_mass(c, false) * pressing;
  const Real stiffness = pair.elasticity.stiffness(effective_radius_of(c)).tangential;
  if (std::isinf(stiffness)) return;
  const auto& frame = assembler_.frames()[c];
  const Real dt = problem().time_step;
  Vec<D> stretch;
  for (std::size_t i = 1; i < D; ++i)
    stretch += (dot(frame[i], start_stretch_[c]) + dt * speed[static_cast<int>(i)]) * frame[i];
  const Real most = problem().mu[c] * pressing / (stiffness * dt);
  const Real length = norm(stretch);
  remembered.spring = length > most ? (most / length) * stretch : stretch;
}

template <int D>
void ContactStep<D>::find_contacts(Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_.detect(state_, memory_.rules(tolerance), contacts);
  contacts.force.resize(contacts.size());
  contacts.friction.resize(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    Vec<D> force = memory_.impulse(contacts, c);
    if (state_.clock.last_dt > 0) force *= 1 / state_.clock.last_dt;
    contacts.force[c] = dot(force, contacts.normal[c]);
    contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
  }
}

template <int D>
std::vector<CertificateEntry> ContactStep<D>::certificate() const {
  const Residual& residual = report_.residual;
  return {{"contacts", "-", static_cast<Real>(n_contacts_)},
          {"residual", "-", residual.natural},
          {"solved", "-", report_.converged ? 1.0 : 0.0, true},
          {"penetration_rate", "m/s", residual.penetration_rate},
          {"cone_violation", "N s", residual.cone_violation},
          {"complementarity", "J", residual.complementarity},
          {"dissipation_error", "J", residual.dissipation_error},
          {"sweeps", "-", static_cast<Real>(report_.sweeps)},
          {"iterations", "-", static_cast<Real>(report_.iterations)},
          {"newton_steps", "-", static_cast<Real>(report_.newton_steps)},
          {"krylov_iterations", "-", static_cast<Real>(report_.krylov_iterations)}};
}

template <int D>
std::size_t ContactStep<D>::bytes() const {
  return assembler_.bytes() + solve_.bytes() + memory_.bytes() +
         held_bytes(impulse_, guess_, velocity_, start_surface_velocity_, start_stretch_, rolling_work_);
}

template class ContactStep<2>;
template class ContactStep<3>;

}  // namespace scree
