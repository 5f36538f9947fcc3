#pragma once
#include <string>

/// Crashes inside of libraries that trust the files they read: HDF5 1.10 frees and follows what damaged
/// metadata say. They end the program like any file that cannot be used, with one message and exit code 2.
/// Programs under sanitizers keep their own reports.
namespace scree {

/// While one lives, a crash of this process (SIGSEGV, SIGBUS, SIGFPE, SIGABRT) is put down to the file: one
/// line on standard error names it, and the process ends with ExitCode::bad_input. Several may live, one
/// within the other. Local.
class InputCrashGuard {
 public:
  /// `speaks`: whether this process prints; others leave it time to, and print only if it did not.
  InputCrashGuard(const std::string& path, bool speaks);
  ~InputCrashGuard();
  InputCrashGuard(const InputCrashGuard&) = delete;
  InputCrashGuard& operator=(const InputCrashGuard&) = delete;
};

/// From here on a crash ends the process with exit code `code` and no word: for the end of a program that has
/// said what is wrong with a file, while libraries put away what they made of it. Local.
void end_quietly_with(int code);

}  // namespace scree
