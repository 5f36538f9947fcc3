#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "schemes/common/assembler.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/contact_pair.hpp"
#include "schemes/common/grain_motion.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/common/step_control.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/nonsmooth/contact_law.hpp"
#include "schemes/nonsmooth/rolling.hpp"
#include "schemes/pbd/sweeper.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Rigid bodies with Coulomb friction and restitution at large time steps: a Moreau-type scheme
/// (docs/method.md, "Non-smooth dynamics", eq. D.1-D.5):
///     v_free = v(t) + dt (g + F(x(t), v(t), t) / m)
///     M (v - v_free) = H^T r,  u = H v + w + G r,  Coulomb's law between u and r     one friction problem
///     x(t + dt) = x(t) + dt v, then overlap that is left is taken out of positions alone
/// Units: SI; disks are 1 m thick. Ranks: collective; with the solver "nsgs" the same bits on any number of
/// ranks. Errors: what an unsolved problem or a deep overlap means is the deck's choice (on_failure,
/// on_overlap).
template <int D>
class NonsmoothStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override;
  Carried carries() const override { return Carried::with_inertia; }
  bool knows_petsc_options() const override { return used_linear_solver_; }
  Real travel_per_step(const State<D>& state, Real dt) const override;
  Real needed_skin(const State<D>&, Real /*dt*/, Real largest_radius) const override {
    return 2 * speculative_margin_ * largest_radius / (1 - 2 * share_of_skin);
  }
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  bool has_contact_problems() const override { return true; }
  bool same_for_any_owners() const override { return solver_.solver && solver_.solver->same_on_any_ranks(); }
  void on_contact_problem(ContactProblemHook<D> hook) override { on_contact_problem_ = std::move(hook); }
  std::string_view remembers() const override { return "impulses"; }
  void save(State<D>& state) override;
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;
  std::size_t bytes() const override;

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  // Two bodies that approach each other use up the skin twice as fast as one; the rest is for
  // speculative_margin.
  static constexpr Real share_of_skin = 0.45;
  enum class Correction { projection, baumgarte, none };

  void fit(State<D>& state);
  Real refresh(State<D>& state, Real dt);
  void free_motion(const State<D>& state, Real dt);
  void evaluate_forces(const State<D>& state);
  Real free_fall_speed(const State<D>& state, Real dt) const;
  void set_laws(const State<D>& state, const ContactGraph<D>& contacts, FrictionProblem<D>& problem);
  Real effective_radius_of(const State<D>& state, std::size_t c) const;
  void resist(const State<D>& state, Real factor);
  void recall_impulses(Real factor);
  void remember_impulses();
  bool solve(State<D>& state, Real dt);
  void check_overlap(const State<D>& state);
  void move(State<D>& state, Real dt);
  void correct_positions(State<D>& state);
  void book_energy(State<D>& state, Real dt);
  Real farthest_motion(const State<D>& state) const;

  // The deck.
  SolverSettings<D> solver_;
  Real warm_start_ = 1;
  Real speculative_margin_ = 2e-3;
  Real contact_slop_ = 5e-5;
  Real rest_speed_ = 0;
  std::string rest_speed_word_ = "auto";
  std::string correction_name_ = "projection";
  Correction correction_ = Correction::projection;
  std::int64_t correction_sweeps_ = 100;
  Real baumgarte_ = 0.2;
  StepControl on_failure_{FailureAction::warn};
  Real overlap_limit_ = 0.3;
  StepControl on_overlap_{FailureAction::stop};
  Real max_travel_ = 0;
  std::string max_travel_word_ = "none";

  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<FrictionAssembler<D>> assembler_;
  std::unique_ptr<PbdSweeper<D>> sweeper_;
  SideKeeper<D> sides_;
  FrictionSolve<D> solve_;
  ContactProblemHook<D> on_contact_problem_;
  ContactLaw law_;
  Real smallest_radius_ = 0;
  Real last_dt_ = 0;  // of the remembered impulses

  std::vector<Real> start_velocity_, free_velocity_;  // n_owned * q
  // n_owned, at the start of the step; empty if the deck has no forces.
  std::vector<Vec<D>> potential_force_, other_force_;
  std::vector<Vec<D>> displacement_;  // n_held, by free motion
  std::vector<Real> impulse_;         // n_contacts * D, in the frame of the contact
  std::vector<Real> guess_;           // what impulse_ was before the solve, for the hook
  std::vector<Real> velocity_;        // n_held * q, solved for
  ContactField<Vec<D>> memory_;       // impulses of contacts, world axes, on the larger id or obstacle [N s]
  std::vector<Vec<D>> start_surface_velocity_;  // of each contact, in its frame
  std::vector<Real> rolling_work_;              // n_contacts
  // Of the ledger. Potentials are those of each owned body in the forces; empty without forces.
  std::vector<Real> contact_work_, body_work_;  // n_contacts * 3, n_owned * 3
  std::vector<Real> potential_before_, potential_moved_, potential_now_;

  SolveReport report_;
  std::int64_t n_contacts_ = 0;
  Real overlap_ = 0;    // deepest at the start of the step
  Real corrected_ = 0;  // deepest that the correction met
  bool used_linear_solver_ = false;
};

