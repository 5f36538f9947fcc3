#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "core/timing.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/step_control.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// First-order position-based dynamics (docs/method.md, "Position-based dynamics"; Plunder &
/// Merino-Aceituno):
///     y = x + h f(x),   x(t + h) = projections of y on the sets S_c = {gap_c >= 0}, swept over all contacts
///     c.
/// sweeps = 1 is PBD, "converged" is PNGS; `method` offers PGS, penalty and Jacobi for comparison.
///
/// With warm_start = s > 0 each contact keeps a multiplier l_c from step to step: a first pass applies s l_c,
/// the sweeps then add dl = max(-l_c, -gap/(w_i + w_j)); l_c/h is the contact pressure. Units: positions [m],
/// h [s], l [m], pressure [m/s] (velocity that the contact takes away, per mobility). Ranks: collective; the
/// same bits on any number of ranks.
template <int D>
class PbdStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override;
  bool needs_path() const override { return false; }
  Real travel_per_step(const State<D>& state, Real dt) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  std::string_view remembers() const override { return keeps_multipliers() ? "multipliers" : ""; }
  void save(State<D>& state) override;
  void save_for_change(State<D>& state) override;
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;
  std::size_t bytes() const override {
    const std::size_t vectors = before_.capacity() + start_velocity_.capacity();
    return (sweeper_ ? sweeper_->bytes() : 0) + vectors * sizeof(Vec<D>) + start_multipliers_.bytes();
  }

 private:
  enum class Method { pbd, pgs, pgs_dual, penalty, jacobi };

  bool keeps_multipliers() const { return warm_start_ > 0 || compliance_ > 0 || method_ == Method::pgs_dual; }
  void find_properties(const State<D>& state);
  void find_smallest_radius(const State<D>& state);
  void prepare_sweeps(State<D>& state);
  struct Prediction {
    Real moved_squared = 0;  ///< of the body farthest from where it was listed [m2]; infinite: not a number
    /// The longest way of a body over its radius; 0 if none is longer than reach() times the smallest radius.
    Real way_over_radius = 0;
  };
  /// Puts owned bodies where they would be after dt if nothing touched them: into the records of the sweeper;
  /// `position` stays where the step starts until finish(). Local.
  Prediction predict(State<D>& state, Real time, Real dt);
  /// Of owned body i, after predict() [m].
  Vec<D> predicted_way(const State<D>& state, std::size_t i) const {
    return position_of<D>(std::as_const(*sweeper_).records()[i]) - state.bodies.position()[i];
  }
  /// Predicts with dt, or with a shorter step where bodies would get into solids with a far side. Clock and
  /// obstacles are left at the end of the step. Returns the skin that is used up. Collective.
  Real predict_within_reach(State<D>& state, Real& dt);
  /// Takes positions and velocities from the records after the sweeps and leaves there where the step
  /// started. Returns Prediction::moved_squared. Local.
  /// Not inlined: the compiler keeps its running maximum in memory if calls follow, at twice the time.
  [[gnu::noinline]] Real finish(State<D>& state, Real dt);
  /// Moves the predicted bodies apart and finishes the step. Returns the skin that is used up. Collective.
  Real attempt(State<D>& state, Real dt, bool record_forces);
  /// After finish(): a body that contacts have pushed into a solid with a far side, or through it, counts as
  /// an overlap of its radius in deepest_. Local.
  void find_pushed_through(const State<D>& state);
  /// Undoes finish(). Local.
  void take_back(State<D>& state);
  /// The way that a body may go by itself in a step towards a solid with a far side, as a share of its
  /// radius. If obstacles move, half of it is theirs.
  static Real reach(const State<D>& state) {
    return state.obstacles.moves() ? 0.5 * most_approach : most_approach;
  }
  /// The length of a step of at most dt in which obstacles move so little that what they push stays among the
  /// candidates, and not further than bodies may come towards them. Local; the same on all ranks.
  Real cut_for_obstacles(const State<D>& state, Real dt) const;
  /// The length of a step in which no body that would get into a solid with a far side goes further than its
  /// reach(): dt, if none would. Obstacles stand where they are after dt. Throws StepRefused naming the body
  /// if the step would have to be much shorter. Collective.
  Real cut_for_bodies(State<D>& state, Real start_time, Real dt) const;
  /// If the step may be refused: keeps velocities and multipliers as they are, which is as at the start of
  /// the step, but for multipliers after a first attempt. Local.
  void keep_start(const State<D>& state);
  /// Finds candidates anew where the records are, in the midst of a step; see Neighborhood::rebuild.
  /// Collective.
  void rebuild(State<D>& state, Real needed_skin);
  /// Moves the bodies apart in the records; returns the deepest overlap that the last sweep met on this rank.
  /// Collective.
  Real resolve_contacts(State<D>& state, Real dt, bool record_forces);
  bool until_converged() const { return !sweeps_word_.empty(); }
  template <class Sweep>
  Real repeat(const State<D>& state, Sweep&& sweep);
  /// Copies the records to before_. Local.
  void keep_records();
  bool converged(const State<D>& state);
  /// Why the step does not count; empty if it does.
  std::string refusal_of(const State<D>& state);
  bool may_refuse() const { return on_overlap_.may_refuse() && overlap_limit_ > 0; }

  /// The larger of `most` and |displacement|^2; infinite if the latter is not a number.
  static Real farther(Real most, const Vec<D>& displacement) {
    const Real squared = dot(displacement, displacement);
    return squared >= 0 ? std::max(most, squared) : HUGE_VAL;
  }

  static constexpr Real most_approach = 0.5;  // of a centre to a solid in a step, over the radius
  static constexpr Real least_dt = 1e-12;     // steps are not halved further [s]
  static constexpr Real not_given = -1;       // a value the key refuses: see Section::has

  // The deck.
  std::string method_name_ = "pbd";
  Method method_ = Method::pbd;
  std::int64_t sweeps_ = 2;
  std::string sweeps_word_;
  std::int64_t max_sweeps_ = 10'000;
  Real relative_tolerance_ = 1e-10;
  Real absolute_tolerance_ = 1e-12;
  Real warm_start_ = not_given;
  Real compliance_ = not_given;
  Real penalty_rate_ = not_given;
  Real overlap_limit_ = 0.1;
  StepControl on_overlap_{FailureAction::warn};
  std::unique_ptr<VelocityField<D>> field_;

  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<PbdSweeper<D>> sweeper_;
  bool weighted_ = false;
  Real smallest_radius_ = 0;
  // Of the start of the step, if it may be refused.
  std::vector<Vec<D>> start_velocity_;
  ContactField<Real> start_multipliers_;
  std::vector<Vec<D>> before_;  // records before a sweep, for the stopping test or to be added to

  std::int64_t sweeps_done_ = 0;
  bool converged_ = true;
  Real deepest_ = 0;      // overlap that the last sweep met on any rank, or find_pushed_through() [m]
  Real force_scale_ = 0;  // multiplier -> pressure of the last step
  WarnOnce warn_of_long_ways_;
};

