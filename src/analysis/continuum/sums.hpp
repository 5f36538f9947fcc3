#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "analysis/continuum/kernel.hpp"
#include "analysis/tensor.hpp"
#include "contact/contact_graph.hpp"
#include "core/even_share.hpp"
#include "geometry/box.hpp"
#include "state/state.hpp"

namespace scree {

/// Points in the middles of cells, at which continuum fields are reported. An axis over which they are
/// averaged has one cell, and counts as not `active`.
template <int D>
struct ContinuumGrid {
  std::array<Real, D> origin{};     ///< lower corner of the first cell [m]
  std::array<Real, D> cell{};       ///< [m]
  std::array<std::int64_t, D> n{};  ///< cells along each axis
  std::array<bool, D> active{};
  std::array<bool, D> periodic{};
  Real per_area = 1;  ///< 1 over the extents of the domain along the axes that are not active

  /// Cells that are `cell` long or, along periodic axes, next to that and fill the period; along others they
  /// reach `reach` beyond the domain, so that nothing is lost. axis < 0: along all axes.
  static ContinuumGrid make(const Box<D>& box, int axis, Real cell, Real reach);

  std::int64_t size() const {
    std::int64_t all = 1;
    for (const std::int64_t along : n) all *= along;
    return all;
  }
  Real centre(int axis, std::int64_t index) const {
    return origin[axis] + (static_cast<Real>(index) + 0.5) * cell[axis];
  }
  // Ranks hold layers across the last axis.
  std::int64_t layers() const { return n[D - 1]; }
  std::int64_t layer_size() const { return size() / layers(); }
};

/// What is summed up in a cell: places of sum_i ... W and of sum_c ... int W in CellSums.
template <int D>
struct ContinuumPlaces {
  static constexpr std::size_t mass = 0, volume = 1, number = 2;
  static constexpr std::size_t momentum = 3;                    ///< m v
  static constexpr std::size_t flux = momentum + D;             ///< m v v, symmetric
  static constexpr std::size_t ends = flux + n_symmetric<D>;    ///< 1 per contact of a body
  static constexpr std::size_t contact = ends + 1;              ///< f l, D x D
  static constexpr std::size_t segments = contact + D * D;      ///< 1 per contact
  static constexpr std::size_t fabric = segments + 1;           ///< n n, symmetric
  static constexpr std::size_t wall = fabric + n_symmetric<D>;  ///< f at the foot
  static constexpr std::size_t size = wall + D;
};

__extension__ using FixedPoint = __int128;

/// Sums as multiples of 2^-76 in SI units: magnitudes up to 10^15, steps of 10^-23. Addition is exact, so
/// sums do not depend on its order.
inline FixedPoint fixed_point(Real value) {
  return static_cast<FixedPoint>(value * 0x1p76);
}
inline Real real_of(FixedPoint value) {
  return static_cast<Real>(value) * 0x1p-76;
}

/// Sums of cells, stored for those that were touched only, in pieces of neighbouring cells.
template <int D>
class CellSums {
 public:
  static constexpr std::size_t width = ContinuumPlaces<D>::size;
  using Sums = std::array<FixedPoint, width>;

  void resize(std::int64_t n_cells) {
    piece_of_.assign((n_cells + piece - 1) / piece, -1);
    sums_.clear();
  }
  Sums& at(std::int64_t cell) {
    std::int32_t& place = piece_of_[cell / piece];
    if (place < 0) {
      place = static_cast<std::int32_t>(sums_.size() / piece);
      sums_.resize(sums_.size() + piece, Sums{});
    }
    return sums_[static_cast<std::size_t>(place) * piece + static_cast<std::size_t>(cell % piece)];
  }
  /// Calls f(cell, sums) for the cells that are stored, in ascending order.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t p = 0; p < piece_of_.size(); ++p)
      if (piece_of_[p] >= 0)
        for (std::size_t k = 0; k < piece; ++k)
          f(static_cast<std::int64_t>(p * piece + k),
            sums_[static_cast<std::size_t>(piece_of_[p]) * piece + k]);
  }
  /// Back to 0; memory stays.
  void clear() { std::ranges::fill(sums_, Sums{}); }

 private:
  static constexpr std::int64_t piece = 16;
  std::vector<std::int32_t> piece_of_;
  std::vector<Sums> sums_;
};

/// Adds the terms of this rank's bodies and contacts at the present positions, times `share`, to `sums`:
/// equation (3.1) of docs/method.md, "Continuum fields". Returns whether all were small enough to be summed.
/// O((bodies + contacts) x cells within reach). Local.
template <int D>
bool add_terms(const State<D>& state, const ContactGraph<D>& contacts, const SmoothingKernel<D>& kernel,
               const ContinuumGrid<D>& grid, Real share, CellSums<D>& sums);

/// The parts of it: one body; one contact, of the force on b (or on the wall), from x to x + branch.
template <int D>
struct ContinuumTerms {
  const SmoothingKernel<D>& kernel;
  const ContinuumGrid<D>& grid;
  Real share;
  CellSums<D>& sums;
  bool fits = true;

  void body(const Vec<D>& x, Real mass, Real volume, const Vec<D>& v);
  void contact(const Vec<D>& x, const Vec<D>& branch, const Vec<D>& force, const Vec<D>& normal,
               bool with_wall);
  /// Weights of counts are W times this, which has no unit.
  Real count_unit() const;

 private:
  template <class Weight, class Add>
  void spread(const Vec<D>& from, const Vec<D>& to, const Weight& weight, const Add& add);
  template <std::size_t n>
  void add(typename CellSums<D>::Sums& to, std::size_t first, const std::array<Real, n>& terms, Real weight);
};

}  // namespace scree
