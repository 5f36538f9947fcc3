#pragma once
#include <string>

#include "core/json.hpp"
#include "particles/shape_table.hpp"

namespace scree {

/// What a shape is like as the deck describes it: extents, volume, moments over mass, radii [SI].
template <int D>
Json about_shape(const BodyShape<D>& shape);
/// The same as a line of text.
template <int D>
std::string line_about_shape(const BodyShape<D>& shape);

}  // namespace scree
