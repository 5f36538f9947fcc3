#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "core/timing.hpp"
#include "crowd/crowd_scene.hpp"
#include "crowd/crowd_scheme.hpp"
#include "crowd/look_ahead.hpp"
#include "crowd/velocity_projection.hpp"
#include "particles/fill/region.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/common/step_control.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// People as disks in first-order motion (docs/method.md, "People", eq. P.1-P.6):
///     U = e max(v_push, min(v_0, gap_ahead / T))      desired velocity: way, headway law, push floor;
///                                                     e is turned where that gets people on much faster
///     V = the nearest velocities to U that let nobody overlap                         model = "projection"
///     x(t + dt) = x(t) + dt V
/// or, with model = "pbd", substeps of dt / substeps, each x + dt U / substeps followed by a sweep of
/// projections on positions that starts from the last one's multipliers. Ranks: collective; the same bits on
/// any number of ranks (a [crowd.solver] other than "nsgs": to its tolerance).
class CrowdStepper final : public Stepper<2> {
 public:
  void describe(Section& root) override;
  Carried carries() const override { return Carried::walking; }
  Scene<2>* scene() override { return &scene_; }
  Real travel_per_step(const State<2>&, Real dt) const override { return dt * scene_.fastest(); }
  Real needed_skin(const State<2>& state, Real dt, Real largest_radius) const override;
  void start(State<2>& state, Neighborhood<2>& neighborhood, Real dt) override;
  void advance(State<2>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<2>& state) override;
  bool knows_petsc_options() const override { return !solver_.solver || used_solver_; }
  bool same_for_any_owners() const override { return !solver_.solver; }
  void save(State<2>& state) override;
  void find_contacts(State<2>& state, Real tolerance, ContactGraph<2>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;
  std::size_t bytes() const override;

 private:
  // The list is made anew when somebody has moved by this share of the skin; up to the rest of it, less the
  // same of another one, all pairs are certain to be in it.
  static constexpr Real share_of_skin = 0.15;
  static constexpr Real certain_share = 1 - 2 * share_of_skin;
  enum class Model { projection, pbd };

  void describe_crowd(Section& section);
  void rebuild(State<2>& state, Real needed_skin);
  void fit(State<2>& state);
  void choose_directions(State<2>& state);
  void step_aside(State<2>& state, const LookAhead::Sight& sight);
  Vec<2> desired_velocity(std::size_t i, const LookAhead::Walk& walk, const AgentKind& kind) const;
  void desire_velocities(State<2>& state, Real dt);
  Real project(State<2>& state, LookAhead::Sight sight, Real dt);
  void judge(const State<2>& state);
  /// What contacts remember: as speeds [m/s], or with the model "pbd" as displacements of a substep [m].
  const ContactField<Real>& multipliers() const {
    return model_ == Model::pbd ? sweeper_->multipliers() : memory_;
  }
  void recall_multipliers();
  void remember_multipliers();
  void require_solved(const State<2>& state);
  void sweep_positions(State<2>& state, Real dt);
  void move(State<2>& state, Real dt);
  bool walks(const State<2>& state, std::size_t i) const;
  Real speed_on_free_ground(const State<2>& state, std::size_t i) const;

  // The deck.
  CrowdScene scene_;
  std::string model_name_ = "projection";
  Model model_ = Model::projection;
  VelocityProjection::Settings projection_settings_;
  SolverSettings<2> solver_;  // of [crowd.solver]; without a solver the projection's own sweeps
  StepControl on_failure_{FailureAction::warn};
  std::int64_t substeps_ = 8;
  Real warm_start_ = 0.9;
  Real noise_ = 0;
  Vec<2> direction_{};  // unit, or zero
  std::string speed_law_ = "headway";
  Real headway_width_ = 0.74;
  Real turning_angle_ = 0.3;
  Real turning_share_ = 0.82;
  Real horizon_ = 0;
  Real aside_angle_ = 0.7;
  Real side_room_ = 0.2;

  Neighborhood<2>* neighborhood_ = nullptr;
  std::unique_ptr<PbdSweeper<2>> sweeper_;
  SideKeeper<2> sides_;
  LookAhead look_ahead_;
  VelocityProjection projection_;
  VelocityProjection::Report report_;
  std::vector<Vec<2>> desired_;   // n_held; owned entries count
  std::vector<Vec<2>> velocity_;  // n_held
  std::vector<Real> multiplier_;  // of the near contacts [m/s]
  ContactField<Real> memory_;     // multipliers of contacts, where positions are not what is projected [m/s]
  std::vector<Index> loaded_pairs_, loaded_walls_;  // places whose multiplier is not 0
  Real overlap_ = 0;  // deepest at the start of the step, or met by the last sweep [m]
  bool used_solver_ = false;
};

void CrowdStepper::describe(Section& root) {
  scene_.describe(root);
  root.table("crowd", {.doc = "How people move: the scheme \"crowd\""},
             [this](Section& section) { describe_crowd(section); });
}

void CrowdStepper::describe_crowd(Section& section) {
  section.choice(
      "model", model_name_, {"projection", "pbd"},
      {.doc = "How people are kept apart: by the velocities nearest to the desired ones that let nobody "
              "overlap, to a tolerance, or by sweeps on positions, which leave some overlap"});
  section.real(
      "tolerance", projection_settings_.tolerance,
      {.unit = Unit::length,
       .range = positive,
       .doc = "Of the projection: largest overlap that a step may lead to, and largest gap of a pair that "
              "still presses"});
  section.integer("max_sweeps", projection_settings_.max_sweeps,
                  {.range = {.least = 1}, .doc = "Of the projection: most sweeps of a step"});
  section.real("relaxation", projection_settings_.relaxation,
               {.range = {.least = 0, .most = 2, .least_open = true, .most_open = true},
                .doc = "Of the projection: over-relaxation of its first sweeps; it grows as they go on"});
  on_failure_.describe(section, "on_failure", {FailureAction::warn, FailureAction::stop},
                       {.doc = "What happens if a step's projection misses the tolerance"});
  section.integer("substeps", substeps_, {.range = {.least = 1}, .doc = "Of \"pbd\": substeps of a step"});
  section.real("warm_start", warm_start_,
               {.range = unit_interval,
                .doc = "Of \"pbd\": share of each contact's multiplier that the next substep starts from"});
  section.choice(
      "speed_law", speed_law_, {"headway", "none"},
      {.doc =
           "\"headway\": max(push_speed, min(desired speed, free way ahead / headway_time)); \"none\": the "
           "desired speed"});
  section.real(
      "headway_width", headway_width_,
      {.range = {.least = 0, .most = 1, .least_open = true},
       .doc = "Of the headway law: who is ahead, as a share of the width within which disks would touch. "
              "Below 1 lanes may overlap"});
  section.real(
      "turning_angle", turning_angle_,
      {.unit = Unit::angle,
       .range = {.least = 0, .most = 0.7},
       .doc = "Of the headway law: people whom others slow down turn by this angle, or twice as far, where "
              "that gets them on faster; 0: they stay in file"});
  section.real(
      "turning_share", turning_share_,
      {.range = unit_interval,
       .doc = "Of the headway law: people turn only if they get on with at least this share of their "
              "desired speed then"});
  section.point<2>("direction", direction_,
                   {.doc = "Where people walk who have no destination, of any length; (0, 0): nowhere"});
  section.real(
      "noise", noise_,
      {.range = non_negative,
       .doc = "Random walk added to the desired motion: its rms displacement after one second, along each "
              "axis [m / sqrt(s)]"});
  section.optional_table("avoidance", {.doc = "Stepping aside for people who come towards one"},
                         [&](Section& table) {
                           horizon_ = 2;
                           table.real("horizon", horizon_,
                                      {.unit = Unit::time,
                                       .range = positive,
                                       .doc = "Others are seen that would be met within this time"});
                           table.real("angle", aside_angle_,
                                      {.unit = Unit::angle,
                                       .range = {.least = 0, .most = 2.5},
                                       .doc = "How far one turns aside at most: right before a meeting"});
                           table.real("side_room", side_room_,
                                      {.unit = Unit::length,
                                       .range = non_negative,
                                       .doc = "Room to the side that one wants in passing"});
                         });
  section.optional_table(
      "solver",
      {.doc = "Of the projection: a solver of contact problems with friction 0 in place of its own "
              "sweeps"},
      [&](Section& table) { solver_.describe(table); });
  if (!section.reading()) return;
  if (norm(direction_) > 0) direction_ *= 1 / norm(direction_);
  scene_.set_led(norm(direction_) > 0);
  model_ = model_name_ == "projection" ? Model::projection : Model::pbd;
  if (model_ == Model::pbd && solver_.solver)
    section.fail("solver", "[crowd.solver] has no effect with model = \"pbd\": remove it");
}

Real CrowdStepper::needed_skin(const State<2>&, Real dt, Real /*largest_radius*/) const {
  const Real seen = speed_law_ == "none" ? 0 : scene_.fastest() * scene_.people().longest_headway();
  const Real met = horizon_ > 0 ? 2 * scene_.fastest() * horizon_ : 0;
  // Squeezed out of a jam, people may be faster than anybody wants to be; those who are even faster get wider
  // lists (see advance).
  constexpr Real times_as_fast = 3;
  const Real touched = 2 * times_as_fast * scene_.fastest() * dt;
  return std::max({seen, met, touched}) / certain_share;
}

void CrowdStepper::start(State<2>& state, Neighborhood<2>& neighborhood, Real /*dt*/) {
  neighborhood_ = &neighborhood;
  sweeper_ = std::make_unique<PbdSweeper<2>>(neighborhood);
  fit(state);
}

/// After a list build: work arrays, multipliers that contacts remember, and the ways around those who are
/// here.
void CrowdStepper::fit(State<2>& state) {
  const auto owned =
      std::as_const(state.bodies).position().first(static_cast<std::size_t>(state.bodies.n_owned()));
  scene_.ways().fetch(owned, share_of_skin * state.lattice.skin + 0.5);
  if (model_ == Model::pbd) {
    sweeper_->prepare(state, false);
    return;
  }
  memory_.recall(state, *neighborhood_);
  loaded_pairs_.clear();
  loaded_walls_.clear();
  const auto note = [](std::span<const Real> values, std::vector<Index>& loaded) {
    for (std::size_t place = 0; place < values.size(); ++place)
      if (values[place] != 0) loaded.push_back(static_cast<Index>(place));
  };
  note(memory_.pairs(), loaded_pairs_);
  note(memory_.walls(), loaded_walls_);
}

void CrowdStepper::save(State<2>& state) {
  state.memory = multipliers().remember(state, *neighborhood_);
}

void CrowdStepper::rebuild(State<2>& state, Real needed_skin) {
  save(state);
  neighborhood_->rebuild(state, needed_skin);
  fit(state);
}

void CrowdStepper::bodies_changed(State<2>& state) {
  neighborhood_->rebuild(state);
  fit(state);
}

void CrowdStepper::advance(State<2>& state, Real dt, bool /*record_forces*/) {
  if (neighborhood_->stale(state, share_of_skin)) rebuild(state, 0);
  state.obstacles.begin_step();
  const Real asked = dt;
  const Real shortest = dt / 1024;
  while (true) {
    const Real certain = certain_share * state.lattice.skin;
    const LookAhead::Sight sight{.range = certain,
                                 .reach = std::min(2.2 * scene_.fastest() * dt, certain),
                                 .oncoming = horizon_ > 0,
                                 .side_room = horizon_ > 0 ? side_room_ : 0,
                                 .headway_width = headway_width_,
                                 .turning_angle = speed_law_ == "headway" ? turning_angle_ : 0};
    choose_directions(state);
    look_ahead_.find(state, *neighborhood_, sight, dt);
    if (sight.oncoming) step_aside(state, sight);
    desire_velocities(state, dt);
    if (model_ == Model::pbd) {
      sweep_positions(state, dt);
      break;
    }
    // Pushed by others or by an obstacle, people may get further than the list reaches.
    const Real needed = project(state, sight, dt) / certain_share;
    if (needed <= state.lattice.skin) break;
    if (state.lattice.skin < neighborhood_->widest_skin(state)) {
      rebuild(state, 1.5 * needed);
    } else if (dt > shortest) {
      dt *= 0.5;
    } else {
      neighborhood_->note_step_beyond_list(state, needed);
      break;
    }
  }
  if (dt < asked)
    neighborhood_->note_cut_step(state, asked, dt, "people or obstacles would outrun the neighbour list");
  if (model_ == Model::projection) judge(state);
  move(state, dt);
  state.clock.last_dt = dt;
}

/// Whether person i is on its way: it has started, has somewhere to go and waits nowhere.
bool CrowdStepper::walks(const State<2>& state, std::size_t i) const {
  const Real time = state.clock.time;
  return (state.bodies.destination()[i] >= 0 || direction_ != Vec<2>{}) &&
         time >= state.bodies.walks_from()[i] && time >= state.bodies.waits_until()[i];
}

Real CrowdStepper::speed_on_free_ground(const State<2>& state, std::size_t i) const {
  return state.bodies.desired_speed()[i] *
         scene_.journeys().speed_factor(wrapped(state.box, state.bodies.position()[i]));
}

void CrowdStepper::choose_directions(State<2>& state) {
  Scope timer("directions");
  const auto walk = look_ahead_.walks(state);
  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < walk.size(); ++i) {
    walk[i] = {{0, 0}, 0};
    if (!walks(state, i)) continue;
    const int destination = bodies.destination()[i];
    const Vec<2> direction =
        destination < 0 ? direction_
                        : scene_.ways().direction(destination, wrapped(state.box, bodies.position()[i]));
    walk[i] = {{direction[0], direction[1]}, speed_on_free_ground(state, i)};
  }
}

