#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <numbers>
#include <string>

#include "analysis/floor.hpp"
#include "core/error.hpp"
#include "core/section.hpp"
#include "geometry/box.hpp"
#include "particles/fill/region.hpp"
#include "state/state.hpp"

namespace scree {

/// The part of the domain that a measure looks at: a box, or everything if the deck gives none, on one floor
/// of a building of several. Points count from the lower faces up to, but not including, the upper ones, so
/// that adjacent regions share nothing out twice; along periodic axes points are wrapped into the domain
/// first.
template <int D>
class MeasuredRegion {
 public:
  /// Declares and reads the table `region` and the key `floor`.
  void describe(Section& section) {
    floor_.describe(section);
    section.optional_table(
        "region", {.doc = "Box that is measured; not given: the whole domain."}, [&](Section& region) {
          whole_ = false;
          region.point("lower", lower_, {.unit = Unit::length, .required = true, .doc = "lowest corner"});
          region.point("upper", upper_, {.unit = Unit::length, .required = true, .doc = "highest corner"});
          if (!region.reading()) return;
          where_ = region.where("lower");
          for (int k = 0; k < D; ++k)
            if (!(upper_[k] > lower_[k]))
              region.fail("upper", "the region is empty: upper must exceed lower along every axis");
        });
  }

  /// Throws InputError if the region reaches through a periodic face, beyond which nothing would be found, if
  /// these faces move, or if the floor does not suit the building.
  void require_inside(const State<D>& state) const {
    level(state);
    if (whole_) return;
    const Box<D>& domain = state.box;
    if (state.cell.is_given())
      throw InputError(
          fmt::format("{}: a region has a place in space, but [domain.deformation] moves the faces of the "
                      "cell: remove it",
                      where_));
    for (int k = 0; k < D; ++k)
      if (domain.is_periodic(k) && (lower_[k] < domain.lower[k] || upper_[k] > domain.upper[k]))
        throw InputError(
            fmt::format("{}: the region reaches beyond the domain, {:g} to {:g} m along the periodic axis {}",
                        where_, domain.lower[k], domain.upper[k], "xyz"[k]));
  }

  /// Its level in a building, as MeasuredFloor has it.
  int level(const State<D>& state) const { return floor_.level(state); }
  bool is_whole() const { return whole_; }
  const std::string& where() const { return where_; }
  /// The region, or the domain.
  Box<D> box(const Box<D>& domain) const {
    return whole_ ? Box<D>{domain.lower, domain.upper, {}} : Box<D>{lower_, upper_, {}};
  }
  bool holds(const Box<D>& domain, const Vec<D>& x) const {
    return whole_ || is_between_faces({lower_, upper_, {}}, wrapped(domain, x), -1);
  }
  /// Whether x lies between the faces of box() along all axes but one.
  bool holds_beside(const Box<D>& domain, const Vec<D>& x, int axis) const {
    return is_between_faces(box(domain), wrapped(domain, x), axis);
  }
  /// Share of the segment from x to x + branch that lies in the region, periodic images of it included: in
  /// [0, 1]. The segment must be shorter than the periods.
  Real share_inside(const Box<D>& domain, const Vec<D>& x, const Vec<D>& branch) const {
    if (whole_) return 1;
    const Vec<D> start = wrapped(domain, x);
    Real share = 0;
    for (int code = 0; code < n_images; ++code) {
      Vec<D> shifted = start;
      bool exists = true;
      for (int k = 0, digits = code; k < D; ++k, digits /= 3) {
        const int turns = digits % 3 - 1;
        exists = exists && (turns == 0 || domain.is_periodic(k));
        shifted += static_cast<Real>(turns) * domain.period(k);
      }
      if (exists) share += share_in_box(shifted, branch);
    }
    return share;
  }

 private:
  static constexpr int n_images = D == 2 ? 9 : 27;

  static bool is_between_faces(const Box<D>& box, const Vec<D>& x, int ignored_axis) {
    for (int k = 0; k < D; ++k)
      if (k != ignored_axis && !(x[k] >= box.lower[k] && x[k] < box.upper[k])) return false;
    return true;
  }

  Real share_in_box(const Vec<D>& x, const Vec<D>& branch) const {
    Real begin = 0, end = 1;
    for (int k = 0; k < D; ++k) {
      if (branch[k] == 0) {
        if (!(x[k] >= lower_[k] && x[k] < upper_[k])) return 0;
        continue;
      }
      const Real at_lower = (lower_[k] - x[k]) / branch[k], at_upper = (upper_[k] - x[k]) / branch[k];
      begin = std::max(begin, std::min(at_lower, at_upper));
      end = std::min(end, std::max(at_lower, at_upper));
    }
    return std::max(0.0, end - begin);
  }

  MeasuredFloor<D> floor_;
  bool whole_ = true;
  Vec<D> lower_{}, upper_{};
  std::string where_;
};

/// Volume of the part of a body that lies below a plane `height` above its centre.
template <int D>
Real volume_below(Real radius, Real height) {
  const Real h = std::clamp(height, -radius, radius);
  if constexpr (D == 2) {
    const Real half_chord = std::sqrt(std::max(0.0, radius * radius - h * h));
    return radius * radius * (std::numbers::pi / 2 + std::asin(h / radius)) + h * half_chord;
  } else {
    const Real cap = radius + h;  // height of the cap from the lowest point
    return std::numbers::pi * cap * cap * (3 * radius - cap) / 3;
  }
}

/// Volume of the part of a body between two planes across an axis; x: coordinate of its centre along the
/// axis.
template <int D>
Real volume_between(Real x, Real radius, Real lower, Real upper) {
  return volume_below<D>(radius, upper - x) - volume_below<D>(radius, lower - x);
}

}  // namespace scree
