#pragma once
#include <string>
#include <vector>

namespace scree {

/// Becomes a Python script that comes with the program, run by the interpreter that the environment variable
/// SCREE_PYTHON names, else by python3 of PATH. `verb`: of the command line, for messages; `script`: its
/// place, such as "postprocess/report.py"; `words`: its arguments; `packages`: what scripts/install-deps.sh
/// installs for it. Does not return: throws InputError if there is no script or no interpreter. MPI must not
/// have been started, and must not be needed again. Local.
[[noreturn]] void become_script(const std::string& verb, const std::string& script,
                                const std::vector<std::string>& words, const std::string& packages);

/// What `scree verify` is asked for; see its help.
struct VerificationOptions {
  std::string what{};     ///< name of a verification; empty: lists them
  std::string group{};    ///< of cases; empty: all
  std::string csv{};      ///< table to write; empty: none
  std::string source{};   ///< folder that holds inputs and tests/reference; empty: the nearest
  int ranks = 1;          ///< of each run
  bool is_quick = false;  ///< leaves out what takes long
};

/// Becomes the script postprocess/verify.py, which runs decks by the program that it comes with. Throws as
/// become_script(). Local.
[[noreturn]] void become_verification(const VerificationOptions& options);

}  // namespace scree