template <int D>
void NonsmoothStepper<D>::describe(Section& root) {
  root.table("solver", {.doc = "Solver of the contact problem of each step"},
             [&](Section& section) { solver_.describe(section); });
  root.table("nonsmooth", {.doc = "Non-smooth dynamics: the scheme \"nonsmooth\""}, [&](Section& section) {
    section.real("warm_start", warm_start_,
                 {.range = unit_interval,
                  .doc = "Share of each contact's impulse that the next step's solve starts from"});
    section.real(
        "speculative_margin", speculative_margin_,
        {.range = non_negative,
         .doc = "Pairs up to this gap take part in the solve, as a share of the sum of their radii; so do "
                "pairs at any gap that free motion would close within the step"});
    section.real(
        "contact_slop", contact_slop_,
        {.range = non_negative,
         .doc = "Pairs up to this gap count as touching, as a share of the sum of their radii: they come "
                "no closer. Without it, tiny gaps stall the solvers of rigid piles"});
    section.real_or_word("rest_speed", rest_speed_, rest_speed_word_, {"auto"},
                         {.unit = Unit::speed,
                          .range = non_negative,
                          .doc = "Bodies that approach at most this fast do not bounce; \"auto\": the "
                                 "speed that gravity and forces give in a step"});
    section.choice(
        "correction", correction_name_, {"projection", "baumgarte", "none"},
        {.doc = "What becomes of overlap that the solve leaves: \"projection\" moves bodies apart by "
                "position-based sweeps that change no velocity; \"baumgarte\" lets the "
                "velocities of the next step push, which adds energy"});
    section.integer(
        "correction_sweeps", correction_sweeps_,
        {.range = {.least = 1},
         .doc = "Most sweeps of the projection in a step; it ends when a sweep meets no overlap beyond a "
                "thousandth of the smallest radius"});
    section.real(
        "baumgarte", baumgarte_,
        {.range = unit_interval, .doc = "Share of an overlap that \"baumgarte\" takes out in a step"});
    using enum FailureAction;
    on_failure_.describe(
        section, "on_failure", {warn, halve, stop},
        {.doc = "What happens if a contact problem is not solved to solver.tolerance: a warning, the "
                "step again with half the length, or the end of the run"});
    section.real("overlap_limit", overlap_limit_,
                 {.range = positive,
                  .doc = "Deepest overlap at the start of a step, as a share of the smallest radius"});
    on_overlap_.describe(section, "on_overlap", {warn, stop},
                         {.doc = "What happens beyond overlap_limit: a warning, or the end of the run"});
    section.real_or_word(
        "max_travel", max_travel_, max_travel_word_, {"none"},
        {.range = positive,
         .doc = "Steps are cut so that no body travels further in one, as a share of the smallest "
                "radius; \"none\": as long as time.step says, unless neighbour lists would reach too far"});
    if (!section.reading()) return;
    if (contact_slop_ > speculative_margin_)
      section.fail("contact_slop", "contact_slop must not exceed speculative_margin");
    correction_ = correction_name_ == "projection"  ? Correction::projection
                  : correction_name_ == "baumgarte" ? Correction::baumgarte
                                                    : Correction::none;
    law_.baumgarte = correction_ == Correction::baumgarte ? baumgarte_ : 0;
    law_.contact_slop = contact_slop_;
  });
}

