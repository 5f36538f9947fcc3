#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "core/section.hpp"
#include "geometry/box.hpp"

namespace scree {

/// A simple ring of corners, not closed (the last is joined to the first), counter-clockwise [m].
using Ring = std::vector<Vec<2>>;

/// A polygon with holes [m]; rings as Ring, holes counter-clockwise too.
struct PolygonWithHoles {
  Ring outline;
  std::vector<Ring> holes;
};

/// Declares and reads the polygon `key`: a simple ring of at least three corners, in either sense; empty if
/// the deck does not give it. Throws InputError if edges cross or it has no area. O(corners^2).
Ring read_ring(Section& section, std::string_view key, bool required, std::string_view doc);
/// The two ends that the key `key` gives as a list of [x, y]; fails at the key if they are not two different
/// ones.
std::array<Vec<2>, 2> line_of(const Section& section, std::string_view key,
                              const std::vector<std::vector<Real>>& ends);
/// The corners of a list of [x, y].
Ring ring_of(const std::vector<std::vector<Real>>& corners);

/// True if x lies in the polygon of the ring (even-odd rule). Local, O(corners).
bool ring_contains(const Ring& ring, const Vec<2>& x);
/// Area of a simple ring, positive if it is counter-clockwise [m2].
Real signed_area(const Ring& ring);
void turn_counter_clockwise(Ring& ring);
/// Smallest box around a ring.
Box<2> bounds_of(const Ring& ring);
/// The part of a ring that is in a box; edges may run back along the sides of the box.
Ring clipped(const Ring& ring, const Box<2>& box);
/// A regular polygon with the area of the disk around `centre` [m].
Ring polygon_of_disk(const Vec<2>& centre, Real radius, int n_corners);

}  // namespace scree
