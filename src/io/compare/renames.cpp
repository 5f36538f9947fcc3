#include "io/compare/renames.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace scree::detail {

namespace {

/// A line of postprocess/scree/results/renamed_results.def, which Python reads as well.
struct RenamedResult {
  std::string_view place, before, now;
};

constexpr RenamedResult renamed_results[] = {
#define SCREE_RENAMED_RESULT(place, before, now) {place, before, now},
#include <renamed_results.def>
#undef SCREE_RENAMED_RESULT
};

/// The new name for `name`; empty if it is not the old one of the line.
std::string new_name(const RenamedResult& line, std::string_view name) {
  std::string now(line.now);
  const std::size_t star = line.before.find('*');
  if (star == std::string_view::npos) return name == line.before ? now : std::string();
  const std::string_view start = line.before.substr(0, star), end = line.before.substr(star + 1);
  if (name.size() < start.size() + end.size() || !name.starts_with(start) || !name.ends_with(end)) return {};
  return now.replace(now.find('*'), 1, name.substr(start.size(), name.size() - start.size() - end.size()));
}

}  // namespace

void use_new_names(const std::string& file, std::string_view place, std::span<std::string* const> names) {
  for (const RenamedResult& line : renamed_results) {
    if (line.place != place) continue;
    for (std::string* name : names) {
      const std::string now = new_name(line, *name);
      if (now.empty() || std::ranges::any_of(names, [&](const std::string* n) { return *n == now; }))
        continue;
      log::warn("{}: '{}' is now called '{}'; the next version will not know the old name", file, *name, now);
      *name = now;
    }
  }
}

}  // namespace scree::detail