/// Turns those aside who would soon meet somebody: away from the side where that is sooner, the more the
/// sooner.
void CrowdStepper::step_aside(State<2>& state, const LookAhead::Sight& sight) {
  const auto walk = look_ahead_.walks(state);
  for (std::size_t i = 0; i < walk.size(); ++i) {
    const Real left = look_ahead_.oncoming_left(i);
    const Real right = look_ahead_.oncoming_right(i);
    const Real time = std::min(left, right);
    if (!(time < horizon_)) continue;
    const Real angle = (left <= right ? -1 : 1) * aside_angle_ * (1 - time / horizon_);
    const Real c = std::cos(angle);
    const Real s = std::sin(angle);
    const auto [x, y] = walk[i].direction;
    walk[i].direction[0] = c * x - s * y;
    walk[i].direction[1] = s * x + c * y;
  }
  look_ahead_.find_again(state, *neighborhood_, sight);
}

/// Eq. P.1 of docs/method.md: straight on, or along the turned way that gets one on fastest.
Vec<2> CrowdStepper::desired_velocity(std::size_t i, const LookAhead::Walk& walk,
                                      const AgentKind& kind) const {
  const Vec<2> way{{walk.direction[0], walk.direction[1]}};
  if (speed_law_ == "none") return walk.speed * way;
  const auto pace = [&](Real free_way) {
    return free_way < walk.speed * kind.headway_time ? free_way / kind.headway_time : walk.speed;
  };
  const Real straight_on = std::min(walk.speed, std::max(kind.push_speed, pace(look_ahead_.free_way(i))));
  Vec<2> velocity = straight_on * way;
  if (turning_angle_ == 0 || straight_on >= walk.speed) return velocity;
  Real progress = std::max(straight_on, turning_share_ * walk.speed);
  for (int k = 0; k < LookAhead::n_turns; ++k) {
    const Real angle = LookAhead::turn_angle(k, turning_angle_);
    const Real c = std::cos(angle);
    const Real s = std::sin(angle);
    const Real speed = pace(look_ahead_.turned_way(i, k));
    if (speed * c <= progress) continue;
    progress = speed * c;
    velocity = {{speed * (c * way[0] - s * way[1]), speed * (s * way[0] + c * way[1])}};
  }
  return velocity;
}

