#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/section.hpp"
#include "core/types.hpp"
#include "geometry/pose.hpp"

namespace scree {

template <int D>
class DrivenMotion;

/// A prescribed rigid motion: a function of time alone, the same on all ranks.
template <int D>
class Motion {
 public:
  virtual ~Motion() = default;
  virtual void describe(Section& section) = 0;
  virtual Pose<D> pose(Real time) const = 0;
  /// Velocity of the material point that is at x (world) at `time` [m/s].
  virtual Vec<D> velocity(const Vec<D>& x, Real time) const = 0;
  /// Angular velocity [rad/s]: about z in the plane.
  virtual Vec<D == 2 ? 1 : 3> spin(Real time) const = 0;
  /// What moves the wall if it is not this but loads (geometry/driven_motion.hpp): one for each direction.
  virtual std::vector<std::shared_ptr<const DrivenMotion<D>>> driven_motions() const { return {}; }
};

template <>
std::span<const Entry<Motion<2>>> registry<Motion<2>>();
template <>
std::span<const Entry<Motion<3>>> registry<Motion<3>>();

}  // namespace scree
