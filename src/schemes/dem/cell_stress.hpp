#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "schemes/dem/step_context.hpp"

namespace scree {

/// What contacts exert on a deforming cell that follows a stress.
template <int D>
class CellStress {
 public:
  /// Begins a step.
  void begin_step() { face_virials_.clear(); }
  /// Where kernels add what the next block with pairs through faces exerts; null if the cell asks for none.
  Real* of_next_block(const State<D>& state) {
    return state.cell.is_given() ? face_virials_.emplace_back().component.data() : nullptr;
  }
  /// Tells the cell the stresses by which the flow of the next step is chosen, and about how much they grow
  /// with a strain. Numbers over all ranks. Exact sums; collective.
  void respond(State<D>& state, const SpringLaw<D>& law, const MotionRecords<D>& records,
               std::int64_t n_contacts, std::int64_t n_bodies) {
    const Vec<D> stress = normal_stress(state, records);
    Real largest = 0;
    for (const Real along : stress.component) largest = std::max(largest, std::abs(along));
    state.cell.set_response(
        {stress, modulus_of(law, state.lattice.largest_radius, largest, n_contacts, n_bodies)});
  }

 private:
  /// About how much the normal stress grows with a strain of the cell [Pa], at a mean of `pressure` [Pa]:
  /// k_N/d in space (k_N per metre of thickness in the plane) of the stiffest pair at the mean force of that
  /// pressure, times the share of six contacts per body that there is: within a factor of two or so of random
  /// packings.
  static Real modulus_of(const SpringLaw<D>& law, Real largest_radius, Real pressure, std::int64_t n_contacts,
                         std::int64_t n_bodies) {
    if (n_bodies == 0 || n_contacts == 0) return 0;
    const Real diameter = 2 * largest_radius;
    const Real area = D == 3 ? diameter * diameter : diameter;
    Real stiffest = 0;
    for (const SoftLaw& pair : law.pairs.laws()) {
      Real stiffness = pair.stiffness;
      if (law.settings.law == NormalLaw::hertz && stiffness > 0) {
        const Real root_of_radius = std::sqrt(diameter / 4);
        const Real overlap = std::pow(1.5 * pressure * area / (stiffness * root_of_radius), 2.0 / 3);
        stiffness *= root_of_radius * std::sqrt(overlap);
      }
      if (std::isfinite(stiffness)) stiffest = std::max(stiffest, stiffness);
    }
    constexpr Real of_packings = 6;
    const Real coordination = 2 * static_cast<Real>(n_contacts) / static_cast<Real>(n_bodies);
    return (D == 3 ? stiffest / diameter : stiffest) * std::min(coordination / of_packings, 1.0);
  }
  /// Along each axis that follows one [Pa]: of contacts, sum of f_k l_k over the volume with f the force on b
  /// and l the branch from a to b, and of the motion about the flow; compression positive.
  ///
  /// With F_i the sum of the contact forces on body i, and x_b - x_a = l + s where a pair is seen through
  /// faces with a shift s: sum f l = sum_i F_i x_i - sum f s. So one pass over bodies does, and the pairs
  /// through faces, which are few. Places count from the centre of the box.
  Vec<D> normal_stress(const State<D>& state, const MotionRecords<D>& records) {
    const BodyStore<D>& bodies = state.bodies;
    const auto n = static_cast<std::size_t>(bodies.n_owned());
    const Vec<D> centre = state.box.centre();
    std::array<std::span<const Real>, D> terms;
    std::array<Real, D> sums{};
    std::size_t n_axes = 0;
    for (int k = 0; k < D; ++k) {
      if (!state.cell.follows_stress(k)) continue;
      std::vector<Real>& of_axis = terms_[n_axes];
      of_axis.resize(n + face_virials_.size());
      for (std::size_t i = 0; i < n; ++i) {
        const Vec<D> from_centre = bodies.position()[i] - centre;
        const Real velocity = bodies.velocity()[i][k] - state.cell.gradient_times(state.box, from_centre)[k];
        of_axis[i] = records.forces[i].force[k] * from_centre[k] + bodies.mass()[i] * velocity * velocity;
      }
      for (std::size_t b = 0; b < face_virials_.size(); ++b) of_axis[n + b] = -face_virials_[b][k];
      terms[n_axes++] = of_axis;
    }
    ReproducibleSum::sum(state.comm, std::span(terms).first(n_axes), std::span(sums).first(n_axes));
    Vec<D> stress{};
    n_axes = 0;
    for (int k = 0; k < D; ++k)
      if (state.cell.follows_stress(k)) stress[k] = sums[n_axes++] / state.box.volume();
    return stress;
  }

  std::vector<Vec<3>> face_virials_;  // of each block with pairs through faces
  std::array<std::vector<Real>, D> terms_;
};

}  // namespace scree
