#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "schemes/common/grain_motion.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/common/tunnelling_guard.hpp"
#include "schemes/nonsmooth/contact_detection.hpp"
#include "schemes/nonsmooth/contact_laws.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/domain_motion.hpp"
#include "schemes/nonsmooth/move.hpp"
#include "schemes/nonsmooth/position_correction.hpp"
#include "schemes/nonsmooth/step_energy.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Rigid bodies with Coulomb friction and restitution at large time steps: a Moreau-type scheme
/// (docs/method.md, "Non-smooth dynamics", eq. D.1-D.5):
///     v_free = v(t) + dt (g + F(x(t), v(t), t) / m)
///     M (v - v_free) = H^T r,  u = H v + w + G r,  Coulomb's law between u and r     one friction problem
///     x(t + dt) = x(t) + dt v, then remaining overlap is removed from positions alone
/// In a deforming domain v is the velocity about its flow (H.23), and x goes with both.
/// Units: SI; disks are 1 m thick. Ranks: collective; with the solver "nsgs" the same bits on any number of
/// ranks. Errors: what an unsolved problem or a deep overlap means is the deck's choice (on_failure,
/// on_overlap).
template <int D>
class NonsmoothStepper final : public Stepper<D> {
 public:
  NonsmoothStepper() { this->expect_linear_solver(); }
  void describe(Section& root) override { settings_.describe(root); }
  SchemeTraits traits() const override;
  ListRequirements list_requirements(const State<D>& state, Real dt, Real largest_radius) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state, SaveFor) override {
    state.memory = laws_->memory().remember(state, *neighborhood_);
  }
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override {
    neighborhood_->detect(state, laws_->rules(tolerance), contacts);
    laws_->find_forces(contacts);
  }
  std::vector<CertificateEntry> certificate() const override;

 private:
  // Two bodies that approach each other use up the skin twice as fast as one; the rest is for
  // speculative_margin.
  static constexpr Real share_of_skin = 0.45;
  // Cuts because of fast turns end at this share of the step that the deck asks for.
  static constexpr Real min_share = 1e-2;

  void fit(State<D>& state);
  Real predict(State<D>& state, Real dt);
  Real rebuild_list_if_needed(State<D>& state, Real dt);
  void take_step(State<D>& state, Real dt);
  void finish_step(State<D>& state, Real dt);
  void solve_contacts();
  bool must_cut_step(State<D>& state, Real& dt);
  bool is_solved(const State<D>& state, Real dt);
  void show_problem(const State<D>& state, Real dt);
  bool turns_too_far(const State<D>& state, std::span<const Real> velocity, Real& dt);
  bool ends_in_overlap(State<D>& state, Real& dt);
  void find_overlap(const State<D>& state, const ContactGraph<D>& contacts);
  void check_overlap(const State<D>& state);
  void check_correction(const State<D>& state);

  NonsmoothSettings<D> settings_;
  Neighborhood<D>* neighborhood_ = nullptr;
  // Made at the start of a run.
  std::optional<FrictionAssembler<D>> assembler_;
  std::optional<ContactDetection<D>> detection_;
  std::optional<ContactLaws<D>> laws_;
  std::optional<ContactSolve<D>> solve_;
  std::optional<PositionCorrection<D>> correction_;
  std::optional<DomainMotion<D>> deformation_;
  TunnellingGuard<D> sides_;
  FreeMotion<D> free_;
  StepEnergy<D> energy_;
  ContactGraph<D> end_contacts_;
  Real asked_ = 0;  // length of the step that the caller wants [s]
  Real smallest_radius_ = 0;
  Real overlap_ = 0;         // deepest at the start of the step
  Real beyond_ = -HUGE_VAL;  // by how much overlaps exceeded overlap_limit there, the most
  Real corrected_ = 0;       // deepest that the correction met
  std::vector<Real> energy_scale_;
};

