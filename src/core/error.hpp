#pragma once
#include <stdexcept>
#include <string>

namespace scree {

/// Exit codes of every scree program (docs/conventions.md).
enum class ExitCode : int {
  done = 0,
  runtime_failure = 1,
  bad_input = 2,
  solver_failure = 3,
  interrupted = 4,
  locked = 5
};

/// An error that all ranks throw together, with the same text; rank 0 prints it and all ranks leave with
/// `code`. Anything else that escapes on one rank alone is a defect or a lost machine and aborts the job.
class CollectiveError : public std::runtime_error {
 public:
  CollectiveError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A step that could not be taken. The state is that of its start, but for exceptions that Stepper names.
class StepRefused : public CollectiveError {
 public:
  using CollectiveError::CollectiveError;
};

/// What the user wrote or named cannot be used: a deck, an option, a file given as input, an output folder.
class InputError : public CollectiveError {
 public:
  explicit InputError(const std::string& message) : CollectiveError(ExitCode::bad_input, message) {}
};

/// The run could not go on: disk full, a body lost, a write that failed.
class RunError : public CollectiveError {
 public:
  explicit RunError(const std::string& message) : CollectiveError(ExitCode::runtime_failure, message) {}
};

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace scree

/// Checks what must hold by construction; active with SCREE_ASSERTS (presets dev and asan).
#ifdef SCREE_ASSERTS
#define SCREE_ASSERT(condition) \
  ((condition) ? void(0) : ::scree::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define SCREE_ASSERT(condition) void(0)
#endif
