#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "contact/cohesion.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"
#include "schemes/common/attracted_pairs.hpp"
#include "schemes/common/grain_motion.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/nonsmooth/contact_step.hpp"
#include "schemes/nonsmooth/driven_solve.hpp"
#include "schemes/nonsmooth/move.hpp"
#include "schemes/nonsmooth/step_energy.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Rigid bodies with Coulomb friction and restitution at large time steps: a Moreau-type scheme
/// (docs/method.md, "Non-smooth dynamics", eq. D.1-D.5):
///     v_free = v(t) + dt (g + F(x(t), v(t), t) / m)
///     M (v - v_free) = H^T r,  u = H v + w + G r,  Coulomb's law between u and r     one friction problem
///     x(t + dt) = x(t) + dt v, then remaining overlap is removed from positions alone
/// Units: SI; disks are 1 m thick. Ranks: collective; with the solver "nsgs" the same bits on any number of
/// ranks. Errors: what an unsolved problem or a deep overlap means is the deck's choice (on_failure,
/// on_overlap).
template <int D>
class NonsmoothStepper final : public Stepper<D> {
 public:
  NonsmoothStepper() { this->expect_linear_solver(); }
  void describe(Section& root) override { settings_.describe(root); }
  SchemeTraits traits() const override;
  ListNeeds list_needs(const State<D>& state, Real dt, Real largest_radius) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state, SaveFor) override { state.memory = contacts_->remember(); }
  void find_contacts(State<D>& /*state*/, Real tolerance, ContactGraph<D>& contacts) override {
    contacts_->find_contacts(tolerance, contacts);
  }
  std::vector<CertificateEntry> certificate() const override;
  std::size_t bytes() const override {
    return motion_.bytes() + energy_.bytes() + driven_.bytes() + sides_.bytes() +
           (contacts_ ? contacts_->bytes() : 0);
  }

 private:
  // Two bodies that approach each other use up the skin twice as fast as one; the rest is for
  // speculative_margin.
  static constexpr Real share_of_skin = 0.45;
  // Cuts because of fast turns end at this share of the step that the deck asks for.
  static constexpr Real least_share = 1e-2;
  using Correction = typename NonsmoothSettings<D>::Correction;

  static void check_attractions(const State<D>& state);
  void fit(State<D>& state);
  Real refresh(State<D>& state, Real dt);
  void take_step(State<D>& state, Real dt);
  bool solve(State<D>& state, Real dt);
  bool take_solution(State<D>& state, Real& dt);
  bool turns_too_far(const State<D>& state, std::span<const Real> velocity, Real& dt);
  bool ends_in_overlap(State<D>& state, Real& dt);
  void find_overlap(const State<D>& state, const ContactGraph<D>& contacts);
  void check_overlap(const State<D>& state);
  void check_correction(const State<D>& state);
  void correct(State<D>& state, Real dt);

  NonsmoothSettings<D> settings_;
  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<ContactStep<D>> contacts_;
  SideKeeper<D> sides_;
  FreeMotion<D> motion_;
  StepEnergy<D> energy_;
  DrivenSolve<D> driven_;
  ContactGraph<D> end_contacts_;
  Real asked_ = 0;  // length of the step that the caller wants [s]
  bool drives_walls_ = false;
  Real smallest_radius_ = 0;
  Real overlap_ = 0;         // deepest at the start of the step
  Real beyond_ = -HUGE_VAL;  // by how much overlaps exceeded overlap_limit there, the most
  Real corrected_ = 0;       // deepest that the correction met
  std::vector<Real> energy_scale_;
};

template <int D>
SchemeTraits NonsmoothStepper<D>::traits() const {
  return {.carried = Carried::with_inertia,
          .balances_energy = true,
          .has_contact_problems = true,
          .takes_shapes = true,
          .takes_cohesion = true,
          .drives_walls = true,
          .same_for_any_owners = settings_.solver.solver && settings_.solver.solver->same_on_any_ranks(),
          .memory = "impulses"};
}

template <int D>
ListNeeds NonsmoothStepper<D>::list_needs(const State<D>& state, Real dt, Real largest_radius) const {
  return {.travel = fastest_fall(state) * dt,
          .skin = 2 * settings_.speculative_margin * largest_radius / (1 - 2 * share_of_skin)};
}

