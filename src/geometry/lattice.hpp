#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/types.hpp"
#include "geometry/box.hpp"

namespace scree {

template <int D>
using Cell = std::array<std::int32_t, D>;

/// Steps through a grid of `size` cells along each axis, the first axis fastest; false after the last one.
template <int D>
bool next_cell(Cell<D>& cell, const Cell<D>& size) {
  for (std::size_t k = 0; k < D; ++k) {
    if (++cell[k] < size[k]) return true;
    cell[k] = 0;
  }
  return false;
}

/// Place of a block along the Hilbert curve through the lattice of blocks.
using BlockKey = std::uint64_t;

/// Distance along the Hilbert curve of the cube [0, 2^bits)^D (Skilling, AIP Conf. Proc. 707 (2004) 381-387).
template <int D>
BlockKey hilbert_key(std::array<std::uint32_t, D> x, int bits) {
  const std::uint32_t top = bits > 0 ? std::uint32_t{1} << (bits - 1) : 0;
  for (std::uint32_t q = top; q > 1; q >>= 1) {
    const std::uint32_t low = q - 1;
    for (std::size_t k = 0; k < D; ++k) {
      if (x[k] & q) {
        x[0] ^= low;
      } else {
        const std::uint32_t swap = (x[0] ^ x[k]) & low;
        x[0] ^= swap;
        x[k] ^= swap;
      }
    }
  }
  for (std::size_t k = 1; k < D; ++k) x[k] ^= x[k - 1];
  std::uint32_t flip = 0;
  for (std::uint32_t q = top; q > 1; q >>= 1)
    if (x[D - 1] & q) flip ^= q - 1;
  for (std::size_t k = 0; k < D; ++k) x[k] ^= flip;
  BlockKey key = 0;
  for (int b = bits - 1; b >= 0; --b)
    for (std::size_t k = 0; k < D; ++k) key = key << 1 | (x[k] >> b & 1U);
  return key;
}

/// The global lattice of cells, grouped into blocks, that defines the order of every sweep (docs/method.md,
/// "Sweeps"). It is fixed in space and knows no rank: results may depend on it, never on who owns which
/// block. A cell is at least as wide as the two largest bodies and the skin, so bodies that can touch lie in
/// adjacent cells. Along a periodic axis the number of blocks is even, so that neighbouring blocks always
/// differ in parity; or it is one block of one cell, which then is its own neighbour (a thin axis).
template <int D>
struct Lattice {
  Vec<D> origin{};
  Vec<D> cell_edge{};  ///< [m]
  std::array<std::int32_t, D> n_cells{};
  std::array<std::int32_t, D> block_cells{};  ///< cells per block
  std::array<std::int32_t, D> n_blocks{};
  std::array<bool, D> periodic{};
  int flow = -1, gradient = -1;  ///< of a box that can be tilted
  Real lean = 0;                 ///< of its cells, as of the box
  Real middle = 0;               ///< where along `gradient` the lattice is not shifted [m]
  Real skin = 0;                 ///< candidates are pairs with gap < skin when the list is built [m]
  // What the lattice was made for, to make it again with another skin.
  Real largest_radius = 0;           ///< [m]
  Real second_radius = 0;            ///< no other body is larger than this [m]
  Real usual_skin = 0;               ///< that of the start of the run; steps that need more get more [m]
  std::int32_t cells_per_block = 1;  ///< as asked for

  static constexpr int n_colours = 1 << D;
  static constexpr int cell_bits = 12;  ///< a block has at most 2^12 cells
  static constexpr int axis_bits = D == 2 ? 25 : 17;

  /// Width needed for bodies of radius up to `largest_radius`: between two of them and the skin.
  static Real reach(Real largest_radius, Real skin) { return 2 * largest_radius + skin; }

  /// The least width of its cells.
  Real cell_width() const { return largest_radius + second_radius + skin; }

  /// The lattice over `box`, with blocks of about `cells_per_block` cells along each axis. No periodic axis
  /// may be shorter than reach(): see widest_skin. Cells of a box that can be tilted are wide enough at any
  /// tilt up to half a period, and go with it (see follow).
  static Lattice make(const Box<D>& box, Real largest_radius, Real skin, int cells_per_block,
                      Real second_radius = HUGE_VAL);
  /// The widest skin for which the periodic axes of `box` are long enough [m]; infinite if there are none,
  /// not positive if bodies would touch themselves. With it a body and its own image, or two images of
  /// another body that are two periods apart, are never candidates.
  static Real widest_skin(const Box<D>& box, Real largest_radius) {
    constexpr Real rounding = 1e-9;
    Real widest = HUGE_VAL;
    for (int k = 0; k < D; ++k)
      if (box.is_periodic(k)) widest = std::min(widest, box.room(k) * (1 - rounding) - 2 * largest_radius);
    return widest;
  }
  /// The same cells in `box`, which has been deformed since; false if they are then too narrow, or so wide
  /// that there could be half as many again along some axis.
  bool follow(const Box<D>& box) {
    for (int k = 0; k < D; ++k) {
      const Real width_in_cells = box.room(k) / cell_width();
      if (n_cells[k] > 1 && width_in_cells * (1 + 1e-9) < static_cast<Real>(n_cells[k])) return false;
      if (width_in_cells > 1.5 * static_cast<Real>(n_cells[k]) + 1) return false;
    }
    fit(box);
    return true;
  }

  /// Diameters of the largest body that a skin is widened to at most: some 25 candidates per body of a dense
  /// packing.
  static constexpr Real widest_in_diameters = D == 2 ? 2 : 1;
  /// Whether a block is its own neighbour along an axis.
  bool is_thin(int axis) const { return periodic[axis] && n_blocks[axis] == 1; }
  /// Whether the axis is, or would be with the widest skin: then bodies may meet several images of another
  /// one along it.
  bool may_be_thin(int axis) const {
    const Real widest = std::max(usual_skin, widest_in_diameters * 2 * largest_radius);
    return periodic[axis] && cell_edge[axis] * n_cells[axis] < 2 * reach(largest_radius, widest) * (1 + 1e-9);
  }

