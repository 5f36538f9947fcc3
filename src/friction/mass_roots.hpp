#pragma once
#include <array>
#include <span>
#include <vector>

#include "friction/friction_problem.hpp"
#include "friction/lane_groups.hpp"

namespace scree {

/// The roots L of the mass blocks of all local bodies (M = L L^T, of an unsymmetric M its symmetric part),
/// which make the mass matrix the identity: y = L^T v / sqrt(m_c), J = sqrt(m_c) H L^-T (docs/method.md, eq.
/// F.5). Velocities y have velocity_width<D> numbers per body, v and H have q.
///
/// Cost    O(bodies); where all blocks are diagonal, as those of round bodies, only diagonals are stored.
/// Ranks   all functions are local.
template <int D>
class MassRoots {
 public:
  static constexpr int q = n_velocities<D>;

  void find(const FrictionProblem<D>& problem, bool are_diagonal, Real mass_scale);

  /// J of the rows H of body i at a contact.
  void scale_rows(std::size_t i, const Real* H, Real (&J)[D][q]) const;
  /// y for v_c = 1, with zeros for none.
  void scale_velocities(std::span<const Real> v, std::vector<Real>& y) const;
  /// v from y in units of `velocity_scale`.
  void unscale_velocities(std::span<const Real> y, Real velocity_scale, std::span<Real> v) const;
  /// L^-1 of body i, if not all are diagonal.
  const Real* inverse_root(std::size_t i) const { return inverse_.data() + i * q * q; }
  /// sqrt(m_c / m) and sqrt(m_c / J) of a body with a diagonal mass; zeros of none, which is n_local.
  const std::array<Real, 2>& answer_of_sphere(std::size_t i) const { return answer_of_sphere_[i]; }

 private:
  bool are_diagonal_ = false;
  Real root_mass_ = 1;  // sqrt(m_c)
  std::size_t n_bodies_ = 0;
  std::vector<Real> inverse_;  // L^-1: n_bodies * q of diagonals, else * q * q
  std::vector<std::array<Real, 2>> answer_of_sphere_;
};

}  // namespace scree
