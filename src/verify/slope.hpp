#pragma once
#include <functional>
#include <string>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

struct SlopeVerification {
  bool quick = false;  ///< leaves out what takes long
  std::string source;  ///< folder that holds tests/reference/primal-dual
  std::string csv;     ///< table to write; empty: none
};

/// A cube on a slope: recomputes the published table of the split interior-point method, and compares every
/// registered solver with the exact motion, a = g (sin - mu cos) or rest (docs/verification.md). `show` gets
/// the lines of the report as they become known. Returns whether all checks hold. Every rank computes all of
/// it for itself. Throws InputError for a missing or damaged reference. Collective.
bool verify_slope(const Comm& comm, const SlopeVerification& options,
                  const std::function<void(const std::string&)>& show);

}  // namespace scree
