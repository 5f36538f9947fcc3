#include "run/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "core/error.hpp"
#include "core/program_folder.hpp"

namespace scree {

void become_report(const ReportOptions& options) {
  constexpr const char* script = "postprocess/report.py";
  const std::string folder = program_folder({script});
  if (folder.empty())
    throw InputError(
        fmt::format("scree report: {} is not there, neither above this program nor in share/scree: "
                    "use the program where it was built or installed",
                    script));
  const char* named = std::getenv("SCREE_PYTHON");
  std::vector<std::string> words{named != nullptr && *named != 0 ? named : "python3", folder + "/" + script};
  if (!options.output.empty()) words.insert(words.end(), {"--output", options.output});
  words.insert(words.end(), {"--density-limit", fmt::format("{}", options.density_limit), "--megabytes",
                             fmt::format("{}", options.megabytes)});
  if (options.has_no_picture) words.emplace_back("--no-picture");
  words.emplace_back("--");
  words.insert(words.end(), options.folders.begin(), options.folders.end());
  std::vector<char*> arguments;
  std::ranges::transform(words, std::back_inserter(arguments), [](std::string& word) { return word.data(); });
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw InputError(fmt::format(
      "scree report: cannot start {}: {}. It needs Python 3.11 or later with numpy, h5py and "
      "matplotlib (Debian: scripts/install-deps.sh pictures); another interpreter is named by the "
      "environment variable SCREE_PYTHON",
      words[0], std::strerror(errno)));
}

}  // namespace scree
