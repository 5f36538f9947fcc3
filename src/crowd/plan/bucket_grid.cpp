#include "crowd/plan/bucket_grid.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

BucketGrid::BucketGrid(const Box<2>& box, std::size_t n_cells) : box_(box) {
  const auto wanted = static_cast<Real>(std::max<std::size_t>(n_cells, 1));
  const Real length = std::sqrt(std::max(box.volume(), 1e-300) / wanted);
  for (int axis = 0; axis < 2; ++axis) {
    const Real n_along = std::clamp(std::ceil(box.length(axis) / length), 1.0, wanted);
    n_[axis] = static_cast<int>(n_along);
    size_[axis] = box.length(axis) / n_along;
  }
}

int BucketGrid::cell_of(int axis, Real x) const {
  if (!(size_[axis] > 0)) return 0;
  return static_cast<int>(
      std::clamp(std::floor((x - box_.lower[axis]) / size_[axis]), 0.0, static_cast<Real>(n(axis) - 1)));
}

void BucketGrid::sort() {
  items_ = Buckets<std::int32_t>(std::span(std::as_const(entries_)), place(0, n(1)));
  entries_ = {};
}

}  // namespace scree
