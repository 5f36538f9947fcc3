#include "crowd/plan/polygon_area.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

namespace {

/// Walls that two images of a plan share are joined if they are this close [m].
constexpr Real seam = 1e-7;
constexpr int n_column_corners = 64;

struct PreparedDeleter {
  GEOSContextHandle_t context = nullptr;
  void operator()(const GEOSPreparedGeometry* prepared) const {
    GEOSPreparedGeom_destroy_r(context, prepared);
  }
};
/// An index of a geometry for many questions; must not outlive it.
using Prepared = std::unique_ptr<const GEOSPreparedGeometry, PreparedDeleter>;

Prepared prepared(const Geos& geos, const Geometry& geometry) {
  return Prepared(GEOSPrepare_r(geos.handle(), geometry.get()), PreparedDeleter{geos.handle()});
}

/// All parts in one, with corners on a grid as fine as `seam`.
Geometry joined(const Geos& geos, std::vector<Geometry> parts) {
  const Geometry all = geos.collection(std::move(parts));
  return geos.require(GEOSUnaryUnionPrec_r(geos.handle(), all.get(), seam), "joining the images of the plan");
}

/// The polygon of `geometry` nearest to x, or null if it has none. Belongs to `geometry`.
const GEOSGeometry* part_at(const Geos& geos, const Geometry& geometry, const Vec<2>& x) {
  const std::vector<const GEOSGeometry*> parts = geos.polygons_in(geometry);
  if (parts.size() == 1) return parts.front();
  const Geometry at = geos.point(x);
  const GEOSGeometry* nearest = nullptr;
  Real least = std::numeric_limits<Real>::infinity();
  for (const GEOSGeometry* part : parts) {
    Real distance = least;
    GEOSDistance_r(geos.handle(), part, at.get(), &distance);
    if (!(distance < least)) continue;
    least = distance;
    nearest = part;
  }
  return nearest;
}

Real area_of(const Geos& geos, const GEOSGeometry* geometry) {
  Real area = 0;
  GEOSArea_r(geos.handle(), geometry, &area);
  return area;
}

Box<2> bounds_of(const Ring& ring) {
  Box<2> box = Box<2>::empty();
  for (const Vec<2>& x : ring) box.include(x);
  return box;
}

bool overlap(const Box<2>& a, const Box<2>& b) {
  for (int k = 0; k < 2; ++k)
    if (a.upper[k] < b.lower[k] || b.upper[k] < a.lower[k]) return false;
  return true;
}

Ring moved(Ring ring, const Vec<2>& shift) {
  for (Vec<2>& x : ring) x += shift;
  return ring;
}

/// Calls f(shift) for the shifts by whole periods that bring something in `from` into `to`.
template <class F>
void for_each_shift(const Box<2>& domain, const Box<2>& from, const Box<2>& to, F&& f) {
  std::array<int, 2> first{}, last{};
  for (int k = 0; k < 2; ++k) {
    if (!domain.is_periodic(k)) continue;
    const auto axis = static_cast<std::size_t>(k);
    first[axis] = static_cast<int>(std::ceil((to.lower[k] - from.upper[k]) / domain.length(k)));
    last[axis] = static_cast<int>(std::floor((to.upper[k] - from.lower[k]) / domain.length(k)));
  }
  for (int j = first[1]; j <= last[1]; ++j)
    for (int i = first[0]; i <= last[0]; ++i) {
      const Vec<2> shift{{i == 0 ? 0 : i * domain.length(0), j == 0 ? 0 : j * domain.length(1)}};
      if (overlap({from.lower + shift, from.upper + shift, {}}, to)) f(shift);
    }
}

}  // namespace

