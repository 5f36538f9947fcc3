#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/random.hpp"
#include "core/section.hpp"
#include "geometry/box.hpp"
#include "particles/volume.hpp"

namespace scree {

/// Part of the domain, a box or a sphere (disk in 2D): where an initial packing or an inlet puts bodies, or
/// an outlet takes them. Without a table it is the whole domain.
template <int D>
class Region {
 public:
  /// Declares and reads the table `region`.
  void describe(Section& section) {
    describe(section, {.doc = "Where the bodies are put; not given: the whole domain."});
  }
  void describe(Section& section, const Key& meaning) {
    if (section.reading()) where_ = section.where("region");
    section.optional_table("region", meaning, [&](Section& region) {
      whole_ = false;
      region.point("lower", lower_, {.unit = Unit::length, .doc = "lowest corner of a box"});
      region.point("upper", upper_, {.unit = Unit::length, .doc = "highest corner of a box"});
      region.point("center", center_, {.unit = Unit::length, .doc = "centre of a disk (2D) or sphere (3D)"});
      region.real("radius", radius_,
                  {.unit = Unit::length,
                   .range = non_negative,
                   .doc = "radius of the disk or sphere; 0: the region is the box from lower to upper"});
      if (!region.reading()) return;
      where_ = region.where("lower");
      if (radius_ > 0) {
        if (lower_ != Vec<D>{} || upper_ != Vec<D>{})
          region.fail("radius",
                      "give either lower and upper (a box) or center and radius (a disk or sphere)");
        lower_ = center_ - filled<D>(radius_);
        upper_ = center_ + filled<D>(radius_);
      }
      for (int k = 0; k < D; ++k)
        if (!(upper_[k] > lower_[k]))
          region.fail("upper", "the region is empty: upper must exceed lower along every axis");
    });
  }

  /// Fits the region to the domain; the calls below need it. Throws InputError if it reaches beyond the
  /// domain: only a sphere may, across a periodic face.
  void fit(const Box<D>& box) {
    if (whole_) lower_ = box.lower, upper_ = box.upper;
    bounds_ = {lower_, upper_, {}};
    for (int k = 0; k < D; ++k) {
      const bool inside = lower_[k] >= box.lower[k] && upper_[k] <= box.upper[k];
      const bool wraps = is_sphere() && box.is_periodic(k) && bounds_.length(k) <= box.length(k);
      if (!inside && !wraps) throw InputError(where_ + ": the region reaches beyond the domain");
      bounds_.periodic[k] =
          !is_sphere() && box.is_periodic(k) && lower_[k] == box.lower[k] && upper_[k] == box.upper[k];
    }
  }

  /// The region's place in the deck.
  const std::string& where() const { return where_; }
  /// The region in words: "(0, 0) to (1, 2) m".
  std::string text() const {
    return is_sphere() ? fmt::format("{:g} m around ({:g}) m", radius_, fmt::join(center_.component, ", "))
                       : fmt::format("({:g}) to ({:g}) m", fmt::join(lower_.component, ", "),
                                     fmt::join(upper_.component, ", "));
  }
  /// Smallest box around the region; periodic where the region has no end, closing on itself.
  const Box<D>& bounds() const { return bounds_; }
  bool is_sphere() const { return radius_ > 0; }
  const Vec<D>& center() const { return center_; }  ///< of a sphere
  Real radius() const { return radius_; }           ///< of a sphere; 0: it is a box
  Real volume() const { return is_sphere() ? body_volume<D>(radius_) : bounds_.volume(); }

  /// True if a sphere of radius `margin` around x lies in the region.
  bool holds(const Vec<D>& x, Real margin) const {
    if (is_sphere()) return norm(x - center_) + margin <= radius_;
    for (int k = 0; k < D; ++k)
      if (!bounds_.is_periodic(k) && !(x[k] - lower_[k] >= margin && upper_[k] - x[k] >= margin))
        return false;
    return true;
  }
  /// Whether the region holds x, or an image of it across periodic faces of the domain; x within the domain.
  /// Needs no fit(). Axis by axis, so it costs little where the region is elsewhere.
  bool holds_image(const Box<D>& domain, const Vec<D>& x) const;
  /// Radius of the largest sphere that the region holds.
  Real largest_radius() const {
    Real radius = is_sphere() ? radius_ : HUGE_VAL;
    for (int k = 0; k < D; ++k)
      if (!is_sphere() && !bounds_.is_periodic(k)) radius = std::min(radius, bounds_.length(k) / 2);
    return radius;
  }
  /// A point drawn evenly from those that hold(x, margin); margin <= largest_radius().
  Vec<D> draw(RandomStream& stream, Real margin) const {
    while (true) {
      Vec<D> x;
      for (int k = 0; k < D; ++k) {
        const Real inset = bounds_.is_periodic(k) ? 0 : margin;
        x[k] = stream.uniform(lower_[k] + inset, upper_[k] - inset);
      }
      if (!is_sphere() || norm(x - center_) <= radius_ - margin) return x;
    }
  }

 private:
  std::string where_;
  bool whole_ = true;
  Vec<D> lower_{}, upper_{}, center_{};
  Real radius_ = 0;
  Box<D> bounds_{};
};

/// Calls f(image) for x and its images across the periodic faces that its neighbours see; x within the
/// domain.
template <int D, class F>
void for_each_image(const Box<D>& box, const Vec<D>& x, F&& f) {
  for (int code = 0; code < (D == 2 ? 9 : 27); ++code) {
    Vec<D> image = x;
    bool exists = true;
    for (int k = 0, digits = code; k < D; ++k, digits /= 3) {
      const int turns = digits % 3 - 1;
      if (turns == 0) continue;
      exists = exists && box.is_periodic(k);
      image += static_cast<Real>(turns) * box.period(k);
    }
    if (exists) f(image);
  }
}

template <int D>
bool Region<D>::holds_image(const Box<D>& domain, const Vec<D>& x) const {
  const auto is_between = [&](int axis, Real at) {
    if (is_sphere()) return std::abs(at - center_[axis]) <= radius_;
    return bounds_.is_periodic(axis) || (at - lower_[axis] >= 0 && upper_[axis] - at >= 0);
  };
  // In a tilted domain coordinates of images go together.
  for (int k = 0; k < D && domain.gradient < 0; ++k) {
    bool any = is_between(k, x[k]);
    if (domain.is_periodic(k))
      any = any || is_between(k, x[k] - domain.length(k)) || is_between(k, x[k] + domain.length(k));
    if (!any) return false;
  }
  if (!is_sphere() && domain.gradient < 0) return true;
  bool any = false;
  for_each_image(domain, x, [&](const Vec<D>& image) { any = any || holds(image, 0); });
  return any;
}

/// x, a few periods away at most, moved by whole periods to between the faces of the domain along its
/// periodic axes. (Of a tilted box too: this is another place than in its cell, and of another image.)
template <int D>
Vec<D> wrapped(const Box<D>& box, Vec<D> x) {
  if (box.gradient >= 0) {
    const int g = box.gradient;
    if (x[g] < box.lower[g]) x += box.period(g);
    if (x[g] >= box.upper[g]) x -= box.period(g);
  }
  for (int k = 0; k < D; ++k) {
    if (!box.is_periodic(k)) continue;
    if (x[k] < box.lower[k]) x[k] += box.length(k);
    if (x[k] >= box.upper[k]) x[k] -= box.length(k);
  }
  return x;
}

}  // namespace scree