template <int D>
void PbdStepper<D>::describe(Section& root) {
  root.table("pbd", {.doc = "Position-based dynamics: the scheme \"pbd\""}, [&](Section& section) {
    section.choice(
        "method", method_name_, {"pbd", "pgs", "pgs_dual", "penalty", "jacobi"},
        {.doc = "\"pbd\" projects on each contact in turn; \"pgs\" on half-spaces frozen at the predicted "
                "positions; \"pgs_dual\" the same with accumulated multipliers; \"penalty\" pushes by a "
                "force; \"jacobi\" averages all corrections (order 1, but 5 to 11 times the error)"});
    section.integer_or_word(
        "sweeps", sweeps_, sweeps_word_, {"converged"},
        {.range = {.least = 1},
         .doc = "Sweeps over all contacts in a step; \"converged\" repeats until the change of one "
                "sweep meets the tolerances (PNGS)"});
    section.integer("max_sweeps", max_sweeps_,
                    {.range = {.least = 1}, .doc = "Sweeps after which \"converged\" gives up and says so"});
    section.real(
        "relative_tolerance", relative_tolerance_,
        {.range = non_negative, .doc = "Of \"converged\": change <= absolute + relative * |positions|"});
    section.real(
        "absolute_tolerance", absolute_tolerance_,
        {.unit = Unit::length, .range = non_negative, .doc = "Of \"converged\", see relative_tolerance"});
    section.real(
        "warm_start", warm_start_,
        {.range = unit_interval,
         .doc = "Share of each contact's multiplier that the next step starts from; 0 switches the memory "
                "off (the published method). For \"pbd\" only, where it is 0.9 if not given"});
    section.real("compliance", compliance_,
                 {.unit = Unit::time,
                  .range = non_negative,
                  .doc = "Overlap of a contact per pressure it carries [m per m/s]. For \"pbd\" only, where "
                         "contact is hard if it is not given"});
    section.real("penalty_rate", penalty_rate_,
                 {.unit = Unit::rate, .range = non_negative, .doc = "Of \"penalty\": velocity per overlap"});
    section.real(
        "overlap_limit", overlap_limit_,
        {.range = non_negative,
         .doc = "Largest overlap that a step's last sweep may meet, as a share of the smallest radius; 0 "
                "switches the test off"});
    using enum FailureAction;
    on_overlap_.describe(
        section, "on_overlap", {warn, halve, stop},
        {.doc = "What happens beyond overlap_limit: a warning, the step again with half the length, or the "
                "end of the run"});
    if (!section.reading()) return;
    const std::vector<std::string> names{"pbd", "pgs", "pgs_dual", "penalty", "jacobi"};
    method_ = static_cast<Method>(std::find(names.begin(), names.end(), method_name_) - names.begin());
    const auto only_for = [&](Method method, std::string_view key, Real& value, Real otherwise) {
      if (value > 0 && method_ != method)
        section.fail(key,
                     std::string(key) + " has no effect with method = \"" + method_name_ + "\": remove it");
      if (value == not_given) value = method_ == method ? otherwise : 0;
    };
    only_for(Method::pbd, "warm_start", warm_start_, 0.9);
    only_for(Method::pbd, "compliance", compliance_, 0);
    only_for(Method::penalty, "penalty_rate", penalty_rate_, 0);
    if (method_ == Method::penalty && penalty_rate_ == 0)
      section.fail("penalty_rate", "method = \"penalty\" needs penalty_rate > 0");
  });
  root.table("velocity", {.required = true, .doc = "The velocity that a body has when nothing touches it"},
             [&](Section& section) {
               section.kind("type", field_, {.required = true, .doc = "Kind of velocity field"});
             });
}

