#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "schemes/common/grain_motion.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/event/engine.hpp"
#include "schemes/event/gather.hpp"
#include "state/force_field.hpp"
#include "state/step_messages.hpp"

namespace scree {

/// Few rigid bodies without friction, exact in time from impact to impact (docs/method.md, "Impacts"):
///     x'' = g between impacts; at an impact, a law for all constraints that the bodies touch at once
/// time.step is the distance of output alone. Every rank computes all bodies for itself, from the same
/// numbers, hence the same bits on any number of ranks. Ranks: collective; memory and time do not scale.
template <int D>
class EventStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override;
  SchemeTraits traits() const override {
    return {.field_set = FieldSet::with_inertia, .balances_energy = true, .exports_forces = false};
  }
  ListRequirements list_requirements(const State<D>&, Real /*dt*/, Real /*largest_radius*/) const override {
    return {};
  }
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state, SaveFor) override { state.memory.clear(state.bodies.n_owned()); }
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;

 private:
  static constexpr std::int64_t max_bodies = 2000;
  static constexpr Real overlap_limit = 1e-3;  // as a share of the radius, beyond the widest tolerance

  void refuse_what_it_cannot_do(const State<D>& state) const;
  void refuse_slides_without_hops(const State<D>& state) const;
  void fit(const State<D>& state);
  void list_pieces(const State<D>& state);
  Real rest_speed(const State<D>& state) const;
  Real energy(const State<D>& state) const;

  // The deck.
  std::unique_ptr<ImpactLaw<D>> law_;
  Real tolerance_ = 1e-9;
  Real rest_speed_ = 0;
  std::string rest_speed_word_ = "auto", where_;
  std::int64_t max_events_ = 100'000;

  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<EventEngine<D>> engine_;
  std::vector<FlyingBody<D>> bodies_;  // of all ranks
  std::vector<FixedPiece<D>> pieces_;
  Real energy_error_ = 0;
  ContactGraph<D> contacts_;  // of changes of bodies and obstacles
};

template <int D>
void EventStepper<D>::describe(Section& root) {
  root.table(
      "event", {.doc = "Few bodies from impact to impact: the scheme \"event\""}, [&](Section& section) {
        section.real("tolerance", tolerance_,
                     {.range = {.min = 0, .max = 1e-3, .min_open = true},
                      .doc = "Bodies touch up to this gap, as a share of the sum of their radii: they take "
                             "part in the same impact"});
        section.real_or_word("rest_speed", rest_speed_, rest_speed_word_, {"auto"},
                             {.unit = Unit::speed,
                              .range = non_negative,
                              .doc = "Bodies that approach at most this fast do not rebound unless their "
                                     "restitution is 1; \"auto\": a thousandth of the speed of a fall by the "
                                     "smallest diameter"});
        section.integer("max_events", max_events_,
                        {.range = {.min = 1}, .doc = "Most events in a step; beyond, the run ends"});
        section.kind("impact_law", law_, {.required = true, .doc = "Law of simultaneous impacts"});
        if (section.reading()) where_ = section.where("rest_speed");
      });
}

template <int D>
void EventStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real /*dt*/) {
  neighborhood_ = &neighborhood;
  refuse_what_it_cannot_do(state);
  refuse_slides_without_hops(state);
  typename EventEngine<D>::Settings settings;
  settings.tolerance = tolerance_;
  settings.max_events = max_events_;
  settings.gravity = state.gravity;
  settings.restitution = [&materials = state.materials](int a, int b) {
    return materials.pair(a, b)->restitution;
  };
  engine_ = std::make_unique<EventEngine<D>>(*law_, std::move(settings));
  fit(state);
}

