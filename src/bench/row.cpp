#include "bench/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace scree {

namespace {

using Role = BenchColumn::Role;

/// JSON has no infinities.
Json json_of(Real value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}
Json json_of(const BenchColumn::Value& value) {
  if (const auto* number = std::get_if<Real>(&value)) return json_of(*number);
  if (const auto* count = std::get_if<std::int64_t>(&value)) return *count;
  return std::get<std::string>(value);
}

BenchColumn::Value value_of(const Json& json) {
  if (json.is_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<Real>();
  return json.get<std::string>();
}

std::vector<std::pair<std::string, BenchColumn::Value>> keys_of(const BenchRow& row) {
  std::vector<std::pair<std::string, BenchColumn::Value>> keys;
  for (const BenchColumn& column : row.columns)
    if (column.role == Role::key) keys.emplace_back(column.name, column.value);
  return keys;
}

}  // namespace

std::vector<BenchPhase> phases_within(const std::vector<TimerRow>& timers, std::string_view scope) {
  constexpr std::string_view exchange = "exchange";
  constexpr Real least = 0.005;
  std::vector<BenchPhase> phases;
  const auto share_of = [&](std::string_view name) -> Real& {
    const auto found = std::ranges::find(phases, name, &BenchPhase::name);
    return (found != phases.end() ? *found : phases.emplace_back(BenchPhase{std::string(name)})).share;
  };
  Real total = 0;
  for (std::size_t k = 0; k < timers.size(); ++k) {
    if (timers[k].name != scope) continue;
    total += timers[k].mean;
    std::string_view top;
    for (std::size_t inner = k + 1; inner < timers.size() && timers[inner].depth > timers[k].depth; ++inner) {
      const TimerRow& timer = timers[inner];
      const bool is_outermost = timer.depth == timers[k].depth + 1;
      if (is_outermost) top = timer.name;
      if (is_outermost || timer.name == exchange) share_of(timer.name) += timer.mean;
      if (!is_outermost && timer.name == exchange) share_of(top) -= timer.mean;
    }
  }
  if (total <= 0) return {};
  Real rest = 1;
  for (BenchPhase& phase : phases) {
    phase.share /= total;
    rest -= phase.share;
  }
  phases.push_back({"other", rest});
  std::erase_if(phases, [](const BenchPhase& phase) { return phase.share < least; });
  std::ranges::stable_sort(phases, std::ranges::greater{}, &BenchPhase::share);
  return phases;
}

BenchRow& BenchRow::key(const std::string& name, BenchColumn::Value value, const std::string& unit) {
  columns.push_back({.name = name, .unit = unit, .value = std::move(value), .role = Role::key, .spread = {}});
  return *this;
}
BenchRow& BenchRow::size(const std::string& name, std::int64_t value) {
  columns.push_back({.name = name, .value = value, .role = Role::size, .spread = {}});
  return *this;
}
BenchRow& BenchRow::result(const std::string& name, const std::string& unit, BenchColumn::Value value) {
  columns.push_back({.name = name, .unit = unit, .value = std::move(value), .spread = {}});
  return *this;
}
BenchRow& BenchRow::timing(const std::string& name, const std::string& unit, Real value, Real its_spread) {
  columns.push_back({.name = name, .unit = unit, .value = value, .spread = its_spread});
  return *this;
}
BenchRow& BenchRow::time(const Timing& of_work) {
  seconds = of_work.median;
  spread = of_work.spread;
  return *this;
}
BenchRow& BenchRow::only_in_files() {
  columns.back().in_table = false;
  return *this;
}

const BenchColumn* BenchRow::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &BenchColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

Real BenchRow::number(std::string_view name) const {
  const BenchColumn* column = find(name);
  if (!column) return 0;
  if (const auto* count = std::get_if<std::int64_t>(&column->value)) return static_cast<Real>(*count);
  const auto* number = std::get_if<Real>(&column->value);
  return number ? *number : 0;
}

Real BenchRow::work_size() const {
  const auto found = std::ranges::find(columns, Role::size, &BenchColumn::role);
  return found == columns.end() ? 1 : number(found->name);
}

Json to_json(const BenchRow& row) {
  Json json{{"case", row.bench},
            {"mode", row.mode},
            {"ranks", row.ranks},
            {"work", row.work},
            {"seconds", json_of(row.seconds)}};
  json["complete"] = row.is_complete;
  if (row.spread) json["spread"] = json_of(*row.spread);
  for (const char* part : {"keys", "size", "values", "units", "spreads", "phases"})
    json[part] = Json::object();
  json["only_in_files"] = Json::array();
  for (const BenchColumn& column : row.columns) {
    const char* part = column.role == Role::key ? "keys" : column.role == Role::size ? "size" : "values";
    json[part][column.name] = json_of(column.value);
    json["units"][column.name] = column.unit;
    if (column.spread) json["spreads"][column.name] = json_of(*column.spread);
    if (!column.in_table) json["only_in_files"].push_back(column.name);
  }
  for (const BenchPhase& phase : row.phases) json["phases"][phase.name] = json_of(phase.share);
  json["notes"] = row.notes;
  return json;
}

BenchRow row_from_json(const Json& json) {
  BenchRow row(json.at("work").get<std::string>());
  row.bench = json.at("case").get<std::string>();
  row.mode = json.at("mode").get<std::string>();
  row.ranks = json.at("ranks").get<int>();
  row.seconds = json.at("seconds").is_number() ? json.at("seconds").get<Real>() : HUGE_VAL;
  row.is_complete = json.value("complete", true);
  if (json.contains("spread") && json.at("spread").is_number()) row.spread = json.at("spread").get<Real>();
  for (const auto& [part, role] :
       {std::pair{"keys", Role::key}, {"size", Role::size}, {"values", Role::result}})
    for (const auto& [name, value] : json.at(part).members()) {
      BenchColumn column{.name = name, .value = value_of(value), .role = role, .spread = {}};
      column.unit = json.at("units").at(name).get<std::string>();
      if (json.at("spreads").contains(name)) column.spread = json.at("spreads").at(name).get<Real>();
      const Json& hidden = json.at("only_in_files");
      column.in_table = std::ranges::find(hidden, Json(name)) == hidden.end();
      row.columns.push_back(std::move(column));
    }
  for (const auto& [name, share] : json.at("phases").members())
    row.phases.push_back({name, share.get<Real>()});
  row.notes = json.at("notes").get<std::vector<std::string>>();
  return row;
}

void compare_ranks(std::vector<BenchRow>& rows) {
  // Rows with the same place among those of their case and number of ranks belong together.
  std::map<std::pair<std::string, int>, std::size_t> count;
  std::vector<std::string> cases;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<BenchRow>> groups;
  for (BenchRow& row : rows) {
    auto of_case = std::ranges::find(cases, row.bench);
    if (of_case == cases.end()) of_case = cases.insert(cases.end(), row.bench);
    const std::size_t place = count[{row.bench, row.ranks}]++;
    groups[{static_cast<std::size_t>(of_case - cases.begin()), place}].push_back(std::move(row));
  }
  rows.clear();
  for (auto& [place, group] : groups) {
    std::ranges::stable_sort(group, {}, &BenchRow::ranks);
    const BenchRow& base = group.front();
    const bool all_agree = std::ranges::all_of(
        group, [&](const BenchRow& row) { return row.is_complete && keys_of(row) == keys_of(base); });
    const auto rate_per_rank = [](const BenchRow& row) { return row.work_size() / row.seconds / row.ranks; };
    const Real of_base = rate_per_rank(base);
    for (BenchRow& row : group) {
      if (group.size() < 2 || !all_agree || base.seconds <= 0 || row.seconds <= 0) continue;
      const Real efficiency = rate_per_rank(row) / of_base;
      const Real speed_up = efficiency * row.ranks / base.ranks;
      const auto first_result = std::ranges::find(row.columns, Role::result, &BenchColumn::role);
      row.columns.insert(first_result, {{.name = "speed_up", .value = speed_up, .spread = {}},
                                        {.name = "efficiency", .value = efficiency, .spread = {}}});
    }
    std::ranges::move(group, std::back_inserter(rows));
  }
}

}  // namespace scree
