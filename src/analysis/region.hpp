#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "analysis/floor.hpp"
#include "core/error.hpp"
#include "core/section.hpp"
#include "geometry/box.hpp"
#include "particles/packing/region.hpp"
#include "state/state.hpp"

namespace scree {

/// Throws InputError if a place in a crowd or for a measure (`what`, given at `where`) reaches through a
/// periodic face of the domain, beyond which nothing would be found.
template <int D>
void require_between_faces(const Box<D>& domain, const Box<D>& place, std::string_view what,
                           const std::string& where) {
  for (int k = 0; k < D; ++k)
    if (domain.is_periodic(k) && !(place.lower[k] >= domain.lower[k] && place.upper[k] <= domain.upper[k]))
      throw InputError(
          fmt::format("{}: the {} reaches beyond the domain, {:g} to {:g} m along the periodic axis {}",
                      where, what, domain.lower[k], domain.upper[k], "xyz"[k]));
}

/// Throws InputError if a place of a measure (`what`, given at `where`) reaches through a periodic face,
/// beyond which nothing would be found, or if these faces move.
template <int D>
void require_between_faces(const State<D>& state, const Box<D>& place, std::string_view what,
                           const std::string& where) {
  if (state.deformation.is_given())
    throw InputError(
        fmt::format("{}: a {} has a place in space, but [domain.deformation] moves the faces of the domain: "
                    "remove it",
                    where, what));
  require_between_faces(state.box, place, what, where);
}

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
    require_between_faces(state, Box<D>{lower_, upper_, {}}, "region", where_);
  }

  /// Its level in a building, as MeasuredFloor has it.
  int level(const State<D>& state) const { return floor_.level(state); }
  bool is_whole() const { return whole_; }
  const std::string& where() const { return where_; }
  /// The region, or the domain.
  Box<D> box(const Box<D>& domain) const {
    return whole_ ? Box<D>{domain.lower, domain.upper, {}} : Box<D>{lower_, upper_, {}};
  }
  /// box() without its faces along axes that it fills from period to period: beyond them it goes on.
  Box<D> faces(const Box<D>& domain) const {
    Box<D> faces = box(domain);
    for (int k = 0; k < D; ++k) {
      if (!domain.is_periodic(k) || faces.lower[k] > domain.lower[k] || faces.upper[k] < domain.upper[k])
        continue;
      faces.lower[k] = -HUGE_VAL;
      faces.upper[k] = HUGE_VAL;
    }
    return faces;
  }
  /// Calls f(place) for x and its periodic images, from the lowest to the highest, along the axes across
  /// which `faces` has some.
  template <class F>
  static void for_each_image(const Box<D>& domain, const Box<D>& faces, const Vec<D>& x, const F& f) {
    const Vec<D> start = wrapped(domain, x);
    for (int code = 0; code < n_images; ++code) {
      Vec<D> place = start;
      bool exists = true;
      for (int k = 0, digits = code; k < D; ++k, digits /= 3) {
        const int turns = digits % 3 - 1;
        exists = exists && (turns == 0 || (domain.is_periodic(k) && std::isfinite(faces.lower[k])));
        if (turns != 0) place += static_cast<Real>(turns) * domain.period(k);
      }
      if (exists) f(place);
    }
  }
  bool holds(const Box<D>& domain, const Vec<D>& x) const {
    return whole_ || is_between_faces({lower_, upper_, {}}, wrapped(domain, x), -1);
  }
  /// Whether x lies between the faces of box() along all axes but one; -1: along all.
  bool holds_beside(const Box<D>& domain, const Vec<D>& x, int axis) const {
    return is_between_faces(box(domain), wrapped(domain, x), axis);
  }
  /// Share of the segment from x to x + branch that lies in the region, periodic images of it included: in
  /// [0, 1]. The segment must be shorter than the periods.
  Real share_inside(const Box<D>& domain, const Vec<D>& x, const Vec<D>& branch) const {
    if (whole_) return 1;
    Real share = 0;
    for_each_image(domain, box(domain), x,
                   [&](const Vec<D>& place) { share += share_in_box(place, branch); });
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

}  // namespace scree
