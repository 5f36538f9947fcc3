#pragma once
#include <geos_c.h>

#include <memory>
#include <string>
#include <vector>

#include "crowd/plan/floor_plan.hpp"

namespace scree {

/// Deletes what GEOS made.
struct GeosDeleter {
  GEOSContextHandle_t context = nullptr;
  void operator()(GEOSGeometry* geometry) const { GEOSGeom_destroy_r(context, geometry); }
};
/// A geometry of GEOS; must not outlive the Geos that made it.
using Geometry = std::unique_ptr<GEOSGeometry, GeosDeleter>;

/// A geometry to look at, or a part of one.
struct GeometryView {
  GeometryView(const GEOSGeometry* given) : geometry(given) {}
  GeometryView(const Geometry& given) : geometry(given.get()) {}
  const GEOSGeometry* geometry;
};

/// The calls of GEOS that floor plans need, on one context. Every call that fails throws RunError with what
/// GEOS says, alike on all ranks, as all do the same. Local.
class Geos {
 public:
  Geos();
  ~Geos();
  Geos(const Geos&) = delete;
  Geos& operator=(const Geos&) = delete;

  GEOSContextHandle_t handle() const { return handle_; }
  /// What GEOS said last; empty if it has not complained since the last call.
  const std::string& complaint() const { return complaint_; }
  void clear_complaint() { complaint_.clear(); }
  /// Takes over what a call of GEOS returned; null if it failed.
  Geometry own(GEOSGeometry* geometry) const { return Geometry(geometry, GeosDeleter{handle_}); }
  /// The same, but throws RunError if the call failed; `doing` says what was tried.
  Geometry require(GEOSGeometry* geometry, const char* doing) const;

  /// A polygon of one ring, which need not be valid.
  Geometry polygon(const Ring& outline) const;
  Geometry polygon(const PolygonWithHoles& polygon) const;
  Geometry point(const Vec<2>& x) const;
  Geometry box(const Box<2>& box) const;
  /// A regular polygon of the area of the disk, so that areas of disks that lie free are exact.
  Geometry disk(const Vec<2>& centre, Real radius, int n_corners) const;
  Geometry collection(std::vector<Geometry> parts) const;
  Geometry copy(GeometryView geometry) const;

  Geometry united(GeometryView all) const;  ///< of all parts of a collection
  Geometry united(GeometryView a, GeometryView b) const;
  Geometry difference(GeometryView a, GeometryView b) const;
  Geometry intersection(GeometryView a, GeometryView b) const;
  /// All points within `distance`; negative: all that are farther than that from the outside. Arcs become
  /// chords, `quarter` to a quarter of a circle.
  Geometry buffer(GeometryView geometry, Real distance, int quarter = 16) const;
  /// A valid polygon with the same inside by the even-odd rule.
  Geometry made_valid(GeometryView geometry) const;

  bool intersects(GeometryView a, GeometryView b) const;
  bool is_empty(GeometryView geometry) const;
  bool is_valid(GeometryView geometry) const;
  Box<2> bounds(GeometryView geometry) const;
  Real area(GeometryView geometry) const;
  Real distance(GeometryView a, GeometryView b) const;
  /// The points of a and b that are nearest to each other.
  std::pair<Vec<2>, Vec<2>> nearest_points(GeometryView a, GeometryView b) const;
  /// Some point inside.
  Vec<2> inner_point(GeometryView geometry) const;
  /// The parts that are polygons, with collections taken apart; owned by `geometry`.
  std::vector<const GEOSGeometry*> polygons_in(GeometryView geometry) const;
  /// That of them which is nearest to x, or null if there is none.
  const GEOSGeometry* part_at(GeometryView geometry, const Vec<2>& x) const;
  /// The same as rings, in an order of their own: each starts at its corner with the least x (and y), and all
  /// that lie side by side are sorted by that corner.
  std::vector<PolygonWithHoles> rings_of(GeometryView geometry) const;
  /// The corners of a line or ring as GEOS has them.
  std::vector<Vec<2>> points_of(GeometryView line) const;
  /// What is wrong with a polygon and where, in words; empty if it is valid.
  std::string fault_of(GeometryView geometry) const;

 private:
  Geometry ring(const Ring& corners) const;
  static void hear(const char* message, void* geos);

  GEOSContextHandle_t handle_;
  std::string complaint_;
};

/// "(x, y)" with the digits that a message needs.
std::string place_text(const Vec<2>& x);

}  // namespace scree
