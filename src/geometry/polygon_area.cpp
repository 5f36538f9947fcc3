#include "geometry/polygon_area.hpp"

#include <fmt/core.h>
#include <geos_c.h>

#include <cmath>
#include <cstdarg>
#include <limits>
#include <numbers>

#include "core/error.hpp"

namespace scree {

namespace {

/// Walls that two images of a plan share are joined if they are this close [m].
constexpr Real seam = 1e-7;
constexpr int n_column_corners = 64;

void keep_message(const char* message, void* kept) {
  *static_cast<std::string*>(kept) = message;
}

/// A GEOS context of our own: its error messages come here.
class Geos {
 public:
  Geos() : context_(GEOS_init_r()) {
    GEOSContext_setErrorMessageHandler_r(context_, &keep_message, &message_);
  }
  ~Geos() { GEOS_finish_r(context_); }
  Geos(const Geos&) = delete;
  Geos& operator=(const Geos&) = delete;

  GEOSContextHandle_t handle() const { return context_; }

  struct Deleter {
    GEOSContextHandle_t context;
    void operator()(GEOSGeometry* g) const { GEOSGeom_destroy_r(context, g); }
    void operator()(const GEOSPreparedGeometry* g) const { GEOSPreparedGeom_destroy_r(context, g); }
  };
  using Shape = std::unique_ptr<GEOSGeometry, Deleter>;
  using Prepared = std::unique_ptr<const GEOSPreparedGeometry, Deleter>;

  /// Takes what GEOS made; throws RunError if it could not.
  Shape owned(GEOSGeometry* made) const {
    if (made == nullptr) throw RunError("GEOS could not cut polygons: " + message_);
    return Shape(made, Deleter{context_});
  }
  Prepared prepared(const Shape& shape) const {
    return Prepared(GEOSPrepare_r(context_, shape.get()), Deleter{context_});
  }

  Shape polygon(const Ring& outline, std::span<const Ring> holes = {}) const {
    std::vector<GEOSGeometry*> inner;
    inner.reserve(holes.size());
    for (const Ring& hole : holes) inner.push_back(closed(hole));
    return owned(GEOSGeom_createPolygon_r(context_, closed(outline), inner.data(),
                                          static_cast<unsigned>(inner.size())));
  }
  Shape rectangle(const Box<2>& box) const {
    return owned(
        GEOSGeom_createRectangle_r(context_, box.lower[0], box.lower[1], box.upper[0], box.upper[1]));
  }
  Shape point(const Vec<2>& x) const { return owned(GEOSGeom_createPointFromXY_r(context_, x[0], x[1])); }
  Shape collection(std::vector<Shape>& parts) const {
    std::vector<GEOSGeometry*> raw;
    raw.reserve(parts.size());
    for (Shape& part : parts) raw.push_back(part.release());
    return owned(GEOSGeom_createCollection_r(context_, GEOS_GEOMETRYCOLLECTION, raw.data(),
                                             static_cast<unsigned>(raw.size())));
  }
  Shape intersection(const Shape& a, const Shape& b) const {
    return owned(GEOSIntersection_r(context_, a.get(), b.get()));
  }
  Shape difference(const Shape& a, const Shape& b) const {
    return owned(GEOSDifference_r(context_, a.get(), b.get()));
  }
  /// Of all parts together, with corners on a grid as fine as `seam`.
  Shape joined(const Shape& parts) const { return owned(GEOSUnaryUnionPrec_r(context_, parts.get(), seam)); }
  Real area(const GEOSGeometry* g) const {
    Real value = 0;
    if (GEOSArea_r(context_, g, &value) == 0) throw RunError("GEOS could not measure an area: " + message_);
    return value;
  }
  /// The part nearest to x, or `shape` if it has one part only. Belongs to `shape`.
  const GEOSGeometry* part_at(const Shape& shape, const Vec<2>& x) const {
    const int n_parts = GEOSGetNumGeometries_r(context_, shape.get());
    if (n_parts <= 1) return shape.get();
    const Shape at = point(x);
    const GEOSGeometry* nearest = nullptr;
    Real least = std::numeric_limits<Real>::infinity();
    for (int k = 0; k < n_parts; ++k) {
      const GEOSGeometry* part = GEOSGetGeometryN_r(context_, shape.get(), k);
      Real distance = 0;
      if (GEOSDistance_r(context_, part, at.get(), &distance) == 0 || !(distance < least)) continue;
      if (!(area(part) > 0)) continue;  // a point or a line where polygons only touch
      least = distance;
      nearest = part;
    }
    return nearest;
  }
  std::string reason_invalid(const Shape& shape) const {
    if (GEOSisValid_r(context_, shape.get()) == 1) return {};
    char* reason = GEOSisValidReason_r(context_, shape.get());
    std::string text = reason != nullptr ? reason : message_;
    GEOSFree_r(context_, reason);
    return text;
  }

