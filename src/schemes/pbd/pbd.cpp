#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/timing.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/pbd/contacts.hpp"
#include "schemes/pbd/prediction.hpp"
#include "schemes/pbd/settings.hpp"

namespace scree {

/// First-order position-based dynamics (docs/method.md, "Position-based dynamics"; Plunder &
/// Merino-Aceituno):
///     y = x + h f(x),   x(t + h) = projections of y on the sets S_c = {gap_c >= 0}, swept over all contacts
///     c.
/// sweeps = 1 is PBD, "converged" is PNGS.
///
/// With warm_start = s > 0 each contact keeps a multiplier l_c from step to step: a first pass applies s l_c,
/// the sweeps then add dl = max(-l_c, -gap/(w_i + w_j)); l_c/h is the contact pressure. Units: positions [m],
/// h [s], l [m], pressure [m/s] (velocity that the contact takes away, per mobility). Ranks: collective; the
/// same bits on any number of ranks.
template <int D>
class PbdStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override { settings_.describe(root); }
  SchemeTraits traits() const override {
    return {.needs_path = false,
            .takes_shapes = true,
            .memory = settings_.keeps_multipliers() ? "multipliers" : ""};
  }
  ListRequirements list_requirements(const State<D>& state, Real dt, Real largest_radius) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state, SaveFor purpose) override;
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;

 private:
  void find_properties(const State<D>& state);
  void prepare_sweeps(State<D>& state);
  /// A step of dt, or of the shorter one that it becomes: as far as the test of overlap. Collective.
  void take_step(State<D>& state, Real& dt, bool record_forces);
  /// Moves the predicted bodies apart and finishes the step. Returns the skin that is used up. Collective.
  Real attempt(State<D>& state, Real dt, bool record_forces);
  /// Takes positions and velocities from the records after the sweeps and leaves there where the step
  /// started. Returns the square of the displacement of the body farthest from its reference position [m2].
  /// Local. Not inlined: the compiler keeps its running maximum in memory if calls follow, at twice the time.
  [[gnu::noinline]] Real finish(State<D>& state, Real dt);
  /// The same for bodies that turn. Local.
  void finish_turns(State<D>& state, Real dt);
  /// Rebuilds the neighbour list where the records are, in the midst of a step that ends at `end`; see
  /// Neighborhood::rebuild. Collective.
  void rebuild(State<D>& state, Real needed_skin, Real end);
  /// If the step may be refused: keeps velocities and multipliers as they are, which is as at the start of
  /// the step, but for multipliers after a first attempt. Local.
  void keep_start(const State<D>& state);
  /// Undoes finish(). Local.
  void take_back(State<D>& state);
  /// After a refusal, with positions where the step started: the rest of the state goes back there, too.
  /// Collective.
  void restore_start(State<D>& state);
  /// Why the step does not count; empty if it does.
  std::string refusal_of(const State<D>& state);

  static constexpr Real min_dt = 1e-12;  // steps are not halved further [s]

  PbdSettings<D> settings_;
  Neighborhood<D>* neighborhood_ = nullptr;
  std::optional<PbdSweeper<D>> sweeper_;
  std::optional<PbdPrediction<D>> prediction_;
  std::optional<PbdContacts<D>> contacts_;
  bool weighted_ = false;
  Real smallest_radius_ = 0;
  // Of the start of the step, if it may be refused.
  bool keeps_start_ = false;
  std::vector<Vec<D>> start_velocity_;
  std::vector<Spin<D>> start_spin_;  // of bodies with shapes
  PbdMultipliers<D> start_multipliers_;

  Real deepest_ = 0;  // overlap that the last sweep met on any rank, or of a body pushed through a solid [m]
  Real force_scale_ = 0;  // multiplier -> pressure of the last step
};

template <int D>
ListRequirements PbdStepper<D>::list_requirements(const State<D>& state, Real dt,
                                                  Real /*largest_radius*/) const {
  const std::size_t n = state.bodies.n_owned();
  std::vector<Vec<D>> velocity(n);
  const Real time = state.clock.time;
  settings_.field->evaluate(time, state.bodies.position().first(n), velocity);
  Real fastest = 0;
  for (const Vec<D>& v : velocity) fastest = std::max(fastest, norm(v));
  return {.travel = std::max(fastest * dt, state.obstacles.travel(time, time + dt, state.box))};
}

template <int D>
void PbdStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real /*dt*/) {
  neighborhood_ = &neighborhood;
  sweeper_.emplace(neighborhood);
  prediction_.emplace(*settings_.field, *sweeper_, neighborhood);
  contacts_.emplace(settings_, *sweeper_);
  find_properties(state);
  prepare_sweeps(state);
}

