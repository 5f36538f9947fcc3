#pragma once
#include <string>
#include <string_view>

#include "particles/shape_table.hpp"

namespace scree {

/// The shapes of a table but the sphere as text, all bits of their numbers included: what checkpoints keep,
/// so that a restart needs none of the files that shapes came from. Local.
template <int D>
std::string text_of(const ShapeTable<D>& shapes);

/// The table that text_of() wrote. Throws InputError if the text is not of that kind. Local.
template <int D>
ShapeTable<D> shapes_of_text(std::string_view text);

}  // namespace scree