template <int D>
SchemeTraits NonsmoothStepper<D>::traits() const {
  return {.field_set = FieldSet::with_inertia,
          .balances_energy = true,
          .has_contact_problems = true,
          .takes_shapes = true,
          .takes_cohesion = true,
          .drives_walls = true,
          .deforms_domain = true,
          .follows_stress = settings_.solver.solver && settings_.solver.solver->same_on_any_ranks(),
          .same_for_any_owners = settings_.solver.solver && settings_.solver.solver->same_on_any_ranks(),
          .memory = "impulses"};
}

template <int D>
ListRequirements NonsmoothStepper<D>::list_requirements(const State<D>& state, Real dt,
                                                        Real largest_radius) const {
  return {.travel = fastest_fall(state) * dt,
          .skin = 2 * settings_.speculative_margin * largest_radius / (1 - 2 * share_of_skin)};
}

template <int D>
void NonsmoothStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) {
  require_stable_forces(state, dt);
  require_slow_walls(state.obstacles, dt, state.lattice.usual_skin, state.box);
  settings_.check_impacts(state);
  settings_.check_solver(state);
  CohesionLaw<D>::check(state);
  state.energy_balance.stored = state.materials.has_elastic_pairs();
  settings_.prepare(state);
  neighborhood_ = &neighborhood;
  assembler_.emplace(state, neighborhood);
  detection_.emplace(state, neighborhood, settings_, assembler_->contacts());
  laws_.emplace(state, neighborhood, settings_, *assembler_);
  solve_.emplace(settings_.solver);
  correction_.emplace(state, settings_, *laws_, *solve_);
  deformation_.emplace(state, *assembler_, *laws_, *solve_);
  fit(state);
  if (state.clock.step > 0) return;
  deformation_->start();
  // The row of the first moment says what touches then.
  neighborhood.detect(state, {.tolerance = settings_.contact_slop}, end_contacts_);
  detection_->count(end_contacts_);
  find_overlap(state, end_contacts_);
}

/// What depends on the bodies present and on the candidates.
template <int D>
void NonsmoothStepper<D>::fit(State<D>& state) {
  smallest_radius_ = smallest_radius(state);
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < bodies.mobility().size(); ++i)
    if (bodies.mobility()[i] != 0) bodies.mobility()[i] = 1 / bodies.mass()[i];
  laws_->restore();
  detection_->restore(laws_->memory());
}

template <int D>
void NonsmoothStepper<D>::bodies_changed(State<D>& state) {
  rebuild_list(state, *neighborhood_);
  fit(state);
}

template <int D>
void NonsmoothStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  settings_.on_failure.begin_step();
  state.obstacles.begin_step();
  WallUnknowns<D>* walls = laws_->walls();
  if (walls) walls->begin_step();
  deformation_->begin_step();
  try {
    take_step(state, dt);
  } catch (const StepRefused&) {
    if (walls) walls->restore();
    deformation_->restore();
    throw;
  }
}

template <int D>
void NonsmoothStepper<D>::take_step(State<D>& state, Real dt) {
  asked_ = dt;
  dt = rebuild_list_if_needed(state, predict(state, dt));  // D.1: velocities without contacts
  for (;; deformation_->restore(), free_.predict(state, dt)) {
    Scope timer("contact problem");
    if (laws_->walls()) laws_->walls()->start();
    deformation_->choose(free_);
    detection_->find(free_);  // pairs that may touch in the step
    laws_->begin_step(free_);
    solve_contacts();  // D.2-D.11, D.17, F.1-F.4: velocities that obey Coulomb's law
    if (laws_->walls()) laws_->walls()->finish(solve_->walls());
    if (!must_cut_step(state, dt)) break;
  }
  check_overlap(state);
  finish_step(state, dt);
  check_correction(state);
  state.clock.last_dt = dt;
}

