#include "crowd/floor_field/tiling.hpp"

#include <bit>
#include <numeric>

#include "core/error.hpp"

namespace scree {

namespace {

std::uint64_t spread_bits(std::uint64_t v) {
  v = (v | v << 16U) & 0x0000FFFF0000FFFFULL;
  v = (v | v << 8U) & 0x00FF00FF00FF00FFULL;
  v = (v | v << 4U) & 0x0F0F0F0F0F0F0F0FULL;
  v = (v | v << 2U) & 0x3333333333333333ULL;
  return (v | v << 1U) & 0x5555555555555555ULL;
}

std::uint64_t morton_code(std::int64_t column, std::int64_t row) {
  return spread_bits(static_cast<std::uint64_t>(column)) | spread_bits(static_cast<std::uint64_t>(row)) << 1U;
}

}  // namespace

Tiling::Tiling(const CellGrid& grid, int edge, int n_levels)
    : grid_(grid),
      edge_(edge),
      edge_bits_(std::countr_zero(static_cast<unsigned>(edge))),
      n_levels_(n_levels),
      tiles_x_((grid.nx + edge - 1) / edge),
      tiles_y_((grid.ny + edge - 1) / edge),
      owner_(static_cast<std::size_t>(n_tiles()), -1) {
  SCREE_ASSERT(std::has_single_bit(static_cast<unsigned>(edge)));
}

int Tiling::width(std::int64_t tile) const {
  return static_cast<int>(std::min<std::int64_t>(edge_, grid_.nx - first_column(tile)));
}

int Tiling::height(std::int64_t tile) const {
  return static_cast<int>(std::min<std::int64_t>(edge_, grid_.ny - first_row(tile)));
}

std::int64_t Tiling::neighbour(std::int64_t tile, Side side) const {
  std::array<std::int64_t, 2> at{tile % tiles_x_, tile / tiles_x_ % tiles_y_};
  const std::size_t axis = side == Side::left || side == Side::right ? 0 : 1;
  const std::int64_t count = tiles(static_cast<int>(axis));
  at[axis] += side == Side::left || side == Side::lower ? -1 : 1;
  if (at[axis] < 0 || at[axis] >= count) {
    if (!grid_.periodic[axis]) return -1;
    at[axis] = (at[axis] + count) % count;
  }
  return this->tile(at[0], at[1], level(tile));
}

void Tiling::share_out(const Comm& comm, const std::function<std::int64_t(std::int64_t)>& n_walkable) {
  // By tiles of the lowest level, with those above them.
  std::vector<std::int64_t> order(tiles_of_level());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<std::int64_t>(t);
  std::ranges::sort(order, {},
                    [&](std::int64_t tile) { return morton_code(tile % tiles_x_, tile / tiles_x_); });

  // Each rank counts a share of the tiles; the sum then has all counts everywhere.
  const std::size_t n_levels = n_levels_;
  std::vector<std::int64_t> counts(order.size() * n_levels, 0);
  const std::size_t ranks = comm.size();
  const std::size_t rank = comm.rank();
  const auto above = [&](std::size_t k, std::size_t level) {
    return order[k] + static_cast<std::int64_t>(level) * tiles_of_level();
  };
  for (std::size_t k = order.size() * rank / ranks; k < order.size() * (rank + 1) / ranks; ++k)
    for (std::size_t level = 0; level < n_levels; ++level)
      counts[k * n_levels + level] = n_walkable(above(k, level));
  comm.sum(counts);

  const std::int64_t n_ranges = std::int64_t{ranges_per_rank} * comm.size();
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  own_.clear();
  std::ranges::fill(owner_, -1);
  std::int64_t before = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto counts_here = std::span(counts).subspan(k * n_levels, n_levels);
    const std::int64_t here = std::accumulate(counts_here.begin(), counts_here.end(), std::int64_t{0});
    if (here == 0) continue;
    // The range in whose equal share the middle of the tiles falls.
    const std::int64_t middle = before + here / 2;
    const auto owner = static_cast<std::int32_t>(middle * n_ranges / total % comm.size());
    before += here;
    for (std::size_t level = 0; level < n_levels; ++level) {
      if (counts_here[level] == 0) continue;
      owner_[above(k, level)] = owner;
      if (owner == comm.rank()) own_.push_back(above(k, level));
    }
  }
  std::ranges::sort(own_);
}

}  // namespace scree
