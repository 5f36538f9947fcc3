#pragma once
#include <algorithm>
#include <span>

#include "particles/body_store.hpp"
#include "state/domain_deformation.hpp"

namespace scree {

/// Which candidates are contacts: those to which any of these applies. A reach is a share of R_a + R_b (of
/// R_a at an obstacle).
template <int D>
struct ContactRules {
  Real tolerance = 0;  ///< gap <= tolerance * reach
  /// n_local, or empty. The gap would come down to that within dt if bodies moved by this [m] and obstacles
  /// with their velocity in the middle of the step. In a deforming domain it is that about its flow, see
  /// `affine`.
  std::span<const Vec<D>> displacement = {};
  /// With shapes: by how much bodies turn with it [rad].
  std::span<const Spin<D>> turn = {};
  Real dt = 0;
  /// Another displacement, or empty. Bodies would overlap by more than `overlap_threshold` [m], which is not
  /// negative.
  std::span<const Vec<D>> other_displacement = {};
  std::span<const Spin<D>> other_turn = {};
  Real overlap_threshold = 0;
  /// In a deforming domain: how its flow changes the vector between two bodies in dt, beside either
  /// displacement.
  bool is_deforming = false;
  typename DomainDeformation<D>::AffineDisplacement affine{}, other_affine{};
  /// `width` numbers per place of a candidate, or empty. Any of its numbers is not 0.
  std::span<const Real> pair_values = {}, wall_values = {};
  int width = 1;
  /// Whether bodies keep the side of thin obstacles on which the step began, instead of the one where they
  /// are: for checks in the midst of a step.
  bool keeps_sides = false;
  bool includes_fixed = false;  ///< bodies that are fixed meet walls that a load may move

  bool has_pair_values() const { return !pair_values.empty(); }
  bool remembers_pair(std::size_t place) const { return remembers(pair_values, place); }
  bool remembers_wall(std::size_t place) const { return remembers(wall_values, place); }

 private:
  bool remembers(std::span<const Real> values, std::size_t place) const {
    const std::size_t w = width;
    return !values.empty() &&
           !std::ranges::all_of(values.subspan(place * w, w), [](Real number) { return number == 0; });
  }
};

}  // namespace scree
