#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numbers>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "dynamics/dem/constraint_friction.hpp"
#include "dynamics/dem/spring_motion.hpp"
#include "dynamics/force_field.hpp"
#include "dynamics/grain_motion.hpp"
#include "dynamics/stepper.hpp"

namespace scree {

/// Soft bodies that overlap a little where they touch: the discrete element method of P. A. Cundall and
/// O. D. L. Strack, Geotechnique 29 (1979) 47-65 (docs/method.md, "Soft contact", eq. H.1-H.8).
///     m x'' = m g + F_fields + sum of contact forces,  I omega' = sum of torques of friction
/// by velocity Verlet; with friction as a constraint by the integrator of the deck. Units: SI; disks are 1 m
/// thick. Ranks: collective, the same bits on any number of ranks. Errors: a step beyond the stability limit
/// of the stiffest body is refused.
template <int D>
class DemStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override;
  Carried carries() const override {
    return is_constrained() ? ConstraintFriction<D>::carries(integrator()) : Carried::with_accelerations;
  }
  // Forces of a step are summed by body, not by contact, and elastic energy comes and goes.
  bool keeps_energy_books() const override { return false; }
  Real travel_per_step(const State<D>& state, Real dt) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state) override;
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;
  std::size_t bytes() const override;

 private:
  bool is_constrained() const { return friction_ == "dae"; }
  std::string integrator() const { return integrator_.empty() ? "gear" : integrator_; }
  void fit(State<D>& state);
  void refresh(State<D>& state, Real dt);
  Real farthest_after_drift(const State<D>& state, Real dt) const;
  void check_step(const State<D>& state, Real dt) const;
  void check_overlap(const State<D>& state) const;

  // The deck.
  std::string law_name_ = "hertz";
  NormalLaw law_ = NormalLaw::hertz;
  std::string friction_ = "spring";
  bool attraction_ = true;
  std::string integrator_;  // empty: not given
  bool projection_ = true;
  Real overlap_limit_ = 0.3;

  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<DemMotion<D>> motion_;
  GlobalId first_new_id_ = 0;  // bodies from here on were made after the last step
  Real smallest_radius_ = 0;
};

template <int D>
void DemStepper<D>::describe(Section& root) {
  root.table("dem", {.doc = "Soft contact: the scheme \"dem\""}, [&](Section& section) {
    section.choice(
        "law", law_name_, {"hertz", "linear"},
        {.doc = "Normal force of a contact: \"hertz\" with the moduli of the materials (and Mindlin's "
                "tangential stiffness), \"linear\" with [pairs] stiffness and tangential_ratio (2/7 "
                "if not given)"});
    section.choice("friction", friction_, {"spring", "dae", "none"},
                   {.doc = "\"spring\": a tangential spring per contact that slides at Coulomb's limit; "
                           "\"dae\": contacts that stick are constraints on velocities, so piles come to "
                           "rest exactly; \"none\": no friction, whatever [pairs] say"});
    section.boolean(
        "attraction", attraction_,
        {.doc =
             "Whether damping may make a normal force pull as bodies part, as in most such codes. Without it "
             "damping is made stronger: both give the restitution asked for (not below 0.02 without). "
             "friction = \"dae\" never pulls, and bodies part faster"});
    std::vector<std::string> integrators;
    for (const Entry<Integrator<D>>& entry : registry<Integrator<D>>()) integrators.emplace_back(entry.name);
    section.choice("integrator", integrator_, integrators,
                   {.doc = "With friction = \"dae\": the scheme in time; \"gear\" if not given. All others "
                           "take velocity Verlet"});
    section.boolean(
        "projection", projection_,
        {.doc = "With friction = \"dae\": whether velocities are projected after each step to those that "
                "sticking contacts allow. Without it they drift, and nothing comes to rest"});
    section.real("overlap_limit", overlap_limit_,
                 {.range = positive,
                  .doc = "Deepest overlap as a share of the smallest radius; beyond, the run ends"});
    if (!section.reading()) return;
    law_ = law_name_ == "hertz" ? NormalLaw::hertz : NormalLaw::linear;
    if (is_constrained()) return;
    if (!integrator_.empty())
      section.fail("integrator", "integrator has no effect without friction = \"dae\": remove it");
    if (!projection_)
      section.fail("projection", "projection = false has no effect without friction = \"dae\": remove it");
  });
}

template <int D>
Real DemStepper<D>::travel_per_step(const State<D>& state, Real dt) const {
  // The skin is for the many, and most bodies are far slower than the fastest will ever be.
  constexpr Real usual_share = 0.1;
  return usual_share * fastest_fall(state) * dt;
}

template <int D>
void DemStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) {
  require_stable_forces(state, dt);
  neighborhood_ = &neighborhood;
  first_new_id_ = state.next_id;
  if (is_constrained())
    motion_ = std::make_unique<ConstraintFriction<D>>(
        state, neighborhood, typename ConstraintFriction<D>::Settings{law_, integrator(), projection_});
  else
    motion_ = std::make_unique<SpringMotion<D>>(
        state, neighborhood, typename SpringMotion<D>::Settings{law_, attraction_, friction_ == "spring"});
  fit(state);
  check_step(state, dt);
  motion_->start(dt);
}

