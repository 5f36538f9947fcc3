#pragma once
#include <string>

namespace scree {

/// A text as a cell of a CSV table (RFC 4180): in quotes if it holds a comma, a quote or a line end, its own
/// quotes doubled.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace scree