/// Bodies that do not rebound stay in contact with the inside of a sphere, along which they hop at
/// rest_speed.
template <int D>
void EventStepper<D>::refuse_slides_without_hops(const State<D>& state) const {
  if (rest_speed_word_.empty() ? rest_speed_ > 0 : norm(state.gravity) > 0) return;
  for (std::size_t i = 0; i < state.obstacles.list().size(); ++i) {
    const Obstacle<D>& obstacle = state.obstacles.list()[i];
    const auto pieces = obstacle.shape->pieces(0);
    if (std::ranges::none_of(pieces, [](const SurfacePiece<D>& piece) { return piece.front < 0; })) continue;
    for (const int a : state.type_material) {
      if (state.materials.pair(a, state.obstacle_material[i])->restitution > 0) continue;
      throw InputError(
          fmt::format("{}: rest_speed is 0 (\"auto\" without gravity), but bodies of {} do not rebound from "
                      "the inside of obstacle \"{}\" (restitution = 0), along which they slide in hops: set "
                      "it above 0",
                      where_, state.materials.name(a), obstacle.name));
    }
  }
}

template <int D>
void EventStepper<D>::refuse_what_it_cannot_do(const State<D>& state) const {
  for (int k = 0; k < D; ++k)
    if (state.box.is_periodic(k))
      throw InputError("the scheme \"event\" knows no periodic axes: leave [domain] periodic out");
  if (!state.forces.empty())
    throw InputError(fmt::format("{}: the scheme \"event\" knows no force but gravity: remove [forces.{}]",
                                 state.forces[0]->where(), state.forces[0]->name()));
  for (std::size_t i = 0; i < state.obstacles.list().size(); ++i) {
    const Obstacle<D>& obstacle = state.obstacles.list()[i];
    if (obstacle.motion)
      throw InputError(
          fmt::format("{}: obstacle \"{}\" has a motion; the scheme \"event\" takes fixed obstacles only",
                      obstacle.where, obstacle.name));
    if (obstacle.surface_velocity != Vec<D>{})
      throw InputError(
          fmt::format("{}: obstacle \"{}\" has a surface_velocity; the scheme \"event\" knows no "
                      "belts",
                      obstacle.where, obstacle.name));
    if (obstacle.shape->pieces(0).empty())
      throw InputError(
          fmt::format("{}: the scheme \"event\" has no contact times for a shape like that of "
                      "obstacle \"{}\"; it takes planes, spheres, containers{}",
                      obstacle.where, obstacle.name, D == 2 ? ", and all shapes with straight edges" : ""));
  }
  for (const int a : state.type_material) {
    std::vector<int> others = state.type_material;
    others.insert(others.end(), state.obstacle_material.begin(), state.obstacle_material.end());
    for (const int b : others)
      if (state.materials.pair(a, b)->friction > 0 || state.materials.pair(a, b)->rolling_friction > 0)
        throw InputError(
            fmt::format("{}: [pairs.\"{}-{}\"] has friction; the scheme \"event\" knows impacts "
                        "without friction only: set it to 0",
                        state.materials.where(a), state.materials.name(a), state.materials.name(b)));
  }
}

/// What depends on the bodies present.
template <int D>
void EventStepper<D>::fit(const State<D>& state) {
  const std::int64_t n = state.comm.sum(std::int64_t{state.bodies.n_owned()});
  if (n > max_bodies)
    throw InputError(
        fmt::format("there are {} bodies; the scheme \"event\" is for up to {}, every rank "
                    "computes all of them",
                    n, max_bodies));
  list_pieces(state);
}

template <int D>
void EventStepper<D>::list_pieces(const State<D>& state) {
  pieces_.clear();
  for (int c = 0; c < state.obstacles.n_constraints(); ++c) {
    const int obstacle = state.obstacles.obstacle_of(c);
    if (!state.obstacles.active(obstacle)) continue;
    const Obstacle<D>& placed = state.obstacles.list()[obstacle];
    const Pose<D> pose = placed.placement.value_or(Pose<D>{});
    for (SurfacePiece<D> piece : placed.shape->pieces(state.obstacles.part_of(c))) {
      if (placed.placement) {
        piece.point = pose.to_world(piece.point);
        piece.normal = pose.direction_to_world(piece.normal);
        piece.tangent = pose.direction_to_world(piece.tangent);
      }
      pieces_.push_back({piece, c, state.obstacle_material[obstacle]});
    }
  }
}

