#pragma once
#include <array>

#include "geometry/convex/hull.hpp"

namespace scree {

/// Moments of a solid of density 1.
template <int D>
struct MassProperties {
  Real volume = 0;  ///< [m3], of a disk-like body [m2]
  Vec<D> centre;    ///< of mass [m]
  /// About the centre, the integral of |x|^2 - x x^T [m5]. 2D: one number, the integral of |x|^2 [m4].
  std::array<Real, D == 2 ? 1 : 9> inertia{};
};

/// Of a convex solid, as the sum over the simplices that its faces make with an inner point. Exact but for
/// round-off. Cost O(n). Local.
template <int D>
MassProperties<D> mass_properties(const ConvexHull<D>& hull);

/// Principal moments and axes of a symmetric tensor.
struct PrincipalAxes {
  Vec<3> moments;
  std::array<Vec<3>, 3> axes;  ///< unit vectors of a right-handed frame, in the order of the moments
};

/// Of a tensor by rows, by Jacobi's rotations, the smaller one each time: axes stay as near to x, y and z as
/// they can. Of a tensor that is diagonal to 1e-12 of its largest moment they are x, y and z. Local.
PrincipalAxes principal_axes(const std::array<Real, 9>& inertia);

}  // namespace scree
