#pragma once
#include <string>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

/// The union of the polygons of a text in WKT (POLYGON, MULTIPOLYGON, GEOMETRYCOLLECTION of these), with
/// coordinates times `scale`. Throws InputError that starts with `source` for what cannot be read, has lines
/// or points, or is no valid polygon. Local; O(n log n) in corners.
Geometry area_from_wkt(Geos& geos, const std::string& text, Real scale, const std::string& source);

/// The same from GeoJSON: Polygon, MultiPolygon, GeometryCollection, Feature or FeatureCollection, in plane
/// coordinates.
Geometry area_from_geojson(Geos& geos, const std::string& text, Real scale, const std::string& source);

/// Polygons as WKT, with the shortest numbers that have the same bits.
std::string wkt_of(std::span<const PolygonWithHoles> polygons);

/// Throws InputError that starts with `source` unless `polygon` is valid; `what` names it.
void require_valid(const Geos& geos, const GEOSGeometry* polygon, const std::string& what,
                   const std::string& source);

}  // namespace scree
