#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/lattice.hpp"
#include "neighbors/near_search.hpp"

namespace scree {

/// A near pair of entries of a PairSearch, as they come in the order of cells: a < b.
struct EntryPair {
  Index a, b;
};

/// The search of one block by size classes, for bodies of very different radii (docs/method.md, "Size
/// classes"). Class c has the radii R_max / 2^(c+1) < R <= R_max / 2^c, the last class also all smaller ones.
/// Each class divides the cells of the lattice into cells of its own, at least 2 R + skin wide for its
/// largest radius R, as far as it has bodies to put into them. A body looks for those of its class in the
/// cells around its own, and for larger ones in their cells, never for smaller ones.
template <int D>
class ClassSearch {
 public:
  static constexpr int max_classes = 8;

  /// Bodies of a block and of the layer of cells above it: entries cell by cell.
  struct Block {
    const Lattice<D>& lattice;
    Cell<D> place;                      ///< on the lattice of blocks
    std::span<const Index> cell_start;  ///< (block_cells + 1)^D + 1
    /// Of the entries: each of n and near_search_padding more.
    const BodyColumns<D>& columns;
    NearSearch<D> find;
  };

  /// How many classes pay for radii of a lattice and a block.
  static int classes_for(Real largest, Real smallest);

  /// All pairs of entries within the skin but those that both lie in the layer above the block along some
  /// axis, in the order of the search by the cells of the lattice: sorted by the cell of a, where the cell of
  /// b lies from there, a and b. Local.
  std::span<const EntryPair> search(const Block& block, int n_classes);

 private:
  struct Class {
    Index first = 0, end = 0;  // its entries: columns [first, end)
    Index in_cells = 0;        // of these [first, in_cells) lie in its cells
    Real largest = 0;          // radius
    Cell<D> parts{};           // cells along an edge of a cell of the lattice
    Vec<D> per_length{};       // cells [1/m]
    Cell<D> below{};           // its cells within the block; there is one more, the first of the layer
    std::vector<Index> start;  // of its cells, as columns
    bool empty() const { return first == end; }
  };
  Cell<D> cell_in(const Class& which, const Block& block, std::size_t entry) const;
  bool holds(const Class& which, const Cell<D>& cell) const;
  Index number_in(const Class& which, const Cell<D>& cell) const;
  void divide(const Block& block, int n_classes);
  void sort_into_cells(const Block& block);
  void look_within(const Class& own, const Block& block);
  void look_among_larger(const Class& own, const Class& larger, const Block& block);
  void look(Index column, Index first, Index last, const Block& block);
  void take_around(const Class& larger, const Cell<D>& cell);
  void sort_pairs(const Block& block);

  std::array<Class, std::size_t{max_classes}> classes_;
  int n_classes_ = 0;
  std::vector<std::uint8_t> class_of_;  // of each entry
  std::vector<Index> lattice_cell_;     // of each entry
  struct LatticeCell {
    Cell<D> place;  // within the block and the layer above it
    Vec<D> lower;   // its corner, where its bodies are stored [m]
  };
  std::vector<LatticeCell> cells_;     // as in `cell_start`
  std::vector<Index> entry_;           // of each column
  std::vector<Index> cell_of_column_;  // of each column: in its class, or -1
  struct Columns {
    std::array<std::vector<Real>, std::size_t{D}> x, period;
    std::vector<Real> radius;
    BodyColumns<D> view;  // of these
    void resize(std::size_t n, bool wraps);
    void copy(std::size_t to, const BodyColumns<D>& from, std::size_t place, bool wraps);
  };
  bool wraps_ = false;                // whether any entry was reached through a periodic face
  Columns columns_;                   // of all entries
  Columns around_;                    // a body, then those of a larger class around it
  std::vector<Index> around_column_;  // of these
  std::vector<Index> near_;           // what the search found
  std::vector<EntryPair> found_, sorted_;
  std::vector<Index> bucket_;  // starts of the pairs by a and where b lies
};

}  // namespace scree
