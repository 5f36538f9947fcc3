#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What `scree report` is asked for; see its help.
struct ReportOptions {
  std::vector<std::string> folders{};
  std::string output{};         ///< empty: report.html in the first folder
  Real density_limit = 4;       ///< of crowds: maps show how long the density was above it [1/m2]
  Real megabytes = 15;          ///< paths of people are thinned until the file is about as large at most
  bool has_no_picture = false;  ///< of grains
};

/// Becomes the script postprocess/report.py, which comes with the program, run by the interpreter that the
/// environment variable SCREE_PYTHON names, else by python3 of PATH. Does not return: throws InputError if
/// there is no script or no interpreter. MPI must not have been started, and must not be needed again. Local.
[[noreturn]] void become_report(const ReportOptions& options);

}  // namespace scree