template <int D>
Real NonsmoothStepper<D>::travel_per_step(const State<D>& state, Real dt) const {
  return fastest_fall(state) * dt;
}

template <int D>
void NonsmoothStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) {
  require_stable_forces(state, dt);
  neighborhood_ = &neighborhood;
  insert_petsc_options(solver_.petsc_options);
  assembler_ = std::make_unique<FrictionAssembler<D>>(state, neighborhood);
  sweeper_ = std::make_unique<PbdSweeper<D>>(neighborhood);
  last_dt_ = state.clock.last_dt;
  fit(state);
}

/// What depends on the bodies present and on the candidates.
template <int D>
void NonsmoothStepper<D>::fit(State<D>& state) {
  BodyStore<D>& bodies = state.bodies;
  const auto radius = bodies.radius().first(static_cast<std::size_t>(bodies.n_owned()));
  smallest_radius_ =
      state.comm.min(radius.empty() ? HUGE_VAL : *std::min_element(radius.begin(), radius.end()));
  // A correction is shared out by mass; only ratios count.
  for (std::size_t i = 0; i < bodies.mobility().size(); ++i)
    if (bodies.mobility()[i] != 0) bodies.mobility()[i] = 1 / bodies.mass()[i];
  memory_.recall(state, *neighborhood_);
  if (correction_ == Correction::projection) sweeper_->prepare(state, true, 1 - contact_slop_);
}

template <int D>
void NonsmoothStepper<D>::save(State<D>& state) {
  state.memory = memory_.remember(state, *neighborhood_);
}

template <int D>
void NonsmoothStepper<D>::bodies_changed(State<D>& state) {
  rebuild_with_books(state, *neighborhood_);
  fit(state);
}

template <int D>
void NonsmoothStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  on_failure_.begin_step();
  state.obstacles.begin_step();
  // 1.-2. Every rank holds its own bodies and ghosts of those within reach of this step; v_free: the
  // velocities at t + dt if no contact acted.
  dt = refresh(state, dt);
  // 3.-4. Contacts, and the impulses and velocities that obey Coulomb's law at all of them.
  while (!solve(state, dt)) {
    dt *= 0.5;
    free_motion(state, dt);
  }
  check_overlap(state);
  corrected_ = 0;
  // 5. Bodies and obstacles move; overlap that is left goes out of positions alone.
  find_potential_in_forces(state, potential_before_);
  move(state, dt);
  find_potential_in_forces(state, potential_moved_);
  if (correction_ == Correction::projection) correct_positions(state);
  corrected_ = std::max(
      corrected_, sides_.keep(state, *neighborhood_,
                              state.bodies.position().first(static_cast<std::size_t>(state.bodies.n_owned())),
                              state.clock.time + dt));
  book_energy(state, dt);
  remember_impulses();
  state.clock.last_dt = last_dt_ = dt;
}

