#pragma once
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

/// The verifications of `scree_verify` (docs/verification.md). They run decks by the code that runs every
/// deck, on the ranks of `comm`; the numbers do not depend on how many there are. `show` gets the lines of
/// the report as they become known. All return whether every check holds, throw InputError for options that
/// cannot be used and for a missing or damaged reference, and are collective.
namespace scree {

struct VerifyOptions {
  std::string only = "all";  ///< case, or group of cases
  bool quick = false;        ///< leaves out what takes long
  std::string source;        ///< folder that holds inputs/verification and tests/reference
  std::string csv;           ///< table to write; empty: none
};

/// Takes a line of a report.
using Show = std::function<void(const std::string&)>;

/// Crowds against what is known exactly about the scheme "crowd": head-on pairs, pushing columns, convergence
/// in the time step, optimality of every step, recomputed from positions alone, files of people, balance of
/// wall forces (of these cases every rank holds all of the up to 100 people), and flow through doors beside
/// experiments.
#ifdef SCREE_CROWD
bool verify_crowd(const Comm& comm, const VerifyOptions& options, const Show& show);
#else
inline bool verify_crowd(const Comm&, const VerifyOptions&, const Show&) {
  throw InputError("crowds need a build with SCREE_CROWD=ON");
}
#endif

}  // namespace scree
