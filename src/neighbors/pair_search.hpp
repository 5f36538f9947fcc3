#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/lattice.hpp"
#include "geometry/level_map.hpp"
#include "neighbors/class_search.hpp"
#include "neighbors/near_search.hpp"
#include "particles/block_table.hpp"
#include "particles/body_store.hpp"

namespace scree {

/// The candidate pairs of one block: all pairs with gap < lattice.skin between its bodies, and between them
/// and those of the layer of cells above it. Entries are these bodies, cell by cell; a body that is reached
/// through several periodic faces has several.
template <int D>
class PairSearch {
 public:
  struct Pair {
    Index low, high;     ///< entries, smaller id first; of a body with several the first
    std::uint8_t shift;  ///< see SweepSchedule::shifts
  };

  /// Searches the block at `place` on the lattice of blocks. What the last search found is lost. The result
  /// is the same for any number of size classes; 0: as many as pay. `levels`: of each body those that it may
  /// meet others on (LevelMap); empty: it may meet all. Local.
  void search(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
              const BodyStore<D>& bodies, const Cell<D>& place, int n_classes,
              std::span<const LevelMap::Levels> levels);
  /// Pairs that cross no periodic face, and those that do, in the order of cells; the caller may use them up.
  std::vector<Pair>& within_box() { return within_box_; }
  std::vector<Pair>& through_faces() { return through_faces_; }
  std::size_t n_entries() const { return entries_.size(); }
  Index body(Index entry) const { return entries_[entry].body; }

 private:
  struct Entry {
    GlobalId id;
    Index body;
    std::uint8_t wrapped;  // axes along which it was reached through a periodic face
  };
  void gather(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
              const BodyStore<D>& bodies, const Cell<D>& place);
  int classes_that_pay(const Lattice<D>& lattice, const BodyStore<D>& bodies) const;
  void leave_out_far(const Lattice<D>& lattice, const BodyStore<D>& bodies, const Cell<D>& place);
  void fill_columns(const Lattice<D>& lattice, const Box<D>& box, const BodyStore<D>& bodies, bool wraps);
  void search_cells(const Lattice<D>& lattice);
  void add_near(Index a, Index first, Index last);
  void add_pair(Index a, Index b);

  std::vector<Entry> entries_;
  std::vector<Index> first_of_body_;  // by entry: the first of the same body. Empty if each body has one
  std::vector<Index> cell_start_;     // (block_cells + 1)^D + 1
  // Columns of the entries for the search.
  std::array<std::vector<Real>, std::size_t{D}> x_, period_;
  std::vector<Real> radius_;
  BodyColumns<D> columns_;
  NearSearch<D> find_ = nullptr;
  std::vector<Index> near_;  // what the search found
  ClassSearch<D> classes_;
  int n_classes_ = 1;  // of this block
  std::span<const LevelMap::Levels> levels_;
  std::vector<Pair> within_box_, through_faces_;
};

}  // namespace scree
