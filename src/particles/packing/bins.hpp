#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "particles/initial_packing.hpp"

namespace scree {

/// Bodies binned by place. The last ones added can be taken out again.
template <int D>
class Bins {
 public:
  Bins() = default;
  /// Bins of at least `edge` over the given box, about one or fewer per `n_expected`.
  Bins(const Vec<D>& lower, const Vec<D>& upper, Real edge, std::int64_t n_expected) : lower_(lower) {
    Real volume = 1;
    for (int k = 0; k < D; ++k) volume *= upper[k] - lower[k];
    edge_ = std::max(edge, std::pow(volume / static_cast<Real>(n_expected + 1), 1.0 / D));
    std::size_t n_bins = 1;
    for (int k = 0; k < D; ++k) {
      count_[k] = 1 + static_cast<int>((upper[k] - lower[k]) / edge_);
      n_bins *= static_cast<std::size_t>(n(k));
    }
    first_.assign(n_bins, -1);
  }

  Index size() const { return static_cast<Index>(bodies_.size()); }
  const NewBody<D>& operator[](Index i) const { return bodies_[i]; }

  void add(const NewBody<D>& body) {
    Index& first = first_[bin(body.position)];
    next_.push_back(first);
    first = size();
    bodies_.push_back(body);
  }
  void remove_last() {
    first_[bin(bodies_.back().position)] = next_.back();
    next_.pop_back();
    bodies_.pop_back();
  }
  /// True if found(i) for any body i in the bins less than `reach` from x.
  template <class Predicate>
  bool any_near(const Vec<D>& x, Real reach, const Predicate& found) const {
    std::array<int, D> low, high;
    for (int k = 0; k < D; ++k) {
      low[k] = slot(k, x[k] - reach);
      high[k] = slot(k, x[k] + reach);
    }
    std::array<int, D> at = low;
    while (true) {
      for (Index i = first_[number(at)]; i >= 0; i = next_[i])
        if (found(i)) return true;
      std::size_t k = 0;
      while (k < D && at[k] == high[k]) at[k] = low[k], ++k;
      if (k == D) return false;
      ++at[k];
    }
  }

 private:
  int n(int axis) const { return count_[axis]; }
  int slot(int axis, Real x) const {
    return static_cast<int>(std::clamp((x - lower_[axis]) / edge_, 0.0, Real(n(axis) - 1)));
  }
  std::size_t number(const std::array<int, D>& at) const {
    std::size_t result = 0;
    for (std::size_t k = D; k-- > 0;)
      result = result * static_cast<std::size_t>(count_[k]) + static_cast<std::size_t>(at[k]);
    return result;
  }
  std::size_t bin(const Vec<D>& x) const {
    std::array<int, D> at;
    for (int k = 0; k < D; ++k) at[k] = slot(k, x[k]);
    return number(at);
  }

  Vec<D> lower_{};
  Real edge_ = 1;
  std::array<int, D> count_{};
  std::vector<Index> first_{-1};  // of each bin, and then next_ of each body
  std::vector<Index> next_;
  std::vector<NewBody<D>> bodies_;
};

}  // namespace scree
