#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/row.hpp"
#include "io/csv.hpp"
#include "io/table_text.hpp"

namespace scree {

namespace {

using Role = BenchColumn::Role;

constexpr std::size_t table_width = 118;

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

}  // namespace

std::string format_rows(const std::vector<BenchRow>& rows, const std::string& processor) {
  if (rows.empty()) return {};
  const std::vector<TableColumn> columns = table_columns(rows);
  std::vector<const TableColumn*> keys;
  std::size_t key_width = 0;
  for (const TableColumn& column : columns)
    if (column.is_key) {
      keys.push_back(&column);
      key_width += column.width() + 2;
    }
  std::string text;  // of the blocks
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
  return (processor.empty() ? "" : "on " + processor + '\n') + text;
}

std::string rows_as_csv(const std::vector<BenchRow>& rows, const std::string& processor) {
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
    csv.add("processor", processor);
    csv.append_to(text);
  }
  return text;
}

}  // namespace scree
