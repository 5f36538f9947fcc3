#include "bench/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/json.hpp"
#include "io/csv.hpp"
#include "io/table_text.hpp"

namespace scree {

namespace {

using Role = BenchColumn::Role;

constexpr std::size_t table_width = 118;

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

std::string exact_text(const BenchColumn::Value& value) {
  if (const auto* number = std::get_if<Real>(&value)) return fmt::format("{}", *number);
  if (const auto* count = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *count);
  return std::get<std::string>(value);
}

/// Three digits, without a power of ten where that takes no more room.
std::string short_text(Real value) {
  const Real size = std::abs(value);
  if (size == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.1e}", value);
  return size >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string percent(Real share) {
  return fmt::format("{:.0f} %", 100 * share);
}

struct Prefix {
  Real factor = 1;
  std::string sign;
};

/// A column of the table: head in lines, one below the other, and a cell per row.
struct TableColumn {
  std::vector<std::string> head;
  std::string unit;
  std::vector<std::string> cells;
  bool is_key = false;

  std::size_t width() const {
    std::size_t most = unit.size();
    for (const std::string& word : head) most = std::max(most, word.size());
    for (const std::string& cell : cells) most = std::max(most, cell.size());
    return most;
  }
};

bool takes_prefix(const std::string& unit) {
  return unit == "s" || unit == "B" || unit.ends_with("/s");
}

/// The prefix that brings a number near 1.
Prefix prefix_of(Real value, const std::string& unit) {
  if (!takes_prefix(unit) || value == 0 || !std::isfinite(value)) return {};
  for (const auto& [factor, sign] :
       {Prefix{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}})
    if (std::abs(value) >= factor && (unit != "s" || factor <= 1)) return {factor, sign};
  return unit == "s" ? Prefix{1e-9, "n"} : Prefix{};
}

std::string with_prefix(const Prefix& prefix, const std::string& unit) {
  return prefix.sign + (unit.starts_with("1/") && !prefix.sign.empty() ? unit.substr(1) : unit);
}

/// The words of a name in lines about as wide as the column.
std::vector<std::string> head_of(const std::string& name, const std::vector<std::string>& cells) {
  std::size_t width = 8;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("_ ", begin), name.size());
    const std::string word = name.substr(begin, end - begin);
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= width)
      lines.back() += ' ' + word;
    else
      lines.push_back(word);
    begin = end + 1;
  }
  return lines;
}

/// A column of numbers or texts; missing values are empty. Numbers of very different sizes get units of their
/// own.
TableColumn table_column(const std::string& name, const std::string& unit,
                         const std::vector<std::optional<BenchColumn::Value>>& values) {
  constexpr Real much = 1e4;
  std::vector<Real> sizes;
  for (const auto& value : values)
    if (const auto* number = value ? std::get_if<Real>(&*value) : nullptr)
      if (*number != 0 && std::isfinite(*number)) sizes.push_back(std::abs(*number));
  std::ranges::sort(sizes);
  const Prefix common = prefix_of(sizes.empty() ? 0 : sizes[sizes.size() / 2], unit);
  const bool is_wide = takes_prefix(unit) && !sizes.empty() && sizes.back() > much * sizes.front();
  TableColumn column;
  if (unit != "-" && !is_wide) column.unit = with_prefix(common, unit);
  for (const auto& value : values) {
    if (!value) {
      column.cells.emplace_back();
    } else if (const auto* number = std::get_if<Real>(&*value)) {
      const Prefix prefix = is_wide ? prefix_of(*number, unit) : common;
      column.cells.push_back(short_text(*number / prefix.factor) +
                             (is_wide ? ' ' + with_prefix(prefix, unit) : ""));
    } else {
      column.cells.push_back(exact_text(*value).empty() ? "-" : exact_text(*value));
    }
  }
  column.head = head_of(name, column.cells);
  return column;
}

/// All columns of the rows as `chosen` says, in the order in which they first occur.
std::vector<const BenchColumn*> columns_of(const std::vector<BenchRow>& rows,
                                           const std::function<bool(const BenchColumn&)>& chosen) {
  std::vector<const BenchColumn*> columns;
  for (const BenchRow& row : rows) {
    for (const BenchColumn& column : row.columns) {
      const auto same = [&](const BenchColumn* other) { return other->name == column.name; };
      if (chosen(column) && std::ranges::none_of(columns, same)) columns.push_back(&column);
    }
  }
  return columns;
}

bool is_key(const BenchColumn& column) {
  return column.role != Role::result;
}

