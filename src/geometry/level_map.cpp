#include "geometry/level_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

/// Where x is along the line: 0 at one end, 1 at the other.
Real along(const LevelLine& line, const Vec<2>& x) {
  const Vec<2> displacement = line.b - line.a;
  return dot(x - line.a, displacement) / dot(displacement, displacement);
}

bool is_beside(const LevelLine& line, const Vec<2>& x) {
  const Real place = along(line, x);
  return place >= 0 && place <= 1;
}

Real height(const LevelLine& line, const Vec<2>& x) {
  return dot(line.outward, x - line.a);
}

}  // namespace

LevelMap::LevelMap(int n_levels, std::vector<LevelLine> lines)
    : lines_(std::move(lines)), lines_of_(static_cast<std::size_t>(n_levels)) {
  for (std::size_t n = 0; n < lines_.size(); ++n)
    for (const int level : lines_[n].level) lines_of_[level].push_back(n);
}

bool LevelMap::joined(const Vec<2>& x, int level_of_x, const Vec<2>& y, int level_of_y) const {
  for (const std::size_t n : lines_of_[level_of_x]) {
    const LevelLine& line = lines_[n];
    if (!line.is_open || (line.level[0] != level_of_y && line.level[1] != level_of_y)) continue;
    const Real from = height(line, x), to = height(line, y);
    // A centre in the line itself is on the side that it points to.
    if ((from < 0) == (to < 0) || (from < 0) != (line.level[0] == level_of_x)) continue;
    if (is_beside(line, x + (from / (from - to)) * (y - x))) return true;
  }
  return false;
}

template <bool counts_closed>
int LevelMap::find_beyond(const Vec<2>& x, int level) const {
  for (const std::size_t n : lines_of_[level]) {
    const LevelLine& line = lines_[n];
    if (!counts_closed && !line.is_open) continue;
    const Real above = height(line, x);
    if (std::abs(above) >= line.depth || !is_beside(line, x)) continue;
    if (level == line.level[0] ? above >= 0 : above < 0) return line.level[level == line.level[0] ? 1 : 0];
  }
  return level;
}

int LevelMap::level_at(const Vec<2>& x, int level) const {
  return find_beyond<false>(x, level);
}

int LevelMap::beyond(const Vec<2>& x, int level) const {
  return find_beyond<true>(x, level);
}

LevelMap::Levels LevelMap::within_reach(const Vec<2>& x, int level, Real reach) const {
  Levels levels = bit(level);
  for (const std::size_t n : lines_of_[level]) {
    const LevelLine& line = lines_[n];
    const Vec<2> away = x - line.a - std::clamp(along(line, x), 0.0, 1.0) * (line.b - line.a);
    if (dot(away, away) <= reach * reach) levels |= bit(line.level[0]) | bit(line.level[1]);
  }
  return levels;
}

int level_named(const std::string& name, std::span<const std::string> names, const std::string& where) {
  if (names.size() < 2) {
    if (name.empty()) return 0;
    throw InputError(where + ": the deck has no [floors.NAME]: a building of one floor does not name it");
  }
  if (name.empty())
    throw InputError(
        fmt::format("{}: which floor? There are \"{}\": give floor", where, fmt::join(names, "\", \"")));
  return table_named("floors", name, {names.begin(), names.end()}, where);
}

}  // namespace scree
