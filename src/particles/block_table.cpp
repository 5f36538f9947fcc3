#include "particles/block_table.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace scree {

template <int D>
void find_places(const Lattice<D>& lattice, std::span<const Vec<D>> positions, std::vector<Place>& places) {
  places.resize(positions.size());
  Cell<D> recent{};
  BlockKey key = lattice.key_of(recent);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Cell<D> cell = lattice.cell_of(positions[i]);
    const Cell<D> block = lattice.block_of(cell);
    if (block != recent) {
      recent = block;
      key = lattice.key_of(block);
    }
    places[i] = key << Lattice<D>::cell_bits | static_cast<Place>(lattice.local_cell(cell));
  }
}

void sort_by_place(std::span<const Place> places, std::span<const GlobalId> ids, std::vector<Index>& order) {
  // Between two lists few bodies change their cell. So those that are in order are kept as they are, the
  // others are taken out, sorted and merged back: linear but for the few (E. Ernerfeldt's "drop-merge sort").
  struct Item {
    Place place;
    GlobalId id;
    Index index;
  };
  const auto item = [&](Index i) { return Item{places[i], ids[i], i}; };
  const auto before = [](const Item& p, const Item& q) {
    return p.place != q.place ? p.place < q.place : p.id < q.id;
  };
  order.clear();
  order.reserve(places.size());
  std::vector<Item> taken_out;
  std::size_t n_in_a_row = 0;  // taken out since one was kept
  const auto take_last = [&] {
    taken_out.push_back(item(order.back()));
    order.pop_back();
  };
  for (Index i = 0; i < static_cast<Index>(places.size()); ++i) {
    const Item current = item(i);
    // Whether it would be in order if the last `count` of those kept were not.
    const auto follows = [&](std::size_t count) {
      return order.size() <= count || !before(current, item(order[order.size() - 1 - count]));
    };
    if (!follows(0)) {
      // Either this one is too low, or those before are too high: one, or no more than had to go because of
      // them.
      constexpr std::size_t many = 8;
      if (n_in_a_row == 0 && follows(1)) {
        take_last();
      } else if (n_in_a_row >= many && follows(n_in_a_row)) {
        while (!follows(0)) take_last();
      } else {
        taken_out.push_back(current);
        ++n_in_a_row;
        continue;
      }
    }
    order.push_back(i);
    n_in_a_row = 0;
  }
  std::sort(taken_out.begin(), taken_out.end(), before);
  std::size_t kept = order.size();
  order.resize(places.size());
  for (std::size_t to = places.size(); !taken_out.empty(); --to) {
    const bool take_kept = kept > 0 && before(taken_out.back(), item(order[kept - 1]));
    if (take_kept) {
      order[to - 1] = order[--kept];
    } else {
      order[to - 1] = taken_out.back().index;
      taken_out.pop_back();
    }
  }
}

template <int D>
void BlockTable<D>::add(const Lattice<D>& lattice, std::span<const Vec<D>> positions,
                        std::span<const Place> places, Index first, bool owned) {
  stride_ = static_cast<std::size_t>(lattice.cells_in_block()) + 1;
  std::size_t i = 0;
  while (i < places.size()) {
    const BlockKey key = block_key(places[i]);
    const Cell<D> place = lattice.block_of(lattice.cell_of(positions[i]));
    const std::size_t begin = i;
    const std::size_t cells = cell_start_.size();
    cell_start_.resize(cells + stride_, 0);
    std::int32_t next_cell = 0;
    for (; i < places.size() && block_key(places[i]) == key; ++i) {
      SCREE_ASSERT(i == begin || places[i] >= places[i - 1]);
      for (; next_cell <= local_cell(places[i]); ++next_cell)
        cell_start_[cells + static_cast<std::size_t>(next_cell)] = first + static_cast<Index>(i);
    }
    for (; static_cast<std::size_t>(next_cell) < stride_; ++next_cell)
      cell_start_[cells + static_cast<std::size_t>(next_cell)] = first + static_cast<Index>(i);
    number_.emplace(key, static_cast<Index>(blocks_.size()));
    blocks_.push_back({place, key, first + static_cast<Index>(begin), first + static_cast<Index>(i), owned});
  }
}

template <int D>
void BlockTable<D>::renumber(std::span<const Index> kept_before) {
  const auto renumber = [&](Index& first) { first = kept_before[first]; };
  for (Index& start : cell_start_) renumber(start);
  for (Block& block : blocks_) renumber(block.first), renumber(block.last);
}

template void find_places<2>(const Lattice<2>&, std::span<const Vec<2>>, std::vector<Place>&);
template void find_places<3>(const Lattice<3>&, std::span<const Vec<3>>, std::vector<Place>&);
template class BlockTable<2>;
template class BlockTable<3>;

}  // namespace scree