/// Finds candidates anew if this step could leave the reach of the present ones; returns the length of the
/// step, for which free motion is left behind.
template <int D>
Real NonsmoothStepper<D>::refresh(State<D>& state, Real dt) {
  free_motion(state, dt);
  if (max_travel_ > 0) {
    const Real limit = max_travel_ * smallest_radius_;
    const Real most = farthest_motion(state);
    if (most > limit) {
      dt *= limit / most;
      free_motion(state, dt);
    }
  }
  if (!neighborhood_->stale(state, share_of_skin, displacement_, dt)) return dt;
  const auto way = [&](std::size_t i, Real shorter) {
    // v and its change in proportion to the step are what free motion is made of.
    Vec<D> moved;
    for (int k = 0; k < D; ++k) {
      const std::size_t at = i * q + static_cast<std::size_t>(k);
      moved[k] = shorter * (start_velocity_[at] + shorter / dt * (free_velocity_[at] - start_velocity_[at]));
    }
    return moved;
  };
  const auto plan = neighborhood_->plan_step(state, dt, share_of_skin, way);
  save(state);
  rebuild_with_books(state, *neighborhood_, plan.skin);
  fit(state);
  free_motion(state, plan.dt);
  return plan.dt;
}

/// How far free motion takes any body in the step [m].
template <int D>
Real NonsmoothStepper<D>::farthest_motion(const State<D>& state) const {
  Real farthest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    farthest = std::max(farthest, norm(displacement_[i]));
  return state.comm.max(farthest);
}

template <int D>
void NonsmoothStepper<D>::free_motion(const State<D>& state, Real dt) {
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  start_velocity_.resize(n * q);
  displacement_.resize(static_cast<std::size_t>(bodies.n_held()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < D; ++k)
      start_velocity_[i * q + k] = bodies.velocity()[i][static_cast<int>(k)];
    for (std::size_t k = D; k < q; ++k)
      start_velocity_[i * q + k] = bodies.angular_velocity()[i][static_cast<int>(k - D)];
  }
  free_velocity_ = start_velocity_;
  evaluate_forces(state);
  for (std::size_t i = 0; i < n; ++i) {
    const bool held = bodies.mobility()[i] == 0;
    for (std::size_t k = 0; k < q; ++k) {
      if (held) start_velocity_[i * q + k] = free_velocity_[i * q + k] = 0;
      if (!held && k < D) free_velocity_[i * q + k] += dt * state.gravity[static_cast<int>(k)];
      if (!held && k < D && !state.forces.empty())
        free_velocity_[i * q + k] +=
            dt / bodies.mass()[i] * (potential_force_[i] + other_force_[i])[static_cast<int>(k)];
      if (k < D) displacement_[i][static_cast<int>(k)] = dt * free_velocity_[i * q + k];
    }
  }
}

/// Forces on the owned bodies as they are now, apart for the energy ledger.
template <int D>
void NonsmoothStepper<D>::evaluate_forces(const State<D>& state) {
  if (state.forces.empty()) return;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  potential_force_.assign(n, {});
  other_force_.assign(n, {});
  for (const auto& field : state.forces)
    field->add(state, state.clock.time, field->has_potential() ? potential_force_ : other_force_);
}

/// The speed that gravity and forces give to a body in the step, at most [m/s].
template <int D>
Real NonsmoothStepper<D>::free_fall_speed(const State<D>& state, Real dt) const {
  if (state.forces.empty()) return norm(state.gravity) * dt;
  Real most = 0;
  for (std::size_t i = 0; i < potential_force_.size(); ++i)
    if (state.bodies.mobility()[i] != 0)
      most = std::max(
          most, norm(state.gravity + 1 / state.bodies.mass()[i] * (potential_force_[i] + other_force_[i])));
  return state.comm.max(most) * dt;
}

