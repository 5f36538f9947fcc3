#include "run/script.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "core/error.hpp"
#include "core/program_folder.hpp"

namespace scree {

void become_script(const std::string& verb, const std::string& script, const std::vector<std::string>& words,
                   const std::string& packages) {
  const std::string folder = program_folder({script.c_str()});
  if (folder.empty())
    throw InputError(
        fmt::format("scree {}: {} is not there, neither above this program nor in share/scree: "
                    "use the program where it was built or installed",
                    verb, script));
  const char* named = std::getenv("SCREE_PYTHON");
  std::vector<std::string> command{named != nullptr && *named != 0 ? named : "python3",
                                   folder + "/" + script};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  std::ranges::transform(command, std::back_inserter(arguments),
                         [](std::string& word) { return word.data(); });
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw InputError(
      fmt::format("scree {}: cannot start {}: {}. It needs Python 3.11 or later with {} "
                  "(Debian: scripts/install-deps.sh pictures); another interpreter is named by the "
                  "environment variable SCREE_PYTHON",
                  verb, command[0], std::strerror(errno), packages));
}

void become_verification(const VerificationOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--case", options.group);
  add("--csv", options.csv);
  add("--source", options.source);
  add("--ranks", std::to_string(options.ranks));
  if (options.is_quick) words.emplace_back("--quick");
  if (!options.what.empty()) words.insert(words.end(), {"--", options.what});
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) setenv("SCREE", program.c_str(), 1);
  become_script("verify", "postprocess/verify.py", words, "numpy and h5py");
}

}  // namespace scree
