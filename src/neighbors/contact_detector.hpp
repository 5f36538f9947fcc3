#pragma once
#include <span>
#include <vector>

#include "contact/contact_graph.hpp"
#include "neighbors/neighbor_list.hpp"
#include "state/state.hpp"

namespace scree {

/// Which candidates are contacts: those to which any of these applies. A reach is a share of R_a + R_b (of
/// R_a at an obstacle).
template <int D>
struct ContactRules {
  Real tolerance = 0;  ///< gap <= tolerance * reach
  /// n_held, or empty. The gap would come down to that within dt if bodies moved by this [m] and obstacles
  /// with their velocity in the middle of the step.
  std::span<const Vec<D>> displacement = {};
  Real dt = 0;
  /// Another displacement, or empty. Bodies would overlap by more than `deep` [m].
  std::span<const Vec<D>> other_displacement = {};
  Real deep = 0;
  /// `width` numbers per place of a candidate, or empty. Any of its numbers is not 0.
  std::span<const Real> pair_values = {}, wall_values = {};
  int width = 1;
  /// Whether bodies keep the side of thin obstacles on which the step began, instead of the one where they
  /// are: for checks in the midst of a step.
  bool keeps_sides = false;
};

/// Computes which candidates of a neighbour list are contacts, with gap, normal and branch. Bodies are
/// spheres: add_pair() and add_wall() of contact_detector.cpp are what other shapes would replace.
template <int D>
class ContactDetector {
 public:
  /// The contacts at the positions of the held bodies, in the order of a sweep; forces are left to the
  /// caller. `block_contacts`: gets the number of contacts of each block of the schedule. Local.
  void detect(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
              ContactGraph<D>& contacts, std::span<Index> block_contacts);
  std::size_t bytes() const;

 private:
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
};

}  // namespace scree
