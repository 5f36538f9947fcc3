#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crowd/plan/ring.hpp"
#include "geometry/walls.hpp"

namespace scree {

/// Where a sweep over the plan found something, and in words what.
struct PlanFinding {
  Vec<2> at;
  std::string text;
};

/// Where people can be: polygons with holes, from WKT, GeoJSON, an image or corners in the deck, less what
/// stands in it. Held in full by every rank, the same on all. Units: m.
///
///     [walkable]                      wkt, file or polygon
///     [walkable.obstacles.NAME]       polygon = [[x, y], ...] or circles = [[x, y, radius], ...]
///
/// Errors: InputError with the place in the deck (and of the file, ring and coordinates) for what cannot be
/// read, is no valid polygon (self-intersection, open ring), or has no area. A file name counts from the
/// folder of the deck.
class FloorPlan {
 public:
  FloorPlan();
  ~FloorPlan();
  FloorPlan(const FloorPlan&) = delete;
  FloorPlan& operator=(const FloorPlan&) = delete;

  /// Declares and reads [walkable]. Local; files are read on every rank alike.
  void describe(Section& root);
  /// Takes this ring as the area, in place of a table. Throws InputError naming `where`.
  void use_polygon(const Ring& ring, const std::string& where);
  /// The place of [walkable] in the deck, for messages.
  const std::string& where() const;

  /// Regions that an image marks with a colour, for exits without a line: `#00ff00`. Throws InputError naming
  /// `where` if no pixel has it.
  std::vector<Ring> regions_of_colour(const std::string& colour, const std::string& where) const;

  /// Opens the walls along the segment a-b, which must lie on the boundary of the area to within `snap` [m],
  /// and adds the pocket of depth `depth` [m] behind it to the area, so that people can walk through before
  /// they vanish. Returns the pocket (counter-clockwise). Throws InputError naming `where`: the line is not
  /// on the boundary, both sides or neither of it are walkable. Before walls(); O(plan).
  Ring open_exit(const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where);

  /// Opens the walls along the segment a-b, which must lie on the boundary of the area to within 0.01 m; the
  /// area stays as it is: people are on another level behind the line. Returns the rectangle of depth `depth`
  /// [m] behind it, beginning with the ends of the opening; the area is to the right of the first side.
  /// Throws InputError naming `where`, as open_exit(). After all exits; before walls(); O(plan).
  Ring open_border(const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where);
  /// The sides of these rectangles, less the openings: where what people on this level can see of others
  /// ends.
  std::vector<Edge> fences() const;

  /// Throws InputError if the plan is not the same on both sides of a periodic face of the domain, up to 0.5
  /// m beyond it as far as it is drawn: people look over the face and find it there. Before open_exit();
  /// local.
  void require_periodic(const Box<2>& domain) const;

  /// The area after all openings, columns not cut out.
  std::span<const PolygonWithHoles> area() const;
  /// The round columns of [walkable.obstacles].
  std::span<const Columns::Column> columns() const;
  /// The boundary of area(), less open borders, as walls; the free side is to the left of each edge. No two
  /// ends equal, none of length 0.
  std::vector<Edge> walls() const;
  /// Smallest box around area().
  Box<2> bounds() const;
  /// Whether x is in area() and in no column. O(log) or O(1) on average after the first call.
  bool contains(const Vec<2>& x) const;
  /// Total free area [m2], columns cut out.
  Real free_area() const;
  /// Of what is free of the part of `region` outside of all of `without`, which may overlap [m2].
  Real free_area(const Ring& region, std::span<const Ring> without = {}) const;
  /// area() as WKT (columns as polygons of 32 corners), for outputs that name it.
  std::string wkt() const;

  /// Where somebody of `radius` can be with the centre: the free area less a margin. Number of the connected
  /// part that holds x, or -1. O(log) after the first call with this radius.
  int part_of(const Vec<2>& x, Real radius) const;
  /// Passages narrower than `width` [m]: places where the area with a margin of width/2 falls apart, though
  /// without it is connected.
  std::vector<PlanFinding> narrow_places(Real width) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace scree
