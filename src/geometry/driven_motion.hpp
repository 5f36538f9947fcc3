#pragma once
#include <string>
#include <vector>

#include "geometry/motions/turn.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// A direction in which a driven wall may move, and what it is asked to do: the second kind of motion beside
/// Motion. Where it is follows from what bodies do, not from time alone; that stands in its DrivenState.
/// Constant in a run. A wall with several moves along them one after the other: those before carry it along.
template <int D>
class DrivenMotion {
 public:
  enum class Control {
    servo,  ///< a wall without mass: it goes where the bodies resist as its load asks
    free    ///< inertia * d velocity / dt = load - reaction
  };

  /// Declares and reads the keys of [obstacles.NAME.motion] with type = "driven".
  void describe(Section& section);
  /// Finds the planes of `between`. Throws InputError if they are not planes in facing pairs.
  void find_planes(const ObstacleSet<D>& obstacles);

  /// Of a further direction; empty for the first.
  const std::string& name() const { return name_; }
  void set_name(const std::string& name) { name_ = name; }
  bool turns() const { return turns_; }
  /// Whether the axes of both, along which they move, are at right angles.
  bool is_across(const DrivenMotion& other) const;
  Control control() const { return control_; }
  Real inertia() const { return inertia_; }      ///< [kg], of a wall that turns [kg m2]
  Real max_speed() const { return max_speed_; }  ///< [m/s], of a wall that turns [rad/s]
  Real load_tolerance() const { return load_tolerance_; }
  const DrivenOrder& order() const { return order_; }
  const std::string& where() const { return where_; }
  /// Whether pressures can be asked for.
  bool has_area() const { return area_ > 0 || !planes_.empty(); }

  Pose<D> pose(Real position) const {
    return turns_ ? turn_.pose(position) : Pose<D>{.translation = position * axis_};
  }
  /// A point that turning leaves where it is.
  const Vec<D>& point() const { return turn_.center(); }
  /// Velocity of the material point at x for the velocity 1 [-], of a wall that turns [m].
  Vec<D> direction(const Vec<D>& x) const { return turns_ ? turn_.velocity(x, 1) : axis_; }
  /// Its spin for the velocity 1 [1/m], of a wall that turns [-].
  Vec<D == 2 ? 1 : 3> spin() const {
    if (!turns_) return {};
    return turn_.spin(1);
  }
  /// The area on which a pressure acts, with obstacles where they are placed [m2]; disks are 1 m thick.
  Real area(const ObstacleSet<D>& obstacles) const;
  /// Obstacles of `between`, in facing pairs.
  std::vector<int> planes() const;

 private:
  std::string name_;
  Vec<D> axis_{};  // unit
  Turn<D> turn_;
  bool turns_ = false;
  DrivenOrder order_;
  Control control_ = Control::servo;
  Real inertia_ = 0, max_speed_ = 0, load_tolerance_ = 1e-3;
  Real area_ = 0;                   // 0: between planes
  std::vector<std::string> names_;  // of these planes
  struct Facing {
    int one, other;  // obstacles
  };
  std::vector<Facing> planes_;
  std::string where_, where_between_;
};

/// What the wall is asked to carry now [N or N m]; 0 where it is asked for a speed. Obstacles stand as placed
/// last.
template <int D>
Real target_of(const ObstacleSet<D>& obstacles, const DrivenState& wall);

/// Throws InputError for a wall that may go so far in a step of dt that the neighbour list of `skin` [m] does
/// not serve it. `region`: where its surface matters.
template <int D>
void require_slow_walls(const ObstacleSet<D>& obstacles, Real dt, Real skin, const Box<D>& region);

}  // namespace scree
