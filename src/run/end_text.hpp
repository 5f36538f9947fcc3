#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "io/run_files.hpp"

namespace scree {

/// What a number of the certificate was at its worst in the steps of a run.
struct WorstOfSteps {
  std::string name;
  std::string unit;
  Real value = 0;           ///< the largest; of a success, the number of steps without
  Real limit = HUGE_VAL;    ///< at that step
  bool is_success = false;  ///< as in CertificateEntry
};

/// What steps proved beside what the deck asks of them: "every step solved, worst residual 0.0095 (limit
/// 0.01)". Empty if it asks nothing.
std::string certificate_text(std::span<const WorstOfSteps> worst, std::int64_t n_steps);

/// All values at their worst.
std::string worst_text(std::span<const WorstOfSteps> worst);

/// Commands that show results, a line each, "see it: " before the first; empty if there is nothing to see.
/// `paraview_file`: empty if there are no frames; `has_rows`: of the scalars.
std::string commands_to_view(const RunFiles& files, const std::string& paraview_file, bool has_rows);

}  // namespace scree