template <int D>
void NonsmoothStepper<D>::set_laws(const State<D>& state, const ContactGraph<D>& contacts,
                                   FrictionProblem<D>& problem) {
  start_surface_velocity_.resize(contacts.size());
  const auto radius = state.bodies.radius();
  const auto of_obstacles = assembler_->surface_velocity();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const PairProperties<D>& pair = pair_of(state, contacts, c);
    problem.mu[c] = pair.friction;
    if (!pair.elasticity.rigid()) {
      const auto g = pair.elasticity.compliance(effective_radius_of(state, c), law_.dt);
      problem.compliance[2 * c] = g.normal;
      problem.compliance[2 * c + 1] = g.tangential;
    }
    Real radii = radius[static_cast<std::size_t>(contacts.a[c])];
    if (contacts.b[c] >= 0) radii += radius[static_cast<std::size_t>(contacts.b[c])];
    const Real touching = law_.contact_slop * radii;
    start_surface_velocity_[c] = surface_velocity(problem, of_obstacles, c, problem.start_velocity);
    const Real start_speed = start_surface_velocity_[c][0];
    // Gravity turns nothing, and moves both bodies alike unless one is held or an obstacle.
    Real free_speed = start_speed;
    if (problem.a[c] < 0) free_speed += law_.dt * dot(state.gravity, contacts.normal[c]);
    if (problem.b[c] < 0) free_speed -= law_.dt * dot(state.gravity, contacts.normal[c]);
    if (!state.forces.empty())
      free_speed = surface_velocity(problem, of_obstacles, c, problem.free_velocity)[0];
    problem.bias[c * D] = of_obstacles[c * D] + normal_bias(law_, contacts.gap[c], touching, pair.restitution,
                                                            start_speed, free_speed);
  }
}

template <int D>
Real NonsmoothStepper<D>::effective_radius_of(const State<D>& state, std::size_t c) const {
  const ContactGraph<D>& contacts = assembler_->contacts();
  const auto radius = state.bodies.radius();
  const Real a = radius[static_cast<std::size_t>(contacts.a[c])];
  return contacts.b[c] < 0 ? a : effective_radius(a, radius[static_cast<std::size_t>(contacts.b[c])]);
}

/// Resistance to rolling, with `factor` times the normal impulses that contacts remember.
template <int D>
void NonsmoothStepper<D>::resist(const State<D>& state, Real factor) {
  const ContactGraph<D>& contacts = assembler_->contacts();
  rolling_work_.resize(contacts.size());
  resist_rolling(
      assembler_->problem(),
      [&](std::size_t c) {
        const Real mu = pair_of(state, contacts, c).rolling_friction;
        if (mu == 0) return 0.0;
        return mu * effective_radius_of(state, c) * factor * dot(memory_.of(contacts, c), contacts.normal[c]);
      },
      rolling_work_);
  // What contacts do from here on starts with these spins.
  FrictionProblem<D>& problem = assembler_->problem();
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_held()); ++i)
    std::copy_n(&problem.free_velocity[i * q + D], q - D, &problem.start_velocity[i * q + D]);
  for (std::size_t c = 0; c < contacts.size(); ++c)
    start_surface_velocity_[c] =
        surface_velocity(problem, assembler_->surface_velocity(), c, problem.start_velocity);
}

/// First guess of the impulses: `factor` times what the contacts remember, in their present frames.
template <int D>
void NonsmoothStepper<D>::recall_impulses(Real factor) {
  const ContactGraph<D>& contacts = assembler_->contacts();
  reset(impulse_, contacts.size() * D);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Vec<D> r = factor * memory_.of(contacts, c);
    if (r == Vec<D>{}) continue;
    const auto& frame = assembler_->frames()[c];
    for (std::size_t i = 0; i < D; ++i) impulse_[c * D + i] = dot(frame[i], r);
    if (impulse_[c * D] <= 0) std::fill_n(&impulse_[c * D], D, 0.0);
  }
}

template <int D>
void NonsmoothStepper<D>::remember_impulses() {
  const ContactGraph<D>& contacts = assembler_->contacts();
  memory_.clear();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto& frame = assembler_->frames()[c];
    Vec<D> r;
    for (std::size_t i = 0; i < D; ++i) r += impulse_[c * D + i] * frame[i];
    memory_.of(contacts, c) = r;
  }
}

