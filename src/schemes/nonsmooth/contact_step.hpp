#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "contact/elastic_contact.hpp"
#include "schemes/common/assembler.hpp"
#include "schemes/common/contact_law.hpp"
#include "schemes/common/stepper.hpp"
#include "schemes/nonsmooth/contact_geometry.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/driven_contacts.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "schemes/nonsmooth/impacts.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"
#include "schemes/nonsmooth/settings.hpp"

namespace scree {

/// The contacts of a step: their friction problem (docs/method.md, eq. D.2-D.5), its solve, and the impulses
/// that contacts remember from step to step. Both arguments of the constructor must outlive it. Members are
/// collective unless they only return what is there.
template <int D>
class ContactStep {
 public:
  ContactStep(State<D>& state, Neighborhood<D>& neighborhood, NonsmoothSettings<D>& settings)
      : state_(state),
        neighborhood_(neighborhood),
        settings_(settings),
        assembler_(state, neighborhood),
        solve_(settings.solver),
        memory_(state.materials.has_elastic_pairs(), state.bodies.carries_shapes(),
                state.materials.has_rolling_friction()),
        carried_(false, state.bodies.carries_shapes(), false) {}

  /// After a list build: takes what bodies remember of the candidates. Local.
  void recall() {
    memory_.recall(state_, neighborhood_);
    memory_.mark_springs(kept_, neighborhood_);
    knows_pulls_ = false;
    if (state_.materials.has_cohesion()) pulled_.fit(neighborhood_);
    if (state_.obstacles.driven().empty()) return;
    carried_.fit(neighborhood_);
  }
  /// What contacts remember, as the memory of the owned bodies.
  ContactMemory remember() const { return memory_.remember(state_, neighborhood_); }

  /// Finds the contacts of the step of `motion` and makes its friction problem, with a first guess of the
  /// impulses: what contacts remember.
  void assemble(FreeMotion<D>& motion);
  /// Makes the problem of the same step anew after walls under load have changed their velocities, with the
  /// same contacts. The guess is what the last solve found, changed as ask_for() says.
  void assemble_again(FreeMotion<D>& motion);
  /// Solves it. Where pairs that free motion keeps apart would overlap by more than `deep` [m] with these
  /// velocities, they become contacts, and it is solved again. Where no impulses solve it
  /// because bodies bounce, none does in this step (unless such a step may be refused). The report is good
  /// until the next call. `keeps_guess`: guess() will be asked for.
  const SolveReport& solve(FreeMotion<D>& motion, Real deep, bool keeps_guess);
  /// Solves it once more for velocities that take out overlap as well (docs/method.md, eq. D.12), by at most
  /// `most_sweeps` sweeps from the impulses found. Contacts obey friction in it: what sticks goes on to. Only
  /// if rigid bodies overlap by more than a small share of `radius` [m], else separating_velocity() is
  /// velocity(). Returns the deepest overlap that it meets [m]. Afterwards the problem holds the other bias.
  Real separate(Real radius, std::int64_t most_sweeps);
  /// What walls under load carry with the impulses found. Good until the next call. Collective.
  std::span<const typename DrivenContacts<D>::Reaction> react() {
    return driven_.react(state_, contacts(), problem(), impulse());
  }
  void set_hard(std::size_t wall, bool hard) { driven_.set_hard(wall, hard); }
  bool is_hard(std::size_t wall) const { return driven_.is_hard(wall); }
  /// By which velocities may be off [m/s], with walls under load.
  Real velocity_error() const { return settings_.solver.tolerance * problem().velocity_scale; }
  void ask_for(std::size_t wall, Real load) { driven_.ask_for(wall, load); }
  void set_stiffness(Real stiffness) { driven_.set_stiffness(stiffness); }
  Real spread() const { return driven_.spread(state_, contacts(), problem(), impulse()); }
  /// From here on in this step contacts with walls under load give way by what impulses differ from the
  /// present ones. Local.
  void carry_solved();
  /// Makes walls under load as slow as they are with their contacts giving way. After react(), once. Local.
  void slow_down_walls() {
    driven_.slow_down(state_, contacts(), assembler_.problem(), impulse(), assembler_.surface_velocity());
  }
  /// The impulses of the solve become what contacts remember, and the stretch of their springs. Local.
  void remember_impulses();
  /// Contacts at the present positions with the forces of the last step.
  void find_contacts(Real tolerance, ContactGraph<D>& contacts);

