#include "run/end_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/lines.hpp"
#include "core/program_folder.hpp"
#include "run/commands.hpp"

namespace scree {

namespace {

std::string with_unit(Real value, const std::string& unit) {
  return fmt::format("{:.3g}{}", value, unit == "-" ? "" : " " + unit);
}

/// A script of postprocess/, as one names it from the present folder; empty if it did not come with the
/// program.
std::string script(const char* name) {
  const std::string folder = program_folder({"postprocess"});
  if (folder.empty()) return "";
  const std::filesystem::path path = std::filesystem::path(folder) / "postprocess" / name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "";
  const std::string from_here = path.lexically_relative(std::filesystem::current_path(error)).string();
  return from_here.empty() || from_here.starts_with("..") ? path.string() : from_here;
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

std::string commands_to_see(const RunFiles& files, const std::string& paraview_file, bool has_rows) {
  std::vector<std::string> commands;
  const auto add = [&](const char* name) {
    if (const std::string path = script(name); !path.empty())
      commands.push_back(fmt::format("python3 {} {}", quoted(path), quoted(files.folder)));
  };
  if (!paraview_file.empty()) {
    commands.push_back("paraview " + quoted(paraview_file));
    add("render.py");
  }
  if (has_rows) add("plot_scalars.py");
  return commands.empty() ? "" : fmt::format("see it: {}", fmt::join(commands, "\n        "));
}

}  // namespace scree
