#pragma once
#include <span>
#include <vector>

#include "contact/contact_graph.hpp"
#include "neighbors/contact_rules.hpp"
#include "neighbors/near_pairs.hpp"
#include "neighbors/neighbor_list.hpp"
#include "neighbors/shape_contacts.hpp"
#include "state/state.hpp"

namespace scree {

/// Computes which candidates of a neighbour list are contacts, with gap, normal and branch, and with the
/// points of bodies that are no spheres.
template <int D>
class ContactDetector {
 public:
  /// The contacts at the positions of the local bodies, in the order of a sweep; forces are left to the
  /// caller. `block_contacts`: gets the number of contacts of each block of the schedule. Local.
  void detect(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
              ContactGraph<D>& contacts, std::span<Index> block_contacts);
  /// Whether a candidate that the last detect() left out is a contact by these rules, by which all that it
  /// found must still be contacts; bodies are where they were. Cheaper than detect(). Local.
  bool misses(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules);
  const NearPairs<D>& near_pairs() const { return near_; }

 private:
  template <bool has_shapes>
  void detect_as(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
                 ContactGraph<D>& contacts, std::span<Index> block_contacts);
  template <bool has_shapes>
  bool misses_as(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules);
  void detect_wall(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules,
                   const typename SweepSchedule<D>::WallBatch& wall);

  NearPairs<D> near_;
  ShapeContacts<D> shapes_;
  std::size_t n_pairs_ = 0,
              n_walls_ = 0;        // found by detect(): pairs of bodies, and bodies with an obstacle
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
};

}  // namespace scree
