#include "crowd/plan/floor_plan_geos.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace scree {

namespace {

/// The value of a predicate of GEOS, which returns 2 where it failed.
bool truth(const Geos& geos, char answer) {
  if (answer == 2) throw RunError("floor plan: GEOS failed: " + geos.complaint());
  return answer == 1;
}

}  // namespace

std::string place_text(const Vec<2>& x) {
  return fmt::format("({:.10g}, {:.10g})", x[0], x[1]);
}

Geos::Geos() : handle_(GEOS_init_r()) {
  GEOSContext_setErrorMessageHandler_r(handle_, &Geos::hear, this);
}

Geos::~Geos() {
  GEOS_finish_r(handle_);
}

void Geos::hear(const char* message, void* geos) {
  static_cast<Geos*>(geos)->complaint_ = message;
}

Geometry Geos::require(GEOSGeometry* geometry, const char* doing) const {
  if (!geometry) throw RunError(fmt::format("floor plan: GEOS failed at {}: {}", doing, complaint_));
  return own(geometry);
}

Geometry Geos::ring(const Ring& corners) const {
  std::vector<Real> coordinates;
  coordinates.reserve(2 * corners.size() + 2);
  for (std::size_t i = 0; i <= corners.size() && !corners.empty(); ++i) {
    const Vec<2>& x = corners[i % corners.size()];
    coordinates.insert(coordinates.end(), {x[0], x[1]});
  }
  GEOSCoordSequence* sequence = GEOSCoordSeq_copyFromBuffer_r(
      handle_, coordinates.data(), static_cast<unsigned>(coordinates.size() / 2), 0, 0);
  return require(GEOSGeom_createLinearRing_r(handle_, sequence), "a ring");
}

Geometry Geos::polygon(const Ring& outline) const {
  return require(GEOSGeom_createPolygon_r(handle_, ring(outline).release(), nullptr, 0), "a polygon");
}

Geometry Geos::polygon(const PolygonWithHoles& polygon) const {
  std::vector<Geometry> holes;
  for (const Ring& hole : polygon.holes) holes.push_back(ring(hole));
  Geometry outline = ring(polygon.outline);
  std::vector<GEOSGeometry*> given;
  for (Geometry& hole : holes) given.push_back(hole.release());
  return require(
      GEOSGeom_createPolygon_r(handle_, outline.release(), given.data(), static_cast<unsigned>(given.size())),
      "a polygon with holes");
}

Geometry Geos::point(const Vec<2>& x) const {
  return require(GEOSGeom_createPointFromXY_r(handle_, x[0], x[1]), "a point");
}

Geometry Geos::box(const Box<2>& box) const {
  return polygon(Ring{box.lower, {{box.upper[0], box.lower[1]}}, box.upper, {{box.lower[0], box.upper[1]}}});
}

Geometry Geos::disk(const Vec<2>& centre, Real radius, int n_corners) const {
  return polygon(polygon_of_disk(centre, radius, n_corners));
}

Geometry Geos::collection(std::vector<Geometry> parts) const {
  std::vector<GEOSGeometry*> given;
  given.reserve(parts.size());
  for (Geometry& part : parts) given.push_back(part.release());
  return require(GEOSGeom_createCollection_r(handle_, GEOS_GEOMETRYCOLLECTION, given.data(),
                                             static_cast<unsigned>(given.size())),
                 "a collection");
}

Geometry Geos::copy(GeometryView geometry) const {
  return require(GEOSGeom_clone_r(handle_, geometry.geometry), "a copy");
}

Geometry Geos::united(GeometryView all) const {
  return require(GEOSUnaryUnion_r(handle_, all.geometry), "a union");
}
Geometry Geos::united(GeometryView a, GeometryView b) const {
  return require(GEOSUnion_r(handle_, a.geometry, b.geometry), "a union");
}
Geometry Geos::difference(GeometryView a, GeometryView b) const {
  return require(GEOSDifference_r(handle_, a.geometry, b.geometry), "a difference");
}
Geometry Geos::intersection(GeometryView a, GeometryView b) const {
  return require(GEOSIntersection_r(handle_, a.geometry, b.geometry), "an intersection");
}
Geometry Geos::buffer(GeometryView geometry, Real distance, int quarter) const {
  return require(GEOSBuffer_r(handle_, geometry.geometry, distance, quarter), "a margin");
}
Geometry Geos::made_valid(GeometryView geometry) const {
  const Geometry repaired = require(GEOSMakeValid_r(handle_, geometry.geometry), "a repair");
  std::vector<Geometry> polygons;
  for (const GEOSGeometry* polygon : polygons_in(repaired)) polygons.push_back(copy(polygon));
  return united(collection(std::move(polygons)));
}

bool Geos::intersects(GeometryView a, GeometryView b) const {
  return truth(*this, GEOSIntersects_r(handle_, a.geometry, b.geometry));
}
bool Geos::is_empty(GeometryView geometry) const {
  return truth(*this, GEOSisEmpty_r(handle_, geometry.geometry));
}
bool Geos::is_valid(GeometryView geometry) const {
  return truth(*this, GEOSisValid_r(handle_, geometry.geometry));
}

Box<2> Geos::bounds(GeometryView geometry) const {
  Box<2> box;
  const bool is_found = GEOSGeom_getXMin_r(handle_, geometry.geometry, &box.lower[0]) == 1 &&
                        GEOSGeom_getYMin_r(handle_, geometry.geometry, &box.lower[1]) == 1 &&
                        GEOSGeom_getXMax_r(handle_, geometry.geometry, &box.upper[0]) == 1 &&
                        GEOSGeom_getYMax_r(handle_, geometry.geometry, &box.upper[1]) == 1;
  if (!is_found) require(nullptr, "bounds");
  return box;
}

