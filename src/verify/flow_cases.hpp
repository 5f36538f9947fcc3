#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/checks.hpp"

namespace scree {

/// Contact as a case of dense flow may have it.
struct FlowLaw {
  std::string name;
  bool rigid = false;
  bool soft = false;    ///< the scheme "dem"; otherwise "nonsmooth"
  Real stiffening = 1;  ///< stiffness over that of the deck
};

inline const FlowLaw rigid_law{"rigid", true, false, 1};
inline const FlowLaw elastic_law{"elastic", false, false, 1};
inline const FlowLaw soft_law{"dem", false, true, 1};

/// Numbers of a run by quantity, in the order of a table.
using FlowNumbers = std::vector<std::pair<std::string, Real>>;

/// Mean of the runs of one law with several seeds.
struct FlowMean {
  Real value = 0;
  Real deviation = 0;  ///< standard deviation over seeds; 0 for one
  std::size_t n = 0;
  Real error() const;  ///< of the mean
};

/// Throws InputError for none.
FlowMean mean_of_seeds(const std::vector<Real>& values);

/// The value at infinite stiffness of values v at stiffnesses k: the straight line over k^(-1/2), to which
/// the duration of a contact is proportional, at 0. Least squares. At least two of each.
Real at_infinite_stiffness(const std::vector<Real>& stiffness, const std::vector<Real>& value);

/// Whether two means agree: within 3 % of the second or twice the scatter of seeds, whichever is more. A mean
/// of one seed has the scatter of the other.
bool agree(const FlowMean& found, const FlowMean& reference);

/// What came of a case: shows a row per quantity, checks it, and keeps the number of every run as CSV.
class FlowTable : public Checks {
 public:
  /// `reference`: rows of tests/reference/flows/lammps.csv.
  FlowTable(const Comm& comm, const Show& show, const std::vector<std::vector<std::string>>& reference,
            const std::string& reference_path);
  /// The numbers of a run, which took this many seconds.
  void add(const std::string& name, const FlowLaw& law, std::int64_t seed, const FlowNumbers& numbers,
           Real seconds);
  /// A run that did not come to its end.
  void add_failure(const std::string& name, const FlowLaw& law, const std::string& message);
  /// A number that is known, to an error of at most `bound`.
  void exact(const std::string& name, const FlowLaw& law, const std::string& quantity, Real found, Real known,
             Real bound);
  /// All runs of this case have been added: its rows.
  void finish_case(const std::string& name);
  /// The mean that LAMMPS found; none for a case that it has no numbers of.
  std::optional<FlowMean> lammps(const std::string& name, const std::string& quantity) const;

 private:
  struct Runs {
    std::string quantity;
    std::map<std::string, std::vector<Real>> of_law;
  };
  Runs& runs_of(const std::string& quantity);
  void show_row(const std::string& name, const Runs& runs);

  std::map<std::pair<std::string, std::string>, std::vector<Real>> lammps_;
  std::vector<Runs> runs_;  ///< of the present case
};

void verify_flow_impacts(FlowTable& table);  ///< two to five spheres

}  // namespace scree
