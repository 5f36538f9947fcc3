#include <algorithm>
#include <cmath>

#include "crowd/floor_field/floor_field.hpp"

namespace scree {

Real FloorField::zone_factor(const Vec<2>& x, int level) const {
  Real factor = 1;
  for (const Zone& zone : built_->zones)
    if (zone.contains(x, level)) factor *= zone.speed_factor;
  return factor;
}

Real FloorField::clearance_factor(Real distance) const {
  if (distance >= settings_.wall_clearance) return 1;
  return settings_.speed_at_walls + (1 - settings_.speed_at_walls) * distance / settings_.wall_clearance;
}

/// 1 + weight * density, the density interpolated between the middles of its cells.
Real FloorField::density_factor(const Vec<2>& x, int level) const {
  if (built_->density.empty()) return 1;
  const CellGrid& grid = built_->tiling.grid();
  std::array<std::array<std::int64_t, 2>, 2> index{};
  std::array<Real, 2> part{};
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = static_cast<int>(k);
    const std::int64_t count = built_->density_count[k];
    const Real at = (x[axis] - grid.origin[axis]) / built_->density_cell[axis] - 0.5;
    const Real low = std::floor(at);
    part[k] = at - low;
    for (std::size_t n = 0; n < 2; ++n) {
      const std::int64_t i = static_cast<std::int64_t>(low) + static_cast<std::int64_t>(n);
      index[k][n] =
          grid.periodic[k] ? (i % count + count) % count : std::clamp<std::int64_t>(i, 0, count - 1);
    }
  }
  const auto value = [&](std::size_t i, std::size_t j) {
    return built_
        ->density[index[0][i] + built_->density_count[0] * index[1][j] + level * density_cells_of_level()];
  };
  const Real lower = (1 - part[0]) * value(0, 0) + part[0] * value(1, 0);
  const Real upper = (1 - part[0]) * value(0, 1) + part[0] * value(1, 1);
  return 1 + settings_.weight * ((1 - part[1]) * lower + part[1] * upper);
}

std::int64_t FloorField::density_cell_of(const Vec<2>& position, int level) const {
  const CellGrid& grid = built_->tiling.grid();
  const Vec<2> x = grid.wrapped(position);
  std::array<std::int64_t, 2> index{};
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = static_cast<int>(k);
    const Real at = std::floor((x[axis] - grid.origin[axis]) / built_->density_cell[axis]);
    index[k] =
        static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<Real>(built_->density_count[k] - 1)));
  }
  return index[0] + built_->density_count[0] * index[1] + level * density_cells_of_level();
}

void FloorField::find_free_steps(ClassFields& fields, std::size_t own) const {
  const Tiling& tiling = built_->tiling;
  const CellGrid& grid = tiling.grid();
  const std::int64_t tile = tiling.own()[own];
  std::vector<float> steps = fields.terrain->distances(tile, settings_.wall_clearance);
  const int edge = tiling.edge();
  for (int j = 0; j < edge; ++j)
    for (int i = 0; i < edge; ++i) {
      float& step = steps[i + edge * j];
      const Real factor = clearance_factor(static_cast<Real>(step)) *
                          zone_factor(tiling.centre(tile, i, j), tiling.level(tile));
      step = static_cast<float>(grid.cell / factor);
    }
  fields.free_steps[own] = std::move(steps);
}

}  // namespace scree
