#include "crowd/output/crowd_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "crowd/output/crowd_writer.hpp"
#include "crowd/output/evacuation.hpp"

namespace scree {

void CrowdOutputSettings::describe(Section& output) {
  if (output.reading() && output.has("trajectory")) where_trajectory = output.where("trajectory");
  output.optional_table(
      "trajectory",
      {.doc = "Paths of people in NAME.trajectory.h5, in the layout of the pedestrian dynamics data archive"},
      [&](Section& table) {
        table.real(
            "fps", fps,
            {.range = positive, .required = true, .doc = "Frames per second, at most one per time step"});
        table.real("z", z, {.unit = Unit::length, .doc = "Height of the floor, for the column z"});
      });
  if (output.reading()) where_fields = output.where("fields");
  fields = {"density", "speed", "flux", "level_of_service", "load", "exposure", "travel_time"};
  output.table(
      "fields", {.doc = "Series of fields of a crowd on a grid, for ParaView; forces of people on walls"},
      [&](Section& table) {
        const std::vector<std::string> known = fields;
        every.describe(table, "frames");
        table.real("cell", cell, {.unit = Unit::length, .range = positive, .doc = "Length of a cell"});
        table.texts("which", fields, {.doc = fmt::format("Fields, some of {}", fmt::join(known, ", "))});
        table.real("density_limit", density_limit,
                   {.range = positive,
                    .doc = "Exposure is the time above this density [1/m2], and above load_limit"});
        table.real("load_limit", load_limit,
                   {.unit = Unit::stiffness,
                    .range = positive,
                    .doc = "Line load above which exposure counts time, see density_limit"});
        table.real("force_per_speed", force_per_speed,
                   {.unit = Unit::mass_rate,
                    .range = positive,
                    .doc = "Contact force per change of velocity: mass of a person over its relaxation time; "
                           "scales loads only"});
        if (!table.reading()) return;
        if (fields.empty())
          table.fail("which", "'which' in [output.fields] is empty; leave out every for no fields");
        for (const std::string& field : fields)
          if (std::ranges::find(known, field) == known.end())
            table.fail("which", fmt::format("there is no field \"{}\"{}; valid: {}", field,
                                            suggestion(field, known), fmt::join(known, ", ")));
      });
}

void CrowdOutput::refuse(std::string_view scheme_of_run) const {
  const auto refuse_table = [&](const std::string& where, std::string_view table) {
    throw InputError(fmt::format(
        "{}: [output.{}] is about people, whom the scheme \"{}\" does not move; take the table away or "
        "choose scheme = \"crowd\"",
        where, table, scheme_of_run));
  };
  if (settings_.fps > 0) refuse_table(settings_.where_trajectory, "trajectory");
  if (settings_.every.ever()) refuse_table(settings_.where_fields, "fields");
}

void CrowdOutput::check(const Box<2>& box, Real dt) const {
  if (settings_.every.ever()) {
    // Cells reach 1 m beyond the domain at most; columns and rows are counted with 32 bits in files.
    constexpr Real max_cells = 1e9;
    Real n_cells = 1;
    for (int k = 0; k < 2; ++k) n_cells *= std::ceil((box.length(k) + 2) / settings_.cell);
    if (n_cells > max_cells)
      throw InputError(
          fmt::format("{}: cells of {:g} m in [output.fields] make a grid of {:.3g} cells; at most "
                      "{:g} are possible",
                      settings_.where_fields, settings_.cell, n_cells, max_cells));
  }
  if (settings_.fps * dt > 1 + 1e-9)
    throw InputError(
        fmt::format("{}: fps = {:g} in [output.trajectory] asks for more frames than steps of {:g} s "
                    "make: {:g} per second at most",
                    settings_.where_trajectory, settings_.fps, dt, 1 / dt));
}

std::unique_ptr<EnvironmentWriter<2>> CrowdOutput::make_writer(const OutputContext<2>& context) {
  return std::make_unique<CrowdWriter>(context, settings_, environment_);
}

std::vector<std::string> CrowdOutput::vtk_tables() const {
  std::vector<std::string> tables;
  for (int level = 0; settings_.every.ever() && level < environment_.building().n_levels(); ++level)
    tables.push_back(CrowdFields::series_name(environment_.building(), level));
  return tables;
}

std::span<const std::string_view> CrowdOutput::endings() const {
  static constexpr std::array<std::string_view, 5> list{".trajectory.h5", ".agents.csv", ".evacuation.csv",
                                                        ".exits.csv", ".queues.csv"};
  return list;
}

std::vector<EnsembleQuantity> CrowdOutput::quantities(std::span<const std::string> summaries) const {
  return evacuation_quantities(summaries);
}

}  // namespace scree
