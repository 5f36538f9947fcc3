#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "geometry/driven_motion.hpp"
#include "schemes/common/grain_motion.hpp"
#include "schemes/common/overlap.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/dem/constraint_friction.hpp"
#include "schemes/dem/spring_motion.hpp"
#include "state/force_field.hpp"
#include "state/step_messages.hpp"

namespace scree {

/// Soft bodies that overlap a little where they touch: the discrete element method of P. A. Cundall and
/// O. D. L. Strack, Geotechnique 29 (1979) 47-65 (docs/method.md, "Soft contact", eq. H.1-H.8).
///     m x'' = m g + F_fields + sum of contact forces,  I omega' = sum of torques of friction
/// by velocity Verlet; with friction as a constraint by the integrator of the deck. Units: SI; disks are 1 m
/// thick. Ranks: collective, the same bits on any number of ranks. Errors: a step beyond the stability limit
/// of the stiffest body is refused before it begins. One that ends with too deep an overlap, or beyond a thin
/// obstacle, is refused when bodies and obstacles have moved: state.clock is that of its start, all else that
/// of its end.
template <int D>
class DemStepper final : public Stepper<D> {
 public:
  void describe(Section& root) override;
  SchemeTraits traits() const override;
  ListRequirements list_requirements(const State<D>& state, Real dt, Real largest_radius) const override;
  void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) override;
  void advance(State<D>& state, Real dt, bool record_forces) override;
  void bodies_changed(State<D>& state) override;
  void save(State<D>& state, SaveFor) override { state.memory = motion_->remember(); }
  void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) override;
  std::vector<CertificateEntry> certificate() const override;

 private:
  bool is_constrained() const { return friction_ == Friction::dae; }
  TangentialLaw tangential() const {
    if (tangential_ == "increments") return TangentialLaw::increments;
    return tangential_ == "rescaled" ? TangentialLaw::rescaled : TangentialLaw::whole;
  }
  std::string integrator() const { return integrator_.empty() ? "gear" : integrator_; }
  void fit(State<D>& state);
  Real reach_of(const State<D>& state, Real largest_radius) const;
  Real refresh(State<D>& state, Real dt);
  std::string complaint_about_materials(const State<D>& state) const;
  std::string complaint_about(const State<D>& state, const StepLimit& found, Real dt) const;
  Real advised_step(const StepLimit& found) const;
  void check_new_bodies(const State<D>& state, Real dt);
  void log_step_ratio(const StepLimit& found, Real dt) const;
  void check(const State<D>& state) const;

  // The deck.
  NormalLaw law_ = NormalLaw::hertz;
  enum class Friction { spring, dae, none };
  Friction friction_ = Friction::spring;
  std::string tangential_;  // empty: not given
  bool attraction_ = true;
  enum class Rolling { spring, constant_torque };
  Rolling rolling_ = Rolling::spring;
  Real rolling_damping_ = 0.3;
  std::string integrator_;  // empty: not given
  bool projection_ = true;
  Real overlap_limit_ = 0.3;

  Neighborhood<D>* neighborhood_ = nullptr;
  std::unique_ptr<DemMotion<D>> motion_;
  GlobalId first_new_id_ = 0;    // bodies from here on were made after the last step
  bool has_new_bodies_ = false;  // which may ask for a shorter step
};

