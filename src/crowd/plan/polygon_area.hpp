#pragma once
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>

#include "crowd/plan/floor_plan.hpp"
#include "geometry/box.hpp"

namespace scree {

/// Why a ring is not a simple polygon with an area (self-intersection, fewer than three corners), in words;
/// empty if it is one.
std::string fault_of(const Ring& ring);

/// Calls f(shift) for the shifts by whole periods that bring something in `from` into `to`.
template <class F>
void for_each_shift(const Box<2>& domain, const Box<2>& from, const Box<2>& to, F&& f) {
  std::array<int, 2> first{}, last{};
  for (int k = 0; k < 2; ++k) {
    if (!domain.is_periodic(k)) continue;
    first[k] = static_cast<int>(std::ceil((to.lower[k] - from.upper[k]) / domain.length(k)));
    last[k] = static_cast<int>(std::floor((to.upper[k] - from.lower[k]) / domain.length(k)));
  }
  for (int j = first[1]; j <= last[1]; ++j)
    for (int i = first[0]; i <= last[0]; ++i) {
      const Vec<2> shift{{i == 0 ? 0 : i * domain.length(0), j == 0 ? 0 : j * domain.length(1)}};
      if (overlap({from.lower + shift, from.upper + shift, {}}, to)) f(shift);
    }
}

/// Measures polygons by two fixed areas: the free area, where people can be, and a window in it. All members
/// are local; the same input gives the same bits. Units: m, m2.
class WindowAreas {
 public:
  /// Everything is free area.
  explicit WindowAreas(const Ring& window);
  /// The free area is `area` less `columns`, as it repeats along the periodic axes of `domain`. Only the part
  /// of it in `reach`, which must hold the window and every polygon to be measured, is looked at and kept.
  WindowAreas(const Ring& window, std::span<const PolygonWithHoles> area,
              std::span<const Columns::Column> columns, const Box<2>& domain, const Box<2>& reach);
  ~WindowAreas();
  WindowAreas(const WindowAreas&) = delete;
  WindowAreas& operator=(const WindowAreas&) = delete;

  /// Of the free part of the window.
  Real window() const;

  struct Share {
    Real whole = 0;      ///< area
    Real in_window = 0;  ///< area of its part in the window
  };
  /// Of the part of `cell` and `limit` together that is free and hangs together around x: what lies behind a
  /// wall is left out. Both rings convex. O(corners) where no wall is near, O(corners log corners) of the
  /// plan otherwise.
  Share around(const Vec<2>& x, const Ring& cell, const Ring& limit) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace scree