/// Bodies, walls and the domain at the end of the step that was solved, and what contacts remember of it.
template <int D>
void NonsmoothStepper<D>::finish_step(State<D>& state, Real dt) {
  energy_.record_start(state);
  move_centres(state, solve_->velocity(), dt);  // x(t + dt) = x(t) + dt v
  energy_.record_moved(state);
  corrected_ = correction_->apply(smallest_radius_);  // D.12: positions alone
  corrected_ = std::max(corrected_, sides_.keep(state, *neighborhood_, state.clock.time + dt));
  take_velocities(state, solve_->velocity(), correction_->velocity(), dt);
  laws_->store(*solve_);
  detection_->list_always([this, now = laws_->step()](std::size_t c) {
    return SpringLaw<D>::presses(now, solve_->impulse(), c);
  });
  energy_.update_balance(state, free_, assembler_->problem().start_velocity, solve_->velocity(),
                         laws_->work());  // E.1-E.6
  state.obstacles.finish_driven_step(state.clock.time + dt);
  if (!state.deformation.advance(state.box, dt)) return;
  energy_.add_flow(state, solve_->velocity(), dt);  // H.25
  neighborhood_->list().place_images(state);
}

/// Predicts free motion. Returns the length of the step, cut to what bodies may travel and turn in one.
template <int D>
Real NonsmoothStepper<D>::predict(State<D>& state, Real dt) {
  free_.predict(state, dt);
  if (settings_.max_travel > 0) {
    const Real limit = settings_.max_travel * smallest_radius_;
    const Real max = free_.farthest(state);
    if (max > limit) {
      dt *= limit / max;
      free_.predict(state, dt);
    }
  }
  if (turns_too_far(state, free_.velocity(), dt)) free_.predict(state, dt);
  return dt;
}

/// Rebuilds the neighbour list if the step could outrun it. Returns the length of the step, for which free
/// motion is predicted.
template <int D>
Real NonsmoothStepper<D>::rebuild_list_if_needed(State<D>& state, Real dt) {
  if (!neighborhood_->needs_rebuild(state, share_of_skin, free_.displacement(), dt)) return dt;
  const auto plan = neighborhood_->list().plan_step(
      state, dt, share_of_skin, [&](std::size_t i, Real shorter) { return free_.displacement(i, shorter); });
  save(state, SaveFor::checkpoint);
  rebuild_list(state, *neighborhood_, plan.skin);
  fit(state);
  free_.predict(state, plan.dt);
  return plan.dt;
}

/// Solves the contacts found from what they remember; and again with pairs that free motion keeps apart but
/// the solution does not, and with springs that go on, as they ended in it but are pushed together again.
template <int D>
void NonsmoothStepper<D>::solve_contacts() {
  constexpr int max_rounds = 5;
  const bool keeps_guess = static_cast<bool>(this->contact_problem_hook());
  const Real deep = settings_.new_overlap * smallest_radius_;
  laws_->assemble(free_);
  laws_->guess(*solve_);
  deformation_->solve(free_.dt(), keeps_guess);
  if (!solve_->report().converged && !settings_.on_failure.may_refuse() &&
      laws_->disable_restitution(solve_->report().residual)) {
    laws_->guess(*solve_);
    deformation_->solve(free_.dt(), keeps_guess);
  }
  int round = 0;
  for (; round < max_rounds && detection_->add_missed(free_, solve_->velocity(), deep); ++round) {
    laws_->assemble(free_);
    solve_->spread(assembler_->problem(), detection_->origin());
    if (!deformation_->solve_again(free_.dt(), keeps_guess)) break;
  }
  for (; round < max_rounds && laws_->keep_springs_pressed(*solve_); ++round) {
    laws_->assemble(free_);
    if (!deformation_->solve_again(free_.dt(), keeps_guess)) break;
  }
  detection_->count(assembler_->contacts());
}

/// Whether the step has to be taken again, with the length that `dt` then is: its problem is not solved, or
/// bodies with shapes go farther than contacts follow.
template <int D>
bool NonsmoothStepper<D>::must_cut_step(State<D>& state, Real& dt) {
  show_problem(state, dt);
  if (!is_solved(state, dt)) {
    dt *= 0.5;
    return true;
  }
  return state.bodies.carries_shapes() &&
         (turns_too_far(state, solve_->velocity(), dt) || ends_in_overlap(state, dt));
}