/// Builds and solves the friction problem of a step of dt. False if it was not solved and the deck asks for a
/// shorter step.
template <int D>
bool NonsmoothStepper<D>::solve(State<D>& state, Real dt) {
  Scope timer("contact problem");
  law_.dt = dt;
  const Real fall_speed = free_fall_speed(state, dt);
  law_.rest_speed = rest_speed_word_.empty() ? rest_speed_ : fall_speed;
  neighborhood_->ghosts().copy_to_ghosts(displacement_);
  FrictionStep<D> step;
  step.dt = dt;
  step.speculative_margin = speculative_margin_;
  step.contact_slop = contact_slop_;
  step.velocity_floor = fall_speed;
  step.free_velocity = free_velocity_;
  step.start_velocity = start_velocity_;
  step.displacement = displacement_;
  step.laws = [&](const ContactGraph<D>& contacts, FrictionProblem<D>& problem) {
    set_laws(state, contacts, problem);
  };
  const FrictionProblem<D>& problem = assembler_->assemble(step);
  // In proportion to the step; after a very short one impulses may be those of impacts, which do not grow.
  constexpr Real most_growth = 2;
  const Real same_force = last_dt_ > 0 ? std::min(dt / last_dt_, most_growth) : 0;
  memory_.pass_on(assembler_->contacts(), *neighborhood_);
  if (state.materials.has_rolling_friction()) resist(state, same_force);
  recall_impulses(warm_start_ * same_force);
  if (on_contact_problem_) copy_into(impulse_, guess_);
  velocity_.resize(static_cast<std::size_t>(state.bodies.n_held()) * q);
  report_ = solve_.run(problem, *solver_.solver, solver_.stop_rule(), impulse_, velocity_);
  n_contacts_ = state.comm.sum(std::int64_t{problem.n_contacts()});
  used_linear_solver_ = used_linear_solver_ || report_.newton_steps + report_.iterations > 0;
  const bool accepted = report_.converged || !on_failure_.may_refuse();
  if (on_contact_problem_ && (accepted || on_failure_.n_halvings() == 0))
    on_contact_problem_({state, problem, assembler_->contacts(), dt, guess_, impulse_, report_, accepted});
  if (report_.converged) return true;

  const std::string what =
      fmt::format("the contact problem has a residual of {:.3g}, above solver.tolerance = {:g}",
                  report_.residual.natural, solver_.tolerance);
  constexpr std::int64_t most_halvings = 10;
  switch (on_failure_.action()) {
    case FailureAction::warn:
      on_failure_.warn(state.clock, [&] { return what; });
      return true;
    case FailureAction::halve:
      if (on_failure_.n_halvings() < most_halvings) {
        on_failure_.halve(state.clock, what, dt);
        return false;
      }
      refuse_step(state.clock,
                  fmt::format("{}, even in a step of {:.3g} s; allow more iterations or raise the tolerance",
                              what, dt));
    case FailureAction::stop:
      refuse_step(state.clock,
                  what + "; allow more iterations, raise the tolerance, or set [nonsmooth] on_failure");
  }
  return true;
}

template <int D>
void NonsmoothStepper<D>::check_overlap(const State<D>& state) {
  const ContactGraph<D>& contacts = assembler_->contacts();
  Real least = 0;
  for (const Real gap : contacts.gap) least = std::min(least, gap);
  overlap_ = std::abs(state.comm.min(least));
  const Real limit = overlap_limit_ * smallest_radius_;
  if (overlap_ <= limit) return;
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string who;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const GlobalId id = state.bodies.id()[static_cast<std::size_t>(contacts.a[c])];
    if (contacts.gap[c] != -overlap_ || id >= key) continue;
    key = id;
    who =
        contacts.b[c] >= 0
            ? fmt::format("bodies {} and {}", id, state.bodies.id()[static_cast<std::size_t>(contacts.b[c])])
            : fmt::format("body {} and obstacle \"{}\"", id,
                          state.obstacles
                              .list()[static_cast<std::size_t>(state.obstacles.obstacle_of(contacts.wall[c]))]
                              .name);
  }
  who = message_of_smallest(state.comm, key, who);
  const std::string what =
      fmt::format("{} overlap by {:.3g} m, beyond overlap_limit = {:g} of the smallest radius ({:.3g} m)",
                  who, overlap_, overlap_limit_, limit);
  if (on_overlap_.may_refuse())
    refuse_step(state.clock,
                what +
                    "; does an obstacle press bodies where they have no room? Otherwise reduce [time] step "
                    "or solver.tolerance, or raise [nonsmooth] correction_sweeps");
  on_overlap_.warn(
      state.clock, [&] { return what; }, "further steps like this are not named: see the column overlap");
}

