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
  struct Item {
    Place place;
    GlobalId id;
    Index index;
  };
  static thread_local std::vector<Item> items;
  items.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) items[i] = {places[i], ids[i], static_cast<Index>(i)};
  const auto before = [](const Item& p, const Item& q) {
    return p.place != q.place ? p.place < q.place : p.id < q.id;
  };
  if (!std::is_sorted(items.begin(), items.end(), before)) std::sort(items.begin(), items.end(), before);
  order.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) order[i] = items[i].index;
}

template <int D>
void BlockTable<D>::clear() {
  blocks_.clear();
  cell_start_.clear();
  number_.clear();
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

template void find_places<2>(const Lattice<2>&, std::span<const Vec<2>>, std::vector<Place>&);
template void find_places<3>(const Lattice<3>&, std::span<const Vec<3>>, std::vector<Place>&);
template class BlockTable<2>;
template class BlockTable<3>;

}  // namespace scree