/// Whether bodies turn so far with these velocities that the step has to be cut, to what `dt` then is.
template <int D>
bool NonsmoothStepper<D>::turns_too_far(const State<D>& state, std::span<const Real> velocity, Real& dt) {
  constexpr Real straight = 0.2, shorter = 0.9;
  const Real longest = std::max(longest_turning_step(state, velocity, straight), min_share * asked_);
  if (dt <= longest) return false;
  neighborhood_->list().record_cut_step(state, dt, shorter * longest, "bodies turn too far for contacts");
  dt = shorter * longest;
  return true;
}

/// Contacts take turns as straight displacements and keep their normals, and other corners than those that
/// were near may come down first. So where bodies with shapes go far, the end of the step is looked at before
/// it is taken: if bodies overlap there by much, and by more than at its start, `dt` is halved.
template <int D>
bool NonsmoothStepper<D>::ends_in_overlap(State<D>& state, Real& dt) {
  constexpr Real near = 0.25, deep = 0.1;  // of the inscribed radius
  if (dt <= longest_short_step(state, solve_->velocity(), near) || dt <= min_share * asked_) return false;
  Scope timer("end of step");
  const Real before = deepest_overlap(state, assembler_->contacts());
  const Real after = overlap_after(state, *neighborhood_, solve_->velocity(), dt, end_contacts_);
  if (after <= std::max(deep * smallest_radius_, before)) return false;
  neighborhood_->list().record_cut_step(state, dt, 0.5 * dt, "bodies with shapes would overlap");
  dt *= 0.5;
  return true;
}

/// Shows the problem of a step of dt and what came of it to whom asked for it.
template <int D>
void NonsmoothStepper<D>::show_problem(const State<D>& state, Real dt) {
  const SolveReport& report = solve_->report();
  if (report.newton_steps + report.iterations > 0) this->linear_solver_used();
  const auto& hook = this->contact_problem_hook();
  const bool accepted = report.converged || !settings_.on_failure.may_refuse();
  if (!hook || (!accepted && settings_.on_failure.n_halvings() > 0)) return;
  const std::size_t n = assembler_->contacts().size() * D;
  const auto show = [&](const FrictionProblem<D>& problem) {
    hook({state, problem, assembler_->contacts(), dt, solve_->guess().first(n), solve_->impulse().first(n),
          report, accepted});
  };
  if (!state.materials.has_rolling_friction() && !laws_->walls()) return show(assembler_->problem());
  FrictionProblem<D> shown = assembler_->problem();
  if (laws_->walls()) shown = laws_->walls()->problem_with_given_walls(std::move(shown));
  // Collective, also where a rank has no contacts.
  if (state.materials.has_rolling_friction())
    shown = RollingLaw<D>::problem_without(shown, {solve_->impulse(), {}, {}});
  show(shown);
}

/// False: the problem of a step of dt was not solved, and the deck asks for half the length.
template <int D>
bool NonsmoothStepper<D>::is_solved(const State<D>& state, Real dt) {
  const SolveReport& report = solve_->report();
  StepControl& control = settings_.on_failure;
  if (report.converged) return true;
  std::string what =
      fmt::format("the contact problem has a residual of {:.3g}, above solver.tolerance = {:g}",
                  report.residual.natural, settings_.solver.tolerance);
  constexpr std::int64_t max_halvings = 10;
  if (!control.may_refuse()) {
    control.warn(state.clock, [&] { return what; });
    return true;
  }
  if (control.action() == FailureAction::halve && control.n_halvings() < max_halvings) {
    control.halve(state.clock, what, dt);
    return false;
  }
  what += control.action() == FailureAction::halve
              ? fmt::format(", even in a step of {:.3g} s; allow more iterations or raise the tolerance", dt)
              : "; allow more iterations, raise the tolerance, or set [nonsmooth] on_failure";
  refuse_step(state.clock, what);
}

template <int D>
void NonsmoothStepper<D>::find_overlap(const State<D>& state, const ContactGraph<D>& contacts) {
  overlap_ = deepest_overlap(state, contacts);
  beyond_ = overlap_beyond(state, contacts, settings_.overlap_limit);
}

