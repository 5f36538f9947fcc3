#include "bench/row.hpp"

#include <algorithm>

#include "run/python_lines.hpp"

namespace scree {

namespace {

using Role = BenchColumn::Role;

Json json_of(const BenchColumn::Value& value) {
  if (const auto* number = std::get_if<Real>(&value)) return finite_or_text(*number);
  if (const auto* count = std::get_if<std::int64_t>(&value)) return *count;
  return std::get<std::string>(value);
}

}  // namespace

std::vector<BenchPhase> phases_within(const std::vector<TimerRow>& timers, std::string_view scope) {
  constexpr std::string_view exchange = "exchange";
  constexpr Real min = 0.005;
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
  std::erase_if(phases, [](const BenchPhase& phase) { return phase.share < min; });
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

Json BenchRow::to_json() const {
  Json json{{"work", work}, {"seconds", finite_or_text(seconds)}};
  json["complete"] = is_complete;
  if (spread) json["spread"] = finite_or_text(*spread);
  for (const char* part : {"keys", "size", "values", "units", "spreads", "phases"})
    json[part] = Json::object();
  json["only_in_files"] = Json::array();
  for (const BenchColumn& column : columns) {
    const char* part = column.role == Role::key ? "keys" : column.role == Role::size ? "size" : "values";
    json[part][column.name] = json_of(column.value);
    json["units"][column.name] = column.unit;
    if (column.spread) json["spreads"][column.name] = finite_or_text(*column.spread);
    if (!column.in_table) json["only_in_files"].push_back(column.name);
  }
  for (const BenchPhase& phase : phases) json["phases"][phase.name] = finite_or_text(phase.share);
  json["notes"] = remarks;
  return json;
}

}  // namespace scree