Real area_of(const Ring& ring) {
  Real twice = 0;
  for (std::size_t i = 2; i < ring.size(); ++i) {
    // From the first corner, so that a small ring far from the origin keeps its digits.
    const Vec<2> a = ring[i - 1] - ring[0], b = ring[i] - ring[0];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return std::abs(twice) / 2;
}

std::string fault_of(const Ring& ring) {
  if (ring.size() < 3) return fmt::format("a polygon needs three corners, not {}", ring.size());
  for (const Vec<2>& x : ring)
    if (!std::isfinite(x[0]) || !std::isfinite(x[1])) return "a corner is not finite";
  const Geos geos;
  if (std::string fault = geos.fault_of(geos.polygon(ring).get()); !fault.empty()) return fault;
  return area_of(ring) > 0 ? "" : "it has no area";
}

Ring polygon_of_disk(const Vec<2>& centre, Real radius, int n_corners) {
  const Real angle = 2 * std::numbers::pi / n_corners;
  const Real reach = radius * std::sqrt(angle / std::sin(angle));  // n sin(angle) reach^2 / 2 = pi radius^2
  Ring ring(static_cast<std::size_t>(n_corners));
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Real turn = angle * static_cast<Real>(i);
    ring[i] = centre + reach * Vec<2>{{std::cos(turn), std::sin(turn)}};
  }
  return ring;
}

struct WindowAreas::Content {
  explicit Content(const Ring& ring) : window(geos.polygon(ring)), prepared_window(prepared(geos, window)) {}

  Geos geos;
  Geometry window;
  Prepared prepared_window;
  Geometry free_area;  // null: everything is free
  Prepared prepared_free_area;
  Real area = 0;  // of the free part of the window
};

WindowAreas::WindowAreas(const Ring& window) : content_(std::make_unique<Content>(window)) {
  content_->area = area_of(window);
}

WindowAreas::WindowAreas(const Ring& window, std::span<const PolygonWithHoles> area,
                         std::span<const Columns::Column> columns, const Box<2>& domain, const Box<2>& reach)
    : content_(std::make_unique<Content>(window)) {
  Content& content = *content_;
  const Geos& geos = content.geos;
  const Geometry frame = geos.box(reach);
  std::vector<Geometry> parts, solid;
  for (const PolygonWithHoles& polygon : area)
    for_each_shift(domain, bounds_of(polygon.outline), reach, [&](const Vec<2>& shift) {
      PolygonWithHoles image{.outline = moved(polygon.outline, shift), .holes = {}};
      for (const Ring& hole : polygon.holes) image.holes.push_back(moved(hole, shift));
      parts.push_back(geos.intersection(geos.polygon(image), frame));
    });
  for (const Columns::Column& column : columns) {
    const Vec<2> radius = filled<2>(column.radius);
    for_each_shift(domain, {column.centre - radius, column.centre + radius, {}}, reach,
                   [&](const Vec<2>& shift) {
                     solid.push_back(geos.disk(column.centre + shift, column.radius, n_column_corners));
                   });
  }
  content.free_area = joined(geos, std::move(parts));
  if (!solid.empty()) content.free_area = geos.difference(content.free_area, joined(geos, std::move(solid)));
  content.prepared_free_area = prepared(geos, content.free_area);
  content.area = geos.area(geos.intersection(content.window, content.free_area));
}

WindowAreas::~WindowAreas() = default;

Real WindowAreas::window() const {
  return content_->area;
}

WindowAreas::Share WindowAreas::around(const Vec<2>& x, const Ring& cell, const Ring& limit) const {
  const Content& content = *content_;
  const Geos& geos = content.geos;
  const GEOSContextHandle_t handle = geos.handle();
  const Geometry cut = geos.intersection(geos.polygon(cell), geos.polygon(limit));
  const GEOSGeometry* part = cut.get();
  Geometry free_part;
  if (content.free_area && GEOSPreparedContains_r(handle, content.prepared_free_area.get(), part) != 1) {
    free_part = geos.intersection(cut, content.free_area);
    part = part_at(geos, free_part, x);
    if (part == nullptr) return {};
  }
  Share share{.whole = area_of(geos, part)};
  if (GEOSPreparedContains_r(handle, content.prepared_window.get(), part) == 1)
    share.in_window = share.whole;
  else if (GEOSPreparedIntersects_r(handle, content.prepared_window.get(), part) == 1)
    share.in_window = geos.area(
        geos.require(GEOSIntersection_r(handle, part, content.window.get()), "cutting a Voronoi cell"));
  return share;
}

}  // namespace scree