template <int D>
void DemStepper<D>::describe(Section& root) {
  root.table("dem", {.doc = "Soft contact: the scheme \"dem\""}, [&](Section& section) {
    section.choice(
        "law", law_, {{"hertz", NormalLaw::hertz}, {"linear", NormalLaw::linear}},
        {.doc = "Normal force of a contact: \"hertz\" with the moduli of the materials (and Mindlin's "
                "tangential stiffness), \"linear\" with [pairs] stiffness and tangential_ratio (2/7 "
                "if not given)"});
    section.choice("friction", friction_,
                   {{"spring", Friction::spring}, {"dae", Friction::dae}, {"none", Friction::none}},
                   {.doc = "\"spring\": a tangential spring per contact that slides at Coulomb's limit; "
                           "\"dae\": contacts that stick are constraints on velocities, so piles come to "
                           "rest exactly; \"none\": no friction, whatever [pairs] say"});
    section.choice(
        "tangential", tangential_, {"whole", "increments", "rescaled"},
        {.doc =
             "With Hertz's law and springs: what becomes of a tangential force when the load changes, and "
             "Mindlin's k_T with it. \"whole\": it is k_T of now times the whole displacement (\"tangential "
             "history\" of LIGGGHTS, \"mindlin\" of LAMMPS); \"increments\": it stays (\"mindlin/force\"); "
             "\"rescaled\": it stays when the load grows and falls with k_T when the load falls "
             "(\"mindlin_rescale/force\"). \"whole\" if not given"});
    if (section.reading() && !tangential_.empty() &&
        (law_ != NormalLaw::hertz || friction_ != Friction::spring))
      section.fail("tangential",
                   "tangential has an effect with law = \"hertz\" and friction = \"spring\" only: remove it");
    // Not read where it has no effect, so that a resolved deck does not give it.
    const bool pulls = !section.reading() || !is_constrained();
    if (!pulls && section.has("attraction"))
      section.fail("attraction",
                   "attraction has no effect with friction = \"dae\", which never pulls: remove it");
    if (pulls)
      section.boolean(
          "attraction", attraction_,
          {.doc = "Whether damping may make a normal force attractive while bodies separate, as in most DEM "
                  "codes. Without it damping is made stronger: both give the restitution asked for (not "
                  "below 0.02 without). friction = \"dae\" never attracts, and bodies separate faster"});
    // As attraction: only where it has an effect.
    const bool rolls = !section.reading() || friction_ == Friction::spring;
    for (const char* key : {"rolling", "rolling_damping"})
      if (!rolls && section.has(key))
        section.fail(key, fmt::format("{} has an effect with friction = \"spring\" only: remove it", key));
    if (rolls) {
      section.choice(
          "rolling", rolling_, {{"spring", Rolling::spring}, {"constant torque", Rolling::constant_torque}},
          {.doc =
               "What rolling_friction of [pairs] does. \"spring\": a spring with slider and damper against "
               "rolling and spinning, which holds what rests; \"constant torque\": a torque of that size "
               "against any motion, without memory: nothing comes to rest, what should creeps on and "
               "shakes"});
      const bool has_spring = !section.reading() || rolling_ == Rolling::spring;
      if (!has_spring && section.has("rolling_damping"))
        section.fail("rolling_damping",
                     "rolling_damping has an effect with rolling = \"spring\" only: remove it");
      if (has_spring)
        section.real(
            "rolling_damping", rolling_damping_,
            {.range = non_negative, .doc = "Share of critical damping of the springs against rolling"});
    }
    std::vector<std::string> integrators;
    for (const Entry<Integrator<D>>& entry : registry<Integrator<D>>()) integrators.emplace_back(entry.name);
    section.choice("integrator", integrator_, integrators,
                   {.doc = "With friction = \"dae\": the scheme in time; \"gear\" if not given. All others "
                           "take velocity Verlet",
                    .audience = Audience::laboratory});
    section.boolean(
        "projection", projection_,
        {.doc = "With friction = \"dae\": whether velocities are projected after each step to those that "
                "sticking contacts allow. Without it they drift, and nothing comes to rest",
         .audience = Audience::laboratory});
    section.real("overlap_limit", overlap_limit_,
                 {.range = positive,
                  .doc = "Deepest overlap of a contact as a share of its smaller radius; beyond, the run "
                         "ends"});
    if (!section.reading() || is_constrained()) return;
    if (!integrator_.empty())
      section.fail("integrator", "integrator has no effect without friction = \"dae\": remove it");
    if (!projection_)
      section.fail("projection", "projection = false has no effect without friction = \"dae\": remove it");
  });
}

template <int D>
SchemeTraits DemStepper<D>::traits() const {
  if (is_constrained())  // no energy balance, no cohesion
    return {.field_set = ConstraintFriction<D>::field_set(integrator()),
            .same_for_any_owners = false,
            .memory = "modes of friction"};
  return {.field_set = FieldSet::with_accelerations,
          .balances_energy = true,
          .balance_costs_time = true,
          .stores_energy = true,
          .takes_cohesion = true,
          .drives_walls = true,
          .deforms_domain = true,
          .follows_stress = true,
          .memory = friction_ == Friction::spring ? "springs" : ""};
}