template <int D>
Real PbdStepper<D>::travel_per_step(const State<D>& state, Real dt) const {
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  std::vector<Vec<D>> velocity(n);
  field_->evaluate(state.clock.time, state.bodies.position().first(n), velocity);
  Real fastest = 0;
  for (const Vec<D>& v : velocity) fastest = std::max(fastest, norm(v));
  const Real time = state.clock.time;
  return std::max(fastest * dt, state.obstacles.travel(time, time + dt, state.box));
}

template <int D>
void PbdStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real /*dt*/) {
  neighborhood_ = &neighborhood;
  sweeper_ = std::make_unique<PbdSweeper<D>>(neighborhood);
  find_properties(state);
  prepare_sweeps(state);
}

template <int D>
void PbdStepper<D>::find_properties(const State<D>& state) {
  const auto mobility = state.bodies.mobility().first(static_cast<std::size_t>(state.bodies.n_owned()));
  weighted_ = state.comm.any(std::any_of(mobility.begin(), mobility.end(), [](Real w) { return w != 1; }));
  find_smallest_radius(state);
}

template <int D>
void PbdStepper<D>::prepare_sweeps(State<D>& state) {
  sweeper_->prepare(state, weighted_);
  sweeper_->owned_records_written();
  // The multipliers are with the sweeper now, and save() brings them back.
  state.memory = {};
}

template <int D>
void PbdStepper<D>::find_smallest_radius(const State<D>& state) {
  const auto radius = state.bodies.radius().first(static_cast<std::size_t>(state.bodies.n_owned()));
  smallest_radius_ =
      state.comm.min(radius.empty() ? HUGE_VAL : *std::min_element(radius.begin(), radius.end()));
}

