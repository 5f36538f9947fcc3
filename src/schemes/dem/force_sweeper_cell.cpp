// What contacts exert on a deforming cell.
#include <algorithm>
#include <array>
#include <cmath>

#include "schemes/dem/force_sweeper.hpp"

namespace scree {

/// With F_i the sum of the contact forces on body i, and x_b - x_a = l + s where a pair is seen through faces
/// with a shift s: sum f l = sum_i F_i x_i - sum f s. So one pass over bodies does, and the pairs through
/// faces, which are few. Places count from the centre of the box.
template <int D>
Vec<D> ForceSweeper<D>::normal_virial(const State<D>& state) const {
  std::array<Real, 2 * D> sums{};
  const std::span<Real> all(sums);
  const Vec<D> centre = state.box.centre();
  const auto position = state.bodies.position();
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(state.bodies.n_owned()), all.first(D),
                       [&](std::size_t i, std::span<Real> terms) {
                         for (int k = 0; k < D; ++k)
                           terms[static_cast<std::size_t>(k)] =
                               forces_[i].force[k] * (position[i][k] - centre[k]);
                       });
  ReproducibleSum::sum(state.comm, face_virials_.size(), all.last(D),
                       [&](std::size_t b, std::span<Real> terms) {
                         for (int k = 0; k < D; ++k) terms[static_cast<std::size_t>(k)] = face_virials_[b][k];
                       });
  Vec<D> virial;
  for (int k = 0; k < D; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    virial[k] = sums[axis] - sums[axis + std::size_t{D}];
  }
  return virial;
}

/// k_N/d in space (k_N per metre of thickness in the plane) of the stiffest pair at the mean force of that
/// pressure, times the share of six contacts per body that there is: within a factor of two or so of random
/// packings.
template <int D>
Real ForceSweeper<D>::modulus(const State<D>& state, Real pressure, std::int64_t n_touching) const {
  const std::int64_t n_bodies = state.comm.sum(std::int64_t{state.bodies.n_owned()});
  if (n_bodies == 0 || n_touching == 0) return 0;
  const Real diameter = 2 * state.lattice.largest_radius;
  const Real area = D == 3 ? diameter * diameter : diameter;
  Real stiffest = 0;
  for (const SoftLaw& pair : laws_.laws()) {
    Real stiffness = pair.stiffness;
    if (settings_.law == NormalLaw::hertz && stiffness > 0) {
      const Real root_of_radius = std::sqrt(diameter / 4);
      const Real overlap = std::pow(1.5 * pressure * area / (stiffness * root_of_radius), 2.0 / 3);
      stiffness *= root_of_radius * std::sqrt(overlap);
    }
    if (std::isfinite(stiffness)) stiffest = std::max(stiffest, stiffness);
  }
  constexpr Real of_packings = 6;
  const Real coordination = 2 * static_cast<Real>(n_touching) / static_cast<Real>(n_bodies);
  return (D == 3 ? stiffest / diameter : stiffest) * std::min(coordination / of_packings, 1.0);
}

#define SCREE_CELL(D)                                                    \
  template Vec<D> ForceSweeper<D>::normal_virial(const State<D>&) const; \
  template Real ForceSweeper<D>::modulus(const State<D>&, Real, std::int64_t) const;
SCREE_CELL(2)
SCREE_CELL(3)
#undef SCREE_CELL

}  // namespace scree