template <int D>
void NonsmoothStepper<D>::move(State<D>& state, Real dt) {
  Scope timer("move");
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    bodies.previous()[i] = bodies.position()[i];
    if (bodies.mobility()[i] == 0) continue;
    for (int k = 0; k < D; ++k) bodies.velocity()[i][k] = velocity_[i * q + static_cast<std::size_t>(k)];
    for (int k = 0; k < n_spins<D>; ++k)
      bodies.angular_velocity()[i][k] = velocity_[i * q + D + static_cast<std::size_t>(k)];
    bodies.position()[i] += dt * bodies.velocity()[i];
    bodies.orientation()[i] = turned<D>(bodies.orientation()[i], bodies.angular_velocity()[i], dt);
  }
  state.obstacles.place(state.clock.time + dt);
}

/// Moves overlapping bodies apart, each by its share of the mass, by sweeps over the candidates; velocities
/// stay. Bodies count as smaller by contact_slop, so that what touches goes on touching.
template <int D>
void NonsmoothStepper<D>::correct_positions(State<D>& state) {
  Scope timer("correction");
  constexpr Real negligible = 1e-3;  // overlap after which another sweep is not worth its time, in radii
  sweeper_->load(state);
  for (std::int64_t sweep = 0; sweep < correction_sweeps_; ++sweep) {
    const Real met = state.comm.max(sweeper_->sweep(state, PairMode::plain, {}));
    corrected_ = std::max(corrected_, met);
    if (met <= negligible * smallest_radius_) break;
  }
  sweeper_->store(state);
}

/// The energy ledger of this step (docs/method.md, eq. E.1-E.5).
template <int D>
void NonsmoothStepper<D>::book_energy(State<D>& state, Real dt) {
  Scope timer("energy");
  constexpr std::size_t n_parts = 3;
  const FrictionProblem<D>& problem = assembler_->problem();
  const auto of_obstacles = assembler_->surface_velocity();
  const auto n_contacts = static_cast<std::size_t>(problem.n_contacts());
  reset(contact_work_, n_contacts * n_parts);
  for (std::size_t c = 0; c < n_contacts; ++c) {
    const Real* impulse = &impulse_[c * D];
    if (std::all_of(impulse, impulse + D, [](Real r) { return r == 0; })) continue;
    const Vec<D>& before = start_surface_velocity_[c];
    const Vec<D> after = surface_velocity(problem, of_obstacles, c, velocity_);
    Real* work = &contact_work_[c * n_parts];
    for (std::size_t i = 0; i < D; ++i) {
      const Real r = impulse[i];
      const Real dissipated = -0.5 * r * (before[static_cast<int>(i)] + after[static_cast<int>(i)]);
      work[i == 0 ? 0 : 1] += dissipated;
      work[2] -= r * of_obstacles[c * D + i];
    }
  }
  const BodyStore<D>& bodies = state.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  const auto position = bodies.position(), previous = bodies.previous(), velocity = bodies.velocity();
  const auto mass_of = bodies.mass(), mobility = bodies.mobility();
  find_potential_in_forces(state, potential_now_);
  body_work_.assign(n_owned * n_parts, 0.0);
  for (std::size_t i = 0; i < n_owned; ++i) {
    if (mobility[i] == 0) continue;
    Real* work = &body_work_[i * n_parts];
    const Real mass = mass_of[i];
    const Vec<D> moved_by_correction = position[i] - (previous[i] + dt * velocity[i]);
    work[0] = -mass * dot(state.gravity, moved_by_correction);
    for (int k = 0; k < D; ++k)
      work[1] -= 0.5 * dt * mass * state.gravity[k] *
                 (velocity[i][k] - start_velocity_[i * q + static_cast<std::size_t>(k)]);
    if (potential_now_.empty()) continue;
    Vec<D> path = velocity[i];
    for (int k = 0; k < D; ++k) path[k] += start_velocity_[i * q + static_cast<std::size_t>(k)];
    path *= 0.5 * dt;
    work[0] += potential_now_[i] - potential_moved_[i];
    work[1] += dot(potential_force_[i], path) + (potential_moved_[i] - potential_before_[i]);
    work[2] = dot(other_force_[i], path);
  }
  // The sums look at their terms twice, so these were worked out first.
  std::array<Real, n_parts> of_contacts{};
  ReproducibleSum::sum(state.comm, n_contacts, of_contacts, [this](std::size_t c, std::span<Real> terms) {
    std::copy_n(&contact_work_[c * n_parts], n_parts, terms.begin());
  });
  std::array<Real, n_parts> of_bodies{};
  ReproducibleSum::sum(state.comm, n_owned, of_bodies, [this](std::size_t i, std::span<Real> terms) {
    std::copy_n(&body_work_[i * n_parts], n_parts, terms.begin());
  });
  EnergyLedger& ledger = state.ledger;
  if (state.materials.has_rolling_friction())
    ledger.rolling += ReproducibleSum::sum(state.comm, rolling_work_);
  ledger.impact += of_contacts[0];
  ledger.friction += of_contacts[1];
  ledger.wall_work += of_contacts[2];
  ledger.correction += of_bodies[0];
  ledger.integration += of_bodies[1];
  ledger.force_work += of_bodies[2];
}