template <int D>
ListRequirements DemStepper<D>::list_requirements(const State<D>& state, Real dt, Real largest_radius) const {
  // The skin is for the many, and most bodies are far slower than the fastest will ever be.
  constexpr Real usual_share = 0.1;
  // What attraction reaches beyond contact leaves as much for bodies to move.
  constexpr Real max_of_skin = 0.5;
  return {.travel = usual_share * fastest_fall(state) * dt,
          .skin = reach_of(state, largest_radius) / max_of_skin};
}

/// How far contacts reach beyond overlap 0 [m].
template <int D>
Real DemStepper<D>::reach_of(const State<D>& state, Real largest_radius) const {
  if (!state.materials.has_cohesion()) return 0;
  SoftLaws<D> laws;
  laws.prepare(state, {.law = law_});
  return laws.reach(law_, largest_radius);
}

template <int D>
void DemStepper<D>::start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) {
  require_stable_forces(state, dt);
  require_slow_walls(state.obstacles, dt, state.lattice.usual_skin, state.box);
  neighborhood_ = &neighborhood;
  first_new_id_ = state.next_id;
  if (is_constrained())
    motion_ = std::make_unique<ConstraintFriction<D>>(
        state, neighborhood,
        typename ConstraintFriction<D>::Settings{law_, integrator(), projection_, overlap_limit_});
  else
    motion_ = std::make_unique<SpringMotion<D>>(
        state, neighborhood,
        SpringSettings{law_, tangential(), attraction_, friction_ == Friction::spring, overlap_limit_,
                       rolling_ == Rolling::spring, rolling_damping_});
  fit(state);
  if (const std::string complaint = complaint_about_materials(state); !complaint.empty())
    throw InputError(complaint);
  check_cohesion(state, attracted_pairs(state));
  const StepLimit found = find_step_limit(state, motion_->laws(), law_);
  if (dt > found.limit) throw InputError(complaint_about(state, found, dt));
  log_step_ratio(found, dt);
  motion_->start(dt);
}

/// Of contacts that are not elastic, or too soft.
template <int D>
std::string DemStepper<D>::complaint_about_materials(const State<D>& state) const {
  std::string complaint = find_rigid_contact(state, motion_->laws());
  if (!complaint.empty() || motion_->laws().pulls() == Pulls::never) return complaint;
  return check_cohesive_stability(state, motion_->laws(), law_, attracted_pairs(state), overlap_limit_);
}

/// What depends on the bodies present and on the candidates.
template <int D>
void DemStepper<D>::fit(State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    if (bodies.id()[i] >= first_new_id_ && bodies.mobility()[i] != 0) motion_->set_free(i);
  has_new_bodies_ |= state.next_id > first_new_id_;
  first_new_id_ = state.next_id;
  motion_->prepare();
}

/// Shares of these times that users of such codes go by; see docs/method.md.
template <int D>
Real DemStepper<D>::advised_step(const StepLimit& found) const {
  if (law_ == NormalLaw::hertz) return 0.2 * found.rayleigh_time;
  // With fewer than 35 steps a period stacks of constrained contacts gain energy.
  return is_constrained() ? 2 * found.half_period / 35 : 0.1 * found.half_period;
}

template <int D>
std::string DemStepper<D>::complaint_about(const State<D>& state, const StepLimit& found, Real dt) const {
  std::string text = fmt::format(
      "time.step = {:.4g} s is unstable: it exceeds {:.4g} s, {} of body {}; take at most {:.2g} s", dt,
      found.limit,
      law_ == NormalLaw::hertz ? "the Rayleigh time" : "the stability limit of a contact with damping",
      found.body, advised_step(found));
  for (int m = 0; m < state.materials.size(); ++m)
    if (const std::string doubt = state.materials.density_doubt(m); !doubt.empty())
      text += ". Light bodies need short steps. " + doubt;
  return text;
}

template <int D>
void DemStepper<D>::log_step_ratio(const StepLimit& found, Real dt) const {
  if (found.body < 0) return;
  const bool hertz = law_ == NormalLaw::hertz;
  const Real scale = hertz ? found.rayleigh_time : found.half_period;
  const std::string share = fmt::format("time.step is {:.2g} % of the {} of {:.4g} s", 100 * dt / scale,
                                        hertz ? "Rayleigh time" : "half period of a contact", scale);
  const Real advised = advised_step(found);
  if (dt > 1.001 * advised)
    log::warn("{}; at most {:.2g} s is advised", share, advised);
  else
    log::detail("{}", share);
}