  /// Cell of a point. Along open axes points outside the box count to the border cells, which keeps
  /// neighbours adjacent; along periodic axes x must be wrapped.
  Cell<D> cell_of(const Vec<D>& x) const {
    Cell<D> cell;
    for (int k = 0; k < D; ++k) {
      const Real leaning = k == flow ? lean * (x[gradient] - middle) : 0;
      const Real position = std::floor((x[k] - leaning - origin[k]) / cell_edge[k]);
      cell[k] = static_cast<std::int32_t>(std::clamp(position, Real{0}, static_cast<Real>(n_cells[k] - 1)));
    }
    return cell;
  }
  Cell<D> block_of(const Cell<D>& cell) const {
    Cell<D> block;
    for (std::size_t k = 0; k < D; ++k) block[k] = cell[k] / block_cells[k];
    return block;
  }
  /// Number of a cell within its block, the first axis running fastest.
  std::int32_t local_cell(const Cell<D>& cell) const {
    std::int32_t number = 0;
    for (std::size_t k = D; k-- > 0;) number = number * block_cells[k] + cell[k] % block_cells[k];
    return number;
  }
  std::int32_t cells_in_block() const {
    std::int32_t n = 1;
    for (std::size_t k = 0; k < D; ++k) n *= block_cells[k];
    return n;
  }
  /// Bit k is set if the cell of this number is the first of its block along axis k: then the block before it
  /// reaches the cell too.
  unsigned low_layers(std::int32_t local) const {
    unsigned mask = 0;
    for (std::size_t k = 0; k < D; local /= block_cells[k++])
      if (local % block_cells[k] == 0) mask |= 1U << k;
    return mask;
  }
  /// The block one step down (direction = -1) or up (+1) along every axis in `axes`; false if it does not
  /// exist. `wrapped` gets the axes along which the step went through a periodic face.
  bool neighbour(const Cell<D>& block, unsigned axes, int direction, Cell<D>& result,
                 unsigned& wrapped) const {
    result = block;
    wrapped = 0;
    for (std::size_t k = 0; k < D; ++k) {
      if (!(axes >> k & 1U)) continue;
      result[k] += direction;
      if (result[k] >= 0 && result[k] < n_blocks[k]) continue;
      if (!periodic[k]) return false;
      result[k] += result[k] < 0 ? n_blocks[k] : -n_blocks[k];
      wrapped |= 1U << k;
    }
    return true;
  }
  /// Blocks of one colour share no body: the colour is the parity vector of the block.
  int colour_of(const Cell<D>& block) const {
    int colour = 0;
    for (std::size_t k = 0; k < D; ++k) colour |= (block[k] & 1) << k;
    return colour;
  }
  /// The first axis of the curve, along which two ranks divide a cube, is the last one of space: its parity
  /// changes once in a sweep, so they meet twice; with the first axis of space it would be after each colour.
  BlockKey key_of(const Cell<D>& block) const {
    std::array<std::uint32_t, D> x;
    for (std::size_t k = 0; k < D; ++k) x[k] = static_cast<std::uint32_t>(block[D - 1 - k]);
    return hilbert_key<D>(x, curve_bits());
  }
  /// Keys are below 2^(D * curve_bits).
  int curve_bits() const {
    const std::int32_t max = *std::max_element(n_blocks.begin(), n_blocks.end());
    return std::bit_width(static_cast<std::uint32_t>(max - 1));
  }

 private:
  void fit(const Box<D>& box);
};

template <int D>
void Lattice<D>::fit(const Box<D>& box) {
  origin = box.lower;
  flow = box.flow;
  gradient = box.gradient;
  lean = box.lean();
  if (gradient >= 0) middle = box.centre()[gradient];
  for (int k = 0; k < D; ++k) cell_edge[k] = box.length(k) / n_cells[k];
}

template <int D>
Lattice<D> Lattice<D>::make(const Box<D>& box, Real largest_radius, Real skin, int cells_per_block,
                            Real second_radius) {
  Lattice lattice;
  lattice.periodic = box.periodic;
  lattice.skin = lattice.usual_skin = skin;
  lattice.largest_radius = largest_radius;
  lattice.second_radius = std::min(second_radius, largest_radius);
  lattice.cells_per_block = cells_per_block;
  const Real width = lattice.cell_width();
  for (int k = 0; k < D; ++k) {
    const Real max = std::min(box.room(k) / width, std::ldexp(1.0, axis_bits - 2) * cells_per_block);
    const auto room = std::max(std::int32_t{1}, static_cast<std::int32_t>(max));
    std::int32_t n_blocks = (room + cells_per_block - 1) / cells_per_block;
    std::int32_t block_cells = std::min(room, cells_per_block);
    std::int32_t n_cells = room;
    if (lattice.periodic[k] && room == 1) {
      n_blocks = block_cells = n_cells = 1;
    } else if (lattice.periodic[k]) {
      // The nearest even number, but no more blocks than there are cells.
      n_blocks = 2 * std::clamp((room + cells_per_block) / (2 * cells_per_block), 1, std::max(1, room / 2));
      block_cells = room / n_blocks;
      n_cells = n_blocks * block_cells;
    }
    lattice.n_cells[k] = n_cells;
    lattice.block_cells[k] = block_cells;
    lattice.n_blocks[k] = n_blocks;
  }
  lattice.fit(box);
  return lattice;
}

}  // namespace scree
