#pragma once
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"

namespace scree {

/// Takes what a program found: what it is, and its value. Collective.
using Send = std::function<void(const std::string& what, const Json& value)>;

/// A number as these lines have it: JSON has no infinities and no NaN, which are texts here.
Json finite_or_text(Real value);

/// A program in Python beside this one that makes tables and files of what this one finds: lines of JSON
/// objects with one member each (docs/benchmarks.md).
class PythonLines {
 public:
  /// Starts the package postprocess/scree/NAME with these words (run/python_package.hpp), or takes standard
  /// output where `streams`; only on the rank that is speaker. To be made before MPI starts, where the rank
  /// is known by then.
  PythonLines(bool is_speaker, bool streams, const std::string& package,
              const std::vector<std::string>& words);
  /// Waits until all is shown.
  ~PythonLines();
  PythonLines(const PythonLines&) = delete;
  PythonLines& operator=(const PythonLines&) = delete;

  /// Throws InputError if there is no such package, and RunError if the other program has ended. Collective.
  void send(const Comm& comm, const std::string& what, const Json& value);
  /// Waits until all is shown; whether it was, on all ranks. Collective.
  ExitCode finish(const Comm& comm);

 private:
  int close();

  std::FILE* lines_ = nullptr;
  std::string failure_;  ///< why there are no lines
};

}  // namespace scree
