#pragma once
#include <string>

#include "contact/contact_graph.hpp"
#include "state/state.hpp"

namespace scree {

/// The deepest overlap of the contacts of all ranks [m]. Collective.
template <int D>
Real deepest_overlap(const State<D>& state, const ContactGraph<D>& contacts);

/// Which contact has it: "bodies 3 and 5", `body 3 and obstacle "floor"`; of several that of the smallest id.
/// The same on all ranks. Collective.
template <int D>
std::string who_overlaps(const State<D>& state, const ContactGraph<D>& contacts, Real overlap);

/// Of bodies with shapes that of the inscribed ball. Of the owned bodies of all ranks [m]; infinite without
/// bodies. Collective.
template <int D>
Real smallest_radius(const State<D>& state);

}  // namespace scree