/// What depends on the bodies present and on the candidates.
template <int D>
void DemStepper<D>::fit(State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  const auto radius = bodies.radius().first(n);
  smallest_radius_ =
      state.comm.min(radius.empty() ? HUGE_VAL : *std::min_element(radius.begin(), radius.end()));
  for (std::size_t i = 0; i < n; ++i)
    if (bodies.id()[i] >= first_new_id_) motion_->set_free(i);
  first_new_id_ = state.next_id;
  motion_->prepare();
}

template <int D>
void DemStepper<D>::check_step(const State<D>& state, Real dt) const {
  const StepLimit found = find_step_limit(state, motion_->laws(), law_);
  if (found.body < 0) return;
  const bool hertz = law_ == NormalLaw::hertz;
  const std::string limit =
      fmt::format("{:.4g} s, {} of body {}", found.limit,
                  hertz ? "the Rayleigh time" : "the stability limit of a contact", found.body);
  // Shares that users of such codes go by; see docs/method.md.
  const Real scale = hertz ? found.rayleigh_time : found.collision_time;
  // With fewer than 35 steps a period stacks of constrained contacts gain energy.
  const Real period = std::numbers::pi * found.limit;
  const Real advised = hertz ? 0.2 * scale : is_constrained() ? period / 35 : 0.1 * scale;
  if (dt > found.limit)
    throw InputError(fmt::format("time.step = {:.4g} s is unstable: it exceeds {}; take at most {:.2g} s", dt,
                                 limit, advised));
  const std::string share = fmt::format("time.step is {:.2g} % of the {} of {:.4g} s", 100 * dt / scale,
                                        hertz ? "Rayleigh time" : "collision time", scale);
  if (dt > 1.001 * advised)
    log::warn("{}; at most {:.2g} s is advised", share, advised);
  else
    log::detail("{}", share);
}

template <int D>
void DemStepper<D>::save(State<D>& state) {
  state.memory = motion_->remember();
}

template <int D>
void DemStepper<D>::bodies_changed(State<D>& state) {
  rebuild_with_books(state, *neighborhood_);
  fit(state);
}

template <int D>
void DemStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  // Every rank holds its own bodies and ghosts of those within reach of this step.
  refresh(state, dt);
  motion_->step(dt);
  check_overlap(state);
  state.clock.last_dt = dt;
}

/// Finds candidates anew if the drift of this step would leave the reach of the present ones.
template <int D>
void DemStepper<D>::refresh(State<D>& state, Real dt) {
  // Two bodies that approach each other use up the skin twice as fast as one; where only an estimate says how
  // far they will get, some of it is left.
  const Real share_of_skin = is_constrained() ? 0.45 : 0.5;
  if (!neighborhood_->stale_after(state, share_of_skin, farthest_after_drift(state, dt), dt)) return;
  save(state);
  bodies_changed(state);
  if (neighborhood_->stale_after(state, share_of_skin, farthest_after_drift(state, dt), dt))
    throw StepRefused(
        ExitCode::runtime_failure,
        fmt::format("step {}, t = {:.6g} s: a body or obstacle would travel more than half the skin of "
                    "{:.3g} m in a step; reduce [time] step or enlarge [neighbors] skin",
                    state.clock.step, state.clock.time, state.lattice.skin));
}

/// The largest square of the distance [m2] between where a body of this rank was listed and where the drift
/// of this step takes it.
template <int D>
Real DemStepper<D>::farthest_after_drift(const State<D>& state, Real dt) const {
  Scope timer("move");
  const BodyStore<D>& bodies = state.bodies;
  const auto position = bodies.position(), listed = bodies.listed();
  const auto velocity = bodies.velocity(), acceleration = bodies.acceleration();
  Real most = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Vec<D> moved = (position[i] - listed[i]) + dt * (velocity[i] + 0.5 * dt * acceleration[i]);
    const Real squared = dot(moved, moved);
    most = squared >= 0 ? std::max(most, squared) : HUGE_VAL;
  }
  return most;
}

template <int D>
void DemStepper<D>::check_overlap(const State<D>& state) const {
  const Real overlap = motion_->overlap();
  if (overlap <= overlap_limit_ * smallest_radius_) return;
  throw StepRefused(
      ExitCode::solver_failure,
      fmt::format(
          "step {}, t = {:.6g} s: bodies overlap by {:.3g} m, beyond [dem] overlap_limit = {:g} of the "
          "smallest radius ({:.3g} m): contacts are too soft for these loads and speeds, or the step is "
          "too long; raise stiffness or young_modulus, or reduce [time] step",
          state.clock.step, state.clock.time, overlap, overlap_limit_, overlap_limit_ * smallest_radius_));
}

template <int D>
void DemStepper<D>::find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_->detect(state, {.tolerance = tolerance}, contacts);
  motion_->tell_forces(contacts);
}

template <int D>
std::vector<CertificateEntry> DemStepper<D>::certificate() const {
  std::vector<CertificateEntry> entries{{"contacts", "-", static_cast<Real>(motion_->n_touching())},
                                        {"overlap", "m", motion_->overlap()}};
  std::ranges::copy(motion_->certificate(), std::back_inserter(entries));
  return entries;
}

template <int D>
std::size_t DemStepper<D>::bytes() const {
  return motion_ ? motion_->bytes() : 0;
}

SCREE_PLUGIN(Stepper, dem, DemStepper, "soft bodies: linear or Hertz-Mindlin contact with tangential springs")

}  // namespace scree