Real Geos::area(GeometryView geometry) const {
  Real area = 0;
  if (GEOSArea_r(handle_, geometry.geometry, &area) == 0) require(nullptr, "an area");
  return area;
}

Real Geos::distance(GeometryView a, GeometryView b) const {
  Real distance = 0;
  if (GEOSDistance_r(handle_, a.geometry, b.geometry, &distance) == 0) require(nullptr, "a distance");
  return distance;
}

std::pair<Vec<2>, Vec<2>> Geos::nearest_points(GeometryView a, GeometryView b) const {
  GEOSCoordSequence* points = GEOSNearestPoints_r(handle_, a.geometry, b.geometry);
  if (!points) require(nullptr, "nearest points");
  std::pair<Vec<2>, Vec<2>> pair;
  GEOSCoordSeq_getXY_r(handle_, points, 0, &pair.first[0], &pair.first[1]);
  GEOSCoordSeq_getXY_r(handle_, points, 1, &pair.second[0], &pair.second[1]);
  GEOSCoordSeq_destroy_r(handle_, points);
  return pair;
}

Vec<2> Geos::inner_point(GeometryView geometry) const {
  const Geometry inside = require(GEOSPointOnSurface_r(handle_, geometry.geometry), "a point inside");
  Vec<2> x;
  GEOSGeomGetX_r(handle_, inside.get(), &x[0]);
  GEOSGeomGetY_r(handle_, inside.get(), &x[1]);
  return x;
}

std::vector<const GEOSGeometry*> Geos::polygons_in(GeometryView geometry) const {
  std::vector<const GEOSGeometry*> polygons;
  std::vector<const GEOSGeometry*> to_do{geometry.geometry};
  while (!to_do.empty()) {
    const GEOSGeometry* next = to_do.back();
    to_do.pop_back();
    const int type = GEOSGeomTypeId_r(handle_, next);
    if (type == GEOS_POLYGON) {
      if (GEOSisEmpty_r(handle_, next) == 0) polygons.push_back(next);
    } else if (type == GEOS_MULTIPOLYGON || type == GEOS_GEOMETRYCOLLECTION) {
      for (int i = GEOSGetNumGeometries_r(handle_, next) - 1; i >= 0; --i)
        to_do.push_back(GEOSGetGeometryN_r(handle_, next, i));
    }
  }
  return polygons;
}

const GEOSGeometry* Geos::part_at(GeometryView geometry, const Vec<2>& x) const {
  const std::vector<const GEOSGeometry*> parts = polygons_in(geometry);
  if (parts.size() == 1) return parts.front();
  const Geometry at = point(x);
  const GEOSGeometry* nearest = nullptr;
  Real min = HUGE_VAL;
  for (const GEOSGeometry* part : parts) {
    const Real here = distance(part, at);
    if (here < min) nearest = part, min = here;
  }
  return nearest;
}

std::vector<Vec<2>> Geos::points_of(GeometryView line) const {
  const GEOSCoordSequence* sequence = GEOSGeom_getCoordSeq_r(handle_, line.geometry);
  unsigned n = 0;
  GEOSCoordSeq_getSize_r(handle_, sequence, &n);
  std::vector<Vec<2>> points(n);
  for (unsigned i = 0; i < n; ++i) GEOSCoordSeq_getXY_r(handle_, sequence, i, &points[i][0], &points[i][1]);
  return points;
}

std::vector<PolygonWithHoles> Geos::rings_of(GeometryView geometry) const {
  const auto ring_from = [this](const GEOSGeometry* closed) {
    Ring ring = points_of(closed);
    ring.pop_back();
    turn_counter_clockwise(ring);
    std::rotate(ring.begin(), std::ranges::min_element(ring, {}, &Vec<2>::component), ring.end());
    return ring;
  };
  const auto first_corner = [](const Ring& ring) { return ring.front().component; };
  std::vector<PolygonWithHoles> polygons;
  for (const GEOSGeometry* polygon : polygons_in(geometry)) {
    PolygonWithHoles& rings = polygons.emplace_back();
    rings.outline = ring_from(GEOSGetExteriorRing_r(handle_, polygon));
    for (int i = 0; i < GEOSGetNumInteriorRings_r(handle_, polygon); ++i)
      rings.holes.push_back(ring_from(GEOSGetInteriorRingN_r(handle_, polygon, i)));
    std::ranges::sort(rings.holes, {}, first_corner);
  }
  std::ranges::sort(polygons, {},
                    [&](const PolygonWithHoles& polygon) { return first_corner(polygon.outline); });
  return polygons;
}

std::string Geos::fault_of(GeometryView geometry) const {
  char* reason = nullptr;
  GEOSGeometry* place = nullptr;
  const char answer = GEOSisValidDetail_r(handle_, geometry.geometry, 0, &reason, &place);
  const Geometry owned_place = own(place);
  std::string text;
  if (answer == 0) {
    text = reason ? reason : "not valid";
    Vec<2> x;
    if (place && GEOSGeomGetX_r(handle_, place, &x[0]) == 1 && GEOSGeomGetY_r(handle_, place, &x[1]) == 1)
      text += " at " + place_text(x);
  }
  GEOSFree_r(handle_, reason);
  truth(*this, answer);
  return text;
}

}  // namespace scree
