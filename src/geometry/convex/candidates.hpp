#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "geometry/convex/contour.hpp"

namespace scree {

/// Lengths (of the sizes) and cosines that differ by less are equal.
inline constexpr Real same_number = 1e-9;

/// Points that may become contacts, of which few stay: the deepest, the farthest from it, and (in space) the
/// farthest from their line on each side; of equals the one with the least feature.
template <int D>
class Candidates {
 public:
  static constexpr int max_points = D == 2 ? 2 : 4;

  /// `size`: of the bodies [m].
  explicit Candidates(Real size) : same_length_(same_number * size), same_area_(same_number * size * size) {}

  /// Of too many those with the least gaps stay.
  void add(const Vec<D>& place, Real gap, std::uint32_t feature) {
    const int i = n_ < max ? n_++ : place_instead_of(gap);
    if (i >= 0) all_[i] = {place.component, gap, feature};
  }
  bool empty() const { return n_ == 0; }
  bool has_near(const Vec<D>& x, Real distance) const {
    for (int i = 0; i < n_; ++i)
      if (norm(place(i) - x) <= distance) return true;
    return false;
  }
  Real min_gap() const {
    Real min = HUGE_VAL;
    for (int i = 0; i < n_; ++i) min = std::min(min, at(i).gap);
    return min;
  }
  void drop_above(Real gap) {
    int kept = 0;
    for (int i = 0; i < n_; ++i)
      if (at(i).gap <= gap) all_[kept++] = at(i);
    n_ = kept;
  }

  /// Calls take(place, gap, feature) for the points that stay, seen along `normal`, in the order of their
  /// features.
  template <class Take>
  void reduce(const Vec<D>& normal, const Take& take) const {
    std::array<int, max_points> kept;
    int n_kept = 0;
    const auto keep = [&](int i) { kept[n_kept++] = i; };
    if (n_ <= max_points) {
      for (int i = 0; i < n_; ++i) keep(i);
    } else {
      const int deepest = best([&](int i) { return -at(i).gap; }, same_length_);
      const auto from_deepest = [&](int i) { return place(i) - place(deepest); };
      const int farthest = best([&](int i) { return dot(from_deepest(i), from_deepest(i)); }, same_area_);
      keep(deepest);
      keep(farthest);
      if constexpr (D == 3) {
        const Vec<3> across = cross(from_deepest(farthest), normal);
        const auto beside = [&](int i) { return dot(from_deepest(i), across); };
        const int left = best(beside, same_area_),
                  right = best([&](int i) { return -beside(i); }, same_area_);
        if (beside(left) > same_area_) keep(left);
        if (beside(right) < -same_area_) keep(right);
      }
    }
    const auto order = std::span(kept).first(n_kept);
    for (std::size_t i = 1; i < order.size(); ++i)
      for (std::size_t k = i; k > 0 && at(order[k]).feature < at(order[k - 1]).feature; --k)
        std::swap(order[k], order[k - 1]);
    for (const int i : order) take(place(i), at(i).gap, at(i).feature);
  }

 private:
  static constexpr int max = 2 * Contour<D>::max_corners + 1;
  struct Candidate {
    std::array<Real, D> x;
    Real gap;
    std::uint32_t feature;
  };
  const Candidate& at(int i) const { return all_[i]; }
  Vec<D> place(int i) const { return {at(i).x}; }
  /// The place of the largest gap if it is above `gap`, else -1. Rare, and kept out of line.
  [[gnu::noinline]] int place_instead_of(Real gap) const {
    int i = 0;
    for (int k = 1; k < n_; ++k)
      if (at(k).gap > at(i).gap) i = k;
    return gap < at(i).gap ? i : -1;
  }
  /// The candidate with the largest measure; of those within `tolerance` of it that with the least feature,
  /// so that round-off does not choose between points that are as good.
  template <class Measure>
  int best(const Measure& measure, Real tolerance) const {
    Real largest = -HUGE_VAL;
    for (int i = 0; i < n_; ++i) largest = std::max(largest, measure(i));
    int found = -1;
    for (int i = 0; i < n_; ++i)
      if (measure(i) >= largest - tolerance && (found < 0 || at(i).feature < at(found).feature)) found = i;
    return found;
  }

  std::array<Candidate, max> all_;
  int n_ = 0;
  Real same_length_, same_area_;
};

}  // namespace scree
