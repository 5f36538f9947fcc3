#pragma once
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace scree {

struct CrowdVerification {
  std::string only = "all";  ///< s1, s2, s3, s4, s6, s7 or all
  std::string csv;           ///< table to write; empty: none
};

/// Crowds against what is known exactly about the scheme "crowd" (docs/verification.md, "Crowds: exactness"):
/// head-on pairs, pushing columns, convergence in the time step, optimality of every step as found anew from
/// positions alone, files of people, balance of wall forces. Decks are run by the code that runs every deck,
/// on the ranks of `comm`; the numbers do not depend on their number. `show` gets the lines of the report.
/// Returns whether all rows hold. Collective; every rank holds all of the (up to 100) people.
#ifdef SCREE_CROWD
bool verify_crowd(const Comm& comm, const CrowdVerification& options,
                  const std::function<void(const std::string&)>& show);
#else
inline bool verify_crowd(const Comm&, const CrowdVerification&,
                         const std::function<void(const std::string&)>&) {
  throw InputError("crowds need a build with SCREE_CROWD=ON");
}
#endif

}  // namespace scree
