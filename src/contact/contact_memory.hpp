#pragma once
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What a contact remembers from step to step, by the names of its two ends.
struct RememberedContact {
  GlobalId body;   ///< the smaller global id
  GlobalId other;  ///< the larger global id, or -1 - constraint for an obstacle
  Real value;      ///< the multiplier
  friend bool operator<(const RememberedContact& p, const RememberedContact& q) {
    return p.body != q.body ? p.body < q.body : p.other < q.other;
  }
};

/// The memory of the contacts whose smaller-id body this rank owns, sorted by (body, other). Filled when the
/// neighbour list is discarded or a checkpoint is written; the neighbour list holds the live values otherwise.
using ContactMemory = std::vector<RememberedContact>;

}  // namespace scree