template <int D>
void PbdStepper<D>::save(State<D>& state) {
  if (keeps_multipliers()) {
    state.memory = sweeper_->multipliers().remember(state, *neighborhood_);
  } else {
    state.memory.clear(state.bodies.n_owned());
  }
}

template <int D>
void PbdStepper<D>::save_for_change(State<D>& state) {
  // Without multipliers to start from, steps begin with none, whatever is kept here.
  state.memory = sweeper_->multipliers().remember(state, *neighborhood_);
}

template <int D>
void PbdStepper<D>::rebuild(State<D>& state, Real needed_skin) {
  save(state);
  // Where the step started goes through the list build with the bodies.
  BodyStore<D>& bodies = state.bodies;
  const bool carries_path = bodies.carries_path();
  if (!carries_path) {
    bodies.carry_path(true);
    std::copy_n(bodies.position().begin(), bodies.n_owned(), bodies.previous().begin());
  }
  sweeper_->store(state);
  const std::int64_t n_removed = neighborhood_->n_removed();
  neighborhood_->rebuild(state, needed_skin);
  if (neighborhood_->n_removed() != n_removed) find_smallest_radius(state);  // a restart could not know it
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
typename PbdStepper<D>::Prediction PbdStepper<D>::predict(State<D>& state, Real time, Real dt) {
  Scope timer("free motion");
  // Beyond the cache a step costs what it moves, so each array is gone through once: the velocities of a
  // stretch of bodies are used while they are at hand and not kept.
  BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  const auto position = std::as_const(bodies).position().first(n);
  const auto previous = bodies.previous();
  const auto listed = std::as_const(bodies).listed();
  const auto mobility = std::as_const(bodies).mobility();
  const auto records = sweeper_->records();
  constexpr std::size_t stretch = 256;
  std::array<Vec<D>, stretch> velocity;
  Real most = 0, fastest_squared = 0;
  for (std::size_t first = 0; first < n; first += stretch) {
    const std::size_t count = std::min(stretch, n - first);
    field_->evaluate(time, position.subspan(first, count), std::span(velocity).first(count));
    if (!previous.empty()) std::ranges::copy(position.subspan(first, count), previous.begin() + first);
    if (weighted_)
      for (std::size_t k = 0; k < count; ++k)
        if (mobility[first + k] == 0) velocity[k] = Vec<D>{};
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = first + k;
      const Vec<D> y = position[i] + dt * velocity[k];
      for (int c = 0; c < D; ++c) records[i].x[c] = y[c];
      most = farther(most, y - listed[i]);
      fastest_squared = std::max(fastest_squared, dot(velocity[k], velocity[k]));
    }
  }
  sweeper_->owned_records_written();
  Prediction prediction{.moved_squared = most};
  // Only then it matters which body it is.
  if (dt * std::sqrt(fastest_squared) > reach(state) * smallest_radius_)
    for (std::size_t i = 0; i < n; ++i)
      prediction.way_over_radius =
          std::max(prediction.way_over_radius, norm(predicted_way(state, i)) / records[i].radius);
  return prediction;
}

template <int D>
Real PbdStepper<D>::finish(State<D>& state, Real dt) {
  Scope timer("velocities");
  BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  const auto position = bodies.position();
  const auto velocity = bodies.velocity();
  const auto listed = std::as_const(bodies).listed();
  const auto records = sweeper_->records();
  const Real rate = 1 / dt;
  Real most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D> x;
    for (int c = 0; c < D; ++c) x[c] = records[i].x[c];
    const Vec<D> start = position[i];
    for (int c = 0; c < D; ++c) records[i].x[c] = start[c];
    position[i] = x;
    velocity[i] = (x - start) * rate;
    most = farther(most, x - listed[i]);
  }
  return most;
}

