#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/types.hpp"

namespace scree {

/// A vector for each contact point of two bodies, or of a body and a wall, by the feature id of the point.
/// Points with 0 are not kept.
template <int D>
struct PointValues {
  static constexpr std::size_t max = D == 2 ? 2 : 4;
  struct Point {
    Real feature = 0;  ///< id, exact in a Real
    Vec<D> value;
  };
  std::array<Point, max> point;

  bool any() const {
    return std::ranges::any_of(point, [](const Point& p) { return p.value != Vec<D>{}; });
  }
  /// One more, while there are fewer than `max`.
  void add(std::uint32_t feature, const Vec<D>& value) {
    if (value == Vec<D>{}) return;
    const auto free = std::ranges::find_if(point, [](const Point& p) { return p.value == Vec<D>{}; });
    if (free != point.end()) *free = {Real(feature), value};
  }
  /// Warm start of the points with the features feature_of(k). Values of features that are not among them go
  /// in equal shares to the new ones, or to all if none is new.
  template <class FeatureOf>
  void read(FeatureOf&& feature_of, std::span<Vec<D>> values) const {
    std::ranges::fill(values, Vec<D>{});
    Vec<D> left;
    for (const Point& p : point) {
      if (p.value == Vec<D>{}) continue;
      std::size_t k = 0;
      while (k < values.size() && Real(feature_of(k)) != p.feature) ++k;
      (k < values.size() ? values[k] : left) += p.value;
    }
    if (left == Vec<D>{}) return;
    const auto n_new = std::ranges::count(values, Vec<D>{});
    const Vec<D> share = left * (1 / static_cast<Real>(n_new > 0 ? n_new : std::ssize(values)));
    for (Vec<D>& value : values)
      if (n_new == 0 || value == Vec<D>{}) value += share;
  }
};

}  // namespace scree
