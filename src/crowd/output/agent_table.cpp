#include "crowd/output/agent_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/csv.hpp"

namespace scree {

namespace {

std::string number(Real value) {
  return fmt::format("{}", value);
}

std::string_view word_of(Fate fate) {
  static constexpr std::array<std::string_view, 7> words{
      "left", "left elsewhere", "incapacitated", "inside", "waiting", "no route", "locked"};
  return words[static_cast<std::size_t>(fate)];
}

/// Places of the columns that are not just fields of agent_fields.def.
struct OwnPlace {
  static constexpr int id = 1, population = 2, agent_type = 3, radius = 4, entered = 6, left = 8, exit = 9,
                       level = 11, incapacitated_at = 15;
  static constexpr std::array all{id,   population, agent_type, radius,          entered,
                                  left, exit,       level,      incapacitated_at};
};
static_assert(std::ranges::none_of(agent::written,
                                   [](const agent::Written& field) {
                                     return std::ranges::find(OwnPlace::all, field.table) !=
                                            OwnPlace::all.end();
                                   }),
              "a field of agent_fields.def has the place of another column");

}  // namespace

bool holds(agent::OnlyIf condition, const CrowdEnvironment& environment) {
  switch (condition) {
    case agent::OnlyIf::queues:
      return environment.queues().is_used();
    case agent::OnlyIf::groups:
      return environment.groups().is_used();
    case agent::OnlyIf::hazard:
      return environment.hazard().is_on();
    case agent::OnlyIf::always:
      break;
  }
  return true;
}

std::vector<AgentColumn> agent_columns(const CrowdEnvironment& environment, const State<2>& state) {
  using D = Departure;
  namespace place = agent::place;
  const auto type = [&environment](const D& d) {
    return csv_cell(environment.people().types()[d.values[place::agent_type]].name);
  };
  const auto exit = [&state](const D& d) { return d.exit < 0 ? "" : csv_cell(state.outlets[d.exit].name); };
  const auto fell = [](const D& d) {
    const Real time = d.values[place::incapacitated_at];
    return time > 0 ? number(time) : "nan";
  };
  constexpr int last = 1000;  // behind all fields
  std::vector<AgentColumn> columns{
      {OwnPlace::id, "id", "-", [](const D& d) { return fmt::format("{}", d.id); }},
      {OwnPlace::population, "population", "-",
       [names = environment.people().body_type_names()](const D& d) { return csv_cell(names[d.body_type]); }},
      {OwnPlace::agent_type, "agent_type", "-", type},
      {OwnPlace::radius, "radius", "m", [](const D& d) { return number(d.radius); }},
      {OwnPlace::entered, "entered", "s", [](const D& d) { return number(d.values[place::entered_at]); }},
      {OwnPlace::left, "left", "s", [](const D& d) { return std::isfinite(d.time) ? number(d.time) : ""; }},
      {OwnPlace::exit, "exit", "-", exit},
      {last, "x", "m", [](const D& d) { return number(d.at[0]); }},
      {last + 1, "y", "m", [](const D& d) { return number(d.at[1]); }},
      {last + 2, "state", "-", [](const D& d) { return std::string(word_of(d.fate)); }}};
  if (environment.building().n_levels() > 1)
    columns.push_back({OwnPlace::level, "level", "-", [&environment](const D& d) {
                         return csv_cell(environment.building().level(d.level).name);
                       }});
  if (environment.hazard().is_on())
    columns.push_back({OwnPlace::incapacitated_at, "incapacitated_at", "s", fell});
  for (std::size_t k = 0; k < agent::fields.size(); ++k) {
    if (agent::written[k].table == 0 || !holds(agent::written[k].only_if, environment)) continue;
    columns.push_back({agent::written[k].table, std::string(agent::fields[k].info.name),
                       std::string(agent::fields[k].info.unit), [k](const D& d) {
                         return agent::fields[k].is_integer
                                    ? fmt::format("{}", static_cast<std::int32_t>(d.values[k]))
                                    : number(d.values[k]);
                       }});
  }
  std::ranges::sort(columns, {}, &AgentColumn::place);
  return columns;
}

}  // namespace scree