template <int D>
void PbdStepper<D>::find_pushed_through(const State<D>& state) {
  // From where it may be without a word, a centre needs half of its free way to get into a solid.
  constexpr Real least_share = 0.5 * most_approach;
  const auto position = state.bodies.position();
  const auto records = sweeper_->records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Vec<D> start = position_of<D>(records[i]), way = position[i] - start;
    const Real least = least_share * records[i].radius;
    if (dot(way, way) > least * least &&
        state.obstacles.way_meets_solid(start, position[i], 0.01 * records[i].radius))
      deepest_ = std::max(deepest_, records[i].radius);
  }
}

template <int D>
void PbdStepper<D>::keep_start(const State<D>& state) {
  if (!may_refuse()) return;
  const auto velocity = state.bodies.velocity().first(static_cast<std::size_t>(state.bodies.n_owned()));
  start_velocity_.assign(velocity.begin(), velocity.end());
  start_multipliers_ = sweeper_->multipliers();
}

template <int D>
void PbdStepper<D>::take_back(State<D>& state) {
  sweeper_->store(state);
  if (may_refuse()) std::ranges::copy(start_velocity_, state.bodies.velocity().begin());
}

template <int D>
void PbdStepper<D>::advance(State<D>& state, Real dt, bool record_forces) {
  const Real start_time = state.clock.time;
  on_overlap_.begin_step();
  state.obstacles.begin_step();
  const Real asked = dt;
  Real uncut = dt;  // but for halvings
  dt = cut_for_obstacles(state, dt);
  while (true) {
    Real used = predict_within_reach(state, dt);
    // A skin that was widened for the corrections of the last step goes back: most need no more than the
    // usual.
    const bool widened = state.lattice.skin > state.lattice.usual_skin;
    bool fresh = used > 0.25 * state.lattice.skin || widened;
    if (fresh) rebuild(state, 0);
    used = attempt(state, dt, record_forces);
    // Corrections move bodies too. Beyond half the skin a contact may have been missed: again, with
    // candidates found where the bodies are headed, then with wider and wider lists.
    while (used > 0.5 * state.lattice.skin) {
      if (fresh && state.lattice.skin >= neighborhood_->widest_skin(state)) {
        neighborhood_->note_step_beyond_list(state, 2 * used);
        break;
      }
      take_back(state);
      predict(state, start_time, dt);
      rebuild(state, fresh ? 2.2 * used : state.lattice.skin);  // of which half is used, and a little room
      fresh = true;
      used = attempt(state, dt, record_forces);
    }
    state.clock.time = start_time;
    const std::string refusal = refusal_of(state);
    if (refusal.empty()) break;
    take_back(state);
    state.obstacles.place(start_time);
    if (on_overlap_.action() == FailureAction::stop || dt < least_dt) {
      sweeper_->set_multipliers(start_multipliers_);
      if (state.clock.listed_time > start_time) {  // a list of this step is of a time that has not come
        save(state);
        bodies_changed(state);
      }
      refuse_step(state.clock, refusal + "; reduce [time] step or raise [pbd] sweeps");
    }
    dt = on_overlap_.halve(state.clock, refusal, dt);
    uncut *= 0.5;
  }
  if (dt < uncut)
    neighborhood_->note_cut_step(state, asked, dt, "bodies or obstacles would go too far towards each other");
  state.clock.last_dt = dt;
  force_scale_ = 1 / dt;
}

template <int D>
Real PbdStepper<D>::attempt(State<D>& state, Real dt, bool record_forces) {
  keep_start(state);
  deepest_ = resolve_contacts(state, dt, record_forces);
  const Real moved = finish(state, dt);
  if (state.obstacles.any_far_side()) find_pushed_through(state);
  return neighborhood_->used_skin(state, moved, 0, &deepest_);
}

