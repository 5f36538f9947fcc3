#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "crowd/departure.hpp"

namespace scree {

/// ceil(share n), exact where share n is an integer but for rounding.
std::int64_t part_of(std::int64_t n, Real share);

/// How many people had left, and through which exit, after each step that changed it: N(t) and what follows
/// from it.
class DepartureCurve {
 public:
  explicit DepartureCurve(std::size_t n_exits) : n_exits_(n_exits) {}

  /// Adds the numbers after a step, later than those before: all that left so far, by exit.
  void add(Real time, const std::vector<std::int64_t>& left);

  /// When the k-th person (counted from 1) had left, through any exit (-1) or one [s]; nothing if that is not
  /// known: fewer left, or before the curve begins.
  std::optional<Real> time_of(std::int64_t k, int exit = -1) const;
  std::int64_t n_left(int exit = -1) const;
  /// Mean of the times of leaving [s]; nothing if nobody left.
  std::optional<Real> mean_time() const;
  /// Persons per second between the 10th and the 90th percentile of those who left through the exit; nothing
  /// if these are one time.
  std::optional<Real> mean_flow(int exit) const;

 private:
  struct Row {
    Real time = 0;
    std::vector<std::int64_t> left;  ///< of each exit, then the sum
  };
  std::size_t column(int exit) const { return exit < 0 ? n_exits_ : static_cast<std::size_t>(exit); }

  std::size_t n_exits_;
  std::vector<Row> rows_;
};

}  // namespace scree
