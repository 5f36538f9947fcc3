#include "geometry/walls.hpp"

#include "geometry/direction.hpp"
#include "geometry/facets.hpp"

namespace scree {

Box<2> Columns::bounds(int part, const Box<2>&) const {
  const Column& column = columns_[part];
  return {column.centre - filled<2>(column.radius), column.centre + filled<2>(column.radius), {}};
}

void Columns::nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>>,
                      std::span<SurfacePoint<2>> result) const {
  const Column& column = columns_[part];
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto [outward, r] = direction(at[i] - column.centre, unit_vector<2>(0));
    result[i] = {outward, r - column.radius};
  }
}

Outline<2> Columns::outline(const Box<2>&) const {
  constexpr int n = 24;
  Outline<2> outline;
  for (const Column& column : columns_)
    add_ring(outline,
             add_circle(outline, column.centre, unit_vector<2>(0, column.radius),
                        unit_vector<2>(1, column.radius), n),
             n);
  return outline;
}

}  // namespace scree
