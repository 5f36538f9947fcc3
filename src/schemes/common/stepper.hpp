#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/section.hpp"
#include "friction/friction_solver.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/common/scene.hpp"
#include "state/state.hpp"
#include "state/velocity_field.hpp"

namespace scree {

/// One number of a step's certificate: what the step can prove about itself.
struct CertificateEntry {
  std::string_view name;
  std::string_view unit;
  Real value = 0;
  bool is_success = false;  ///< 1: the step did what was asked; 0: it did not
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

/// A scheme that moves the bodies from t to t + dt.
template <int D>
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Declares and reads the scheme's own tables.
  virtual void describe(Section& root) = 0;
  /// What bodies carry from step to step.
  virtual Carried carries() const { return Carried::always; }
  /// Whether steps of the scheme need `previous` of the bodies for all their length.
  virtual bool needs_path() const { return true; }
  /// Whether bodies have mass, spin and a material. First-order schemes know none of them.
  bool has_inertia() const { return scree::has_inertia(carries()); }
  /// Whether a step has set up a linear solver by now, so that PETSc knows which of its options are in use.
  /// The same on all ranks.
  virtual bool knows_petsc_options() const { return true; }
  /// Whether the scheme books where energy comes from and goes to, in State::ledger.
  virtual bool keeps_energy_books() const { return has_inertia(); }
  /// Whether results have the same bits whoever owns which block. Otherwise blocks are shared out by what can
  /// be counted, so that runs can at least be repeated.
  virtual bool same_for_any_owners() const { return !has_contact_problems(); }
  /// How far a body of this rank would move in the first step if nothing touched it [m]. Local.
  virtual Real travel_per_step(const State<D>& state, Real dt) const = 0;
  /// The least skin of the neighbour list that the scheme can work with if no radius exceeds `largest_radius`
  /// [m]. The same on all ranks; local.
  virtual Real needed_skin(const State<D>&, Real /*dt*/, Real /*largest_radius*/) const { return 0; }
  /// Before the first step of a run or of a restart: candidates are current, state.memory holds what was
  /// remembered. `dt`: the length of steps that the deck asks for. Throws InputError if it is too long.
  /// Collective.
  virtual void start(State<D>& state, Neighborhood<D>& neighborhood, Real dt) = 0;
  /// One step of at most `dt`; sets state.clock.last_dt to what was taken, but does not tick. With
  /// `record_forces` contacts() can tell the forces of this step; positions do not depend on it. Collective.
  virtual void advance(State<D>& state, Real dt, bool record_forces) = 0;
  /// After bodies were added or removed or obstacles switched on or off, with state.memory current (see
  /// save): finds candidates anew and fits all work arrays. Collective.
  virtual void bodies_changed(State<D>& state) = 0;
  /// The world that the scheme's own tables describe; null: the scheme brings none.
  virtual Scene<D>* scene() { return nullptr; }
  /// Whether a step solves a FrictionProblem.
  virtual bool has_contact_problems() const { return false; }
  /// Sets what is called with the contact problem of each step: the one that the step goes on with and, if a
  /// solve failed, the first one. Schemes without contact problems never call it.
  virtual void on_contact_problem(ContactProblemHook<D>) {}
  /// What contacts remember from step to step, in one word: memories of one word can be carried from run to
  /// run. Empty: nothing.
  virtual std::string_view remembers() const { return ""; }
  /// Puts what contacts remember into state.memory (owned bodies), for a checkpoint. Collective.
  virtual void save(State<D>& state) = 0;
  /// The same before bodies come or go: contacts go on telling the forces of the last step, too. Collective.
  virtual void save_for_change(State<D>& state) { save(state); }
  /// The contacts at the present positions: candidates with gap <= tolerance * (R_a + R_b). Collective.
  virtual void find_contacts(State<D>& state, Real tolerance, ContactGraph<D>& contacts) = 0;
  /// Of the last step; the same names and units always, and the same values on all ranks.
  virtual std::vector<CertificateEntry> certificate() const = 0;
  /// Bytes held by work arrays on this rank.
  virtual std::size_t bytes() const = 0;
};

template <>
std::span<const Entry<Stepper<2>>> registry<Stepper<2>>();
template <>
std::span<const Entry<Stepper<3>>> registry<Stepper<3>>();

}  // namespace scree