 private:
  GEOSGeometry* closed(const Ring& ring) const {
    const std::size_t n = ring.size();
    GEOSCoordSequence* corners = GEOSCoordSeq_create_r(context_, static_cast<unsigned>(n + 1), 2);
    for (std::size_t i = 0; i <= n; ++i)
      GEOSCoordSeq_setXY_r(context_, corners, static_cast<unsigned>(i), ring[i % n][0], ring[i % n][1]);
    GEOSGeometry* made = GEOSGeom_createLinearRing_r(context_, corners);
    if (made == nullptr) throw RunError("GEOS could not make a ring: " + message_);
    return made;
  }

  GEOSContextHandle_t context_;
  std::string message_;
};

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
  if (std::string reason = geos.reason_invalid(geos.polygon(ring)); !reason.empty()) return reason;
  if (!(area_of(ring) > 0)) return "it has no area";
  return {};
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
  explicit Content(const Ring& ring) : window(geos.polygon(ring)), prepared_window(geos.prepared(window)) {}

  Geos geos;
  Geos::Shape window;
  Geos::Prepared prepared_window;
  Geos::Shape free{nullptr, {}};  // null: everything is free
  Geos::Prepared prepared_free{nullptr, {}};
  Real window_area = 0;
};

WindowAreas::WindowAreas(const Ring& window) : content_(std::make_unique<Content>(window)) {
  content_->window_area = area_of(window);
}

WindowAreas::WindowAreas(const Ring& window, std::span<const PolygonWithHoles> area,
                         std::span<const Columns::Column> columns, const Box<2>& domain, const Box<2>& reach)
    : content_(std::make_unique<Content>(window)) {
  const Geos& geos = content_->geos;
  const Geos::Shape frame = geos.rectangle(reach);
  std::vector<Geos::Shape> parts, solid;
  for (const PolygonWithHoles& polygon : area)
    for_each_shift(domain, bounds_of(polygon.outline), reach, [&](const Vec<2>& shift) {
      std::vector<Ring> holes;
      for (const Ring& hole : polygon.holes) holes.push_back(moved(hole, shift));
      parts.push_back(geos.intersection(geos.polygon(moved(polygon.outline, shift), holes), frame));
    });
  for (const Columns::Column& column : columns) {
    const Ring ring = polygon_of_disk(column.centre, column.radius, n_column_corners);
    for_each_shift(domain, bounds_of(ring), reach,
                   [&](const Vec<2>& shift) { solid.push_back(geos.polygon(moved(ring, shift))); });
  }
  content_->free = geos.joined(geos.collection(parts));
  if (!solid.empty()) content_->free = geos.difference(content_->free, geos.joined(geos.collection(solid)));
  content_->prepared_free = geos.prepared(content_->free);
  content_->window_area = geos.area(geos.intersection(content_->window, content_->free).get());
}

WindowAreas::~WindowAreas() = default;

Real WindowAreas::window() const {
  return content_->window_area;
}

WindowAreas::Share WindowAreas::around(const Vec<2>& x, const Ring& cell, const Ring& limit) const {
  const Geos& geos = content_->geos;
  const GEOSContextHandle_t context = geos.handle();
  const Geos::Shape cut = geos.intersection(geos.polygon(cell), geos.polygon(limit));
  const GEOSGeometry* part = cut.get();
  Geos::Shape free_part(nullptr, {});
  if (content_->free && GEOSPreparedContains_r(context, content_->prepared_free.get(), part) != 1) {
    free_part = geos.intersection(cut, content_->free);
    part = geos.part_at(free_part, x);
    if (part == nullptr) return {};
  }
  Share share{.whole = geos.area(part)};
  if (GEOSPreparedContains_r(context, content_->prepared_window.get(), part) == 1)
    share.in_window = share.whole;
  else if (GEOSPreparedIntersects_r(context, content_->prepared_window.get(), part) == 1)
    share.in_window = geos.area(geos.owned(GEOSIntersection_r(context, part, content_->window.get())).get());
  return share;
}

}  // namespace scree
