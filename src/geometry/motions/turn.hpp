#pragma once
#include "core/section.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

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

  Pose<D> pose(Real angle) const {
    Pose<D> pose;
    for (int column = 0; column < D; ++column) {
      const Vec<D> image = turned(unit_vector<D>(column), angle);
      for (int row = 0; row < D; ++row) pose.rotation[static_cast<std::size_t>(row)][column] = image[row];
    }
    pose.translation = center_ - pose.direction_to_world(center_);
    return pose;
  }

  /// Velocity at x for the angular velocity `rate` [m/s].
  Vec<D> velocity(const Vec<D>& x, Real rate) const { return rate * quarter_turn(x - center_); }

 private:
  /// The part of d across the axis, turned by a right angle.
  Vec<D> quarter_turn(const Vec<D>& d) const {
    if constexpr (D == 2)
      return {{-d[1], d[0]}};
    else
      return cross(axis_, d);
  }

  /// Rodrigues' formula; in 2D there is no part along the axis.
  Vec<D> turned(const Vec<D>& d, Real angle) const {
    Vec<D> along;
    if constexpr (D == 3) along = axis_ * dot(axis_, d);
    return along + std::cos(angle) * (d - along) + std::sin(angle) * quarter_turn(d);
  }

  Vec<D> center_{};
  Vec<D> axis_{};  // 3D, unit
};

}  // namespace scree
