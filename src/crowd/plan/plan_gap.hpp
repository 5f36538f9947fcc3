#pragma once
#include <span>
#include <string>

#include "crowd/plan/floor_plan.hpp"

namespace scree {

/// If the area is in pieces and x and y lie in two of them: how far these are apart and where, as the end of
/// a message; else empty. A point outside of the area counts to the nearest piece. Local; O(corners of the
/// area).
std::string gap_text(std::span<const PolygonWithHoles> area, const Vec<2>& x, const Vec<2>& y);

}  // namespace scree