template <int D>
void EventStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  bodies_ = gather_bodies(state);
  engine_->set_rest_speed(rest_speed(state));
  const Real before = energy(state);
  {
    Scope timer("events");
    engine_->advance(bodies_, pieces_, dt, step_label(state.clock));
  }
  energy_error_ = energy(state) - before + engine_->counts().dissipated;
  scatter_bodies(bodies_, state);
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    bodies.orientation()[i] = turned<D>(bodies.orientation()[i], bodies.angular_velocity()[i], dt);
  state.energy_balance.impact += engine_->counts().dissipated;
  if (neighborhood_->needs_rebuild(state, 0.25, {}, dt)) {
    save(state, SaveFor::checkpoint);
    rebuild_list(state, *neighborhood_, {}, state.clock.time + dt);
  }
  state.clock.last_dt = dt;
}

template <int D>
void EventStepper<D>::bodies_changed(State<D>& state) {
  rebuild_list(state, *neighborhood_);
  fit(state);
  // Impacts do not take apart what overlaps: a stage may add an obstacle where bodies are.
  neighborhood_->detect(state, {}, contacts_);
  const Real before = std::max(0.0, -engine_->smallest_gap());  // of the start
  const Real beyond = overlap_beyond(state, contacts_, overlap_limit);
  if (beyond > 0 && deepest_overlap(state, contacts_) > 1.01 * before)
    refuse_step(state.clock,
                who_overlaps(state, contacts_, overlap_limit, beyond) +
                    ", which impacts do not take apart; does add_obstacles of a stage put an obstacle on "
                    "bodies? The scheme \"nonsmooth\" does");
}

/// Of the bodies that are there, so that a run from a checkpoint finds it again [m/s].
template <int D>
Real EventStepper<D>::rest_speed(const State<D>& state) const {
  if (rest_speed_word_.empty()) return rest_speed_;
  if (bodies_.empty()) return 0;
  constexpr Real share = 1e-3;
  const Real smallest = std::ranges::min_element(bodies_, {}, &FlyingBody<D>::radius)->radius;
  return share * 2 * std::sqrt(norm(state.gravity) * smallest);
}

/// Of the motion of the centres [J].
template <int D>
Real EventStepper<D>::energy(const State<D>& state) const {
  Real sum = 0;
  for (const FlyingBody<D>& body : bodies_)
    if (!body.fixed)
      sum += body.mass * (0.5 * dot(body.velocity, body.velocity) - dot(state.gravity, body.position));
  return sum;
}

template <int D>
void EventStepper<D>::find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_->detect(state, {.tolerance = tolerance}, contacts);
  contacts.force.assign(contacts.size(), 0.0);
  if (state.clock.last_dt == 0 || !engine_) return;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto id = [&](Index i) { return state.bodies.id()[i]; };
    const std::pair key{id(contacts.a[c]),
                        contacts.b[c] < 0 ? GlobalId{-1} - contacts.wall[c] : id(contacts.b[c])};
    const auto of = [](const ContactImpulse& impulse) { return std::pair(impulse.a, impulse.b); };
    const auto found = std::ranges::lower_bound(engine_->impulses(), key, {}, of);
    if (found != engine_->impulses().end() && of(*found) == key)
      contacts.force[c] = found->magnitude / state.clock.last_dt;
  }
}

template <int D>
std::vector<CertificateEntry> EventStepper<D>::certificate() const {
  const EventCounts& counts = engine_->counts();
  return {{"events", "-", static_cast<Real>(counts.events)},
          {"impacts", "-", static_cast<Real>(counts.impacts)},
          {"law_steps", "-", static_cast<Real>(counts.law_steps)},
          {"unresolved", "-", static_cast<Real>(counts.unresolved)},
          {"hops", "-", static_cast<Real>(counts.hops)},
          {"energy_error", "J", energy_error_},
          {"max_overlap", "m", std::max(0.0, -engine_->smallest_gap())}};
}

SCREE_PLUGIN(Stepper, event, EventStepper,
             "few rigid bodies without friction, from impact to impact at exact times")

}  // namespace scree