std::vector<TableColumn> table_columns(const std::vector<BenchRow>& rows) {
  std::vector<TableColumn> table;
  const auto add_all = [&](bool keys) {
    for (const BenchColumn* column :
         columns_of(rows, [&](const BenchColumn& c) { return c.in_table && is_key(c) == keys; })) {
      std::vector<std::optional<BenchColumn::Value>> values;
      for (const BenchRow& row : rows) {
        const BenchColumn* found = row.find(column->name);
        values.push_back(found ? std::optional(found->value) : std::nullopt);
      }
      table.push_back(table_column(column->name, column->unit, values));
      table.back().is_key = keys;
    }
  };
  add_all(true);
  std::vector<std::optional<BenchColumn::Value>> ranks, seconds;
  TableColumn spread{.head = {"spread"}, .unit = "", .cells = {}};
  bool has_spread = false;
  for (const BenchRow& row : rows) {
    ranks.emplace_back(std::int64_t{row.ranks});
    seconds.emplace_back(row.seconds);
    spread.cells.push_back(row.spread ? percent(*row.spread) : "");
    has_spread = has_spread || row.spread;
  }
  table.push_back(table_column("ranks", "-", ranks));
  table.back().is_key = true;
  table.push_back(table_column(rows[0].work.empty() ? "seconds" : "per " + rows[0].work, "s", seconds));
  if (has_spread) table.push_back(spread);
  add_all(false);
  return table;
}

std::string format_block(const std::vector<const TableColumn*>& columns, const std::vector<BenchRow>& rows,
                         bool with_notes) {
  std::size_t height = 0;
  bool has_units = false;
  for (const TableColumn* column : columns) {
    height = std::max(height, column->head.size());
    has_units = has_units || !column->unit.empty();
  }
  std::string text;
  const auto add_line = [&](const std::function<std::string(const TableColumn&)>& cell_of) {
    std::string line;
    for (const TableColumn* column : columns)
      line += fmt::format("{}{:>{}}", line.empty() ? "" : "  ", cell_of(*column), column->width());
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  for (std::size_t h = 0; h < height; ++h)
    add_line([&](const TableColumn& column) {
      const std::size_t above = height - column.head.size();
      return h < above ? std::string() : column.head[h - above];
    });
  if (has_units) add_line([](const TableColumn& column) { return column.unit; });
  for (std::size_t r = 0; r < rows.size(); ++r) {
    add_line([&](const TableColumn& column) { return column.cells[r]; });
    if (!with_notes) continue;
    std::string phases;
    for (const BenchPhase& phase : rows[r].phases)
      phases += (phases.empty() ? "" : ", ") + phase.name + ' ' + percent(phase.share);
    text += wrap_words(phases, "    ", table_width - 4);
    for (const std::string& note : rows[r].notes) text += wrap_words(note, "    ", table_width - 4);
  }
  return text;
}

std::vector<std::string> keys_of(const BenchRow& row) {
  std::vector<std::string> keys;
  for (const BenchColumn& column : row.columns)
    if (column.role == Role::key) keys.push_back(column.name + '=' + exact_text(column.value));
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

std::string format_rows(const std::vector<BenchRow>& rows) {
  if (rows.empty()) return {};
  const std::vector<TableColumn> columns = table_columns(rows);
  std::vector<const TableColumn*> keys;
  std::size_t key_width = 0;
  for (const TableColumn& column : columns)
    if (column.is_key) {
      keys.push_back(&column);
      key_width += column.width() + 2;
    }
  std::string text;
  std::vector<const TableColumn*> block = keys;
  std::size_t width = key_width;
  const auto flush = [&] {
    text += format_block(block, rows, text.empty());
    block = keys;
    width = key_width;
  };
  for (const TableColumn& column : columns) {
    if (column.is_key) continue;
    if (width + column.width() > table_width && block.size() > keys.size()) flush();
    block.push_back(&column);
    width += column.width() + 2;
  }
  flush();
  return text;
}

std::string rows_as_csv(const std::vector<BenchRow>& rows) {
  const std::vector<const BenchColumn*> keys = columns_of(rows, is_key);
  const std::vector<const BenchColumn*> results =
      columns_of(rows, [](const BenchColumn& column) { return !is_key(column); });
  std::vector<std::string> phases;
  bool has_spread = false;
  for (const BenchRow& row : rows) {
    has_spread = has_spread || row.spread;
    for (const BenchPhase& phase : row.phases)
      if (std::ranges::find(phases, phase.name) == phases.end()) phases.push_back(phase.name);
  }
  std::string text;
  const auto measured = [](const std::optional<Real>& value) {
    return value ? fmt::format("{:.4g}", *value) : "";
  };
  for (const BenchRow& row : rows) {
    CsvRow csv;
    csv.add("case", row.bench);
    csv.add("mode", row.mode);
    csv.add("ranks", row.ranks);
    const auto add = [&](const BenchColumn& heading) {
      const BenchColumn* column = row.find(heading.name);
      csv.add(heading.name, column ? exact_text(column->value) : "");
      if (heading.spread) csv.add(heading.name + "_spread", measured(column ? column->spread : std::nullopt));
    };
    for (const BenchColumn* column : keys) add(*column);
    csv.add("seconds", row.seconds);
    if (has_spread) csv.add("spread", measured(row.spread));
    for (const BenchColumn* column : results) add(*column);
    for (const std::string& name : phases) {
      const auto phase = std::ranges::find(row.phases, name, &BenchPhase::name);
      std::string heading = "share_" + name;
      std::ranges::replace(heading, ' ', '_');
      csv.add(heading, measured(phase != row.phases.end() ? std::optional(phase->share) : std::nullopt));
    }
    csv.append_to(text);
  }
  return text;
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
