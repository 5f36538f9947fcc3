#pragma once
#include <string>

#include "core/section.hpp"
#include "geometry/level_map.hpp"
#include "state/state.hpp"

namespace scree {

/// The floor of a building that a measure looks at: the key `floor`, the name of a floor or a connector.
/// Required in a building of several floors, which lie above each other; refused elsewhere.
template <int D>
class MeasuredFloor {
 public:
  /// Declares and reads the key, in the plane.
  void describe(Section& section) {
    if constexpr (D == 2)
      section.text("floor", name_,
                   {.doc = "name of its floor, or connector, in a building of several: required there"});
    if (section.reading()) where_ = section.where("floor");
  }
  /// The number of the level; 0 where there is one. Throws InputError if the building has no such level.
  /// Local, O(levels).
  int level(const State<D>& state) const { return level_named(name_, state.level_names, where_); }

 private:
  std::string name_, where_;
};

/// Whether body i is on a level, or was when the step began, which bodies carry the path of. Local.
template <int D>
bool was_or_is_on_level(const State<D>& state, std::size_t i, int level) {
  if constexpr (D == 2)
    if (state.levels) {
      const int now = state.bodies.level()[i];
      return now == level || state.levels->level_at(state.bodies.previous()[i], now) == level;
    }
  return true;
}

/// Whether body i is on a level. Local.
template <int D>
bool is_on_level(const State<D>& state, std::size_t i, int level) {
  return !state.levels || state.bodies.level()[i] == level;
}

}  // namespace scree