template <int D>
void PbdStepper<D>::find_properties(const State<D>& state) {
  const auto mobility = state.bodies.mobility().first(state.bodies.n_owned());
  weighted_ = state.comm.any(std::any_of(mobility.begin(), mobility.end(), [](Real w) { return w != 1; }));
  smallest_radius_ = smallest_radius(state);
}

template <int D>
void PbdStepper<D>::prepare_sweeps(State<D>& state) {
  prediction_->fit(weighted_, smallest_radius_);
  sweeper_->prepare(state, weighted_);
  sweeper_->owned_records_written();
  // The multipliers are with the sweeper now, and save() brings them back.
  state.memory = {};
}

template <int D>
void PbdStepper<D>::save(State<D>& state, SaveFor purpose) {
  // Steps that start from no multipliers ignore those of the last step.
  if (settings_.keeps_multipliers() || purpose == SaveFor::change_of_bodies)
    state.memory = sweeper_->multipliers().remember(state, *neighborhood_);
  else
    state.memory.clear(state.bodies.n_owned());
}

template <int D>
void PbdStepper<D>::rebuild(State<D>& state, Real needed_skin, Real end) {
  save(state, SaveFor::checkpoint);
  // Where the step started goes through the list build with the bodies.
  BodyStore<D>& bodies = state.bodies;
  const bool carries_path = bodies.carries_path();
  if (!carries_path) {
    bodies.carry_path(true);
    std::copy_n(bodies.position().begin(), bodies.n_owned(), bodies.previous().begin());
  }
  sweeper_->store(state);
  const std::int64_t n_removed = neighborhood_->n_removed();
  neighborhood_->rebuild(state, needed_skin, end);
  // A restart could not know the old one.
  if (neighborhood_->n_removed() != n_removed) smallest_radius_ = smallest_radius(state);
  prepare_sweeps(state);
  std::copy_n(bodies.previous().begin(), bodies.n_owned(), bodies.position().begin());
  bodies.carry_path(carries_path);
}

template <int D>
void PbdStepper<D>::bodies_changed(State<D>& state) {
  // Between steps nobody is on the way, whether a measure followed the last step or not.
  if (state.bodies.carries_path())
    std::copy_n(state.bodies.position().begin(), state.bodies.n_owned(), state.bodies.previous().begin());
  neighborhood_->rebuild(state);
  find_properties(state);
  prepare_sweeps(state);
}

template <int D>
void PbdStepper<D>::advance(State<D>& state, Real dt, bool record_forces) {
  StepControl& control = settings_.on_overlap;
  control.begin_step();
  state.obstacles.begin_step();
  keeps_start_ = false;
  const Real asked = dt;
  Real uncut = dt;  // but for halvings
  try {
    dt = prediction_->cut_for_obstacles(state, dt);
    take_step(state, dt, record_forces);
    for (std::string refusal; !(refusal = refusal_of(state)).empty();) {
      take_back(state);
      state.obstacles.place(state.clock.time);
      if (control.action() == FailureAction::stop || dt < min_dt)
        refuse_step(state.clock, refusal + "; reduce [time] step or raise [pbd] sweeps");
      dt = control.halve(state.clock, refusal, dt);
      uncut *= 0.5;
      take_step(state, dt, record_forces);
    }
  } catch (const StepRefused&) {
    restore_start(state);
    throw;
  }
  if (dt < uncut)
    neighborhood_->list().record_cut_step(state, asked, dt,
                                          "bodies or obstacles would go too far towards each other");
  force_scale_ = 1 / dt;
  state.clock.last_dt = dt;
}

template <int D>
void PbdStepper<D>::take_step(State<D>& state, Real& dt, bool record_forces) {
  Real used = prediction_->predict_within_reach(state, dt);
  const Real end = state.clock.time + dt;
  // A skin that was widened for the corrections of the last step goes back: most need no more than the usual.
  const bool widened = state.lattice.skin > state.lattice.usual_skin;
  bool fresh = used > 0.25 * state.lattice.skin || widened;
  if (fresh) rebuild(state, 0, end);
  used = attempt(state, dt, record_forces);
  // Corrections move bodies too. Beyond half the skin a contact may have been missed: again, with candidates
  // found where the bodies are headed, then with wider and wider lists.
  while (used > 0.5 * state.lattice.skin) {
    if (fresh && state.lattice.skin >= neighborhood_->list().widest_skin(state)) {
      neighborhood_->list().record_step_beyond_list(state, 2 * used);
      break;
    }
    take_back(state);
    prediction_->predict(state, dt);
    rebuild(state, fresh ? 2.2 * used : state.lattice.skin, end);  // half of it is used, and a little room
    fresh = true;
    used = attempt(state, dt, record_forces);
  }
}