template <int D>
void NonsmoothStepper<D>::check_overlap(const State<D>& state) {
  find_overlap(state, assembler_->contacts());
  if (beyond_ <= 0) return;
  std::string what =
      fmt::format("{}, beyond overlap_limit = {:g} of the smaller radius by {:.3g} m",
                  who_overlaps(state, assembler_->contacts(), settings_.overlap_limit, beyond_),
                  settings_.overlap_limit, beyond_);
  if (settings_.on_overlap.may_refuse())
    refuse_step(
        state.clock,
        what +
            (state.deformation.is_given() ? "; is the domain strained too fast, or pressed too hard? "
                                          : "; does an obstacle press bodies where they have no room? ") +
            "Otherwise reduce [time] step or solver.tolerance, or raise [nonsmooth] correction_sweeps");
  settings_.on_overlap.warn(
      state.clock, [&] { return what; }, "further steps like this are not named: see the column max_overlap");
}

/// What the correction lifts, beside what bodies have by their motion and by their height over a radius.
template <int D>
void NonsmoothStepper<D>::check_correction(const State<D>& state) {
  if (corrected_ == 0) return;
  const BodyStore<D>& bodies = state.bodies;
  std::vector<Real>& scale = energy_scale_;
  scale.assign(bodies.n_owned(), 0.0);
  for (std::size_t i = 0; i < scale.size(); ++i)
    if (bodies.mobility()[i] != 0) {
      const Vec<D> velocity = velocity_about_flow(state, i);
      scale[i] =
          bodies.mass()[i] * (0.5 * dot(velocity, velocity) + norm(state.gravity) * bodies.radius()[i]);
    }
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

template <int D>
std::vector<CertificateEntry> NonsmoothStepper<D>::certificate() const {
  const SolveReport& report = solve_->report();
  const Residual& residual = report.residual;
  const Real tolerance = settings_.solver.tolerance;
  std::vector<CertificateEntry> entries{
      {"contacts", "-", static_cast<Real>(detection_->n_contacts())},
      {"added", "-", static_cast<Real>(detection_->n_added())},
      {"without_rebound", "-", static_cast<Real>(laws_->restitution().n_disabled())},
      {"residual", "-", residual.natural, false, tolerance},
      {"solved", "-", report.converged ? 1.0 : 0.0, true},
      {"penetration_rate", "m/s", residual.penetration_rate},
      {"cone_violation", "N s", residual.cone_violation},
      {"complementarity", "J", residual.complementarity},
      {"dissipation_error", "J", residual.dissipation_error},
      {"sweeps", "-", static_cast<Real>(report.sweeps)},
      {"iterations", "-", static_cast<Real>(report.iterations)},
      {"newton_steps", "-", static_cast<Real>(report.newton_steps)},
      {"krylov_iterations", "-", static_cast<Real>(report.krylov_iterations)}};
  if (laws_->memory().has_springs())
    entries.push_back({"spring_error", "-", residual.own_error, false, Residual::max_of_one * tolerance});
  if (const auto& cohesion = laws_->cohesion()) {
    entries.push_back({"attracted", "-", static_cast<Real>(cohesion->n_attracted())});
    entries.push_back({"detached", "-", static_cast<Real>(cohesion->n_detached())});
  }
  entries.push_back({"max_overlap", "m", overlap_, false, overlap_ - beyond_});
  entries.push_back({"corrected", "m", corrected_});
  entries.push_back({"correction_energy", "J", energy_.corrected()});
  entries.push_back({"contact_gain", "J", energy_.contact_gain()});
  if (const WallUnknowns<D>* walls = std::as_const(*laws_).walls())
    entries.push_back({"load_residual", "-", walls->worst_residual()});
  if (deformation_->is_loaded()) entries.push_back({"stress_residual", "-", deformation_->stress_residual()});
  entries.push_back({"halvings", "-", static_cast<Real>(settings_.on_failure.n_halvings())});
  return entries;
}

SCREE_PLUGIN(Stepper, nonsmooth, NonsmoothStepper,
             "rigid bodies with inertia, restitution and exact Coulomb friction at large steps")

}  // namespace scree
