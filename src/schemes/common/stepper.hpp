#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/section.hpp"
#include "friction/friction_solver.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/common/environment.hpp"
#include "state/state.hpp"
#include "state/velocity_field.hpp"

namespace scree {

/// One number of a step's certificate: what the step can prove about itself.
struct CertificateEntry {
  std::string_view name;
  std::string_view unit;
  Real value = 0;
  bool is_success = false;  ///< 1: the step did what was asked; 0: it did not
  Real limit = HUGE_VAL;    ///< that the deck sets for the value; infinite: none
};

/// The contact problem of a step from state.clock.time to dt later, after its solve, before anything moved.
template <int D>
struct ContactProblem {
  const State<D>& state;
  const FrictionProblem<D>& problem;
  const ContactGraph<D>& contacts;  ///< of the problem, one by one the same
  Real dt;                          ///< [s]
  std::span<const Real> guess;      ///< what the solve started from, n_contacts * D [N s]
  std::span<const Real> impulse;    ///< what it got to
  const SolveReport& report;
  bool accepted;  ///< the step goes on with it; false: again with another dt, or not at all
};
template <int D>
using ContactProblemHook = std::function<void(const ContactProblem<D>&)>;

/// What the rest of the program has to know of a scheme. It follows from the deck and stays the same during a
/// run.
struct SchemeTraits {
  FieldSet field_set = FieldSet::always;  ///< what bodies carry from step to step
  /// Steps need `previous` of the bodies for all their length.
  bool needs_path = true;
  /// The scheme records where energy comes from and goes to, in State::energy_balance.
  bool balances_energy = false;
  bool balance_costs_time = false;    ///< so it does that only if a measure asks
  bool stores_energy = false;         ///< in contacts
  bool has_contact_problems = false;  ///< a step solves a FrictionProblem
  bool takes_shapes = false;          ///< bodies need not be spheres
  bool takes_cohesion = false;        ///< contacts may attract
  bool drives_walls = false;          ///< walls may be driven
  bool deforms_domain = false;        ///< the periods of the box may change
  bool follows_stress = false;        ///< they may follow stresses
  bool exports_forces = true;         ///< find_contacts() has all that acted in a step
  /// Results have the same bits whoever owns which block. Otherwise the partition uses counts, so that runs
  /// are repeatable.
  bool same_for_any_owners = true;
  /// Kernels treat the pairs of a batch at once, so no body may come twice in one (SweepSchedule).
  bool needs_classes = true;
  bool searches_pairs = false;  ///< the scheme calls Neighborhood::search_pairs
  /// What contacts remember from step to step, in one word: memories of one word can be carried from run to
  /// run. Empty: nothing.
  std::string_view memory = {};

  /// Bodies have mass, spin and a material. First-order schemes know none of them.
  bool has_inertia() const { return scree::has_inertia(field_set); }
};

/// What a scheme asks of the neighbour list.
struct ListRequirements {
  Real travel = 0;  ///< how far a body of this rank would move in the first step if nothing touched it [m]
  Real skin = 0;    ///< the least skin that the scheme can work with, the same on all ranks [m]
};

/// Why contact memory is saved.
enum class SaveFor {
  checkpoint,       ///< what the next steps start from
  change_of_bodies  ///< and what the forces of the last step follow from
};

/// A scheme that moves the bodies from t to t + dt.
///
/// Time in a step. From the beginning to the end of advance(), state.clock.time is the start of the step and
/// state.clock.last_dt the length of the step before. Only the last line of advance() sets last_dt to the
/// length that was taken; the caller ticks. What needs another time gets it as an argument: obstacles stand
/// where they were placed last, at the start of the step until the scheme places them at its end;
/// Neighborhood::rebuild gets the time of the positions. A step that throws StepRefused leaves bodies,
/// obstacles and clock as they were; but "dem" finds overlaps after bodies and obstacles have moved.
template <int D>
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Declares and reads the scheme's own tables.
  virtual void describe(Section& root) = 0;
  /// After describe() has read a deck. Local.
  virtual SchemeTraits traits() const = 0;
  /// For steps of dt, if no radius exceeds `largest_radius` [m]. Local.
  virtual ListRequirements list_requirements(const State<D>& state, Real dt, Real largest_radius) const = 0;
  /// Before the first step of a run or of a restart: candidates are current, state.memory holds what was
  /// remembered. `dt`: the length of steps that the deck asks for. Throws InputError if it is too long.
  /// Collective.
  virtual void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) = 0;
  /// One step of at most `dt`. With `record_forces` find_contacts() can report the forces of this step;
  /// positions do not depend on it. Throws StepRefused if the step cannot be taken. Collective.
  virtual void advance(State<D>& state, Real dt, bool record_forces) = 0;
  /// After bodies were added or removed or obstacles switched on or off, with state.memory current (see
  /// save): finds candidates again and fits all work arrays. Collective.
  virtual void bodies_changed(State<D>& state) = 0;
  /// Takes all owned bodies but `staying` (ascending) out, and goes on with the candidates of those who stay.
  /// False on all ranks, with nothing done, if the scheme finds candidates again instead. Collective.
  virtual bool remove_bodies(State<D>& /*state*/, std::span<const Index> /*staying*/) { return false; }
  /// Puts what contacts remember into state.memory (owned bodies). Collective.
  virtual void save(State<D>& state, SaveFor purpose) = 0;
  /// The contacts at the present positions: candidates with gap <= tolerance * (R_a + R_b). Collective.
  virtual void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) = 0;
  /// Of the last step; the same names and units always, and the same values on all ranks.
  virtual std::vector<CertificateEntry> certificate() const = 0;

  /// The world that the scheme's own tables describe; null: the scheme brings none.
  Environment<D>* environment() { return environment_; }
  const Environment<D>* environment() const { return environment_; }
  /// Sets what is called with the contact problem of each step: the one that the step goes on with and, if a
  /// solve failed, the first one. Schemes without contact problems never call it.
  void on_contact_problem(ContactProblemHook<D> hook) { contact_problem_hook_ = std::move(hook); }
  /// Whether PETSc knows which of its options are in use: no step will set up a linear solver, or one has.
  /// The same on all ranks.
  bool knows_petsc_options() const { return knows_petsc_options_; }

 protected:
  void set_environment(Environment<D>* environment) { environment_ = environment; }
  const ContactProblemHook<D>& contact_problem_hook() const { return contact_problem_hook_; }
  /// Steps may set up a linear solver; a step has done so.
  void expect_linear_solver() { knows_petsc_options_ = false; }
  void linear_solver_used() { knows_petsc_options_ = true; }

 private:
  Environment<D>* environment_ = nullptr;
  ContactProblemHook<D> contact_problem_hook_;
  bool knows_petsc_options_ = true;
};

template <>
std::span<const Entry<Stepper<2>>> registry<Stepper<2>>();
template <>
std::span<const Entry<Stepper<3>>> registry<Stepper<3>>();

}  // namespace scree
