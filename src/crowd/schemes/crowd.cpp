#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "core/timing.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/look_ahead.hpp"
#include "crowd/multiplier_memory.hpp"
#include "crowd/velocity_projection.hpp"
#include "crowd/walking_model.hpp"
#include "schemes/common/step_control.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/common/tunnelling_guard.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// People as disks in first-order motion (docs/method.md, "People", eq. P.1-P.6):
///     U = e max(v_creep, min(v_0, gap_ahead / T))      velocity wanted: route, headway law, creep speed;
///                                                     e is turned where that gets people on much faster
///     V = the nearest velocities to U that let nobody overlap                         model = "projection"
///     x(t + dt) = x(t) + dt V
/// or, with model = "pbd", substeps of dt / substeps, each x + dt U / substeps followed by a sweep of
/// projections on positions that starts from the last one's multipliers. Ranks: collective; the same bits on
/// any number of ranks (a [crowd.solver] other than "nsgs": to its tolerance).
class CrowdStepper final : public Stepper<2> {
 public:
  CrowdStepper() { set_environment(&environment_); }
  void describe(Section& root) override;
  SchemeTraits traits() const override;
  ListRequirements list_requirements(const State<2>& state, Real dt, Real largest_radius) const override;
  void start(State<2>& state, Neighborhood<2>& neighborhood, Real dt) override;
  void advance(State<2>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<2>& state) override;
  bool remove_bodies(State<2>& state, std::span<const Index> staying) override;
  void save(State<2>& state, SaveFor purpose) override;
  void find_contacts(State<2>& state, Real tolerance, ContactGraph<2>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;

 private:
  // The list is rebuilt when somebody has moved by this share of the skin; up to the rest of it, less the
  // same of another one, all pairs are certain to be in it.
  static constexpr Real share_of_skin = 0.15;
  static constexpr Real certain_share = 1 - 2 * share_of_skin;
  enum class Model { projection, pbd };

  void describe_crowd(Section& section);
  void rebuild(State<2>& state, Real needed_skin);
  /// Gap up to which contacts count in a step: people who walk do not close a wider one.
  Real usual_reach(Real dt) const { return 2.2 * environment_.fastest() * dt; }
  void limit_pairs(Real reach);
  void list_pairs_within(State<2>& state, Real reach);
  void fit(State<2>& state, Real share_moved);
  bool may_try_again(State<2>& state, Real needed_skin, Real shortest, Real& dt);
  Real project(State<2>& state, LookAhead::Perception perception, Real dt);
  void find_overlap(const State<2>& state);
  void judge(const State<2>& state);
  /// What contacts remember: as speeds [m/s], or with the model "pbd" as displacements of a substep [m].
  const ContactField<Real>& multipliers() const {
    return model_ == Model::pbd ? sweeper_->multipliers().of_spheres() : memory_.field();
  }
  void require_solved(const State<2>& state);
  /// Deepest overlap to which the projected velocities may lead [m].
  Real overlap_bound() const { return std::max(0.0, -report_.min_gap); }
  void sweep_positions(State<2>& state, Real dt);
  void move(State<2>& state, Real dt);
  void change_levels(State<2>& state, Real dt) const;
  void refresh_levels(State<2>& state);

  struct Scratch {
    std::vector<Real> levels;                // of refresh_levels()
    std::vector<Real> sight;                 // of fit()
    std::vector<Index> numbers, kept_walls;  // of remove_bodies()
  };

  // The deck.
  CrowdEnvironment environment_;
  Model model_ = Model::projection;
  VelocityProjection::Settings projection_settings_;
  SolverSettings<2> solver_;  // of [crowd.solver]; without a solver the projection's own sweeps
  StepControl on_failure_{FailureAction::warn};
  WarnOnce warn_of_overlap_;
  std::int64_t substeps_ = 8;
  Real warm_start_ = 0.9;
  WalkingModel walking_{environment_};

  Neighborhood<2>* neighborhood_ = nullptr;
  std::unique_ptr<PbdSweeper<2>> sweeper_;
  TunnellingGuard<2> sides_;
  LookAhead look_ahead_;
  VelocityProjection projection_;
  VelocityProjection::Report report_;
  std::vector<Vec<2>> desired_;   // n_local; owned entries count
  std::vector<Vec<2>> velocity_;  // n_local
  std::vector<Real> multiplier_;  // of the near contacts [m/s]
  MultiplierMemory memory_;       // where positions are not what is projected
  Real listed_reach_ = HUGE_VAL;  // pairs so near are certain to be listed [m]
  Real overlap_ = 0;              // deepest at the start of the step, or met by the last sweep [m]
  Real last_overlap_bound_ = 0;   // what the step before may have led to [m]
  Scratch scratch_;
};

void CrowdStepper::describe(Section& root) {
  environment_.describe(root);
  root.table("crowd", {.doc = "How people move: the scheme \"crowd\""},
             [this](Section& section) { describe_crowd(section); });
}

void CrowdStepper::describe_crowd(Section& section) {
  section.choice("model", model_, {{"projection", Model::projection}, {"pbd", Model::pbd}},
                 {.doc = "\"projection\": the velocities nearest to the desired ones without overlap, to a "
                         "tolerance; \"pbd\": sweeps on positions, which leave some overlap",
                  .audience = Audience::laboratory});
  section.real("tolerance", projection_settings_.tolerance,
               {.unit = Unit::length,
                .range = positive,
                .doc = "Of the projection: largest overlap that a step may lead to, and largest gap of a "
                       "pair with a contact force"});
  section.integer("max_sweeps", projection_settings_.max_sweeps,
                  {.range = {.min = 1}, .doc = "Of the projection: most sweeps of a step"});
  section.real(
      "relaxation", projection_settings_.relaxation,
      {.range = {.min = 0, .max = 2, .min_open = true, .max_open = true},
       .doc = "Of the projection: over-relaxation of its first sweeps; it grows with the number of sweeps"});
  on_failure_.describe(section, "on_failure", {{"warn", FailureAction::warn}, {"stop", FailureAction::stop}},
                       {.doc = "What happens if a step's projection misses the tolerance"});
  section.integer(
      "substeps", substeps_,
      {.range = {.min = 1}, .doc = "Of \"pbd\": substeps of a step", .audience = Audience::laboratory});
  section.real("warm_start", warm_start_,
               {.range = unit_interval,
                .doc = "Of \"pbd\": share of each contact's multiplier that the next substep starts from",
                .audience = Audience::laboratory});
  walking_.describe(section);
  environment_.locks().describe(section);
  section.optional_table(
      "solver",
      {.doc = "Of the projection: a solver of contact problems with friction 0 in place of its own "
              "sweeps",
       .audience = Audience::laboratory},
      [&](Section& table) { solver_.describe(table); });
  if (!section.reading()) return;
  if (solver_.solver) expect_linear_solver();
  environment_.set_led(walking_.leads());
  environment_.lifts().set_tolerance(projection_settings_.tolerance);
  if (environment_.hazard().stays() && solver_.solver)
    section.fail("solver",
                 "[crowd.solver] cannot hold people in place who are incapacitated: remove it, or take "
                 "fallen = \"vanish\" in [hazard]");
  if (model_ == Model::pbd && solver_.solver)
    section.fail("solver", "[crowd.solver] has no effect with model = \"pbd\": remove it");
  if (model_ == Model::pbd && environment_.building().n_levels() > 1)
    section.fail("model", "\"pbd\" knows one floor only: take \"projection\" in a building of several");
}

SchemeTraits CrowdStepper::traits() const {
  return {
      .same_for_any_owners = !solver_.solver, .needs_classes = model_ == Model::pbd, .searches_pairs = true};
}

ListRequirements CrowdStepper::list_requirements(const State<2>&, Real dt, Real /*largest_radius*/) const {
  // Squeezed out of a jam, people may be faster than anybody wants to be; those who are even faster get wider
  // lists (see advance).
  constexpr Real times_as_fast = 3;
  const Real touched = 2 * times_as_fast * environment_.fastest() * dt;
  return {.travel = dt * environment_.fastest(),
          .skin = std::max(walking_.needed_range(), touched) / certain_share};
}

void CrowdStepper::start(State<2>& state, Neighborhood<2>& neighborhood, Real dt) {
  neighborhood_ = &neighborhood;
  environment_.building().require_lines_apart(environment_.people().largest_radius(),
                                              environment_.fastest() * dt);
  if (model_ == Model::projection) limit_pairs(1.5 * usual_reach(dt));
  sweeper_ = std::make_unique<PbdSweeper<2>>(neighborhood);
  fit(state, share_of_skin);  // a restart may be anywhere between two lists
  if (state.clock.step > 0 || model_ == Model::pbd) return;
  // The row of the first moment says who is near then.
  std::ranges::fill(look_ahead_.walks(state), WalkingIntent{});
  const Real certain = certain_share * state.lattice.skin;
  look_ahead_.find(state, neighborhood, {.reach = std::min(usual_reach(dt), certain)}, dt);
  report_.n_contacts = state.comm.sum(static_cast<std::int64_t>(look_ahead_.near().size()));
  find_overlap(state);
}

/// After a list build, since which people have moved by at most `share_moved` of the skin: work arrays,
/// multipliers that contacts remember, and the routes around those who are here.
void CrowdStepper::fit(State<2>& state, Real share_moved) {
  environment_.floor_field().fetch(
      owned_people(state),
      share_of_skin * state.lattice.skin + std::max(0.5, environment_.lifts().reach_of_routes()));
  walking_.find_sights(state, scratch_.sight);
  const Real skin = state.lattice.skin;
  look_ahead_.prepare(state, *neighborhood_, (1 + 2 * share_moved) * skin, scratch_.sight,
                      2 * (share_of_skin + share_moved) * skin);
  environment_.groups().prepare(state);
  if (model_ == Model::pbd) {
    sweeper_->prepare(state, false);
    return;
  }
  memory_.restore(state, *neighborhood_);
}

/// From the next list on pairs are listed that may be within `reach` of each other before the one after it.
void CrowdStepper::limit_pairs(Real reach) {
  listed_reach_ = reach;
  neighborhood_->list().limit_pairs(2 * share_of_skin, reach);
}

/// Lists pairs again if those within `reach` may not be listed, as after a strong push. Blocks, their order
/// and so all results stay as they are.
void CrowdStepper::list_pairs_within(State<2>& state, Real reach) {
  if (reach <= listed_reach_ || model_ == Model::pbd) return;
  limit_pairs(reach);
  memory_.keep_while(*neighborhood_, [&] { neighborhood_->relist(state); });
}

void CrowdStepper::save(State<2>& state, SaveFor /*purpose*/) {
  state.memory = multipliers().remember(state, *neighborhood_);
}

void CrowdStepper::rebuild(State<2>& state, Real needed_skin) {
  save(state, SaveFor::checkpoint);
  neighborhood_->rebuild(state, needed_skin);
  fit(state, 0);
}

void CrowdStepper::bodies_changed(State<2>& state) {
  neighborhood_->rebuild(state);
  fit(state, 0);
}

/// In most steps of a large crowd somebody leaves: that must not cost a list each time.
bool CrowdStepper::remove_bodies(State<2>& state, std::span<const Index> staying) {
  if (model_ == Model::pbd) return false;
  neighborhood_->remove_bodies(state, staying, scratch_.numbers, scratch_.kept_walls);
  memory_.keep_walls(scratch_.kept_walls);
  look_ahead_.renumber(scratch_.numbers);
  environment_.groups().prepare(state);
  return true;
}

void CrowdStepper::advance(State<2>& state, Real dt, bool /*record_forces*/) {
  if (neighborhood_->needs_rebuild(state, share_of_skin)) rebuild(state, 0);
  state.obstacles.begin_step();
  refresh_levels(state);
  const Real asked = dt, shortest = dt / 1024;
  while (true) {
    const Real certain = certain_share * state.lattice.skin;
    const LookAhead::Perception perception = walking_.perception(certain, std::min(usual_reach(dt), certain));
    list_pairs_within(state, perception.reach);
    walking_.find_desired(state, *neighborhood_, look_ahead_, perception, dt, velocity_);
    if (model_ == Model::pbd) {
      sweep_positions(state, dt);
      break;
    }
    const Real needed = project(state, perception, dt) / certain_share;
    if (needed <= state.lattice.skin || !may_try_again(state, needed, shortest, dt)) break;
  }
  if (dt < asked)
    neighborhood_->list().record_cut_step(state, asked, dt,
                                          "people or obstacles would outrun the neighbour list");
  if (model_ == Model::projection) judge(state);
  if (environment_.locks().is_due(state.clock))
    environment_.locks().detect(state, *neighborhood_, look_ahead_.walks(state), walking_);
  move(state, dt);
  state.clock.last_dt = dt;
}

/// Pushed by others or by an obstacle, people may get further than the list reaches: the step is taken again
/// with a wider list or, where there is none, with half the length. False if neither is possible.
bool CrowdStepper::may_try_again(State<2>& state, Real needed_skin, Real shortest, Real& dt) {
  if (state.lattice.skin < neighborhood_->list().widest_skin(state)) {
    rebuild(state, 1.5 * needed_skin);
  } else if (dt > shortest) {
    dt *= 0.5;
  } else {
    neighborhood_->list().record_step_beyond_list(state, needed_skin);
    return false;
  }
  return true;
}

/// Returns how far apart two people may be who could meet in the step [m]: beyond what is certain to be in
/// the list, it must be done again with a wider one.
Real CrowdStepper::project(State<2>& state, LookAhead::Perception perception, Real dt) {
  const Real certain = certain_share * state.lattice.skin;
  desired_ = velocity_;
  while (true) {
    const NearContacts& near = look_ahead_.near();
    memory_.get(near, *neighborhood_, multiplier_);
    if (solver_.solver) {
      report_ = projection_.solve(neighborhood_->ghosts(), near, dt, projection_settings_,
                                  std::as_const(state.bodies).id(), *solver_.solver, solver_.stop_rule(),
                                  velocity_, multiplier_);
      linear_solver_used();
    } else {
      report_ = projection_.solve(
          neighborhood_->ghosts(), near, dt, projection_settings_, velocity_, multiplier_,
          environment_.hazard().stays() ? std::as_const(state.bodies).mobility() : std::span<const Real>());
    }
    memory_.set(near, multiplier_);
    // Pairs beyond the reach were left out: they must not be able to meet.
    const Real could_meet = 2 * report_.fastest * dt;
    if (could_meet <= perception.reach || perception.reach == certain) return could_meet;
    perception.reach = std::min(1.1 * could_meet, certain);
    list_pairs_within(state, perception.reach);
    look_ahead_.find(state, *neighborhood_, perception, dt);
    velocity_ = desired_;
  }
}

void CrowdStepper::find_overlap(const State<2>& state) {
  Real min = 0;
  for (const Real gap : look_ahead_.near().gap) min = std::min(min, gap);
  overlap_ = 0 - state.comm.min(min);  // tables have no -0
}

void CrowdStepper::judge(const State<2>& state) {
  find_overlap(state);
  require_solved(state);
  // The projection keeps apart whoever can move and sees each other, but for what a step that was not solved
  // has left.
  if (report_.converged && overlap_ > last_overlap_bound_ + 100 * projection_settings_.tolerance)
    warn_of_overlap_(state.clock, [&] {
      return fmt::format(
          "people overlap others or a wall by {:.3g} m, though the projection has converged: a wall moves to "
          "where somebody stands who cannot move, or a wall is right behind a line between floors; see the "
          "column max_overlap",
          overlap_);
    });
  last_overlap_bound_ = overlap_bound();
}

void CrowdStepper::require_solved(const State<2>& state) {
  if (report_.converged) return;
  const auto what = [&] {
    return fmt::format(
        "the projection misses crowd.tolerance = {:g} m by a residual of {:.3g} m after {} sweeps",
        projection_settings_.tolerance, report_.residual, report_.sweeps);
  };
  if (on_failure_.may_refuse())
    refuse_step(state.clock, what() + "; raise crowd.max_sweeps or the tolerance");
  on_failure_.warn(state.clock, what);
}

void CrowdStepper::sweep_positions(State<2>& state, Real dt) {
  Scope timer("sweeps on positions");
  BodyStore<2>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  std::copy_n(bodies.position().begin(), n, bodies.previous().begin());
  const Real substep = dt / static_cast<Real>(substeps_);
  sweeper_->load(state);
  if (warm_start_ == 0) sweeper_->clear_multipliers();
  const PairMode mode = warm_start_ > 0 ? PairMode::accumulate : PairMode::record;
  Real deepest = 0;
  for (std::int64_t s = 0; s < substeps_; ++s) {
    const auto records = sweeper_->records();
    for (std::size_t i = 0; i < n; ++i)
      for (int k = 0; k < 2; ++k) records[i].x[k] += substep * velocity_[i][k];
    if (warm_start_ > 0)
      sweeper_->sweep(state, PairMode::warm, {.compliance = 0, .scale = warm_start_},
                      {.first = true, .last = false});
    else
      sweeper_->clear_multipliers();
    deepest = sweeper_->sweep(state, mode, {}, {.first = warm_start_ == 0, .last = true});
  }
  overlap_ = state.comm.max(deepest);
  sweeper_->store(state);
  for (std::size_t i = 0; i < n; ++i) velocity_[i] = (1 / dt) * (bodies.position()[i] - bodies.previous()[i]);
  std::copy_n(bodies.previous().begin(), n, bodies.position().begin());
}

void CrowdStepper::move(State<2>& state, Real dt) {
  BodyStore<2>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  for (std::size_t i = 0; i < n; ++i) {
    bodies.previous()[i] = bodies.position()[i];
    bodies.position()[i] += dt * velocity_[i];
  }
  const Real time = state.clock.time + dt;
  state.obstacles.place(time);
  overlap_ = std::max(overlap_, sides_.keep(state, *neighborhood_, time));
  for (std::size_t i = 0; i < n; ++i) {
    bodies.velocity()[i] = velocity_[i];
    agent::walked(bodies)[i] += dt * norm(velocity_[i]);
  }
  if (state.levels) change_levels(state, dt);
}

/// Walked distances count along slopes, and who has crossed a line is on the level beyond it.
void CrowdStepper::change_levels(State<2>& state, Real dt) const {
  BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const Real speed = norm(velocity_[i]);
    const std::optional<Incline>& incline = environment_.building().level(bodies.level()[i]).incline;
    if (incline && speed > 0)
      agent::walked(bodies)[i] += dt * speed * (incline->stretch((1 / speed) * velocity_[i]) - 1);
    bodies.level()[i] = state.levels->level_at(bodies.position()[i], bodies.level()[i]);
  }
}