/// Inlets may bring smaller bodies than those of the start, and other materials.
template <int D>
void DemStepper<D>::check_new_bodies(const State<D>& state, Real dt) {
  has_new_bodies_ = false;
  if (const std::string complaint = complaint_about_materials(state); !complaint.empty())
    refuse_step(state.clock, complaint, ExitCode::bad_input);
  const StepLimit found = find_step_limit(state, motion_->laws(), law_);
  if (dt > found.limit) refuse_step(state.clock, complaint_about(state, found, dt), ExitCode::bad_input);
}

template <int D>
void DemStepper<D>::bodies_changed(State<D>& state) {
  rebuild_list(state, *neighborhood_);
  fit(state);
  motion_->contacts_changed();
}

template <int D>
void DemStepper<D>::advance(State<D>& state, Real dt, bool /*record_forces*/) {
  if (has_new_bodies_) check_new_bodies(state, dt);
  // Every rank holds its own bodies and ghosts of those within reach of this step.
  dt = refresh(state, dt);
  state.obstacles.begin_step();
  motion_->step(dt);
  check(state);
  state.clock.last_dt = dt;
}

/// Finds candidates again if the drift of this step would leave the reach of the present ones; returns the
/// length of the step.
template <int D>
Real DemStepper<D>::refresh(State<D>& state, Real dt) {
  // Two bodies that approach each other use up the skin twice as fast as one; where only an estimate says how
  // far they will get, some of it is left.
  const Real free_share = 1 - motion_->reach() / state.lattice.skin;
  const Real share_of_skin = (is_constrained() ? 0.45 : 0.5) * free_share;
  if (!neighborhood_->needs_rebuild_after(state, share_of_skin, motion_->farthest_after(dt), dt)) return dt;
  const auto plan =
      neighborhood_->list().plan_step(state, dt, share_of_skin, [&](std::size_t i, Real shorter) {
        const Vec<D> flow = state.deformation.flow_at(state.box, state.bodies.position()[i]);
        return free_displacement(state.bodies, i, shorter) - shorter * flow;
      });
  save(state, SaveFor::checkpoint);
  const std::int64_t n_removed = neighborhood_->n_removed();
  rebuild_list(state, *neighborhood_, plan.skin);
  fit(state);
  if (neighborhood_->n_removed() != n_removed) motion_->contacts_changed();
  return plan.dt;
}

/// Forces push a centre that passed through a thin obstacle back for the rest of the step only: from the next
/// one on it would be on the other side.
template <int D>
void DemStepper<D>::check(const State<D>& state) const {
  constexpr std::string_view advice =
      "contacts are too soft for these loads and speeds, or the step is too long; raise stiffness or "
      "young_modulus, or reduce [time] step";
  const typename DemMotion<D>::StepResult& found = motion_->result();
  if (!(found.beyond <= 0))
    refuse_step(state.clock,
                fmt::format("bodies overlap by {:.3g} m more than [dem] overlap_limit = {:g} of the smaller "
                            "radius (deepest overlap: {:.3g} m): {}",
                            found.beyond, overlap_limit_, found.overlap, advice));
  if (found.n_passed_through > 0)
    refuse_step(state.clock, fmt::format("{}: {}", motion_->passed_through().complaint(state), advice));
}

template <int D>
void DemStepper<D>::find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) {
  neighborhood_->detect(state, motion_->contact_rules(tolerance), contacts);
  motion_->export_forces(contacts);
}

template <int D>
std::vector<CertificateEntry> DemStepper<D>::certificate() const {
  std::vector<CertificateEntry> entries{{"contacts", "-", static_cast<Real>(motion_->result().n_contacts)},
                                        {"max_overlap", "m", motion_->result().overlap, false,
                                         motion_->result().overlap - motion_->result().beyond}};
  std::ranges::copy(motion_->certificate(), std::back_inserter(entries));
  return entries;
}

SCREE_PLUGIN(Stepper, dem, DemStepper, "soft bodies: linear or Hertz-Mindlin contact with tangential springs")

}  // namespace scree
