#include "run/output_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace scree {

std::string fault_of_name(const std::string& name) {
  constexpr std::size_t max_bytes = 200;  // file systems take 255; endings need some
  const bool has_control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
  if (name.empty()) return "is empty; it names a folder and files";
  if (has_control) return "holds a line break or another control character; it names a folder and files";
  if (name.find_first_of("/\\\"<>&") != std::string::npos)
    return fmt::format("is \"{}\"; it names a folder and files, so it holds none of / \\ \" < > &", name);
  if (name[0] == '-' || name[0] == '.')
    return fmt::format("is \"{}\"; it names a folder and files, so it starts with neither - nor .", name);
  if (name.size() > max_bytes)
    return fmt::format("has {} bytes; file names take up to {}", name.size(), max_bytes);
  return "";
}

namespace {

std::string fault_of_directory(const std::string& directory) {
  if (directory.empty()) return "is empty; \".\" is the present folder";
  if (std::ranges::any_of(directory, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }))
    return "holds a line break or another control character";
  return "";
}

}  // namespace

void describe_precision(Section& table, bool& single) {
  table.choice("precision", single, {{"single", true}, {"double", false}}, {.doc = "Of real numbers"});
}

RunFiles OutputSettings::files(const std::string& default_name) const {
  RunFiles run;
  run.name = name.empty() ? default_name : name;
  if (const std::string fault = fault_of_name(run.name); !fault.empty())
    throw InputError(
        fmt::format("the name of the run, that of the deck's file, {}: set 'name' in [output]", fault));
  run.folder = directory + "/" + run.name;
  return run;
}

void OutputSettings::describe(Section& root, const std::function<void(Section& output)>& of_frames,
                              const std::function<void(Section& output)>& of_environments) {
  std::string where_retired;
  root.table(
      "output", {.doc = "Files; all of a run lie in the folder directory/name"}, [&](Section& section) {
        section.text("directory", directory, {.doc = "Folder of result folders"});
        section.text("name", name,
                     {.doc = "Name of the run's folder and files; the deck's file name if not given"});
        if (section.reading() && section.has("directory"))
          if (const std::string fault = fault_of_directory(directory); !fault.empty())
            section.fail("directory", fmt::format("'directory' in [output] {}", fault));
        if (section.reading() && section.has("name"))
          if (const std::string fault = fault_of_name(name); !fault.empty())
            section.fail("name", fmt::format("'name' in [output] {}", fault));
        if (section.reading() && section.has("failed_problems"))
          where_retired = section.where("failed_problems");
        section.table("certificate",
                      {.doc = "Residuals, overlaps and iterations of steps, in NAME.certificate.csv; every "
                              "step if nothing is given"},
                      [&](Section& table) { certificate.describe(table, "rows", 1); });
        of_frames(section);
        section.table(
            "checkpoint", {.doc = "Complete states to restart from; one is always written at the end"},
            [&](Section& table) {
              checkpoint.describe(table, "checkpoints");
              table.real(
                  "wall_time", checkpoint_wall_time,
                  {.unit = Unit::time,
                   .range = non_negative,
                   .doc = "Wall-clock time between checkpoints, besides those at every or every_steps; 0: "
                          "none for this reason"});
              table.integer("keep", checkpoint_keep,
                            {.range = {.min = 1}, .doc = "How many of the latest checkpoints stay on disk"});
            });
        if (section.reading() && section.has("fclib")) where_fclib = section.where("fclib");
        section.optional_table(
            "fclib",
            {.doc = "Contact problems of steps, one FCLIB file each, NAME.fclib_STEP.hdf5; for schemes that "
                    "solve such problems"},
            [&](Section& table) {
              fclib.describe(table, "problems");
              table.integer("on_failure", fclib_on_failure,
                            {.range = non_negative,
                             .doc = "Problems left unsolved that are written to NAME.failed_STEP.hdf5, at "
                                    "most: the first ones of the run; as many without this table"});
              table.boolean(
                  "guess", fclib_guess,
                  {.doc = "Whether files hold the impulses that the solve started from, as a guess"});
              table.boolean("solution", fclib_solution,
                            {.doc = "Whether files hold the impulses that the solve got to: as the solution, "
                                    "or as one more guess if they miss solver.tolerance"});
            });
        of_environments(section);
      });
  if (!where_retired.empty())
    throw InputError(where_retired +
                     ": 'failed_problems' [output] is no longer a key; use 'on_failure' in [output.fclib]");
  root.table("analysis", {.doc = "Scalars over time, in NAME.scalars.csv"}, [&](Section& section) {
    scalars.describe(section, "rows");
    section.real("contact_tolerance", contact_tolerance,
                 {.range = unit_interval,
                  .doc = "Bodies count as touching up to this gap, as a share of the sum of their radii"});
  });
}

}  // namespace scree
