#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "contact/contact_graph.hpp"
#include "friction/friction_problem.hpp"
#include "schemes/common/contact_law.hpp"
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
    const Real a = radius[contacts.a[c]];
    if (contacts.b[c] < 0) return a;
    return scree::effective_radius(a, radius[contacts.b[c]]);
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

/// What a law of contact sees of a step, and the problem that it adds to. A view.
template <int D>
struct StepContacts : ContactGeometry<D> {
  FrictionProblem<D>& problem;
  const ContactLaw& law;  ///< what is the same for all contacts
  std::span<const PairProperties<D>* const> pair;
  /// n_contacts * D: velocity of obstacles in the frames of the contacts, in the middle of the step, and the
  /// mean of that and of the middle of the step before [m/s].
  std::span<const Real> obstacle_velocity, mean_obstacle_velocity;

  bool is_rigid(std::size_t c) const { return pair[c]->elasticity.rigid(); }
  /// With which obstacles do work at contact c. The force of a spring is that of the start of the step, in
  /// the middle between the velocities before and after.
  std::span<const Real> working_velocity(std::size_t c) const {
    return is_rigid(c) ? obstacle_velocity : mean_obstacle_velocity;
  }
};

/// Whether a wall is pushed along this direction by its load and has no mass.
inline bool is_servo(const WallUnknown& direction) {
  return direction.inertia == 0 && !direction.is_known;
}
/// Whether contact c is with a wall of which this is so.
template <int D>
bool is_at_servo(const FrictionProblem<D>& problem, std::size_t c) {
  bool is_at = false;
  problem.at_walls.for_each_row(
      c, [&](std::size_t k, std::size_t) { is_at = is_at || is_servo(problem.walls[k]); });
  return is_at;
}

/// What a unit impulse at contact c of round bodies does to the velocity of its surfaces, along the normal or
/// along a tangent [1/kg]. Of a fixed body and a wall without mass, 1: nothing says what it does.
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
  problem.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
    const WallUnknown& of_wall = problem.walls[k];
    Real squared = 0;
    for (std::size_t i = along_tangent ? 1 : 0; i < (along_tangent ? D : 1); ++i)
      squared += problem.at_walls.row[row * D + i] * problem.at_walls.row[row * D + i];
    if (of_wall.inertia > 0 && !of_wall.is_known) sum += squared / of_wall.inertia;
  });
  return sum > 0 ? sum : 1;
}

/// v += M^-1 H^T r of contact c of round bodies.
template <int D>
void add_impulse(const FrictionProblem<D>& problem, std::size_t c, const std::array<Real, D>& r,
                 std::span<Real> v) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const Index ends[2] = {problem.a[c], problem.b[c]};
  Real rows[D * q];
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    problem.find_rows(c, side, rows);
    const std::size_t body = ends[side];
    const Real* block = &problem.mass[body * q * q];
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t k = 0; k < q; ++k) v[body * q + k] += rows[i * q + k] * r[i] / block[k * q + k];
  }
}

}  // namespace scree
