#pragma once
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.hpp"
#include "geometry/box.hpp"

namespace scree {

/// A box cut into one patch per rank.
template <int D>
class Patches {
 public:
  Patches(const Comm& comm, const Box<D>& bounds, const Box<D>& domain)
      : lower_(bounds.lower), domain_(domain) {
    MPI_Dims_create(comm.size(), D, count_.data());
    for (int k = 0; k < D; ++k) width_[k] = bounds.length(k) / n(k);
  }

  int owner(const Vec<D>& x) const {
    int rank = 0;
    for (int k = D - 1; k >= 0; --k) rank = rank * n(k) + std::clamp(slot(k, x[k]), 0, n(k) - 1);
    return rank;
  }
  /// Calls f(rank, image) for every patch and periodic image of x that are less than `reach` apart.
  template <class F>
  void for_each_near(const Vec<D>& x, Real reach, const F& f) const {
    Vec<D> image = x;
    visit(D - 1, 0, x, reach, image, f);
  }
  /// Lowest corner of a rank's patch, and its extent.
  Vec<D> corner(int rank) const {
    Vec<D> x = lower_;
    for (int k = 0; k < D; ++k) x[k] += width_[k] * (rank % n(k)), rank /= n(k);
    return x;
  }
  const Vec<D>& extent() const { return width_; }

 private:
  int n(int axis) const { return count_[axis]; }
  /// -1 below the patches, n(axis) above.
  int slot(int axis, Real x) const {
    return static_cast<int>(std::floor(std::clamp((x - lower_[axis]) / width_[axis], -1.0, Real(n(axis)))));
  }
  template <class F>
  void visit(int axis, int rank, const Vec<D>& x, Real reach, Vec<D>& image, const F& f) const {
    if (axis < 0) {
      f(rank, image);
      return;
    }
    const int turns = domain_.is_periodic(axis) ? 1 : 0;
    for (int turn = -turns; turn <= turns; ++turn) {
      image[axis] = x[axis] + turn * domain_.length(axis);
      const int first = std::max(slot(axis, image[axis] - reach), 0);
      const int last = std::min(slot(axis, image[axis] + reach), n(axis) - 1);
      for (int k = first; k <= last; ++k) visit(axis - 1, rank * n(axis) + k, x, reach, image, f);
    }
  }

  Vec<D> lower_, width_{};
  Box<D> domain_;
  std::array<int, D> count_{};
};

}  // namespace scree
