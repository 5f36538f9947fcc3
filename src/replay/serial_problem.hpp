#pragma once
#include <span>
#include <vector>

#include "friction/friction_problem.hpp"

namespace scree {

/// A whole friction problem as lists that are the same on every rank: for tests and benchmarks, whose size is
/// bounded by the memory of one rank. SplitProblem distributes it.
/// Shapes, units and signs as in FrictionProblem; bodies and contacts are numbered from 0.
template <int D>
struct SerialProblem {
  static constexpr int q = n_velocities<D>;

  std::vector<Vec<D>> position;  ///< of bodies [m]; for the levers of contacts to be added
  std::vector<Real> mass;
  std::vector<Real> free_velocity;
  std::vector<Index> a, b;
  std::vector<Real> jacobian;
  std::vector<Real> bias;
  std::vector<Real> mu;
  std::vector<Real> compliance;
  Real time_step = 0;
  Real velocity_floor = 0;

  Index n_bodies() const { return static_cast<Index>(position.size()); }
  Index n_contacts() const { return static_cast<Index>(a.size()); }

  /// Adds a body with a scalar mass [kg], an inertia about its centre (2D: one number, 3D: 3 x 3, row by row)
  /// [kg m^2] and a free velocity; returns its number.
  Index add_body(const Vec<D>& at, Real body_mass, std::span<const Real> inertia,
                 std::span<const Real> velocity);
  /// Adds a contact of bodies a and b (-1: static) at a point [m], with the unit normal from a to b and the
  /// normal bias [m/s]; tangents are chosen from the normal. Returns its number.
  Index add_contact(Index body_a, Index body_b, const Vec<D>& point, const Vec<D>& normal, Real coefficient,
                    Real normal_bias = 0);
};

}  // namespace scree
