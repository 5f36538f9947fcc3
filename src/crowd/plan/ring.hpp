#pragma once
#include <string_view>

#include "core/section.hpp"
#include "crowd/plan/floor_plan.hpp"

namespace scree {

/// Declares and reads the polygon `key`: a simple ring of at least three corners, in either sense; empty if
/// the deck does not give it. Throws InputError if edges cross or it has no area. O(corners^2).
Ring read_ring(Section& section, std::string_view key, bool required, std::string_view doc);

/// Area of a simple ring, positive if it is counter-clockwise [m2].
Real signed_area(const Ring& ring);
/// Smallest box around a ring.
Box<2> bounds_of(const Ring& ring);
/// The part of a ring that is in a box; edges may run back along the sides of the box.
Ring clipped(const Ring& ring, const Box<2>& box);

}  // namespace scree
