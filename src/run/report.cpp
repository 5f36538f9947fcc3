#include "run/report.hpp"

#include <fmt/format.h>

#include "run/script.hpp"

namespace scree {

void become_report(const ReportOptions& options) {
  std::vector<std::string> words;
  if (!options.output.empty()) words.insert(words.end(), {"--output", options.output});
  words.insert(words.end(), {"--density-limit", fmt::format("{}", options.density_limit), "--megabytes",
                             fmt::format("{}", options.megabytes)});
  if (options.has_no_picture) words.emplace_back("--no-picture");
  words.emplace_back("--");
  words.insert(words.end(), options.folders.begin(), options.folders.end());
  become_script("report", "postprocess/report.py", words, "numpy, h5py and matplotlib");
}

}  // namespace scree
