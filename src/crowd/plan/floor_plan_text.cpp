#include "crowd/plan/floor_plan_text.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/json.hpp"

namespace scree {

namespace {

/// Rings of a text as it has them, before GEOS insists on closed ones.
using OpenRings = std::vector<std::vector<Vec<2>>>;

/// The rings of the polygons in WKT: the innermost brackets of everything that is no point or line.
OpenRings rings_in_wkt(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view blanks = " \t\r\n";
  OpenRings rings;
  bool in_polygon = false;
  std::size_t begin = text.npos;  // of the innermost bracket that is open
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      begin = i + 1;
    } else if (text[i] == ')') {
      if (in_polygon && begin != text.npos) {
        std::vector<Vec<2>> ring;
        for (std::string_view corner : fields_of(text.substr(begin, i - begin))) {
          corner.remove_prefix(std::min(corner.find_first_not_of(blanks), corner.size()));
          const std::size_t blank = corner.find_first_of(blanks);
          const std::size_t second = corner.find_first_not_of(blanks, blank);
          if (second == corner.npos) break;
          const std::size_t third = std::min(corner.find_first_of(blanks, second), corner.size());
          Vec<2> x;
          if (!parse(corner.substr(0, blank), x[0]) || !parse(corner.substr(second, third - second), x[1]))
            break;
          ring.push_back(x);
        }
        rings.push_back(std::move(ring));
      }
      begin = text.npos;
    } else if (begin == text.npos && letters.find(text[i]) != letters.npos) {
      const std::size_t end = std::min(text.find_first_not_of(letters, i), text.size());
      const std::string_view word = text.substr(i, end - i);
      // Z and M after the name of a form say what coordinates there are.
      if (word.size() > 2) in_polygon = word.back() == 'N' || word.back() == 'n';  // POLYGON
      i = end - 1;
    }
  }
  return rings;
}

/// The rings of all objects of type Polygon and MultiPolygon.
void collect_rings(const Json& json, OpenRings& rings) {
  if (json.is_object() && json.contains("type") && json.contains("coordinates")) {
    const std::string type = json["type"].is_string() ? json["type"].get<std::string>() : "";
    const auto collect = [&rings](const Json& polygon) {
      for (const Json& given : polygon) {
        std::vector<Vec<2>> ring;
        for (const Json& corner : given)
          if (corner.is_array() && corner.size() >= 2 && corner[0].is_number() && corner[1].is_number())
            ring.push_back({{corner[0].get<Real>(), corner[1].get<Real>()}});
        rings.push_back(std::move(ring));
      }
    };
    if (type == "Polygon") collect(json["coordinates"]);
    if (type == "MultiPolygon")
      for (const Json& polygon : json["coordinates"]) collect(polygon);
    return;
  }
  if (json.is_array() || json.is_object())
    for (const Json& inner : json) collect_rings(inner, rings);
}

/// Throws InputError for the first ring that is open or has fewer than three corners.
void require_closed(const OpenRings& rings, const std::string& source) {
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const std::vector<Vec<2>>& ring = rings[i];
    if (ring.empty()) continue;
    if (ring.front() != ring.back())
      throw InputError(fmt::format(
          "{}: ring {} of {} is open: it starts at {} and ends at {}; the last point must repeat the first",
          source, i + 1, rings.size(), place_text(ring.front()), place_text(ring.back())));
    if (ring.size() < 4)
      throw InputError(
          fmt::format("{}: ring {} of {}, which starts at {}, has {} corner{}, at least 3 are "
                      "needed (and the first one again at the end)",
                      source, i + 1, rings.size(), place_text(ring.front()), ring.size() - 1,
                      ring.size() == 2 ? "" : "s"));
  }
}

/// Geometries in collections that have no area.
struct NoAreas {
  int n_lines = 0;
  int n_points = 0;
  Vec<2> first_line{};
  Vec<2> first_point{};
};

void collect_no_areas(const Geos& geos, const GEOSGeometry* geometry, NoAreas& found) {
  const int type = GEOSGeomTypeId_r(geos.handle(), geometry);
  if (type == GEOS_POLYGON || GEOSisEmpty_r(geos.handle(), geometry) != 0) return;
  if (type == GEOS_POINT) {
    if (found.n_points++ == 0) found.first_point = geos.points_of(geometry).front();
  } else if (type == GEOS_LINESTRING || type == GEOS_LINEARRING) {
    if (found.n_lines++ == 0) found.first_line = geos.points_of(geometry).front();
  } else {
    for (int i = 0; i < GEOSGetNumGeometries_r(geos.handle(), geometry); ++i)
      collect_no_areas(geos, GEOSGetGeometryN_r(geos.handle(), geometry, i), found);
  }
}

