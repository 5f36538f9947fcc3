#include "run/wall_loads.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/contacts.hpp"

namespace scree {

namespace {

template <int D>
std::size_t n_cells(const Outline<D>& outline) {
  return D == 2 ? outline.lines.size() : outline.triangles.size();
}

template <int D>
Real area(const Outline<D>& outline, std::size_t cell) {
  const auto at = [&](int i) { return outline.points[i]; };
  if constexpr (D == 2) {
    return norm(at(outline.lines[cell][1]) - at(outline.lines[cell][0]));
  } else {
    const auto& [a, b, c] = outline.triangles[cell];
    return 0.5 * norm(cross(at(b) - at(a), at(c) - at(a)));
  }
}

}  // namespace

template <int D>
WallLoads wall_loads(const State<D>& state, const ContactGraph<D>& contacts,
                     std::span<const Outline<D>> outlines) {
  constexpr std::size_t width = D + 1;  // force, normal force
  constexpr int digits = 40;
  // Loads of parts that are cells, and of whole obstacles.
  std::vector<std::size_t> first;
  std::vector<char> by_part;
  std::size_t n_places = 0;
  for (std::size_t o = 0; o < outlines.size(); ++o) {
    const std::size_t n_parts = state.obstacles.list()[o].shape->n_parts();
    by_part.push_back(n_cells(outlines[o]) == n_parts ? 1 : 0);
    first.push_back(n_places);
    n_places += by_part.back() != 0 ? n_parts : 1;
  }
  Real largest = 0;
  for (std::size_t c = 0; c < contacts.size(); ++c)
    if (contacts.b[c] < 0) largest = std::max(largest, norm(force_on_b(contacts, c)));
  largest = state.comm.max(largest);
  const Real unit = std::ldexp(1.0, std::ilogb(std::max(largest, 1e-280)) - digits);
  std::vector<std::int64_t> sums(n_places * width);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts.b[c] >= 0) continue;
    const std::size_t o = state.obstacles.obstacle_of(contacts.wall[c]);
    const std::size_t part = state.obstacles.part_of(contacts.wall[c]);
    std::int64_t* sum = &sums[(first[o] + (by_part[o] != 0 ? part : 0)) * width];
    const Vec<D> force = force_on_b(contacts, c);
    for (int k = 0; k < D; ++k) sum[k] += std::llround(force[k] / unit);
    sum[D] += std::llround(contacts.force[c] / unit);
  }
  state.comm.sum(std::span<std::int64_t>(sums));

  WallLoads loads;
  if (!state.comm.is_root()) return loads;
  for (std::size_t o = 0; o < outlines.size(); ++o) {
    const std::size_t n = n_cells(outlines[o]);
    Real whole = 0;
    for (std::size_t cell = 0; cell < n; ++cell) whole += area(outlines[o], cell);
    for (std::size_t cell = 0; cell < n; ++cell) {
      const Real own = area(outlines[o], cell);
      const std::int64_t* sum = &sums[(first[o] + (by_part[o] != 0 ? cell : 0)) * width];
      const Real share = by_part[o] != 0 ? 1 : whole > 0 ? own / whole : 0;
      for (int k = 0; k < 3; ++k) loads.force.push_back(k < D ? share * unit * static_cast<Real>(sum[k]) : 0);
      loads.pressure.push_back(own > 0 ? share * unit * static_cast<Real>(sum[D]) / own : 0);
    }
  }
  return loads;
}

template WallLoads wall_loads<2>(const State<2>&, const ContactGraph<2>&, std::span<const Outline<2>>);
template WallLoads wall_loads<3>(const State<3>&, const ContactGraph<3>&, std::span<const Outline<3>>);

}  // namespace scree
