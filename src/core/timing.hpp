#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// Adds the wall time of a scope to the timer `name` nested in the scopes around it; about 50 ns, and no
/// allocation but at the first use of a name within the same outer scopes. Not for threads.
///     Scope timer("sweeps");
class Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

/// Marks a stretch in which this rank waits for others: messages and reductions. Timers count it apart from
/// computing, in all scopes around it. Two calls of the clock; within another one: nothing.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

/// Processor time of this thread that is not Waiting [s], from its making to seconds(): what a rank computed,
/// even if ranks share a core or spin in messages. While there is one or more, each Waiting costs two calls
/// of the thread's clock, about 0.4 us each: for a step in many, not for every one.
class WorkClock {
 public:
  WorkClock();
  ~WorkClock();
  WorkClock(const WorkClock&) = delete;
  WorkClock& operator=(const WorkClock&) = delete;
  Real seconds() const;

 private:
  std::chrono::nanoseconds start_;
};

/// One line of the timer table, over ranks.
struct TimerRow {
  std::string name;
  int depth = 0;
  std::int64_t calls = 0;            ///< on rank 0
  Real min = 0, mean = 0, max = 0;   ///< seconds
  Real work_mean = 0, work_max = 0;  ///< seconds without Waiting
  /// The rank that computes longest over the mean; 1: all compute equally long, or nothing.
  Real imbalance() const { return work_mean > 0 ? work_max / work_mean : 1; }
};

/// The table of all timers that any rank ran, in order of first use on rank 0, then of the other ranks. A
/// rank that did not run a timer counts as 0 s; a scope that is still open counts up to now. Collective.
std::vector<TimerRow> timer_table(const Comm& comm);
/// One line per row; the share is that of the mean in the sum of the outermost timers; "waits" is the share
/// of waiting in the timer, "uneven" is TimerRow::imbalance().
std::string format_timer_table(const std::vector<TimerRow>& rows);
/// All timers start again from zero, also those of open scopes.
void reset_timers();

}  // namespace scree
