#pragma once
#include <algorithm>

#include "contact/contact_graph.hpp"
#include "friction/friction_problem.hpp"
#include "schemes/common/contact_pair.hpp"

namespace scree {

/// Lengths of contacts that laws and the position correction go by. A view of contacts that were found with
/// the bodies as they are in `state`. Local.
template <int D>
struct ContactGeometry {
  const State<D>& state;
  const ContactGraph<D>& contacts;
  Real contact_slop;  ///< of the deck: a share of the sum of the radii

  /// The gap up to which contact c touches [m]. That of bodies with shapes is small beside their rounding, so
  /// that what rests keeps a gap between cores.
  Real slop(std::size_t c) const {
    constexpr Real share_of_rounding = 0.1;
    const Real of_radii = contact_slop * sum_of_radii(state, contacts, c);
    if (!state.bodies.carries_shapes()) return of_radii;
    return std::min(of_radii, share_of_rounding * sum_of_roundings(state, contacts, c));
  }
  /// R_a R_b / (R_a + R_b), at an obstacle R_a [m].
  Real effective_radius(std::size_t c) const {
    const auto radius = state.bodies.radius();
    const Real a = radius[static_cast<std::size_t>(contacts.a[c])];
    if (contacts.b[c] < 0) return a;
    return scree::effective_radius(a, radius[static_cast<std::size_t>(contacts.b[c])]);
  }
  /// Overlap of contact c that the position correction does not take out [m]. Within the roundings of shapes
  /// it does no harm: the cores are apart, and the normal is good.
  Real allowed_overlap(std::size_t c) const {
    constexpr Real share_of_bodies = 0.01;
    if (!has_shape(state, contacts, c)) return slop(c);
    return std::min(0.5 * sum_of_roundings(state, contacts, c),
                    share_of_bodies * sum_of_inscribed_radii(state, contacts, c));
  }
};

/// What a unit impulse at contact c of round bodies does to the velocity of its surfaces, along the normal or
/// along a tangent [1/kg].
template <int D>
Real inverse_mass(const FrictionProblem<D>& problem, std::size_t c, bool along_tangent) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const Index ends[2] = {problem.a[c], problem.b[c]};
  Real sum = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    const Real* block = &problem.mass[static_cast<std::size_t>(ends[side]) * q * q];
    sum += 1 / block[0];
    const Real arm = problem.arm[2 * c + side];
    if (along_tangent) sum += arm * arm / block[q * q - 1];
  }
  return sum;
}

}  // namespace scree
