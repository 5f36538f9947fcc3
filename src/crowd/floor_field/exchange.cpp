#include <algorithm>
#include <limits>

#include "core/sparse_all_to_all.hpp"
#include "crowd/floor_field/floor_field.hpp"

namespace scree {

namespace {

/// Rows of a tile, counted in the grid.
struct Rows {
  std::int64_t tile;
  std::int64_t first, last;
  std::size_t n_cells(const Tiling& tiling) const {
    return static_cast<std::size_t>((last - first) * tiling.width(tile));
  }
};

/// Gets what `wanted` asks for from the owners of the tiles; of tiles that nobody owns nothing.
/// `n_values(asked)`: how many values that is; `find(asked, values)`: finds them, on the owner;
/// `put(asked, values)`: takes them. Collective.
template <class Value, class Count, class Find, class Put>
void ask_owners(const Comm& comm, const Tiling& tiling, std::span<const Rows> wanted, const Count& n_values,
                const Find& find, const Put& put) {
  std::vector<Value> values;
  const auto found = [&](const Rows& asked) {
    values.resize(n_values(asked));
    find(asked, std::span(values));
    return std::span<const Value>(values);
  };
  Outgoing requests;
  for (const Rows& asked : wanted) {
    const int owner = tiling.owner(asked.tile);
    if (owner == comm.rank())
      put(asked, found(asked));
    else if (owner >= 0)
      requests.to(owner).put(asked);
  }
  Outgoing replies;
  for (const PackedMessage& message : requests.exchange(comm)) {
    Unpacker request(message.bytes);
    Packer reply = replies.to(message.rank);
    while (!request.empty()) {
      const auto asked = request.take<Rows>();
      reply.put(asked);
      reply.put(found(asked));
    }
  }
  for (const PackedMessage& message : replies.exchange(comm)) {
    Unpacker reply(message.bytes);
    while (!reply.empty()) {
      const auto asked = reply.take<Rows>();
      values.resize(n_values(asked));
      reply.take(std::span(values));
      put(asked, std::span<const Value>(values));
    }
  }
}

}  // namespace

/// What others need of an own tile: all fields, ready to be asked.
void FloorField::fill(const ClassFields& fields, std::int64_t tile, std::span<NearFields::Cell> cells) const {
  const Tiling& tiling = built_->tiling;
  const Eikonal& eikonal = *fields.eikonal;
  const std::size_t own = eikonal.own_number(tile);
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
        if (const auto found = fields.line_of[d].find(place); found != fields.line_of[d].end()) {
          const Line& line = fields.lines[d][found->second];
          const Vec<2> straight = line.to - line.from;
          is_there = norm(straight) < reaches_into;
          if (time == line.time) down = straight;
        }
        cells[at++] = NearFields::Cell(time, is_there, down);
      }
}

/// Gets these tiles from their owners. Collective.
void FloorField::bring(ClassFields& fields, std::span<const std::int64_t> tiles) const {
  const Tiling& tiling = built_->tiling;
  const std::size_t n_cells =
      built_->destinations.size() * static_cast<std::size_t>(tiling.edge() * tiling.edge());
  std::vector<Rows> wanted;
  for (const std::int64_t tile : tiles) wanted.push_back({tile, 0, tiling.height(tile)});
  ask_owners<NearFields::Cell>(
      built_->comm, tiling, wanted, [&](const Rows&) { return n_cells; },
      [&](const Rows& rows, std::span<NearFields::Cell> cells) { fill(fields, rows.tile, cells); },
      [&](const Rows& rows, std::span<const NearFields::Cell> cells) {
        std::ranges::copy(cells, fields.near->room(rows.tile).begin());
      });
}

std::vector<Real> FloorField::rows(int destination, int level, std::int64_t first_row,
                                   std::int64_t last_row) const {
  const Tiling& tiling = built_->tiling;
  const CellGrid& grid = tiling.grid();
  const ClassFields& fields = built_->fields.front();
  const Eikonal& eikonal = *fields.eikonal;
  first_row = std::clamp<std::int64_t>(first_row, 0, grid.ny);
  last_row = std::clamp<std::int64_t>(last_row, first_row, grid.ny);
  std::vector<Rows> wanted;
  if (first_row < last_row)
    for (std::int64_t tile = tiling.tile(0, first_row / tiling.edge(), level);
         tile < tiling.tile(0, (last_row - 1) / tiling.edge() + 1, level); ++tile)
      wanted.push_back({tile, std::max(first_row, tiling.first_row(tile)),
                        std::min(last_row, tiling.first_row(tile) + tiling.height(tile))});
  std::vector<Real> result((last_row - first_row) * grid.nx, std::numeric_limits<Real>::quiet_NaN());
  const auto for_cells = [&](const Rows& rows, const auto& f) {
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      for (int i = 0; i < tiling.width(rows.tile); ++i) f(i, row);
  };
  const auto value_of = [&](std::size_t own, int i, int j) {
    const std::uint32_t place = eikonal.place(own, i, j);
    if ((eikonal.links(place) & walkable_bit) == 0) return std::numeric_limits<Real>::quiet_NaN();
    if (destination >= 0) return eikonal.time(static_cast<std::size_t>(destination), place);
    return grid.cell / static_cast<Real>(fields.free_steps[own][i + tiling.edge() * j]);
  };
  ask_owners<Real>(
      built_->comm, tiling, wanted, [&](const Rows& rows) { return rows.n_cells(tiling); },
      [&](const Rows& rows, std::span<Real> values) {
        const std::size_t own = eikonal.own_number(rows.tile);
        std::size_t at = 0;
        for_cells(rows, [&](int i, std::int64_t row) {
          values[at++] = value_of(own, i, static_cast<int>(row - tiling.first_row(rows.tile)));
        });
      },
      [&](const Rows& rows, std::span<const Real> values) {
        std::size_t at = 0;
        for_cells(rows, [&](int i, std::int64_t row) {
          result[(row - first_row) * grid.nx + tiling.first_column(rows.tile) + i] = values[at++];
        });
      });
  return result;
}

}  // namespace scree
