#pragma once
#include <span>

#include "core/section.hpp"
#include "core/types.hpp"

namespace scree {

/// The velocity f(x, t) that a body would have with no contact: dx/dt = f(x, t).
template <int D>
class VelocityField {
 public:
  virtual ~VelocityField() = default;
  virtual void describe(Section& section) = 0;
  /// velocity[i] = f(position[i], time) [m/s]. Local, no allocation.
  virtual void evaluate(Real time, std::span<const Vec<D>> position, std::span<Vec<D>> velocity) const = 0;
};

template <>
std::span<const Entry<VelocityField<2>>> registry<VelocityField<2>>();
template <>
std::span<const Entry<VelocityField<3>>> registry<VelocityField<3>>();

}  // namespace scree