Geometry area_of(const Geos& geos, const Geometry& read, Real scale, const std::string& source) {
  NoAreas found;
  collect_no_areas(geos, read.get(), found);
  const auto only_polygons = [&](int n, const char* what, const Vec<2>& first) {
    throw InputError(fmt::format(
        "{}: holds {} {}{}, the first one {} {}; people walk in polygons: give closed outlines as POLYGON, "
        "and "
        "what stands in them as holes or in [walkable.obstacles]",
        source, n, what, n == 1 ? "" : "s", *what == 'l' ? "starts at" : "at", place_text(first)));
  };
  if (found.n_lines > 0) only_polygons(found.n_lines, "line", found.first_line);
  if (found.n_points > 0) only_polygons(found.n_points, "point", found.first_point);

  const std::vector<const GEOSGeometry*> polygons = geos.polygons_in(read);
  if (polygons.empty()) throw InputError(source + ": holds no polygon, so nobody can walk");
  std::vector<Geometry> scaled;
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    require_valid(
        geos, polygons[i],
        polygons.size() == 1 ? "the polygon" : fmt::format("polygon {} of {}", i + 1, polygons.size()),
        source);
    std::vector<PolygonWithHoles> rings = geos.rings_of(polygons[i]);
    const auto multiply = [scale](Ring& ring) {
      for (Vec<2>& x : ring) x *= scale;
    };
    multiply(rings[0].outline);
    for (Ring& hole : rings[0].holes) multiply(hole);
    scaled.push_back(geos.polygon(rings[0]));
  }
  if (scaled.size() == 1) return std::move(scaled[0]);
  return geos.united(geos.collection(std::move(scaled)));
}

/// Readers of plans call themselves once per level.
void require_shallow(const std::string& text, const std::string& source) {
  const std::size_t depth = bracket_depth(text);
  if (depth > max_nested)
    throw InputError(
        fmt::format("{}: brackets are nested {} deep; at most {} are read", source, depth, max_nested));
}

/// What a library says without the names of its exceptions: "ParseException: ",
/// "[json.exception.parse_error.101] ".
std::string reason_in(std::string complaint) {
  if (const std::size_t colon = complaint.find("Exception: "); colon != complaint.npos)
    complaint.erase(0, colon + 11);
  const std::size_t begin = complaint.find("[json.exception");
  const std::size_t end = complaint.find("] ", begin);
  if (end != complaint.npos) complaint.erase(begin, end + 2 - begin);
  return complaint;
}

}  // namespace

void require_valid(const Geos& geos, const GEOSGeometry* polygon, const std::string& what,
                   const std::string& source) {
  const std::string fault = geos.fault_of(polygon);
  if (!fault.empty()) throw InputError(fmt::format("{}: {} is not valid: {}", source, what, fault));
}

Geometry area_from_wkt(Geos& geos, const std::string& text, Real scale, const std::string& source) {
  require_shallow(text, source);
  require_closed(rings_in_wkt(text), source);
  geos.clear_complaint();
  GEOSWKTReader* reader = GEOSWKTReader_create_r(geos.handle());
  const Geometry read = geos.own(GEOSWKTReader_read_r(geos.handle(), reader, text.c_str()));
  GEOSWKTReader_destroy_r(geos.handle(), reader);
  if (!read)
    throw InputError(fmt::format("{}: cannot be read as WKT: {}", source, reason_in(geos.complaint())));
  return area_of(geos, read, scale, source);
}

Geometry area_from_geojson(Geos& geos, const std::string& text, Real scale, const std::string& source) {
  require_shallow(text, source);
  OpenRings rings;
  try {
    collect_rings(Json::parse(text), rings);
  } catch (const JsonError& error) {
    throw InputError(fmt::format("{}: is no JSON: {}", source, reason_in(error.what())));
  }
  require_closed(rings, source);
  geos.clear_complaint();
  GEOSGeoJSONReader* reader = GEOSGeoJSONReader_create_r(geos.handle());
  const Geometry read = geos.own(GEOSGeoJSONReader_readGeometry_r(geos.handle(), reader, text.c_str()));
  GEOSGeoJSONReader_destroy_r(geos.handle(), reader);
  if (!read)
    throw InputError(fmt::format("{}: cannot be read as GeoJSON: {}", source, reason_in(geos.complaint())));
  return area_of(geos, read, scale, source);
}

std::string wkt_of(std::span<const PolygonWithHoles> polygons) {
  const auto ring_text = [](const Ring& ring) {
    std::vector<std::string> corners;
    for (std::size_t i = 0; i <= ring.size(); ++i) {
      const Vec<2>& x = ring[i % ring.size()];
      corners.push_back(fmt::format("{} {}", x[0], x[1]));
    }
    return fmt::format("({})", fmt::join(corners, ", "));
  };
  const auto polygon_text = [&](const PolygonWithHoles& polygon) {
    std::vector<std::string> rings{ring_text(polygon.outline)};
    for (const Ring& hole : polygon.holes) rings.push_back(ring_text(hole));
    return fmt::format("({})", fmt::join(rings, ", "));
  };
  std::vector<std::string> texts;
  for (const PolygonWithHoles& polygon : polygons) texts.push_back(polygon_text(polygon));
  return texts.size() == 1 ? "POLYGON " + texts[0] : fmt::format("MULTIPOLYGON ({})", fmt::join(texts, ", "));
}

}  // namespace scree