template <int D>
Real PbdStepper<D>::resolve_contacts(State<D>& state, Real dt, bool record_forces) {
  sweeps_done_ = 0;
  converged_ = true;
  Real deepest = 0;
  switch (method_) {
    case Method::pbd: {
      const bool accumulates = keeps_multipliers();
      typename PbdSweeper<D>::Parameters parameters{.compliance = compliance_ / dt, .scale = 0};
      if (warm_start_ > 0) {
        // Multipliers are displacements: a shorter step needs them in proportion. After a very short step
        // they are little but corrections of earlier overlap, so they never grow.
        const Real last_dt = state.clock.last_dt;
        parameters.scale = warm_start_ * (last_dt > dt ? dt / last_dt : 1);
        sweeper_->sweep(state, PairMode::warm, parameters, {.first = true, .last = until_converged()});
      } else if (accumulates || record_forces) {
        sweeper_->clear_multipliers();
      }
      const PairMode mode = accumulates     ? PairMode::accumulate
                            : record_forces ? PairMode::record
                                            : PairMode::plain;
      const bool follows = warm_start_ > 0 && !until_converged();
      deepest = repeat(state, [&](SweepTurn turn) {
        turn.first = turn.first && !follows;
        return sweeper_->sweep(state, mode, parameters, turn);
      });
      break;
    }
    case Method::pgs:
    case Method::pgs_dual: {
      const auto mode = method_ == Method::pgs ? FrozenMode::halfspaces : FrozenMode::halfspaces_dual;
      sweeper_->clear_multipliers();
      sweeper_->freeze();
      deepest = repeat(state, [&](SweepTurn turn) { return sweeper_->frozen_sweep(state, mode, 0, turn); });
      break;
    }
    case Method::penalty: {
      // Explicit Euler: the force acts where the step starts.
      keep_records();
      sweeper_->clear_multipliers();
      sweeper_->freeze(std::as_const(state.bodies).position());
      sweeper_->clear_records();
      deepest = sweeper_->frozen_sweep(state, FrozenMode::penalty, penalty_rate_ * dt);
      sweeps_done_ = 1;
      const auto records = sweeper_->records();
      for (std::size_t i = 0; i < records.size(); ++i)
        for (int k = 0; k < D; ++k) records[i].x[k] = before_[i][k] + records[i].x[k];
      break;
    }
    case Method::jacobi: {
      sweeper_->clear_multipliers();
      deepest = repeat(state, [&](SweepTurn) {
        sweeper_->freeze();
        sweeper_->count_contacts(state);
        sweeper_->clear_records();
        const Real met = sweeper_->frozen_sweep(state, FrozenMode::jacobi);
        const auto records = sweeper_->records();
        for (std::size_t i = 0; i < records.size(); ++i)
          for (int k = 0; k < D; ++k) records[i].x[k] += sweeper_->reference()[i][k];
        return met;
      });
      break;
    }
  }
  return std::max(deepest, sweeper_->keep_sides(state, state.clock.time));
}

template <int D>
Real PbdStepper<D>::predict_within_reach(State<D>& state, Real& dt) {
  const Real start_time = state.clock.time;
  while (true) {
    const Prediction prediction = predict(state, start_time, dt);
    state.obstacles.place(start_time + dt);
    state.clock.time = start_time + dt;
    Real way = prediction.way_over_radius;  // the longest on any rank
    const Real used = neighborhood_->used_skin(state, prediction.moved_squared, 0, &way);
    if (way > reach(state) && state.obstacles.any_far_side()) {
      const Real shorter = cut_for_bodies(state, start_time, dt);
      if (shorter < dt) {
        dt = shorter;
        state.clock.time = start_time;
        continue;
      }
    }
    if (way > 1)
      warn_of_long_ways_({.step = state.clock.step, .time = start_time}, [&] {
        return fmt::format(
            "bodies go further than their radius in a step of {:.3g} s and may pass each other where their "
            "ways cross; reduce [time] step if they should not. Further steps are not named",
            dt);
      });
    return used;
  }
}

template <int D>
Real PbdStepper<D>::cut_for_obstacles(const State<D>& state, Real dt) const {
  if (!state.obstacles.moves()) return dt;
  constexpr Real least_share = 0.1;  // lists that reach less far than this are made wider instead
  const Real limit = smallest_radius_ * std::clamp(0.5 * state.lattice.skin / smallest_radius_, least_share,
                                                   most_approach - reach(state));
  const Real time = state.clock.time;
  // From end to end, and by how fast surfaces are: one that turns by a whole circle ends where it began.
  constexpr Real instant = 1e-3;  // of the step
  const auto way_of_obstacles = [&] {
    Real most = state.obstacles.travel(time, time + dt, state.box);
    for (const Real share : {0.0, 0.5, 1 - instant}) {
      const Real at = time + share * dt;
      most = std::max(most, state.obstacles.travel(at, at + instant * dt, state.box) / instant);
    }
    return most;
  };
  // It is nearly in proportion to time; where it is not, a few rounds find the length.
  constexpr int most_rounds = 20;
  for (int round = 0; round < most_rounds; ++round) {
    const Real travel = way_of_obstacles();
    if (!(travel > limit)) break;
    dt /= std::ceil(travel / limit);
  }
  return dt;
}

