#pragma once
#include <functional>
#include <string>

#include "core/parallel.hpp"

namespace scree {

struct GrainsVerification {
  std::string only = "all";  ///< group of cases: impacts, motions, stacks, balances, soft or all
  std::string csv;           ///< table to write, one row per number; empty: none
};

/// Grains against closed forms (docs/verification.md, "Grains: closed forms"): decks with the scheme
/// "nonsmooth", or "dem" in the group soft, run by the code that runs every deck, on the ranks of `comm`.
/// `show` gets the lines of the report as they become known: of each quantity of a case, the row that is
/// worst. Returns whether all rows hold. Collective.
bool verify_grains(const Comm& comm, const GrainsVerification& options,
                   const std::function<void(const std::string&)>& show);

}  // namespace scree
