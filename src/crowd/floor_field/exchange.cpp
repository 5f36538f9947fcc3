#include <algorithm>
#include <limits>

#include "core/sparse_all_to_all.hpp"
#include "crowd/floor_field/floor_field.hpp"

namespace scree {

namespace {

struct Rows {
  std::int64_t first;
  std::int64_t last;
};

}  // namespace

/// What others need of an own tile: all fields, ready to be asked.
void FloorField::fill(const Ways& ways, std::int64_t tile, std::span<NearFields::Cell> cells) const {
  const Tiling& tiling = built_->tiling;
  const Eikonal& eikonal = *ways.eikonal;
  const auto own = static_cast<std::size_t>(eikonal.own_number(tile));
  const int edge = tiling.edge();
  const Real reaches_into = 0.75 * tiling.grid().cell;  // half a diagonal, and a little
  std::size_t at = 0;
  for (std::size_t d = 0; d < built_->destinations.size(); ++d)
    for (int j = 0; j < edge; ++j)
      for (int i = 0; i < edge; ++i) {
        const std::uint32_t place = eikonal.source(eikonal.place(own, i, j));
        const Real time = eikonal.time(d, place);
        Vec<2> down = eikonal.descent(d, place);
        bool is_there = false;
        if (const auto found = ways.line_of[d].find(place); found != ways.line_of[d].end()) {
          const Line& line = ways.lines[d][found->second];
          const Vec<2> straight = line.to - line.from;
          is_there = norm(straight) < reaches_into;
          if (time == line.time) down = straight;
        }
        cells[at++] = NearFields::Cell(time, is_there, down);
      }
}

/// Gets these tiles from their owners. Collective.
void FloorField::bring(Ways& ways, std::span<const std::int64_t> tiles) const {
  const Comm& comm = built_->comm;
  NearFields& near = *ways.near;
  Outgoing requests;
  for (const std::int64_t tile : tiles) {
    const int owner = built_->tiling.owner(tile);
    if (owner == comm.rank())
      fill(ways, tile, near.room(tile));
    else
      requests.to(owner).put(tile);
  }
  Outgoing replies;
  std::vector<NearFields::Cell> cells(
      built_->destinations.size() * static_cast<std::size_t>(built_->tiling.edge() * built_->tiling.edge()));
  for (const PackedMessage& message : requests.exchange(comm)) {
    Unpacker request(message.bytes);
    Packer reply = replies.to(message.rank);
    while (!request.empty()) {
      const auto tile = request.take<std::int64_t>();
      fill(ways, tile, cells);
      reply.put(tile);
      reply.put(std::span<const NearFields::Cell>(cells));
    }
  }
  for (const PackedMessage& message : replies.exchange(comm)) {
    Unpacker reply(message.bytes);
    while (!reply.empty()) {
      const auto tile = reply.take<std::int64_t>();
      reply.take(near.room(tile));
    }
  }
}

std::vector<Real> FloorField::rows(int destination, int level, std::int64_t first_row,
                                   std::int64_t last_row) const {
  const Built& built = *built_;
  const Tiling& tiling = built.tiling;
  const CellGrid& grid = tiling.grid();
  const Ways& ways = built.ways.front();
  const Eikonal& eikonal = *ways.eikonal;
  first_row = std::clamp<std::int64_t>(first_row, 0, grid.ny);
  last_row = std::clamp<std::int64_t>(last_row, first_row, grid.ny);

  std::vector<Real> result(static_cast<std::size_t>((last_row - first_row) * grid.nx),
                           std::numeric_limits<Real>::quiet_NaN());
  const auto rows_of = [&](std::int64_t tile, const Rows& rows) {
    return Rows{std::max(rows.first, tiling.first_row(tile)),
                std::min(rows.last, tiling.first_row(tile) + tiling.height(tile))};
  };
  // Values of the wanted rows of an own tile, in the order in which the other side puts them in place.
  std::vector<Real> values;
  const auto collect = [&](std::int64_t tile, const Rows& rows) {
    values.clear();
    const auto own = static_cast<std::size_t>(eikonal.own_number(tile));
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      for (int i = 0; i < tiling.width(tile); ++i) {
        const int j = static_cast<int>(row - tiling.first_row(tile));
        const std::uint32_t place = eikonal.place(own, i, j);
        const auto cell = static_cast<std::size_t>(i + tiling.edge() * j);
        if ((eikonal.links(place) & walkable_bit) == 0)
          values.push_back(std::numeric_limits<Real>::quiet_NaN());
        else if (destination < 0)
          values.push_back(grid.cell / static_cast<Real>(ways.free_steps[own][cell]));
        else
          values.push_back(eikonal.time(static_cast<std::size_t>(destination), place));
      }
  };
  const auto put = [&](std::int64_t tile, const Rows& rows) {
    std::size_t at = 0;
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      for (int i = 0; i < tiling.width(tile); ++i)
        result[static_cast<std::size_t>((row - first_row) * grid.nx + tiling.first_column(tile) + i)] =
            values[at++];
  };

  Outgoing requests;
  if (first_row < last_row)
    for (std::int64_t tile = tiling.tile(0, first_row / tiling.edge(), level);
         tile < tiling.tile(0, (last_row - 1) / tiling.edge() + 1, level); ++tile) {
      const Rows rows = rows_of(tile, {first_row, last_row});
      const int owner = tiling.owner(tile);
      if (owner == built.comm.rank()) {
        collect(tile, rows);
        put(tile, rows);
      } else if (owner >= 0) {
        requests.to(owner).put(tile);
        requests.to(owner).put(rows);
      }
    }
  Outgoing replies;
  for (const PackedMessage& message : requests.exchange(built.comm)) {
    Unpacker request(message.bytes);
    Packer reply = replies.to(message.rank);
    while (!request.empty()) {
      const auto tile = request.take<std::int64_t>();
      const auto rows = request.take<Rows>();
      collect(tile, rows);
      reply.put(tile);
      reply.put(rows);
      reply.put(std::span<const Real>(values));
    }
  }
  for (const PackedMessage& message : replies.exchange(built.comm)) {
    Unpacker reply(message.bytes);
    while (!reply.empty()) {
      const auto tile = reply.take<std::int64_t>();
      const auto rows = reply.take<Rows>();
      values.resize(static_cast<std::size_t>((rows.last - rows.first) * tiling.width(tile)));
      reply.take(std::span<Real>(values));
      put(tile, rows);
    }
  }
  return result;
}

}  // namespace scree