template <int D>
void NonsmoothStepper<D>::find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_->detect(state, memory_.template rules<D>(tolerance), contacts);
  contacts.force.resize(contacts.size());
  contacts.friction.resize(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    Vec<D> force = memory_.of(contacts, c);
    if (last_dt_ > 0) force *= 1 / last_dt_;
    contacts.force[c] = dot(force, contacts.normal[c]);
    contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
  }
}

template <int D>
std::vector<CertificateEntry> NonsmoothStepper<D>::certificate() const {
  const Residual& residual = report_.residual;
  return {{"contacts", "-", static_cast<Real>(n_contacts_)},
          {"residual", "-", residual.natural},
          {"solved", "-", report_.converged ? 1.0 : 0.0, true},
          {"penetration_rate", "m/s", residual.penetration_rate},
          {"cone_violation", "N s", residual.cone_violation},
          {"complementarity", "J", residual.complementarity},
          {"dissipation_error", "J", residual.dissipation_error},
          {"implied_overlap", "m", residual.implied_overlap},
          {"sweeps", "-", static_cast<Real>(report_.sweeps)},
          {"iterations", "-", static_cast<Real>(report_.iterations)},
          {"newton_steps", "-", static_cast<Real>(report_.newton_steps)},
          {"krylov_iterations", "-", static_cast<Real>(report_.krylov_iterations)},
          {"overlap", "m", overlap_},
          {"corrected", "m", corrected_},
          {"halvings", "-", static_cast<Real>(on_failure_.n_halvings())}};
}

template <int D>
std::size_t NonsmoothStepper<D>::bytes() const {
  const auto of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  return (sweeper_ ? sweeper_->bytes() : 0) + of(start_velocity_) + of(free_velocity_) +
         of(potential_force_) + of(other_force_) + of(displacement_) + of(impulse_) + of(guess_) +
         of(velocity_) + memory_.bytes() + of(start_surface_velocity_) + of(rolling_work_) +
         of(contact_work_) + of(body_work_) + of(potential_before_) + of(potential_moved_) +
         of(potential_now_) + solve_.bytes() + sides_.bytes() + (assembler_ ? assembler_->bytes() : 0);
}

SCREE_PLUGIN(Stepper, nonsmooth, NonsmoothStepper,
             "rigid bodies with inertia, restitution and exact Coulomb friction at large steps")

}  // namespace scree