/// Ghosts get the levels that their owners are on.
void CrowdStepper::refresh_levels(State<2>& state) {
  if (!state.levels) return;
  const auto levels = state.bodies.level();
  scratch_.levels.assign(levels.begin(), levels.end());
  neighborhood_->ghosts().copy_to_ghosts(std::span<Real>(scratch_.levels), 1);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::int32_t>(scratch_.levels[i]);
}

void CrowdStepper::find_contacts(State<2>& state, Real tolerance, ContactGraph<2>& contacts) {
  refresh_levels(state);
  list_pairs_within(state, tolerance * 2 * state.lattice.largest_radius);
  neighborhood_->detect(state, multipliers().rules<2>(tolerance), contacts);
  multipliers().find_places(contacts, *neighborhood_);
  // Multipliers of positions are displacements of a substep.
  const Real scale = model_ == Model::pbd && state.clock.last_dt > 0
                         ? static_cast<Real>(substeps_) / state.clock.last_dt
                         : 1;
  contacts.force.resize(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) contacts.force[c] = scale * multipliers().of(contacts, c);
}

std::vector<CertificateEntry> CrowdStepper::certificate() const {
  if (model_ == Model::pbd)
    return {{"substeps", "-", static_cast<Real>(substeps_)}, {"overlap_met", "m", overlap_}};
  return {
      {"contacts", "-", static_cast<Real>(report_.n_contacts)},
      {"max_overlap", "m", overlap_},
      {"overlap_bound", "m", overlap_bound()},
      {"residual", "m", report_.residual, false, solver_.solver ? HUGE_VAL : projection_settings_.tolerance},
      {"solved", "-", report_.converged ? 1.0 : 0.0, true},
      {"sweeps", "-", static_cast<Real>(report_.sweeps)}};
}

SCREE_PLUGIN_ONLY(Stepper, 2, crowd, CrowdStepper, "people who walk to exits, kept apart exactly")

}  // namespace scree
