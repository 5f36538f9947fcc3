#pragma once
#include <string>
#include <vector>

#include "contact/contact_graph.hpp"
#include "core/section.hpp"
#include "dynamics/state.hpp"

namespace scree {

/// What measures may look at: the state after a step, read only, and its contacts with fresh gaps.
template <int D>
struct Sample {
  const State<D>& state;
  const ContactGraph<D>& contacts;
};

/// A column of the scalar table: name, unit, and one sentence for the docs.
struct ColumnInfo {
  std::string name;
  std::string unit;
  std::string what;
};

/// Scalars of a run as columns of the time series. Rows must not depend on the number of ranks: use
/// ReproducibleSum, max and min, never a plain floating-point reduction.
template <int D>
class Measure {
 public:
  virtual ~Measure() = default;
  virtual void describe(Section& section) = 0;
  /// The columns for this run, in order; names tell measures of one kind apart from each other, not two of
  /// the same kind. Throws InputError if the measure does not suit the run (an unknown obstacle, say). Local.
  virtual std::vector<ColumnInfo> columns(const State<D>& state) const = 0;
  /// Appends one value per column. Collective.
  virtual void sample(const Sample<D>& sample, std::vector<Real>& row) = 0;
};

template <>
std::span<const Entry<Measure<2>>> registry<Measure<2>>();
template <>
std::span<const Entry<Measure<3>>> registry<Measure<3>>();

}  // namespace scree
