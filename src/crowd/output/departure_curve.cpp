#include "crowd/output/departure_curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace scree {

std::int64_t part_of(std::int64_t n, Real share) {
  constexpr Real rounding = 1e-9;
  return static_cast<std::int64_t>(std::ceil(share * static_cast<Real>(n) - rounding));
}

void DepartureCurve::add(Real time, const std::vector<std::int64_t>& left) {
  Row row{time, left};
  row.left.push_back(std::accumulate(left.begin(), left.end(), std::int64_t{0}));
  rows_.push_back(std::move(row));
}

std::int64_t DepartureCurve::n_left(int exit) const {
  return rows_.empty() ? 0 : rows_.back().left[column(exit)];
}

std::optional<Real> DepartureCurve::time_of(std::int64_t k, int exit) const {
  const std::size_t c = column(exit);
  if (k < 1 || k > n_left(exit) || rows_.front().left[c] >= k) return {};
  return std::ranges::partition_point(rows_, [&](const Row& row) { return row.left[c] < k; })->time;
}

std::optional<Real> DepartureCurve::mean_time() const {
  Real sum = 0;
  std::int64_t n = 0;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const std::int64_t here = rows_[i].left[n_exits_] - rows_[i - 1].left[n_exits_];
    sum += static_cast<Real>(here) * rows_[i].time;
    n += here;
  }
  if (n == 0) return {};
  return sum / static_cast<Real>(n);
}

std::optional<Real> DepartureCurve::mean_flow(int exit) const {
  constexpr Real lower = 0.1, upper = 0.9;
  const std::int64_t n = n_left(exit), first = part_of(n, lower), last = part_of(n, upper);
  const std::optional<Real> begin = time_of(first, exit), end = time_of(last, exit);
  if (!begin || !end || *end <= *begin) return {};
  return static_cast<Real>(last - first) / (*end - *begin);
}

}  // namespace scree
