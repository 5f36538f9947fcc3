#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/section.hpp"

namespace scree {

/// How many people have come to a source by a time: person k comes when the integral of the rate reaches k
/// + 1.
class Arrivals {
 public:
  /// Declares and reads schedule, or rate with start and until, and limit; `may_be_listed`: neither need be
  /// given.
  void describe(Section& section, bool may_be_listed = false);
  /// Whether the deck gives schedule or rate.
  bool is_given() const { return !from_.empty(); }
  /// Person k comes at the kth of these, which rise [s]: instead of schedule and rate.
  void come_at(std::vector<Real> times) { times_ = std::move(times); }

  /// People due by `time` [s].
  std::int64_t n_due(Real time) const;
  /// People in all; a large number if they never end.
  std::int64_t n_total() const { return n_due(HUGE_VAL); }

 private:
  Real integral(Real time) const;

  std::vector<Real> from_;   // rate_[k] holds from from_[k] on [s]
  std::vector<Real> rate_;   // [1/s]
  std::vector<Real> times_;  // one by one [s]; empty: by rates
  std::int64_t limit_ = 0;   // 0: none
};

}  // namespace scree
