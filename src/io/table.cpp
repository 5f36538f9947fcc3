#include "io/table.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/table_reader.hpp"

namespace scree {

namespace {

std::string header_line(const std::vector<Table::Heading>& headings) {
  std::string line;
  for (const Table::Heading& heading : headings) {
    const std::string label = fmt::format("{}[{}]", heading.name, heading.unit);
    if (label.find_first_of(",\"\r\n") != std::string::npos)
      throw InputError(fmt::format("a column of a CSV table cannot be named {}", label));
    line += (line.empty() ? "" : ",") + label;
  }
  return line + "\n";
}

/// Calls `visit(line)` for every complete line; one that is cut short at the end does not count.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    visit(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

/// A cell of a line; empty if there is none.
std::string cell_of(std::string_view line, std::size_t column) {
  std::size_t begin = 0, end = 0;
  for (bool is_quoted = false; end < line.size(); ++end) {
    // Quotes within a quoted cell are doubled, so that parity shows what is inside.
    if (line[end] == '"') is_quoted = !is_quoted;
    if (line[end] != ',' || is_quoted) continue;
    if (column-- == 0) return std::string(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return column == 0 ? std::string(line.substr(begin)) : "";
}

Real number(const std::string& cell, const std::string& path, std::size_t line_number) {
  char* end = nullptr;
  const Real value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != '\0')
    throw InputError(fmt::format("{}:{}: '{}' is no number", path, line_number, cell));
  return value;
}

}  // namespace

Table::Table(const Comm& comm, const std::string& path, const std::vector<Heading>& headings)
    : Table(comm, path, headings, header_line(headings)) {}

Table::Table(const Comm& comm, const std::string& path, const std::vector<Heading>& headings,
             const std::string& content)
    : comm_(comm), path_(path), n_columns_(headings.size()) {
  files::on_root(comm_, [&] {
    files::write_atomically(path_, content, true);
    file_.emplace(path_);
  });
}

Table Table::resume(const Comm& comm, const std::string& path, const std::vector<Heading>& headings,
                    Real time, std::size_t time_column) {
  std::string kept;
  files::on_root(comm, [&] {
    const std::string header = header_line(headings);
    const std::string content = read_input(path);
    if (!content.starts_with(header))
      throw InputError(fmt::format("{} has the columns {}, but the run would add {}", path,
                                   content.substr(0, content.find('\n')),
                                   header.substr(0, header.size() - 1)));
    std::size_t line_number = 0;
    for_each_line(content, [&](std::string_view line) {
      ++line_number;
      const bool is_header = line_number == 1;
      const std::string when = is_header ? "" : cell_of(line, time_column);
      if (is_header || (!when.empty() && number(when, path, line_number) <= time))
        kept.append(line).append("\n");
    });
  });
  return Table(comm, path, headings, kept);
}

void Table::add(std::span<const Real> row) {
  files::on_root(comm_, [&] {
    if (row.size() != n_columns_)
      throw RunError(fmt::format("{}: a row of {} values for {} columns", path_, row.size(), n_columns_));
    std::string line;
    for (const Real value : row) fmt::format_to(std::back_inserter(line), "{:.17g},", value);
    line.back() = '\n';
    file_->add(line);
  });
}

void Table::add_lines(const std::string& lines) {
  files::on_root(comm_, [&] { file_->add(lines); });
}

void Table::keep_in_place() {
  files::on_root(comm_, [&] { file_->keep_in_place(); });
}

TableContent table_of(const std::string& path, std::string text) {
  const std::size_t end = text.rfind('\n') + 1;
  TableContent content;
  content.rest = text.substr(end);
  text.resize(end);
  TableReader reader = TableReader::of_text(path, std::move(text), "the table has no header");
  content.names = reader.names();
  content.units = reader.units();
  std::vector<Real> row(content.names.size());
  for (std::size_t k = 0; k < row.size(); ++k)
    reader.real(content.names[k], row[k], {.may_be_infinite = true});
  while (reader.next()) content.rows.push_back(row);
  return content;
}

TableContent read_table(const Comm& comm, const std::string& path) {
  return table_of(path, with_plain_line_ends(files::read_on_all(comm, path)));
}

}  // namespace scree