template <int D>
Real PbdStepper<D>::attempt(State<D>& state, Real dt, bool record_forces) {
  keep_start(state);
  deepest_ = contacts_->resolve(state, dt, record_forces);
  const Real moved = finish(state, dt);
  finish_turns(state, dt);
  if (state.obstacles.any_far_side()) deepest_ = std::max(deepest_, prediction_->pushed_through(state));
  return neighborhood_->used_skin(state, moved, dt, &deepest_);
}

template <int D>
Real PbdStepper<D>::finish(State<D>& state, Real dt) {
  Scope timer("velocities");
  BodyStore<D>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  const auto position = bodies.position();
  const auto velocity = bodies.velocity();
  const auto reference = std::as_const(bodies).reference_position();
  const auto records = sweeper_->records();
  const Real rate = 1 / dt;
  Real max = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D> x;
    for (int c = 0; c < D; ++c) x[c] = records[i].x[c];
    const Vec<D> start = position[i];
    for (int c = 0; c < D; ++c) records[i].x[c] = start[c];
    position[i] = x;
    velocity[i] = (x - start) * rate;
    max = farther<D>(max, x - reference[i]);
  }
  return max;
}

template <int D>
void PbdStepper<D>::finish_turns(State<D>& state, Real dt) {
  const auto turned = sweeper_->orientations();
  for (std::size_t i = 0; i < turned.size(); ++i) {
    Orientation<D>& orientation = state.bodies.orientation()[i];
    std::swap(orientation, turned[i]);
    state.bodies.angular_velocity()[i] = (1 / dt) * turn_between<D>(turned[i], orientation);
  }
}

template <int D>
void PbdStepper<D>::keep_start(const State<D>& state) {
  keeps_start_ = settings_.may_refuse();
  if (!keeps_start_) return;
  const auto velocity = state.bodies.velocity().first(state.bodies.n_owned());
  start_velocity_.assign(velocity.begin(), velocity.end());
  const auto spin = state.bodies.angular_velocity().first(sweeper_->orientations().size());
  start_spin_.assign(spin.begin(), spin.end());
  start_multipliers_ = sweeper_->multipliers();
}

template <int D>
void PbdStepper<D>::take_back(State<D>& state) {
  sweeper_->store(state);
  if (!keeps_start_) return;
  std::ranges::copy(start_velocity_, state.bodies.velocity().begin());
  std::ranges::copy(start_spin_, state.bodies.angular_velocity().begin());
}

template <int D>
void PbdStepper<D>::restore_start(State<D>& state) {
  state.obstacles.place(state.clock.time);
  if (keeps_start_) sweeper_->multipliers() = start_multipliers_;
  if (state.clock.reference_time <= state.clock.time) return;
  save(state, SaveFor::checkpoint);  // the list is of a time that has not come
  bodies_changed(state);
}

template <int D>
std::string PbdStepper<D>::refusal_of(const State<D>& state) {
  const Real limit = settings_.overlap_limit * smallest_radius_;
  if (settings_.overlap_limit == 0 || deepest_ <= limit) return {};
  // In words only when they are said: most steps beyond the limit are just counted.
  const auto what = [&] {
    return fmt::format("overlap {:.3g} m exceeds overlap_limit = {:g} of the smallest radius ({:.3g} m)",
                       deepest_, settings_.overlap_limit, limit);
  };
  if (settings_.may_refuse()) return what();
  settings_.on_overlap.warn(state.clock, what);
  return {};
}

template <int D>
void PbdStepper<D>::find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_->detect(state, {.tolerance = tolerance}, contacts);
  contacts.force.resize(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c)
    contacts.force[c] = sweeper_->multipliers().of(contacts, c) * force_scale_;
}

template <int D>
std::vector<CertificateEntry> PbdStepper<D>::certificate() const {
  return {{"sweeps", "-", static_cast<Real>(contacts_->n_sweeps())},
          {"sweeps_converged", "-", contacts_->has_converged() ? 1.0 : 0.0, settings_.until_converged()},
          {"overlap_met", "m", deepest_, false,
           settings_.overlap_limit > 0 ? settings_.overlap_limit * smallest_radius_ : HUGE_VAL},
          {"halvings", "-", static_cast<Real>(settings_.on_overlap.n_halvings())}};
}

SCREE_PLUGIN(Stepper, pbd, PbdStepper,
             "first-order position-based dynamics: bodies kept apart by sweeps on positions")

}  // namespace scree