template <int D>
void NonsmoothStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) {
  require_stable_forces(state, dt);
  require_slow_walls(state.obstacles, dt, state.lattice.usual_skin, state.box);
  if (state.bodies.carries_shapes() && settings_.impacts == NonsmoothSettings<D>::Impacts::sequential)
    throw InputError(settings_.where_impacts +
                     ": impacts = \"sequential\" is for balls, but some bodies have a shape; use "
                     "\"simultaneous\"");
  if (state.materials.has_rolling_friction() && !settings_.solver.solver->takes_rolling())
    throw InputError(settings_.where_solver +
                     ": this solver knows no rolling_friction, which some pairs of materials have; take "
                     "type = \"nsgs\", or set rolling_friction = 0");
  check_attractions(state);
  state.energy_balance.stored = state.materials.has_elastic_pairs();
  settings_.choose_tolerance(state.bodies.carries_shapes());
  neighborhood_ = &neighborhood;
  drives_walls_ = !state.obstacles.driven().empty();
  insert_petsc_options(settings_.solver.petsc_options);
  contacts_ = std::make_unique<ContactStep<D>>(state, neighborhood, settings_);
  fit(state);
  if (state.clock.step > 0) return;
  // The row of the first moment tells what touches then.
  neighborhood.detect(state, {.tolerance = settings_.contact_slop}, end_contacts_);
  contacts_->note_contacts(static_cast<std::int64_t>(end_contacts_.size()));
  find_overlap(state, end_contacts_);
}

/// Contacts of rigid bodies have no range, and no other load than that of cohesive Coulomb friction.
template <int D>
void NonsmoothStepper<D>::check_attractions(const State<D>& state) {
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

/// What depends on the bodies present and on the candidates.
template <int D>
void NonsmoothStepper<D>::fit(State<D>& state) {
  smallest_radius_ = smallest_radius(state);
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < bodies.mobility().size(); ++i)
    if (bodies.mobility()[i] != 0) bodies.mobility()[i] = 1 / bodies.mass()[i];
  contacts_->recall();
}

template <int D>
void NonsmoothStepper<D>::bodies_changed(State<D>& state) {
  rebuild_and_book_outflow(state, *neighborhood_);
  fit(state);
}

template <int D>
void NonsmoothStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  settings_.on_failure.begin_step();
  state.obstacles.begin_step();
  driven_.begin(state);
  try {
    take_step(state, dt);
  } catch (const StepRefused&) {
    driven_.restore(state);
    throw;
  }
}

template <int D>
void NonsmoothStepper<D>::take_step(State<D>& state, Real dt) {
  // 1.-2. Every rank holds its own bodies and ghosts of those within reach of this step; v_free: the
  // velocities at t + dt if no contact acted.
  asked_ = dt;
  dt = refresh(state, dt);
  // 3.-4. Contacts, and the impulses and velocities that obey Coulomb's law at all of them.
  while (!take_solution(state, dt)) motion_.predict(state, dt);
  check_overlap(state);
  // 5. Bodies and obstacles move; remaining overlap is removed from positions alone.
  energy_.note_start(state);
  move_centres(state, contacts_->velocity(), dt);
  energy_.note_moved(state);
  correct(state, dt);
  take_velocities(state, contacts_->velocity(), contacts_->separating_velocity(), dt);
  contacts_->remember_impulses();
  energy_.update_balance(state, motion_, *contacts_, dt);
  state.obstacles.finish_driven_step(state.clock.time + dt);
  check_correction(state);
  state.clock.last_dt = dt;
}

/// Rebuilds the neighbour list if the step could outrun it. Returns the length of the step, for which free
/// motion is predicted.
template <int D>
Real NonsmoothStepper<D>::refresh(State<D>& state, Real dt) {
  motion_.predict(state, dt);
  if (settings_.max_travel > 0) {
    const Real limit = settings_.max_travel * smallest_radius_;
    const Real most = motion_.farthest(state);
    if (most > limit) {
      dt *= limit / most;
      motion_.predict(state, dt);
    }
  }
  if (turns_too_far(state, motion_.velocity(), dt)) motion_.predict(state, dt);
  if (!neighborhood_->stale(state, share_of_skin, motion_.displacement(), dt)) return dt;
  const auto plan = neighborhood_->list().plan_step(
      state, dt, share_of_skin, [&](std::size_t i, Real shorter) { return motion_.way(i, shorter); });
  save(state, SaveFor::checkpoint);
  rebuild_and_book_outflow(state, *neighborhood_, plan.skin);
  fit(state);
  motion_.predict(state, plan.dt);
  return plan.dt;
}