void CrowdStepper::desire_velocities(State<2>& state, Real dt) {
  Scope timer("desired velocities");
  velocity_.resize(static_cast<std::size_t>(state.bodies.n_held()));
  const auto walk = look_ahead_.walks(state);
  const auto kinds = scene_.people().kinds();
  for (std::size_t i = 0; i < walk.size(); ++i) {
    velocity_[i] = desired_velocity(i, walk[i], kinds[static_cast<std::size_t>(state.bodies.kind()[i])]);
    if (noise_ == 0 || velocity_[i] == Vec<2>{}) continue;
    // A stream of its own for each step.
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    RandomStream stream(scene_.seed() + odd * static_cast<std::uint64_t>(state.clock.step + 1),
                        state.bodies.id()[i], purpose::crowd_noise);
    for (int k = 0; k < 2; ++k) velocity_[i][k] += noise_ / std::sqrt(dt) * stream.normal();
  }
}

/// Returns how far apart two people may be who could meet in the step [m]: beyond what is certain to be in
/// the list, it must be done again with a wider one.
Real CrowdStepper::project(State<2>& state, LookAhead::Sight sight, Real dt) {
  const Real certain = certain_share * state.lattice.skin;
  desired_ = velocity_;
  while (true) {
    const NearContacts& near = look_ahead_.near();
    recall_multipliers();
    if (solver_.solver) {
      report_ = projection_.solve(neighborhood_->ghosts(), near, dt, projection_settings_,
                                  std::as_const(state.bodies).id(), *solver_.solver, solver_.stop_rule(),
                                  velocity_, multiplier_);
      used_solver_ = true;
    } else {
      report_ =
          projection_.solve(neighborhood_->ghosts(), near, dt, projection_settings_, velocity_, multiplier_);
    }
    remember_multipliers();
    // Pairs beyond the reach were left out: they must not be able to meet.
    const Real could_meet = 2 * report_.fastest * dt;
    if (could_meet <= sight.reach || sight.reach == certain) return could_meet;
    sight.reach = std::min(1.1 * could_meet, certain);
    look_ahead_.find(state, *neighborhood_, sight, dt);
    velocity_ = desired_;
  }
}