template <int D>
Real PbdStepper<D>::cut_for_bodies(State<D>& state, Real start_time, Real dt) const {
  const auto position = std::as_const(state.bodies).position();
  Real most = 0;  // way over what is allowed
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const Vec<D> way = predicted_way(state, i);
    const Real radius = state.bodies.radius()[i], share = norm(way) / (reach(state) * radius);
    if (share > 1 && std::isfinite(share) &&  // what is not finite is told with the list
        state.obstacles.way_meets_solid(position[i], position[i] + way, (1 - most_approach) * radius))
      most = std::max(most, share);
  }
  most = state.comm.max(most);
  constexpr Real most_parts = 1 << 20;
  if (most > most_parts) {
    state.clock.time = start_time;
    state.obstacles.place(start_time);
    neighborhood_->refuse_way(
        state, dt, [&](std::size_t i, Real within) { return (within / dt) * predicted_way(state, i); });
  }
  return most > 0 ? dt / std::max(2.0, std::ceil(most)) : dt;
}

template <int D>
template <class Sweep>
Real PbdStepper<D>::repeat(const State<D>& state, Sweep&& sweep) {
  const std::int64_t most = until_converged() ? max_sweeps_ : sweeps_;
  converged_ = !until_converged();
  Real deepest = 0;
  while (sweeps_done_ < most) {
    if (until_converged()) keep_records();
    // The stopping test reads what owners have.
    deepest = sweep(until_converged() ? SweepTurn{} : SweepTurn::of(sweeps_done_, most));
    ++sweeps_done_;
    if (until_converged() && converged(state)) {
      converged_ = true;
      break;
    }
  }
  return deepest;
}

template <int D>
void PbdStepper<D>::keep_records() {
  const auto records = sweeper_->records();
  before_.resize(records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    for (int k = 0; k < D; ++k) before_[i][k] = records[i].x[k];
}

template <int D>
bool PbdStepper<D>::converged(const State<D>& state) {
  const auto records = sweeper_->records();
  std::array<Real, 2> sums{};  // |change|^2, |positions|^2
  ReproducibleSum::sum(state.comm, records.size(), sums, [&](std::size_t i, std::span<Real> terms) {
    terms[0] = terms[1] = 0;
    for (int k = 0; k < D; ++k) {
      const Real change = records[i].x[k] - before_[i][k];
      terms[0] += change * change;
      terms[1] += before_[i][k] * before_[i][k];
    }
  });
  return std::sqrt(sums[0]) <= absolute_tolerance_ + relative_tolerance_ * std::sqrt(sums[1]);
}

template <int D>
std::string PbdStepper<D>::refusal_of(const State<D>& state) {
  const Real limit = overlap_limit_ * smallest_radius_;
  if (overlap_limit_ == 0 || deepest_ <= limit) return {};
  // In words only when they are said: most steps beyond the limit are just counted.
  const auto what = [&] {
    return fmt::format("overlap {:.3g} m exceeds overlap_limit = {:g} of the smallest radius ({:.3g} m)",
                       deepest_, overlap_limit_, limit);
  };
  if (may_refuse()) return what();
  on_overlap_.warn(state.clock, what);
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
  return {{"sweeps", "-", static_cast<Real>(sweeps_done_)},
          {"sweeps_converged", "-", converged_ ? 1.0 : 0.0, true},
          {"overlap_met", "m", deepest_},
          {"halvings", "-", static_cast<Real>(on_overlap_.n_halvings())}};
}

SCREE_PLUGIN(Stepper, pbd, PbdStepper,
             "first-order position-based dynamics: bodies kept apart by sweeps on positions")

}  // namespace scree