/// Solves the step. False: it has to be taken again, with the length that `dt` then is.
template <int D>
bool NonsmoothStepper<D>::take_solution(State<D>& state, Real& dt) {
  if (!solve(state, dt)) {
    dt *= 0.5;
    return false;
  }
  if (!state.bodies.carries_shapes()) return true;
  return !turns_too_far(state, contacts_->velocity(), dt) && !ends_in_overlap(state, dt);
}

/// Whether bodies turn so far with these velocities that the step has to be cut, to what `dt` then is.
template <int D>
bool NonsmoothStepper<D>::turns_too_far(const State<D>& state, std::span<const Real> velocity, Real& dt) {
  constexpr Real straight = 0.2, shorter = 0.9;
  const Real longest = std::max(longest_turning_step(state, velocity, straight), least_share * asked_);
  if (dt <= longest) return false;
  neighborhood_->list().note_cut_step(state, dt, shorter * longest, "bodies turn too far for contacts");
  dt = shorter * longest;
  return true;
}

/// Contacts see turns as straight ways and keep their normals, and other corners than those that were near
/// may come down first. So where bodies with shapes go far, the end of the step is looked at before it is
/// taken: if bodies overlap there by much, and by more than at its start, `dt` is halved.
template <int D>
bool NonsmoothStepper<D>::ends_in_overlap(State<D>& state, Real& dt) {
  constexpr Real near = 0.25, deep = 0.1;  // of the inscribed radius
  if (dt <= longest_short_step(state, contacts_->velocity(), near) || dt <= least_share * asked_)
    return false;
  Scope timer("end of step");
  const Real before = deepest_overlap(state, contacts_->contacts());
  const Real after = overlap_after(state, *neighborhood_, contacts_->velocity(), dt, end_contacts_);
  if (after <= std::max(deep * smallest_radius_, before)) return false;
  neighborhood_->list().note_cut_step(state, dt, 0.5 * dt, "bodies with shapes would overlap");
  dt *= 0.5;
  return true;
}

/// Makes and solves the friction problem of a step of dt. False: it was not solved, and the deck asks for
/// half the length.
template <int D>
bool NonsmoothStepper<D>::solve(State<D>& state, Real dt) {
  Scope timer("contact problem");
  StepControl& control = settings_.on_failure;
  const auto& hook = this->contact_problem_hook();
  const SolveReport& report =
      driven_.run(state, dt, smallest_radius_, *contacts_, [&](bool is_first) -> const SolveReport& {
        if (is_first)
          contacts_->assemble(motion_);
        else
          contacts_->assemble_again(motion_);
        return contacts_->solve(motion_, settings_.new_overlap * smallest_radius_, static_cast<bool>(hook));
      });
  if (report.newton_steps + report.iterations > 0) this->linear_solver_used();
  const bool accepted = report.converged || !control.may_refuse();
  if (hook && (accepted || control.n_halvings() == 0)) {
    const auto n = contacts_->contacts().size() * D;
    const auto show = [&](const FrictionProblem<D>& problem) {
      hook({state, problem, contacts_->contacts(), dt, contacts_->guess().first(n),
            contacts_->impulse().first(n), report, accepted});
    };
    if (state.materials.has_rolling_friction())
      show(contacts_->problem_without_rolling());
    else
      show(contacts_->problem());
  }
  if (report.converged) return true;

  const std::string what =
      fmt::format("the contact problem has a residual of {:.3g}, above solver.tolerance = {:g}",
                  report.residual.natural, settings_.solver.tolerance);
  constexpr std::int64_t most_halvings = 10;
  if (!control.may_refuse()) {
    control.warn(state.clock, [&] { return what; });
    return true;
  }
  if (control.action() == FailureAction::halve && control.n_halvings() < most_halvings) {
    control.halve(state.clock, what, dt);
    return false;
  }
  refuse_step(
      state.clock,
      what +
          (control.action() == FailureAction::halve
               ? fmt::format(", even in a step of {:.3g} s; allow more iterations or raise the tolerance", dt)
               : "; allow more iterations, raise the tolerance, or set [nonsmooth] on_failure"));
}

