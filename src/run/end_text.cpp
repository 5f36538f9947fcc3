#include "run/end_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/lines.hpp"
#include "run/commands.hpp"
#include "run/python_commands.hpp"

namespace scree {

namespace {

std::string with_unit(Real value, const std::string& unit) {
  return fmt::format("{:.3g}{}", value, unit == "-" ? "" : " " + unit);
}

}  // namespace

std::string certificate_text(std::span<const WorstOfSteps> worst, std::int64_t n_steps) {
  if (n_steps == 0) return "";
  std::vector<std::string> parts;
  for (const WorstOfSteps& one : worst)
    if (one.is_success)
      parts.push_back(one.value == 0
                          ? "every step solved"
                          : fmt::format("{} of {} steps missed the tolerance", one.value, n_steps));
  for (const WorstOfSteps& one : worst)
    if (!one.is_success && std::isfinite(one.limit))
      parts.push_back(fmt::format("worst {} {} ({} {})", one.name, with_unit(one.value, one.unit),
                                  one.value <= one.limit ? "limit" : "above the limit",
                                  with_unit(one.limit, one.unit)));
  return in_lines("", parts);
}

std::string worst_text(std::span<const WorstOfSteps> worst) {
  std::vector<std::string> parts;
  for (const WorstOfSteps& one : worst) parts.push_back(one.name + ' ' + with_unit(one.value, one.unit));
  return in_lines("worst of all steps: ", parts);
}

std::string commands_to_view(const RunFiles& files, const std::string& paraview_file, bool has_rows) {
  std::vector<std::string> commands;
  const auto add = [&, can_draw = has_python_commands()](const char* command) {
    if (can_draw) commands.push_back(fmt::format("scree {} {}", command, quoted(files.folder)));
  };
  if (!paraview_file.empty()) {
    commands.push_back("paraview " + quoted(paraview_file));
    add("render");
  }
  if (has_rows) add("plot scalars");
  return commands.empty() ? "" : fmt::format("see it: {}", fmt::join(commands, "\n        "));
}

}  // namespace scree
