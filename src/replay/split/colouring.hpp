#pragma once
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "replay/split/pairs.hpp"

namespace scree::split {

/// Gives each pair the least colour that no pair before it in the order of Pair has at its bodies.
/// `pairs_of_body`: of each owned body, in that order; `owner`: of each local body. Collective.
void colour_pairs(const Comm& comm, std::vector<Pair>& pairs, const Lists& pairs_of_body,
                  std::span<const int> owner);

}  // namespace scree::split
