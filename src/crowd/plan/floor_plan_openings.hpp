#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

/// How far the line of an exit or connector may lie from the boundary of the area [m].
inline constexpr Real snap = 0.01;

/// An opening in the boundary of an area.
struct OpeningLine {
  Vec<2> start, end;      ///< on the boundary; the area is to the right of start -> end [m]
  Vec<2> along, outward;  ///< unit vectors
};
/// The opening that a line a-b means, which must lie on the boundary to within `snap`. `what`: "exit", or
/// what else it is. `probe`: distance from its middle at which one side must be walkable, and the other not
/// [m]. Throws InputError that starts with `where`.
OpeningLine opening_line(const Geos& geos, const Geometry& area, std::span<const PolygonWithHoles> rings,
                         const Vec<2>& a, const Vec<2>& b, Real probe, const std::string& what,
                         const std::string& where);

/// What FloorPlan::open_exit makes.
struct Opening {
  Geometry area;  ///< with the pocket
  Ring pocket;    ///< counter-clockwise; its first two corners are the ends of the opening
};

/// FloorPlan::open_exit for the area `area`, given also as rings. Throws InputError that starts with `where`.
Opening opened(const Geos& geos, const Geometry& area, std::span<const PolygonWithHoles> rings,
               const Vec<2>& a, const Vec<2>& b, Real depth, const std::string& where);

/// From where to where an open border lies along an edge, as distances from its start; nothing if it does
/// not. It may begin before the edge and end behind it.
std::optional<std::pair<Real, Real>> part_along(const Edge& edge, const Ring& border);
/// Adds what is left of a wall beside the open borders, which begin with their two ends.
void add_outside_of(std::span<const Ring> borders, const Edge& wall, std::vector<Edge>& walls);

/// FloorPlan::narrow_places of the area `free`.
std::vector<PlanFinding> narrow_places_of(const Geos& geos, const Geometry& free, Real width);

}  // namespace scree
