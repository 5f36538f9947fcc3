#include "crowd/plan/polygon_area.hpp"

#include <fmt/core.h>

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

Ring moved(Ring ring, const Vec<2>& shift) {
  for (Vec<2>& x : ring) x += shift;
  return ring;
}

}  // namespace

std::string fault_of(const Ring& ring) {
  if (ring.size() < 3) return fmt::format("a polygon needs three corners, not {}", ring.size());
  for (const Vec<2>& x : ring)
    if (!std::isfinite(x[0]) || !std::isfinite(x[1])) return "a corner is not finite";
  const Geos geos;
  if (std::string fault = geos.fault_of(geos.polygon(ring).get()); !fault.empty()) return fault;
  return signed_area(ring) != 0 ? "" : "it has no area";
}

struct WindowAreas::Impl {
  explicit Impl(const Ring& ring) : window(geos.polygon(ring)), prepared_window(prepared(geos, window)) {}

  Geos geos;
  Geometry window;
  Prepared prepared_window;
  Geometry free_area;  // null: everything is free
  Prepared prepared_free_area;
  Real area = 0;  // of the free part of the window
};

WindowAreas::WindowAreas(const Ring& window) : impl_(std::make_unique<Impl>(window)) {
  impl_->area = std::abs(signed_area(window));
}

WindowAreas::WindowAreas(const Ring& window, std::span<const PolygonWithHoles> area,
                         std::span<const Columns::Column> columns, const Box<2>& domain, const Box<2>& reach)
    : impl_(std::make_unique<Impl>(window)) {
  Impl& impl = *impl_;
  const Geos& geos = impl.geos;
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
  impl.free_area = joined(geos, std::move(parts));
  if (!solid.empty()) impl.free_area = geos.difference(impl.free_area, joined(geos, std::move(solid)));
  impl.prepared_free_area = prepared(geos, impl.free_area);
  impl.area = geos.area(geos.intersection(impl.window, impl.free_area));
}

WindowAreas::~WindowAreas() = default;

Real WindowAreas::window() const {
  return impl_->area;
}

WindowAreas::Share WindowAreas::around(const Vec<2>& x, const Ring& cell, const Ring& limit) const {
  const Impl& impl = *impl_;
  const Geos& geos = impl.geos;
  const GEOSContextHandle_t handle = geos.handle();
  const Geometry cut = geos.intersection(geos.polygon(cell), geos.polygon(limit));
  const GEOSGeometry* part = cut.get();
  Geometry free_part;
  if (impl.free_area && GEOSPreparedContains_r(handle, impl.prepared_free_area.get(), part) != 1) {
    free_part = geos.intersection(cut, impl.free_area);
    part = geos.part_at(free_part, x);
    if (part == nullptr) return {};
  }
  Share share{.whole = geos.area(part)};
  if (GEOSPreparedContains_r(handle, impl.prepared_window.get(), part) == 1)
    share.in_window = share.whole;
  else if (GEOSPreparedIntersects_r(handle, impl.prepared_window.get(), part) == 1)
    share.in_window = geos.area(geos.intersection(part, impl.window));
  return share;
}

}  // namespace scree
