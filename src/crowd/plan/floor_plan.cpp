#include "crowd/plan/floor_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "crowd/plan/floor_plan_geos.hpp"
#include "crowd/plan/floor_plan_image.hpp"
#include "crowd/plan/floor_plan_locator.hpp"
#include "crowd/plan/floor_plan_openings.hpp"
#include "crowd/plan/floor_plan_text.hpp"

namespace scree {

namespace {

/// The keys of [walkable] that say where the plan is. Values that a key refuses stand for "not given".
struct Source {
  std::string wkt;
  std::string file;
  std::vector<std::vector<Real>> polygon;
  Real scale = 0;
  Real pixel = 0;
  std::vector<Real> origin;
  std::string wall_color;
  std::int64_t color_tolerance = -1;
};

void require_readable(const std::string& path, const std::string& where) {
  if (const std::string obstacle = obstacle_to_read(path); !obstacle.empty())
    throw InputError(fmt::format("{}: file '{}' is not there or cannot be read: {}", where, path, obstacle));
}

std::string text_of(const std::string& path, const std::string& where) {
  require_readable(path, where);
  return read_input(path);
}

constexpr int n_corners_of_column = 32;   // of a disk, in files
constexpr int n_corners_of_margin = 128;  // of a disk, where a hundredth of a radius matters

}  // namespace

struct FloorPlan::Impl {
  Geos geos;
  std::string where;
  Geometry area;
  std::vector<PolygonWithHoles> rings;  // of `area`
  std::vector<Columns::Column> columns;
  std::vector<Ring> borders;  // what open_border() returned
  std::optional<PlanImage> image;
  std::string image_file;

  /// Made when first asked for; forgotten when `area` changes.
  Geometry free;  // `area` less the columns
  std::optional<PolygonLocator> locator;
  std::map<Real, PolygonLocator> parts;  // by margin
  std::optional<BucketGrid> near_columns;

