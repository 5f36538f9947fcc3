#pragma once
#include "core/section.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// The part of d across the unit vector `axis`, turned by a right angle; in 2D the axis does not matter.
template <int D>
Vec<D> quarter_turn(const Vec<D>& axis, const Vec<D>& d) {
  if constexpr (D == 2)
    return {{-d[1], d[0]}};
  else
    return cross(axis, d);
}

/// The turn by `angle` [rad] about the unit vector `axis`, right-handed; in 2D counter-clockwise. Rodrigues'
/// formula.
template <int D>
Pose<D> turn_about_origin(const Vec<D>& axis, Real angle) {
  Pose<D> pose;
  for (int column = 0; column < D; ++column) {
    const Vec<D> d = unit_vector<D>(column);
    Vec<D> along;
    if constexpr (D == 3) along = axis * dot(axis, d);
    const Vec<D> image = along + std::cos(angle) * (d - along) + std::sin(angle) * quarter_turn<D>(axis, d);
    for (int row = 0; row < D; ++row) pose.rotation[row][column] = image[row];
  }
  return pose;
}

/// A fixed point (2D) or axis (3D) to turn about; angles [rad] are counter-clockwise, right-handed in 3D.
template <int D>
class Turn {
 public:
  Turn() = default;
  /// `axis`: unit, 3D only.
  Turn(const Vec<D>& center, const Vec<D>& axis) : center_(center), axis_(axis) {}
  /// Declares and reads `center` (2D), or `point` and `axis` (3D). Without
  /// `required` they may be absent: see `given`.
  void describe(Section& section, bool required) {
    const auto say = [&](std::string_view doc) {
      return Key{.unit = Unit::length, .required = required, .doc = doc};
    };
    if (!required) center_ = axis_ = filled<D>(NAN);
    if constexpr (D == 2) {
      section.point<2>("center", center_, say("centre of the rotation"));
    } else {
      section.point<3>("point", center_, say("a point of the axis"));
      section.point<3>("axis", axis_, {.required = required, .doc = "direction of the axis, of any length"});
      if (!section.reading() || std::isnan(axis_[0])) return;
      const Real length = norm(axis_);
      if (!(length > 0)) section.fail("axis", "has no direction: its length must not be 0");
      axis_ *= 1 / length;
    }
  }
  bool given() const { return !std::isnan(center_[0]) && (D == 2 || !std::isnan(axis_[0])); }

  const Vec<D>& center() const { return center_; }

  Pose<D> pose(Real angle) const {
    Pose<D> pose = turn_about_origin<D>(axis_, angle);
    pose.translation = center_ - pose.direction_to_world(center_);
    return pose;
  }

  /// Velocity at x for the angular velocity `rate` [m/s].
  Vec<D> velocity(const Vec<D>& x, Real rate) const { return rate * quarter_turn(x - center_); }
  /// Angular velocity for `rate` [rad/s]: about z in the plane.
  Vec<D == 2 ? 1 : 3> spin(Real rate) const {
    if constexpr (D == 2)
      return {{rate}};
    else
      return rate * axis_;
  }

 private:
  Vec<D> quarter_turn(const Vec<D>& d) const { return scree::quarter_turn<D>(axis_, d); }

  Vec<D> center_{};
  Vec<D> axis_{};  // 3D, unit
};

}  // namespace scree
