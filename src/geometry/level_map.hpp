#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A straight border between two levels of a building, which bodies cross.
struct LevelLine {
  Vec<2> a, b;               ///< its ends [m]
  std::array<int, 2> level;  ///< behind it and before it, as `outward` points
  Vec<2> outward;            ///< unit vector across it, from level[0] to level[1]
  /// So far behind the line neither level has anything else [m]: whoever is there has crossed it.
  Real depth = 0;
  bool is_open = true;  ///< closed: nobody gets over it, and it joins nobody
};

/// Which bodies in the plane can meet: they lie on levels, one above the other, that lines join.
///
/// Two bodies may meet if they are on one level, or if the straight line from one to the other crosses a line
/// that joins their levels. A body belongs to the level on whose side of the line its centre is. All local
/// and O(lines of a level).
class LevelMap {
 public:
  LevelMap(int n_levels, std::vector<LevelLine> lines);

  int n_levels() const { return static_cast<int>(lines_of_.size()); }
  const std::vector<LevelLine>& lines() const { return lines_; }
  bool may_meet(const Vec<2>& x, int level_of_x, const Vec<2>& y, int level_of_y) const {
    return level_of_x == level_of_y || joined(x, level_of_x, y, level_of_y);
  }
  /// The level of a body that was on `level` and has moved to x, over one open line at most.
  int level_at(const Vec<2>& x, int level) const;
  /// The level that the first line of `level` leads to of those, open or closed, behind which x is.
  int beyond(const Vec<2>& x, int level) const;
  /// Opens or closes a line. Must be called alike on all ranks, and while nobody is in the line.
  void set_open(std::size_t line, bool is_open) { lines_[line].is_open = is_open; }

  /// Levels as bits; those beyond the 64th share bits with others.
  using Levels = std::uint64_t;
  static Levels bit(int level) { return Levels{1} << (static_cast<unsigned>(level) % 64U); }
  /// The level of a body at x, and those across the lines of that level within `reach` [m]. Bodies whose sets
  /// have no level in common cannot meet while both are within the reach, less that from centre to centre at
  /// which they would, of where they were.
  Levels within_reach(const Vec<2>& x, int level, Real reach) const;

 private:
  bool joined(const Vec<2>& x, int level_of_x, const Vec<2>& y, int level_of_y) const;
  template <bool counts_closed>
  int find_beyond(const Vec<2>& x, int level) const;

  std::vector<LevelLine> lines_;
  std::vector<std::vector<std::size_t>> lines_of_;  // by level
};

/// The number of the level that a key `floor` at `where` names. `names`: of all levels; one or none of a
/// building of one floor, where the key must be empty, and 0 is returned. Throws InputError naming the valid
/// names. Local.
int level_named(const std::string& name, std::span<const std::string> names, const std::string& where);

}  // namespace scree
