#include "crowd/people/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scree {

void Arrivals::describe(Section& section, bool may_be_listed) {
  std::vector<std::vector<Real>> schedule;
  Real rate = 0, start = 0, until = HUGE_VAL;
  section.points("schedule", schedule, 2,
                 {.doc = "pairs of a time [s] and the persons per second from then on; or give rate"});
  section.real("rate", rate, {.unit = Unit::rate, .range = positive, .doc = "persons per second"});
  section.real("start", start, {.unit = Unit::time, .range = non_negative, .doc = "when rate begins"});
  section.real("until", until, {.unit = Unit::time, .range = positive, .doc = "when rate ends"});
  section.integer("limit", limit_, {.range = non_negative, .doc = "largest number of persons; 0: no limit"});
  if (!section.reading()) return;
  if (may_be_listed && schedule.empty() && rate == 0) return;
  if (schedule.empty() == (rate == 0))
    section.fail(rate > 0 ? "rate" : "schedule",
                 fmt::format("[{}] needs either schedule or rate", section.path()));
  if (rate > 0) {
    if (until <= start) section.fail("until", "the source ends before it starts: until must exceed start");
    from_ = {start};
    rate_ = {rate};
    if (std::isfinite(until)) {
      from_.push_back(until);
      rate_.push_back(0);
    }
    return;
  }
  if (start > 0 || std::isfinite(until))
    section.fail(start > 0 ? "start" : "until", "start and until go with rate: a schedule has its own times");
  for (const std::vector<Real>& entry : schedule) {
    if (entry[0] < 0 || (!from_.empty() && entry[0] <= from_.back()))
      section.fail("schedule",
                   fmt::format("times must be 0 s or more and rise: {:g} s does not{}", entry[0],
                               from_.empty() ? "" : fmt::format(" follow on {:g} s", from_.back())));
    if (entry[1] < 0) section.fail("schedule", fmt::format("a rate must be 0 or more, not {:g}", entry[1]));
    from_.push_back(entry[0]);
    rate_.push_back(entry[1]);
  }
  if (std::ranges::all_of(rate_, [](Real r) { return r == 0; }))
    section.fail("schedule", "all rates are 0: nobody would come");
}

Real Arrivals::integral(Real time) const {
  Real people = 0;
  for (std::size_t k = 0; k < from_.size() && from_[k] < time; ++k) {
    if (rate_[k] == 0) continue;
    const Real end = k + 1 < from_.size() ? std::min(from_[k + 1], time) : time;
    people += rate_[k] * (end - from_[k]);
  }
  return people;
}

std::int64_t Arrivals::n_due(Real time) const {
  constexpr Real rounding = 1e-6;  // times are sums of steps
  constexpr Real max = 0x1p62;
  const auto n =
      times_.empty()
          ? static_cast<std::int64_t>(std::min(std::floor(integral(time) + rounding), max))
          : static_cast<std::int64_t>(std::ranges::upper_bound(times_, time + rounding) - times_.begin());
  return limit_ > 0 ? std::min(n, limit_) : n;
}

}  // namespace scree
