#pragma once
#include "particles/initial_packing.hpp"

namespace scree {

/// Packs bodies as they grow, by sweeps of position-based dynamics (docs/method.md, "Dense starts"): after
/// the idea of B. D. Lubachevsky and F. H. Stillinger, J. Stat. Phys. 60 (1990) 561-583, with overlaps taken
/// out of positions instead of collisions. Cost: some hundreds to some thousands of sweeps, O(bodies) each.
template <int D>
class PbdPacker final : public BodyPacker<D> {
 public:
  typename BodyPacker<D>::Report pack(const typename BodyPacker<D>::Task& task, Real start,
                                      std::vector<NewBody<D>>& bodies) const override;
};

}  // namespace scree