  void set_area(Geometry changed);
  Geometry polygon_from(Section& section, const std::vector<std::vector<Real>>& corners);
  void read(Section& section, const Source& source);
  void read_obstacle(const std::string& name, Section& section);
  const Geometry& free_area();
  Geometry without_columns(Geometry geometry, Real margin, int n_corners) const;
  bool in_column(const Vec<2>& x);
};

FloorPlan::FloorPlan() : impl_(std::make_unique<Impl>()) {}
FloorPlan::~FloorPlan() = default;

void FloorPlan::Impl::set_area(Geometry changed) {
  area = std::move(changed);
  rings = geos.rings_of(area);
  free.reset();
  locator.reset();
  parts.clear();
  // Overlays leave corners that differ by rounding.
  constexpr Real shortest = 1e-9;
  const auto tidy = [](Ring& ring) {
    Ring kept;
    for (const Vec<2>& x : ring)
      if (kept.empty() || norm(x - kept.back()) > shortest) kept.push_back(x);
    while (kept.size() > 1 && norm(kept.front() - kept.back()) <= shortest) kept.pop_back();
    ring = std::move(kept);
  };
  for (PolygonWithHoles& polygon : rings) {
    tidy(polygon.outline);
    for (Ring& hole : polygon.holes) tidy(hole);
    std::erase_if(polygon.holes, [](const Ring& hole) { return hole.size() < 3; });
  }
  std::erase_if(rings, [](const PolygonWithHoles& polygon) { return polygon.outline.size() < 3; });
}

/// The key polygon of a section.
Geometry FloorPlan::Impl::polygon_from(Section& section, const std::vector<std::vector<Real>>& corners) {
  if (corners.size() < 3)
    section.fail("polygon", fmt::format("{} corner{} given, at least 3 are needed", corners.size(),
                                        corners.size() == 1 ? "" : "s"));
  Geometry polygon = geos.polygon(ring_of(corners));
  require_valid(geos, polygon.get(), "the polygon", section.where("polygon"));
  return polygon;
}

void FloorPlan::Impl::read(Section& section, const Source& source) {
  std::vector<std::string> given;
  for (const char* key : {"wkt", "file", "polygon"})
    if (section.has(key)) given.emplace_back(key);
  if (given.size() != 1)
    section.fail(given.empty() ? "" : given[1],
                 given.empty()
                     ? "where people can walk is missing: give wkt, file or polygon"
                     : fmt::format("{} and {} are given: which one is the plan?", given[0], given[1]));
  const std::string& form = given[0];
  std::string ending = form == "file" ? std::filesystem::path(source.file).extension().string() : "";
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_image = ending == ".png";
  const auto refuse = [&](const char* key, const char* of) {
    if (section.has(key)) section.fail(key, fmt::format("'{}' is a key of {} only", key, of));
  };
  if (!is_image)
    for (const char* key : {"pixel", "origin", "wall_color", "color_tolerance"}) refuse(key, "images");
  if (is_image || form == "polygon") refuse("scale", "wkt and of files with coordinates");

  const std::string place = section.where(form);
  const Real scale = source.scale > 0 ? source.scale : 1;
  Geometry made;
  if (form == "polygon") {
    made = polygon_from(section, source.polygon);
  } else if (form == "wkt") {
    made = area_from_wkt(geos, source.wkt, scale, place);
  } else {
    const std::string path = path_of_input(source.file, place);
    const std::string named = place + ": " + path;
    if (ending == ".wkt") {
      made = area_from_wkt(geos, text_of(path, place), scale, named);
    } else if (ending == ".geojson" || ending == ".json") {
      made = area_from_geojson(geos, text_of(path, place), scale, named);
    } else if (is_image) {
      if (!(source.pixel > 0))
        section.fail("pixel", "the size of a pixel is missing: pixel = \"0.1 m\", say");
      require_readable(path, place);
      const Vec<2> origin = source.origin.empty() ? Vec<2>{} : Vec<2>{{source.origin[0], source.origin[1]}};
      constexpr int usual_tolerance = 16;
      const int tolerance =
          source.color_tolerance < 0 ? usual_tolerance : static_cast<int>(source.color_tolerance);
      const Colour walls =
          source.wall_color.empty() ? Colour{0} : read_colour(source.wall_color, section.where("wall_color"));
      image.emplace(path, source.pixel, origin, tolerance, named);
      image_file = path;
      made = image->all_but(geos, walls, named);
    } else {
      section.fail(form,
                   fmt::format("'{}': plans are read from files that end in .wkt, .geojson, .json or .png",
                               source.file));
    }
  }
  if (!(geos.area(made) > 0)) throw InputError(place + ": the area where people can walk is empty");
  set_area(std::move(made));
}

void FloorPlan::Impl::read_obstacle(const std::string& name, Section& section) {
  std::vector<std::vector<Real>> corners, circles;
  section.points("polygon", corners, 2, {.unit = Unit::length, .doc = "corners of the obstacle"});
  section.points("circles", circles, 3,
                 {.unit = Unit::length, .doc = "round columns, each as x, y and radius"});
  if (!section.reading()) return;
  if (corners.empty() && circles.empty())
    section.fail("", fmt::format("obstacle '{}' has no form: give polygon or circles", name));

  if (!corners.empty()) {
    const Geometry obstacle = polygon_from(section, corners);
    if (!(geos.area(geos.intersection(area, obstacle)) > 0))
      section.fail("polygon", fmt::format("obstacle '{}' lies wholly outside of the walkable area", name));
    set_area(geos.difference(area, obstacle));
    if (rings.empty()) section.fail("polygon", fmt::format("obstacle '{}' leaves no walkable area", name));
  }
  for (std::size_t i = 0; i < circles.size(); ++i) {
    const Columns::Column column{{{circles[i][0], circles[i][1]}}, circles[i][2]};
    if (!(column.radius > 0))
      section.fail("circles", fmt::format("circle {} has radius {:g}, it must be > 0", i + 1, column.radius));
    if (!(geos.distance(area, geos.point(column.centre)) < column.radius))
      section.fail("circles",
                   fmt::format("circle {} at {} with radius {:g} m lies wholly outside of the walkable area",
                               i + 1, place_text(column.centre), column.radius));
    columns.push_back(column);
  }
}

/// `geometry` less the disks of the columns, grown by `margin`.
Geometry FloorPlan::Impl::without_columns(Geometry geometry, Real margin, int n_corners) const {
  if (columns.empty()) return geometry;
  std::vector<Geometry> disks;
  for (const Columns::Column& column : columns)
    disks.push_back(geos.disk(column.centre, column.radius + margin, n_corners));
  return geos.difference(geometry, geos.united(geos.collection(std::move(disks))));
}

const Geometry& FloorPlan::Impl::free_area() {
  if (!free) free = without_columns(geos.copy(area), 0, n_corners_of_margin);
  return free;
}

bool FloorPlan::Impl::in_column(const Vec<2>& x) {
  if (columns.empty()) return false;
  if (!near_columns) {
    Box<2> box = Box<2>::empty();
    for (const Columns::Column& column : columns) {
      box.include(column.bounds().lower);
      box.include(column.bounds().upper);
    }
    near_columns.emplace(box, 4 * columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c)
      near_columns->for_each_cell(
          columns[c].bounds(), [&](int i, int j) { near_columns->put(i, j, static_cast<std::int32_t>(c)); });
    near_columns->sort();
  }
  if (!near_columns->covers(x)) return false;
  return std::ranges::any_of(near_columns->items(near_columns->cell_at(x)), [&](std::int32_t c) {
    const Columns::Column& column = columns[c];
    return dot(x - column.centre, x - column.centre) < column.radius * column.radius;
  });
}

void FloorPlan::describe(Section& root) {
  root.table(
      "walkable",
      {.required = true, .doc = "Where people can be: one of wkt, file and polygon, less the obstacles."},
      [&](Section& section) {
        Source source;
        section.text("wkt", source.wkt,
                     {.doc = "POLYGON, MULTIPOLYGON or GEOMETRYCOLLECTION of these as well-known text"});
        section.text(
            "file", source.file,
            {.doc = "file of the plan: .wkt, .geojson, .json or .png; looked for in the current folder, "
                    "then beside the deck"});
        section.points("polygon", source.polygon, 2, {.unit = Unit::length, .doc = "corners of the area"});
        section.real("scale", source.scale,
                     {.unit = Unit::length,
                      .range = positive,
                      .doc = "of wkt and of files with coordinates: length of one unit; 1 m unless given"});
        section.real(
            "pixel", source.pixel,
            {.unit = Unit::length, .range = positive, .doc = "of images, required: size of a pixel"});
        section.reals("origin", source.origin, 2,
                      {.unit = Unit::length, .doc = "of images: lower left corner; 0, 0 unless given"});
        section.text(
            "wall_color", source.wall_color,
            {.doc = "of images: colour of what is not walkable, as \"#rrggbb\"; black unless given"});
        section.integer("color_tolerance", source.color_tolerance,
                        {.range = {.min = 0, .max = 255},
                         .doc = "of images: by how much red, green and blue may differ from a colour that is "
                                "named, 0 to 255; 16 unless given"});
        if (section.reading()) {
          impl_->where = section.where("");
          impl_->read(section, source);
        }
        describe_checksum(section, "file", source.file);
        section.tables(
            "obstacles",
            {.doc = "An obstacle in the area, around which routes lead: a polygon, which is cut out of it, "
                    "or round columns."},
            [&](const std::string& name, Section& obstacle) { impl_->read_obstacle(name, obstacle); });
      });
}

void FloorPlan::use_polygon(const Ring& ring, const std::string& where) {
  impl_->where = where;
  Geometry polygon = impl_->geos.polygon(ring);
  require_valid(impl_->geos, polygon.get(), "the polygon", where);
  impl_->set_area(std::move(polygon));
}

const std::string& FloorPlan::where() const {
  return impl_->where;
}

std::vector<Ring> FloorPlan::regions_of_colour(const std::string& colour, const std::string& where) const {
  const Colour wanted = read_colour(colour, where);
  if (!impl_->image)
    throw InputError(fmt::format("{}: the colour {} marks nothing: the plan is no image", where, colour));
  const Geometry regions = impl_->image->all_of(impl_->geos, wanted, where + ": " + impl_->image_file);
  std::vector<Ring> rings;
  for (PolygonWithHoles& polygon : impl_->geos.rings_of(regions)) rings.push_back(std::move(polygon.outline));
  return rings;
}

Ring FloorPlan::open_exit(const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where) {
  Opening opening = opened(impl_->geos, impl_->area, impl_->rings, a, b, depth, where);
  impl_->set_area(std::move(opening.area));
  return opening.pocket;
}

Ring FloorPlan::open_border(const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where) {
  const auto [start, end, along, outward] =
      opening_line(impl_->geos, impl_->area, impl_->rings, a, b, 2 * snap, "connector", where);
  const Edge line(start, end);
  for (const Ring& border : impl_->borders) {
    const auto part = part_along(line, border);
    if (part && part->second > snap && part->first < line.length - snap)
      throw InputError(fmt::format("{}: another connector has the line {}-{} of this floor or a part of it",
                                   where, place_text(a), place_text(b)));
  }
  impl_->borders.push_back({start, end, end + depth * outward, start + depth * outward});
  return impl_->borders.back();
}

void FloorPlan::require_periodic(const Box<2>& domain) const {
  const Box<2> drawn = bounds();
  constexpr Real piece = 0.05, first = 1e-3;  // [m]
  constexpr int n_deep = 6;
  const auto look = [&](const Vec<2>& beyond, const Vec<2>& image) {
    if (contains(beyond) != contains(image))
      throw InputError(fmt::format(
          "{}: beyond the periodic face {} is {}, but its image {} is {}: draw walls and obstacles on both "
          "sides of the face",
          where(), place_text(beyond), contains(beyond) ? "walkable" : "not walkable", place_text(image),
          contains(image) ? "walkable" : "not walkable"));
  };
  for (int k = 0; k < 2; ++k) {
    if (!domain.is_periodic(k)) continue;
    const int side = 1 - k;
    const int n_along = static_cast<int>(domain.length(side) / piece);
    for (int depth = 0; depth < n_deep; ++depth)
      for (int i = 0; i <= n_along; ++i) {
        Vec<2> low, high;
        low[side] = high[side] = domain.lower[side] + first + i * piece;
        low[k] = domain.lower[k] - first - 2 * depth * piece;
        high[k] = domain.upper[k] + first + 2 * depth * piece;
        if (low[k] > drawn.lower[k]) look(low, low + domain.period(k));
        if (high[k] < drawn.upper[k]) look(high, high - domain.period(k));
      }
  }
}

std::vector<Edge> FloorPlan::fences() const {
  std::vector<Edge> fences;
  for (const Ring& border : impl_->borders)
    for (std::size_t side = 1; side < border.size(); ++side)
      fences.emplace_back(border[side], border[(side + 1) % border.size()]);
  return fences;
}

std::span<const PolygonWithHoles> FloorPlan::area() const {
  return impl_->rings;
}

std::span<const Columns::Column> FloorPlan::columns() const {
  return impl_->columns;
}

std::vector<Edge> FloorPlan::walls() const {
  std::vector<Edge> walls;
  // A corner that lies this near to the wall through its neighbours is none [m].
  constexpr Real flat = 1e-9;
  const auto is_corner = [](const Vec<2>& before, const Vec<2>& x, const Vec<2>& after) {
    const Vec<2> along = after - before;
    const Real length = norm(along);
    if (!(length > flat)) return true;
    const bool is_between = dot(x - before, along) > 0 && dot(after - x, along) > 0;
    return !is_between || std::abs(dot(left_of(along), x - before)) > flat * length;
  };
  const auto add = [&](const Ring& ring, bool is_hole) {
    const std::size_t n = ring.size();
    std::size_t first = 0;
    while (first + 1 < n && !is_corner(ring[(first + n - 1) % n], ring[first], ring[first + 1])) ++first;
    Ring corners{ring[first]};
    for (std::size_t i = 1; i < n; ++i) {
      const Vec<2>& x = ring[(first + i) % n];
      if (is_corner(corners.back(), x, ring[(first + i + 1) % n])) corners.push_back(x);
    }
    if (is_hole) std::ranges::reverse(corners);
    for (std::size_t i = 0; i < corners.size(); ++i)
      add_outside_of(impl_->borders, Edge(corners[i], corners[(i + 1) % corners.size()]), walls);
  };
  for (const PolygonWithHoles& polygon : impl_->rings) {
    add(polygon.outline, false);
    for (const Ring& hole : polygon.holes) add(hole, true);
  }
  return walls;
}

Box<2> FloorPlan::bounds() const {
  Box<2> box = Box<2>::empty();
  for (const PolygonWithHoles& polygon : impl_->rings)
    for (const Vec<2>& x : polygon.outline) box.include(x);
  return box;
}

bool FloorPlan::contains(const Vec<2>& x) const {
  if (!impl_->locator) impl_->locator.emplace(impl_->rings);
  return impl_->locator->find(x) >= 0 && !impl_->in_column(x);
}

Real FloorPlan::free_area() const {
  return impl_->geos.area(impl_->free_area());
}

Real FloorPlan::free_area(const Ring& region, std::span<const Ring> without) const {
  const Geos& geos = impl_->geos;
  const auto valid = [&](const Ring& ring) {
    Geometry polygon = geos.polygon(ring);
    return geos.is_valid(polygon) ? std::move(polygon) : geos.made_valid(polygon);
  };
  Geometry part = geos.intersection(impl_->free_area(), valid(region));
  for (const Ring& ring : without) part = geos.difference(part, valid(ring));
  return geos.area(part);
}

std::string FloorPlan::wkt() const {
  const Geometry shown = impl_->without_columns(impl_->geos.copy(impl_->area), 0, n_corners_of_column);
  return wkt_of(impl_->columns.empty() ? impl_->rings : impl_->geos.rings_of(shown));
}

int FloorPlan::part_of(const Vec<2>& x, Real radius) const {
  auto known = impl_->parts.find(radius);
  if (known == impl_->parts.end()) {
    const Geos& geos = impl_->geos;
    Geometry core =
        radius > 0 ? geos.buffer(impl_->area, -radius, n_corners_of_margin / 4) : geos.copy(impl_->area);
    const std::vector<PolygonWithHoles> rings =
        geos.rings_of(impl_->without_columns(std::move(core), radius, n_corners_of_margin));
    known = impl_->parts.try_emplace(radius, rings).first;
  }
  return known->second.find(x);
}

std::vector<PlanFinding> FloorPlan::narrow_places(Real width) const {
  return narrow_places_of(impl_->geos, impl_->free_area(), width);
}

}  // namespace scree
