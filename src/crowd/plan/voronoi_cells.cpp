#include "crowd/plan/voronoi_cells.hpp"

#include <array>
#include <boost/polygon/voronoi.hpp>
#include <cmath>
#include <cstdint>
#include <map>

namespace scree {

VoronoiCells::VoronoiCells(std::span<const Vec<2>> sites, const Box<2>& reach)
    : ring(sites.size()), same(sites.size()), n_same(sites.size()) {
  const Vec<2> origin = 0.5 * (reach.lower + reach.upper);
  const Real half = std::max(reach.length(0), reach.length(1)) / 2;
  // Four sites so far off that the cells of all others end, and end outside of the reach.
  const Real far = 3 * half;
  constexpr int largest_integer = 1 << 30;
  const int exponent = std::ilogb(far) + 1 - 30;  // far <= 2^30 units of 2^exponent
  const auto on_grid = [&](Real x) {
    return static_cast<std::int32_t>(std::llround(std::ldexp(x, -exponent)));
  };

  using Point = boost::polygon::point_data<std::int32_t>;
  std::vector<Point> points;
  std::vector<std::size_t> site_of_point;
  std::map<std::array<std::int32_t, 2>, std::size_t> first_at;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::array<std::int32_t, 2> place{on_grid(sites[i][0] - origin[0]),
                                            on_grid(sites[i][1] - origin[1])};
    const auto found = first_at.try_emplace(place, i).first;
    same[i] = found->second;
    ++n_same[same[i]];
    if (same[i] != i) continue;
    points.emplace_back(place[0], place[1]);
    site_of_point.push_back(i);
  }
  for (const int i : {-1, 1})
    for (const int j : {-1, 1}) points.emplace_back(i * largest_integer, j * largest_integer);

  boost::polygon::voronoi_diagram<Real> diagram;
  boost::polygon::construct_voronoi(points.begin(), points.end(), &diagram);
  for (const auto& cell : diagram.cells()) {
    if (cell.source_index() >= site_of_point.size()) continue;
    Ring& corners = ring[site_of_point[cell.source_index()]];
    const auto* edge = cell.incident_edge();
    do {
      const auto* vertex = edge->vertex0();
      corners.push_back(origin +
                        Vec<2>{{std::ldexp(vertex->x(), exponent), std::ldexp(vertex->y(), exponent)}});
      edge = edge->next();
    } while (edge != cell.incident_edge());
  }
}

}  // namespace scree
