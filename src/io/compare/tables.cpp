#include <algorithm>
#include <sstream>

#include "core/files.hpp"
#include "io/compare/differences.hpp"
#include "io/compare/renames.hpp"
#include "io/table.hpp"

namespace scree::detail {

namespace {

/// Prefix of table columns that measure the machine and not the model.
constexpr std::string_view run_prefix = "wall_";

/// A table with the names of now.
TableContent table_in(const Comm& comm, const std::string& path) {
  TableContent table = read_table(comm, path);
  std::vector<std::string*> names;
  for (std::string& name : table.names) names.push_back(&name);
  use_new_names(path, "certificate", names);
  return table;
}

/// The first line of a table of people, "id[-],radius[m],...", with the names of now.
std::string people_titles(const std::string& path, const std::string& line) {
  std::vector<std::string> names, units;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) {
    const std::size_t bracket = std::min(cell.find('['), cell.size());
    names.push_back(cell.substr(0, bracket));
    units.push_back(cell.substr(bracket));
  }
  std::vector<std::string*> all;
  for (std::string& name : names) all.push_back(&name);
  use_new_names(path, "agents", all);
  std::string titles;
  for (std::size_t k = 0; k < names.size(); ++k) titles += (k == 0 ? "" : ",") + names[k] + units[k];
  return titles;
}

}  // namespace

FileComparison compare_tables(const Comm& comm, const std::string& first, const std::string& second,
                              bool last_row_only) {
  const TableContent a = table_in(comm, first);
  const TableContent b = table_in(comm, second);
  FileComparison result{first, second, {}};
  FieldDifference rows{"rows", "-"};
  if (!last_row_only && a.rows.size() != b.rows.size())
    add_remark(rows, fmt::format("{} rows against {}", a.rows.size(), b.rows.size()));
  if (a.rest != b.rest)
    add_remark(rows, fmt::format("after its last whole row the {} has {} bytes more",
                                 a.rest.empty() ? "second" : "first", (a.rest.empty() ? b : a).rest.size()));
  if (!rows.equal) result.fields.push_back(rows);
  const std::size_t n = std::min(a.rows.size(), b.rows.size());
  const std::size_t n_compared = last_row_only ? std::min<std::size_t>(n, 1) : n;
  const auto column_of = [&](const TableContent& table, std::size_t column) {
    std::vector<Real> values;
    if (!comm.is_root()) return values;  // all ranks hold the table: one of them is enough
    const std::size_t from = last_row_only ? table.rows.size() - n_compared : 0;
    for (std::size_t i = 0; i < n_compared; ++i) values.push_back(table.rows[from + i][column]);
    return values;
  };
  const auto place_of = [](const TableContent& table, const std::string& name, const std::string& unit) {
    std::size_t k = 0;
    while (k < table.names.size() && (table.names[k] != name || table.units[k] != unit)) ++k;
    return k;
  };
  for (std::size_t column = 0; column < a.names.size(); ++column) {
    const std::string &name = a.names[column], &unit = a.units[column];
    if (name.starts_with(run_prefix)) continue;
    FieldDifference verdict{name, unit.empty() ? "-" : unit};
    const std::size_t other = place_of(b, name, unit);
    if (other == b.names.size()) {
      add_remark(verdict, "only in the first");
    } else {
      const std::int64_t first_row =
          last_row_only ? static_cast<std::int64_t>(a.rows.size() - n_compared) : 0;
      const RowDifferences found = differences(column_of(a, column), column_of(b, other), first_row, 1);
      add_to(verdict, comm, found, -1, first_row, {});
      if (verdict.first && a.names[0].starts_with("time"))
        verdict.first->time = a.rows[verdict.first->row][0];
    }
    result.fields.push_back(verdict);
  }
  for (std::size_t k = 0; k < b.names.size(); ++k)
    if (!b.names[k].starts_with(run_prefix) && place_of(a, b.names[k], b.units[k]) == a.names.size())
      result.fields.push_back(only_in("second", b.names[k], b.units[k].empty() ? "-" : b.units[k]));
  return result;
}

FileComparison compare_lines(const Comm& comm, const std::string& first, const std::string& second,
                             bool last_row_only) {
  const auto lines_of = [&](const std::string& path) {
    std::istringstream stream(files::read_on_all(comm, path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    if (path.ends_with(".agents.csv") && !lines.empty()) lines.front() = people_titles(path, lines.front());
    return lines;
  };
  std::vector<std::string> a = lines_of(first), b = lines_of(second);
  FileComparison result{first, second, {}};
  FieldDifference verdict{"rows", "-"};
  if (last_row_only) {
    for (auto* lines : {&a, &b})
      if (lines->size() > 1) lines->erase(lines->begin(), lines->end() - 1);
  } else if (a.size() != b.size()) {
    add_remark(verdict, fmt::format("{} lines against {}", a.size(), b.size()));
  }
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t n_different = 0, first_different = 0;
  for (std::size_t i = n; i-- > 0;) {
    if (a[i] == b[i]) continue;
    ++n_different;
    first_different = i;
  }
  if (n_different > 0) {
    verdict.first = FirstDifference{.row = static_cast<std::int64_t>(first_different),
                                    .first = a[first_different],
                                    .second = b[first_different]};
    add_remark(verdict, fmt::format("{} lines differ, the first one is \"{}\" against \"{}\"", n_different,
                                    a[first_different], b[first_different]));
  }
  result.fields.push_back(verdict);
  return result;
}

}  // namespace scree::detail
