#include "crowd/floor_field/tiling.hpp"

#include <algorithm>
#include <bit>

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

Tiling::Tiling(const CellGrid& grid, int edge)
    : grid_(grid),
      edge_(edge),
      edge_bits_(std::countr_zero(static_cast<unsigned>(edge))),
      tiles_x_((grid.nx + edge - 1) / edge),
      tiles_y_((grid.ny + edge - 1) / edge),
      owner_(static_cast<std::size_t>(tiles_x_ * tiles_y_), -1) {
  SCREE_ASSERT(std::has_single_bit(static_cast<unsigned>(edge)));
}

int Tiling::width(std::int64_t tile) const {
  return static_cast<int>(std::min<std::int64_t>(edge_, grid_.nx - first_column(tile)));
}

int Tiling::height(std::int64_t tile) const {
  return static_cast<int>(std::min<std::int64_t>(edge_, grid_.ny - first_row(tile)));
}

std::int64_t Tiling::neighbour(std::int64_t tile, Side side) const {
  std::array<std::int64_t, 2> at{tile % tiles_x_, tile / tiles_x_};
  const std::size_t axis = side == Side::left || side == Side::right ? 0 : 1;
  const std::int64_t count = tiles(static_cast<int>(axis));
  at[axis] += side == Side::left || side == Side::lower ? -1 : 1;
  if (at[axis] < 0 || at[axis] >= count) {
    if (!grid_.periodic[axis]) return -1;
    at[axis] = (at[axis] + count) % count;
  }
  return at[0] + tiles_x_ * at[1];
}

void Tiling::share_out(const Comm& comm, const std::function<std::int64_t(std::int64_t)>& n_walkable) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n_tiles()));
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<std::int64_t>(t);
  std::ranges::sort(order, {},
                    [&](std::int64_t tile) { return morton_code(tile % tiles_x_, tile / tiles_x_); });

  // Each rank counts a share of the tiles; the sum then has all counts everywhere.
  std::vector<std::int64_t> counts(order.size(), 0);
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (std::size_t k = order.size() * rank / ranks; k < order.size() * (rank + 1) / ranks; ++k)
    counts[k] = n_walkable(order[k]);
  comm.sum(counts);

  const std::int64_t n_ranges = std::int64_t{ranges_per_rank} * comm.size();
  std::int64_t total = 0;
  for (const std::int64_t count : counts) total += count;
  own_.clear();
  std::int64_t before = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    auto& owner = owner_[static_cast<std::size_t>(order[k])];
    owner = -1;
    if (counts[k] == 0) continue;
    // The range in whose equal share the middle of the tile falls.
    const std::int64_t middle = before + counts[k] / 2;
    owner = static_cast<std::int32_t>(middle * n_ranges / total % comm.size());
    before += counts[k];
    if (owner == comm.rank()) own_.push_back(order[k]);
  }
  std::ranges::sort(own_);
}

}  // namespace scree