void CrowdStepper::judge(const State<2>& state) {
  Real least = 0;
  for (const Real gap : look_ahead_.near().gap) least = std::min(least, gap);
  overlap_ = -state.comm.min(least);
  require_solved(state);
}

void CrowdStepper::recall_multipliers() {
  const NearContacts& near = look_ahead_.near();
  memory_.pass_on(near, *neighborhood_);
  multiplier_.resize(near.size());
  for (std::size_t c = 0; c < near.size(); ++c) multiplier_[c] = memory_.of(near, c);
}

void CrowdStepper::remember_multipliers() {
  for (const Index place : loaded_pairs_) memory_.pairs()[static_cast<std::size_t>(place)] = 0;
  for (const Index place : loaded_walls_) memory_.walls()[static_cast<std::size_t>(place)] = 0;
  loaded_pairs_.clear();
  loaded_walls_.clear();
  const NearContacts& near = look_ahead_.near();
  for (std::size_t c = 0; c < near.size(); ++c) {
    memory_.of(near, c) = multiplier_[c];
    if (multiplier_[c] != 0) (near.b[c] < 0 ? loaded_walls_ : loaded_pairs_).push_back(near.place[c]);
  }
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
  const auto n = static_cast<std::size_t>(bodies.n_owned());
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
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    bodies.previous()[i] = bodies.position()[i];
    bodies.velocity()[i] = velocity_[i];
    bodies.position()[i] += dt * velocity_[i];
    bodies.walked()[i] += dt * norm(velocity_[i]);
  }
  const Real time = state.clock.time + dt;
  state.obstacles.place(time);
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  overlap_ = std::max(overlap_, sides_.keep(state, *neighborhood_, bodies.position().first(n), time));
}