  const FrictionProblem<D>& problem() const { return assembler_.problem(); }
  const ContactGraph<D>& contacts() const { return assembler_.contacts(); }
  /// n_contacts * D, along N, T1[, T2] of each contact: what the solve started from and what it got to [N s];
  /// then what resists rolling (FrictionProblem::rolling).
  std::span<const Real> guess() const { return solve_.guess(); }
  std::span<const Real> impulse() const { return solve_.impulse(); }
  /// n_held * n_velocities<D>: at the end of the step [m/s, rad/s].
  std::span<const Real> velocity() const { return solve_.velocity(); }
  /// The same for positions, see separate().
  std::span<const Real> separating_velocity() const { return separates_ ? separating_velocity_ : velocity(); }
  /// n_contacts * D: velocity of obstacles, in the frames of the contacts [m/s].
  std::span<const Real> obstacle_velocity() const { return assembler_.surface_velocity(); }
  /// The same with which obstacles do work at contact c. The force of a spring is that of the start of the
  /// step, in the middle between the velocities before and after.
  std::span<const Real> working_velocity(std::size_t c) const {
    return pairs_[c]->elasticity.rigid() ? assembler_.surface_velocity()
                                         : assembler_.start_surface_velocity();
  }
  /// Of each contact, of impacts one by one. Empty if impacts are simultaneous.
  std::span<const ImpactWork<D>> impact_work() const { return impact_work_; }
  /// s of contact c that resists rolling, in its turning_frame() [N m s].
  Vec<n_turns<D>> turning_impulse(std::size_t c) const {
    Vec<n_turns<D>> s;
    for (int k = 0; k < n_turns<D>; ++k) s[k] = impulse()[first_turning(c) + static_cast<std::size_t>(k)];
    return s;
  }
  /// The problem for programs that know no resistance to rolling: with what it did as part of free motion.
  /// Collective.
  FrictionProblem<D> problem_without_rolling() const;
  /// Of each contact, along the normal and along tangents, at the end of the step [J]. Empty if all are
  /// rigid. After remember_impulses().
  std::span<const std::array<Real, 2>> stored_energy() const { return stored_energy_; }
  /// Impulse of the attraction of each contact [N s], which impulse() does not hold. Empty without cohesion.
  std::span<const Real> pull() const { return pull_; }
  /// Before the first step: what the certificate tells as the number of contacts. Collective.
  void note_contacts(std::int64_t of_rank) { n_contacts_ = state_.comm.sum(of_rank); }
  std::vector<CertificateEntry> certificate() const;
  std::size_t bytes() const;

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  void with_fastest_walls(auto&& detect);
  void build(FreeMotion<D>& motion, ContactGraph<D>* found, bool same_contacts = false);
  ContactRules<D> rules_of(FreeMotion<D>& motion) const;
  bool stop_rebounds();
  bool add_contacts(FreeMotion<D>& motion, Real deep);
  void apply_laws(FrictionProblem<D>& problem);
  bool collides_one_by_one() const { return settings_.impacts == NonsmoothSettings<D>::Impacts::sequential; }
  void collide(FrictionProblem<D>& problem);
  Real normal_bias_of(std::size_t c, Real restitution) const;
  Real start_speed_of(std::size_t c) const;
  Real restitution_of(std::size_t c, Real speed) const;
  Real pull_off_of(const ContactGraph<D>& contacts, std::size_t c) const;
  bool is_attracted(const ContactGraph<D>& contacts, std::size_t c) const;
  void attract(FrictionProblem<D>& problem);
  void count_pulled_off();
  void remember_pulls();
  void subtract_pulls(ContactGraph<D>& contacts) const;
  /// The last SpringStep that was asked for. Contacts of equal bodies ask for the same, and making one costs
  /// more than all else that is done with it.
  struct KnownSpring {
    std::array<Real, 4> asked{};
    std::optional<SpringStep> step;
    const SpringStep& get(Real stiffness, Real inverse_mass, Real damping_share, Real dt) {
      const std::array now{stiffness, inverse_mass, damping_share, dt};
      if (!step || asked != now) {
        asked = now;
        step.emplace(stiffness, inverse_mass, damping_share, dt);
      }
      return *step;
    }
  };
  void apply_springs(std::size_t c, FrictionProblem<D>& problem);
  void limit_separation(Real most);
  void give_way_to_separation(Real most);
  void remember_springs(std::size_t c);
  ContactGeometry<D> geometry_of(const ContactGraph<D>& contacts) const {
    return {state_, contacts, settings_.contact_slop};
  }
  ContactGeometry<D> geometry() const { return geometry_of(contacts()); }
  std::size_t first_turning(std::size_t c) const { return contacts().size() * D + c * n_turns<D>; }
  void resist_rolling(FrictionProblem<D>& problem);
  void guess_impulses(Real factor);

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  NonsmoothSettings<D>& settings_;
  FrictionAssembler<D> assembler_;
  ContactSolve<D> solve_;
  ImpulseMemory<D> memory_;
  ContactField<Real> kept_;  // not 0: a contact at any gap, as it has a spring or was added in this step
  ContactLaw law_;
  DrivenContacts<D> driven_;
  std::vector<Real> wall_speeds_;
  bool carries_solved_ = false;
  ImpulseMemory<D> carried_;  // with walls under load: impulses of carry_solved()
  // Of add_contacts().
  ContactGraph<D> wider_;
  std::vector<Vec<D>> solved_displacement_;
  std::vector<Spin<D>> solved_turn_;
  std::vector<Index> origin_;
  // Of separate().
  std::unique_ptr<FrictionSolver<D>> sweeps_ = make_solver<D>("nsgs");
  bool separates_ = false;
  std::vector<Real> separating_impulse_, separating_velocity_;
  std::vector<const PairProperties<D>*> pairs_;  // of each contact
  // Of each contact with a spring, at the start of the step: normal velocity, stretch; and impulses to start
  // from.
  std::vector<Real> start_speed_, spring_guess_;
  KnownSpring normal_spring_, tangential_spring_;
  std::vector<Vec<D>> start_stretch_;
  std::vector<Real> pull_;
  // What acted in the last step, until there is a new list: all forces of attraction of a pair, on a [N], and
  // whether it pressed.
  struct Pulled {
    Vec<D> force;
    Real pressed = 0;
  };
  ContactField<Pulled> pulled_;
  bool knows_pulls_ = false;
  std::vector<std::array<Real, 2>> stored_energy_;
  std::vector<ImpactWork<D>> impact_work_;
  std::vector<Real> before_impacts_;
  std::int64_t n_contacts_ = 0, n_added_ = 0, n_rebounds_stopped_ = 0;
  std::int64_t n_attracted_ = 0, n_pulled_off_ = 0;
};

}  // namespace scree
