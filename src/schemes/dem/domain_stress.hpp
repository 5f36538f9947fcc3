#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "schemes/dem/step_context.hpp"
#include "state/flow_sums.hpp"

namespace scree {

/// What contacts exert on a deforming domain that follows a stress.
template <int D>
class DomainStress {
 public:
  /// Begins a step.
  void begin_step() { face_virials_.clear(); }
  /// Has kernels add what the next block with pairs through faces exerts, if the domain asks for it.
  void add_next_block(const State<D>& state, ForceBatches& batches) {
    if (!state.deformation.is_given()) return;
    batches.face_virial = face_virials_.emplace_back().data();
    batches.flow = static_cast<std::size_t>(std::max(state.box.flow, 0));
    batches.gradient = static_cast<std::size_t>(std::max(state.box.gradient, 0));
  }
  /// Gives the domain the stresses by which the flow of the next step is chosen, and about how much they grow
  /// with a strain. Numbers over all ranks. Exact sums; collective.
  void respond(State<D>& state, const SpringLaw<D>& law, const MotionRecords<D>& records,
               std::int64_t n_contacts, std::int64_t n_bodies) {
    typename DomainDeformation<D>::Response response = stresses(state, records);
    Real largest = std::abs(response.shear_stress);
    for (const Real along : response.stress.component) largest = std::max(largest, std::abs(along));
    response.modulus = modulus_of(law, state.lattice.largest_radius, largest, n_contacts, n_bodies);
    state.deformation.set_response(response);
  }

 private:
  /// About how much the normal stress grows with a strain of the domain [Pa], at a mean of `pressure` [Pa]:
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
  /// Those that the domain follows [Pa]: of contacts, sum of f_k l_k over the volume with f the force on b
  /// and l the branch from a to b, and of the motion about the flow and its mean, compression positive; for
  /// shear the negative sum with f along flow and l along gradient.
  ///
  /// With F_i the sum of the contact forces on body i, and x_b - x_a = l + s where a pair is seen through
  /// faces with a shift s: sum f l = sum_i F_i x_i - sum f s. So one pass over bodies does, and the pairs
  /// through faces, which are few. Places count from the centre of the box.
  typename DomainDeformation<D>::Response stresses(const State<D>& state, const MotionRecords<D>& records) {
    std::array<std::span<const Real>, D + 1> terms;
    std::array<Real, D + 1> sums{};
    std::size_t n = 0;
    const int flow = state.box.flow, gradient = state.box.gradient;
    mean_velocity_ =
        mean_velocity_about_flow(state, static_cast<std::size_t>(state.bodies.n_owned()), std::identity());
    for (int k = 0; k < D; ++k)
      if (state.deformation.follows_stress(k))
        terms[n] = find_terms(state, records, {k, k, k}, terms_[n]), ++n;
    if (state.deformation.follows_shear_stress())
      terms[n] = find_terms(state, records, {flow, gradient, of_shear}, terms_[n]), ++n;
    ReproducibleSum::sum(state.comm, std::span(terms).first(n), std::span(sums).first(n));
    typename DomainDeformation<D>::Response response;
    n = 0;
    for (int k = 0; k < D; ++k)
      if (state.deformation.follows_stress(k)) response.stress[k] = sums[n++] / state.box.volume();
    if (state.deformation.follows_shear_stress()) response.shear_stress = -sums[n++] / state.box.volume();
    return response;
  }
  /// Axes of a stress: of the force, of the branch, and where face_virials_ have their product.
  struct Component {
    int force, branch, place;
  };
  static constexpr int of_shear = 3;
  /// Of bodies, then of face_virials_, into `terms`, which it returns.
  std::span<const Real> find_terms(const State<D>& state, const MotionRecords<D>& records, Component of,
                                   std::vector<Real>& terms) const {
    const BodyStore<D>& bodies = state.bodies;
    const std::size_t n = bodies.n_owned();
    const Vec<D> centre = state.box.centre();
    terms.resize(n + face_virials_.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Vec<D> from_centre = bodies.position()[i] - centre;
      const Vec<D> c =
          bodies.velocity()[i] - state.deformation.gradient_times(state.box, from_centre) - mean_velocity_;
      terms[i] = records.forces[i].force[of.force] * from_centre[of.branch] +
                 bodies.mass()[i] * c[of.force] * c[of.branch];
    }
    for (std::size_t b = 0; b < face_virials_.size(); ++b) terms[n + b] = -face_virials_[b][of.place];
    return terms;
  }

  std::vector<std::array<Real, 4>> face_virials_;  // of each block with pairs through faces
  std::array<std::vector<Real>, D + 1> terms_;
  Vec<D> mean_velocity_{};  // of all bodies together about the flow, which is no stress
};

}  // namespace scree