template <int D>
void NonsmoothStepper<D>::find_overlap(const State<D>& state, const ContactGraph<D>& contacts) {
  overlap_ = deepest_overlap(state, contacts);
  beyond_ = overlap_beyond(state, contacts, settings_.overlap_limit);
}

template <int D>
void NonsmoothStepper<D>::check_overlap(const State<D>& state) {
  find_overlap(state, contacts_->contacts());
  if (beyond_ <= 0) return;
  const std::string what =
      fmt::format("{}, beyond overlap_limit = {:g} of the smaller radius by {:.3g} m",
                  who_overlaps(state, contacts_->contacts(), settings_.overlap_limit, beyond_),
                  settings_.overlap_limit, beyond_);
  if (settings_.on_overlap.may_refuse())
    refuse_step(state.clock,
                what +
                    "; does an obstacle press bodies where they have no room? Otherwise reduce [time] step "
                    "or solver.tolerance, or raise [nonsmooth] correction_sweeps");
  settings_.on_overlap.warn(
      state.clock, [&] { return what; }, "further steps like this are not named: see the column overlap");
}

/// What the correction lifts, beside what bodies have by their motion and by their height over a radius.
template <int D>
void NonsmoothStepper<D>::check_correction(const State<D>& state) {
  if (corrected_ == 0) return;
  const BodyStore<D>& bodies = state.bodies;
  std::vector<Real>& scale = energy_scale_;
  scale.assign(static_cast<std::size_t>(bodies.n_owned()), 0.0);
  for (std::size_t i = 0; i < scale.size(); ++i)
    if (bodies.mobility()[i] != 0)
      scale[i] = bodies.mass()[i] * (0.5 * dot(bodies.velocity()[i], bodies.velocity()[i]) +
                                     norm(state.gravity) * bodies.radius()[i]);
  const Real limit = settings_.correction_limit * ReproducibleSum::sum(state.comm, scale);
  if (energy_.corrected() <= limit) return;
  settings_.on_correction.warn(
      state.clock,
      [&] {
        return fmt::format(
            "the position correction puts in {:.3g} J, more than correction_limit = {:g} of the energy of "
            "the "
            "bodies ({:.3g} J)",
            energy_.corrected(), settings_.correction_limit, limit);
      },
      "further steps like this are not named: see the column correction_energy");
}

/// Moves bodies on by what takes out overlap. Until it is through, only positions and obstacles have moved.
template <int D>
void NonsmoothStepper<D>::correct(State<D>& state, Real dt) {
  corrected_ = 0;
  if (settings_.correction == Correction::projection && state.materials.has_rigid_pairs()) {
    Scope timer("correction");
    corrected_ = contacts_->separate(smallest_radius_, settings_.correction_sweeps);
    separate_centres(state, contacts_->velocity(), contacts_->separating_velocity(), dt);
  }
  corrected_ = std::max(corrected_, sides_.keep(state, *neighborhood_, state.clock.time + dt));
}

template <int D>
std::vector<CertificateEntry> NonsmoothStepper<D>::certificate() const {
  std::vector<CertificateEntry> entries = contacts_->certificate();
  entries.push_back({"overlap", "m", overlap_, false, overlap_ - beyond_});
  entries.push_back({"corrected", "m", corrected_});
  entries.push_back({"correction_energy", "J", energy_.corrected()});
  entries.push_back({"contact_gain", "J", energy_.contact_gain()});
  if (drives_walls_) {
    entries.push_back({"driven_solves", "-", static_cast<Real>(driven_.n_solves())});
    entries.push_back({"driven_misfit", "-", driven_.worst_misfit()});
  }
  entries.push_back({"halvings", "-", static_cast<Real>(settings_.on_failure.n_halvings())});
  return entries;
}

SCREE_PLUGIN(Stepper, nonsmooth, NonsmoothStepper,
             "rigid bodies with inertia, restitution and exact Coulomb friction at large steps")

}  // namespace scree