void CrowdStepper::find_contacts(State<2>& state, Real tolerance, ContactGraph<2>& contacts) {
  neighborhood_->detect(state, multipliers().rules<2>(tolerance), contacts);
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
  return {{"contacts", "-", static_cast<Real>(report_.n_contacts)},
          {"overlap", "m", overlap_},
          {"overlap_bound", "m", std::max(-report_.least_gap, 0.0)},
          {"residual", "m", report_.residual},
          {"solved", "-", report_.converged ? 1.0 : 0.0, true},
          {"sweeps", "-", static_cast<Real>(report_.sweeps)}};
}

std::size_t CrowdStepper::bytes() const {
  const auto held = [](const auto&... vectors) { return ((vectors.capacity() * sizeof(vectors[0])) + ...); };
  return held(desired_, velocity_, multiplier_, loaded_pairs_, loaded_walls_) + memory_.bytes() +
         look_ahead_.bytes() + projection_.bytes() + (sweeper_ ? sweeper_->bytes() : 0) +
         scene_.ways().bytes();
}

SCREE_PLUGIN_ONLY(Stepper, 2, crowd, CrowdStepper, "people who walk to exits, kept apart exactly")

template <int D>
Entry<Stepper<D>> crowd_scheme() {
  return Stepper_crowd<D>();
}
template Entry<Stepper<2>> crowd_scheme<2>();
template Entry<Stepper<3>> crowd_scheme<3>();

}  // namespace scree
