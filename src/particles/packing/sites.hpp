#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <numbers>
#include <optional>

#include "geometry/box.hpp"

namespace scree {

/// The sites of a regular arrangement in a box. Sites are numbered along axis 0 first; a site may lie
/// outside of the box (rows are staggered), so its place must be tested.
template <int D>
class Sites {
 public:
  /// `margin`: how far bodies reach around their site [m].
  Sites(const Box<D>& bounds, bool staggered, Real spacing, Real margin)
      : spacing_(spacing), staggered_(staggered) {
    // Distance between rows (axis 1) and between layers (axis 2), in units of the spacing.
    const std::array<Real, 3> packed{1, std::numbers::sqrt3 / 2, std::sqrt(2.0 / 3.0)};
    for (int k = 0; k < D; ++k) {
      const Real length = bounds.length(k);
      // Lengths that are meant to be whole multiples of the spacing are often not quite, once rounded.
      constexpr Real rounding = 1e-9;
      pitch_[k] = spacing * (staggered ? packed[k] : 1);
      if (bounds.is_periodic(k)) {
        // The pattern must close on itself: it is stretched, and repeats every two rows or layers if
        // staggered.
        const int period = staggered && k > 0 ? 2 : 1;
        count_[k] = period * static_cast<std::int64_t>(length / (period * pitch_[k]) + rounding);
        if (count_[k] > 0) pitch_[k] = length / static_cast<Real>(count_[k]);
        first_[k] = bounds.lower[k] + pitch_[k] / 2;
      } else {
        const Real inset = std::max(spacing / 2, margin);
        const Real room = (length - 2 * inset) / pitch_[k] + rounding;
        count_[k] = room < 0 ? 0 : static_cast<std::int64_t>(room) + 1;
        first_[k] = bounds.lower[k] + inset;
      }
    }
  }

  std::int64_t size() const {
    std::int64_t product = 1;
    for (const std::int64_t n : count_) product *= n;
    return product;
  }

  /// The sites that differ along axis 0 alone: place(i) of row r is that of site r * row_length() + i.
  class Row {
   public:
    Row(const Vec<D>& start, Real shift, Real pitch) : start_(start), shift_(shift), pitch_(pitch) {}
    Vec<D> place(std::int64_t i) const {
      Vec<D> x = start_;
      x[0] += (static_cast<Real>(i) + shift_) * pitch_;
      return x;
    }

   private:
    Vec<D> start_;
    Real shift_, pitch_;
  };
  std::int64_t row_length() const { return count_[0]; }

  /// Hexagonal rows are shifted by half a spacing; layers of hcp (stacked ABAB) by a third of two rows as
  /// well.
  Row row(std::int64_t r) const {
    std::array<bool, 3> odd{};
    Vec<D> start = first_;
    std::array<Real, 3> number{};
    for (std::size_t axis = 1; axis < D; ++axis) {
      odd[axis] = r % count_[axis] % 2 == 1;
      number[axis] = static_cast<Real>(r % count_[axis]);
      r /= count_[axis];
    }
    if (staggered_ && odd[2]) number[1] += 1.0 / 3.0;
    for (int k = 1; k < D; ++k) start[k] += number[k] * pitch_[k];
    return {start, staggered_ && odd[1] != odd[2] ? 0.5 : 0.0, pitch_[0]};
  }
  Vec<D> place(std::int64_t site) const { return row(site / row_length()).place(site % row_length()); }

  Real spacing() const { return spacing_; }

 private:
  Real spacing_;
  bool staggered_;
  Vec<D> pitch_{}, first_{};
  std::array<std::int64_t, D> count_{};
};

/// The widest spacing, to 1 part in a million, for which n_sites(spacing) is at least `count`; not below
/// `touching` [m]: none if that leaves too few sites. `guess`: where to begin.
template <class CountSites>
std::optional<Real> widest_spacing(const CountSites& n_sites, std::int64_t count, Real contact_distance,
                                   Real guess) {
  const Real step = 1.25;
  // Widen or narrow until the answer is bracketed.
  Real narrow = std::max(contact_distance, guess);
  Real wide = narrow;
  std::int64_t n = n_sites(narrow);
  if (n >= count)
    for (wide = narrow * step; n_sites(wide) >= count; wide *= step) narrow = wide;
  while (n < count) {
    if (narrow <= contact_distance) return {};
    wide = narrow;
    narrow = std::max(contact_distance, narrow / step);
    n = n_sites(narrow);
  }
  while (wide - narrow > 1e-6 * narrow) {
    const Real middle = (narrow + wide) / 2;
    (n_sites(middle) >= count ? narrow : wide) = middle;
  }
  return narrow;
}

}  // namespace scree
