#pragma once
// What the files of EventEngine share.
#include "schemes/event/engine.hpp"

namespace scree::event_engine {

/// Speeds and accelerations below this share of their scale are round-off.
inline constexpr Real round_off = 1e-12;
constexpr std::size_t place(int index) {
  return static_cast<std::size_t>(index);
}

/// Ends of an edge closer than this belong to the corner [m].
template <int D>
Real margin(const SurfacePiece<D>& edge, Real radius) {
  return round_off * (edge.length + radius);
}

template <int D>
bool is_over(const SurfacePiece<D>& edge, const Vec<D>& x, Real radius) {
  const Real along = dot(edge.tangent, x - edge.point);
  const Real min = 2 * margin(edge, radius);
  return along > min && along < edge.length - min;
}

}  // namespace scree::event_engine
