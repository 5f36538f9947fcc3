#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/error.hpp"
#include "core/section.hpp"
#include "state/state.hpp"

namespace scree {

/// What measures may look at: the state after a step, read only, and its contacts with fresh gaps.
template <int D>
struct Sample {
  const State<D>& state;
  const ContactGraph<D>& contacts;
};

/// A column of a row of the scalar table: name, unit, one sentence on what it is, and the number in this row.
struct MeasuredValue {
  std::string name;
  std::string unit;
  std::string what;
  Real value = 0;
};
using MeasuredRow = std::vector<MeasuredValue>;

/// Scalars of a run as columns of the time series. Rows must not depend on the number of ranks: use
/// ReproducibleSum, max and min, never a plain floating-point reduction. Most measures only look at samples;
/// one that must not miss what happens between them implements after_step() and memory() too.
template <int D>
class Measure {
 public:
  virtual ~Measure() = default;
  /// Declares and reads the keys of the measure, if it has any.
  virtual void describe(Section& section) {
    if (section.reading()) where_ = section.where("type");
  }
  /// Throws InputError if the measure does not suit the run (an unknown obstacle, say). Local.
  virtual void check(const State<D>&) const {}
  /// The row of this moment: in all rows of a run the same columns in the same order. Their names
  /// distinguish measures of different kinds, not two of the same kind. Collective.
  virtual MeasuredRow record(const Sample<D>& sample) = 0;
  /// Whether after_step() reads previous() of the bodies.
  virtual bool needs_path() const { return false; }
  /// Whether rows have entries of the energy balance, which some schemes make only if asked.
  virtual bool needs_energy_balance() const { return false; }
  /// Whether rows need the forces of contacts, which not all schemes report.
  virtual bool needs_forces() const { return false; }
  /// Up to which gap pairs count as contacts [m].
  virtual Real widest_gap() const { return 0; }
  /// Gives bodies fields of its own (BodyStore::add_extra), before the first of them is made. Names begin
  /// with "measures." and that of the measure. They are zeros of bodies that come later, and of all of them
  /// when a run goes on that did not have the measure. Local.
  virtual void add_fields(State<D>&) {}
  /// After every step, before after_step(): writes these fields. Local.
  virtual void write_fields(State<D>&) {}
  /// After every step, before bodies come or go between steps: each has moved from previous() to position()
  /// on one path. A body that the step itself deleted, beyond an open face, is not there any more.
  /// Collective.
  virtual void after_step(const State<D>&) {}
  /// The numbers that rows of a restarted run depend on, the same on all ranks; checkpoints keep them under
  /// the measure's name.
  virtual std::span<Real> memory() { return {}; }

 protected:
  std::string where_;  ///< the place in the deck, for messages
};

/// The columns of a measure for the heading of a table: its row without contacts, which leaves memory() as it
/// was. After the scheme has started. Collective.
template <int D>
MeasuredRow columns_of(Measure<D>& measure, const State<D>& state) {
  const std::vector<Real> before(measure.memory().begin(), measure.memory().end());
  MeasuredRow columns = measure.record({state, ContactGraph<D>{}});
  std::ranges::copy(before, measure.memory().begin());
  return columns;
}

/// Throws InputError, starting with the place `where`, if bodies have no mass.
template <int D>
void require_inertia(const State<D>& state, const std::string& where, std::string_view measure) {
  if (state.bodies.has_inertia()) return;
  throw InputError(
      fmt::format("{}: the measure \"{}\" needs bodies with mass, but the scheme knows no inertia; "
                  "remove it or choose another simulation.scheme",
                  where, measure));
}

template <>
std::span<const Entry<Measure<2>>> registry<Measure<2>>();
template <>
std::span<const Entry<Measure<3>>> registry<Measure<3>>();

}  // namespace scree
