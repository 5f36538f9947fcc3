#pragma once
#include <functional>
#include <string>

#include "core/parallel.hpp"

namespace scree {

struct FrictionSchemesVerification {
  bool quick = false;  ///< leaves out what takes long
  std::string source;  ///< folder that holds inputs/verification
  std::string csv;     ///< table to write; empty: none
};

/// Runs the decks slope, oscillator and stack3 to stack10 of inputs/verification with every scheme and
/// treatment of friction and compares them with exact answers: errors and cost in one table
/// (docs/verification.md). `show` gets the lines of the report as they become known. Returns whether all
/// errors are within their bounds. Collective.
bool compare_friction_schemes(const Comm& comm, const FrictionSchemesVerification& options,
                              const std::function<void(const std::string&)>& show);

/// Finds the coefficient of friction above which three stacked disks that cannot turn stand, for each of
/// these, by bisection; exact: (sqrt(15) - 2 sqrt(3)) / 3. Returns whether all are within their bounds.
/// Collective.
bool find_friction_threshold(const Comm& comm, const FrictionSchemesVerification& options,
                             const std::function<void(const std::string&)>& show);

}  // namespace scree
