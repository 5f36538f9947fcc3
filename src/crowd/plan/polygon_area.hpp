#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crowd/plan/floor_plan.hpp"
#include "geometry/box.hpp"

namespace scree {

/// Area inside a ring [m2], whichever way round it goes.
Real area_of(const Ring& ring);

/// Why a ring is not a simple polygon with an area (self-intersection, fewer than three corners), in words;
/// empty if it is one.
std::string fault_of(const Ring& ring);

/// A polygon with all sides alike and the area of the disk around `centre` [m].
Ring polygon_of_disk(const Vec<2>& centre, Real radius, int n_corners);

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
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace scree
