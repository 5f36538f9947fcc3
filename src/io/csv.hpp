#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace scree {

/// A text as a cell of a CSV table (RFC 4180): in quotes if it holds a comma, a quote or a line end, its own
/// quotes doubled.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Names and values of a row of a CSV table, for rows that all have the same names.
class CsvRow {
 public:
  template <class T>
  void add(const std::string& name, const T& value) {
    columns_.emplace_back(csv_cell(name), csv_cell(fmt::format("{}", value)));
  }

  /// Appends the row to `csv`, after a line of names if that is empty.
  void append_to(std::string& csv) const {
    std::string head, line;
    for (const auto& [name, value] : columns_) {
      head += (head.empty() ? "" : ",") + name;
      line += (line.empty() ? "" : ",") + value;
    }
    if (csv.empty()) csv = head + '\n';
    csv += line + '\n';
  }

 private:
  std::vector<std::pair<std::string, std::string>> columns_;
};

}  // namespace scree
