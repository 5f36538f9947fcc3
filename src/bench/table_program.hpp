#pragma once
#include <cstdio>
#include <string>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"

namespace scree {

/// Becomes `postprocess/scree/bench study TOLD`, which starts programs on ranks (run/python_package.hpp).
[[noreturn]] void become_study(const Json& told);

/// A program beside this one that makes tables and files of what this one measures: lines of JSON objects
/// with one member each, `machine`, `case`, `head`, `row` and `done` (docs/benchmarks.md).
class TableProgram {
 public:
  /// Starts `postprocess/scree/bench show TOLD`, or takes standard output where `streams`; only on the rank
  /// that is speaker. To be made before MPI starts, where the rank is known by then.
  TableProgram(bool is_speaker, bool streams, const Json& told);
  /// Waits until all is shown.
  ~TableProgram();
  TableProgram(const TableProgram&) = delete;
  TableProgram& operator=(const TableProgram&) = delete;

  /// Throws InputError as become_study(), and RunError if the other program has ended. Collective.
  void tell(const Comm& comm, const std::string& what, const Json& value);
  /// Waits until all is shown; whether it was, on all ranks. Collective.
  ExitCode finish(const Comm& comm);

 private:
  int close();

  std::FILE* lines_ = nullptr;
  std::string failure_;  ///< why there are no lines
};

}  // namespace scree
