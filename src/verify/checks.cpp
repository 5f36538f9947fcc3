#include "verify/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"

namespace scree {

void Checks::count(bool holds, const std::string& failure) {
  ++n_checks_;
  if (!holds) failures_.push_back(failure);
}

void Checks::require(const std::string& what, Real value, const Interval& valid) {
  const bool holds = value >= valid.least && value <= valid.most;
  const std::string line =
      fmt::format("{} = {:.4f}, expected {:g} to {:g}", what, value, valid.least, valid.most);
  show_(fmt::format("{} {}", holds ? "ok    " : "FAILED", line));
  count(holds, line);
}

bool Checks::finish(const std::string& csv_path) const {
  files::write_on_root(comm_, csv_path, csv);
  for (const std::string& failure : failures_) show_("FAILED " + failure);
  if (has_checks())
    show_(fmt::format("{} checks, {}", n_checks_,
                      failures_.empty() ? "all hold" : fmt::format("{} failed", failures_.size())));
  return failures_.empty();
}

Real number(std::string_view word, const std::string& path) {
  Real value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    throw InputError(fmt::format("{}: '{}' is no number", path, word));
  return value;
}

std::vector<std::vector<std::string>> read_rows(const Comm& comm, const std::string& path,
                                                std::string_view header) {
  const std::string text = with_plain_line_ends(files::read_on_all(comm, path));
  std::vector<std::vector<std::string>> rows;
  bool has_header = false;
  const auto n_columns = static_cast<std::size_t>(1 + std::count(header.begin(), header.end(), ','));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    if (!has_header) {
      if (line != header)
        throw InputError(fmt::format("{}: the header is '{}', expected '{}'", path, line, header));
      has_header = true;
      continue;
    }
    std::vector<std::string>& words = rows.emplace_back();
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t comma = std::min(line.find(',', start), line.size());
      words.emplace_back(line.substr(start, comma - start));
      start = comma + 1;
    }
    if (words.size() != n_columns)
      throw InputError(
          fmt::format("{}: '{}' has {} values, expected {}", path, line, words.size(), n_columns));
  }
  return rows;
}

}  // namespace scree
