#include "core/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace scree {

namespace {

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min(
          {edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string no_such_table(std::string_view kind, std::string_view name,
                          const std::vector<std::string>& names) {
  const std::string near = suggestion(name, names);
  return fmt::format("there is no [{}.{}]{}", kind, name,
                     near.empty() ? fmt::format("; there are \"{}\"", fmt::join(names, "\", \"")) : near);
}

int table_named(std::string_view kind, std::string_view name, const std::vector<std::string>& names,
                const std::string& where) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw InputError(where + ": " + no_such_table(kind, name, names));
  return static_cast<int>(found - names.begin());
}

const std::string* nearest(std::string_view name, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  std::size_t min = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < min) {
      min = distance;
      best = &candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
  const std::string* near = nearest(word, words);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

}  // namespace scree
