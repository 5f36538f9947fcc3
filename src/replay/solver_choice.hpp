#pragma once
#include <memory>
#include <string>
#include <vector>

#include "friction/friction_solver.hpp"

namespace scree {

/// The solvers that a command line names, with settings "SOLVER.KEY=VALUE" (keys as in [solver]).
template <int D>
class SolverChoice {
 public:
  /// No name, or "all": every solver that is registered. Throws InputError for a name (with the nearest one
  /// there is), key or value that does not exist.
  SolverChoice(const std::vector<std::string>& names, std::vector<std::string> settings);

  const std::vector<std::string>& names() const { return names_; }
  /// A new one, with its settings.
  std::unique_ptr<FrictionSolver<D>> make(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> settings_;
};

}  // namespace scree
