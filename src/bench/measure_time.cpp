#include "bench/measure_time.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace scree {

namespace {
Real seconds_on(TimeKind kind) {
  if (kind == TimeKind::wall) return MPI_Wtime();
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<Real>(now.tv_sec) + 1e-9 * static_cast<Real>(now.tv_nsec);
}

/// Seconds that n calls take on the slowest rank. Without anything between them the clock is read twice only:
/// calls may be short.
Real seconds_of_calls(const Comm& comm, TimeKind kind, int n, const std::function<void()>& work,
                      const std::function<void()>& after) {
  if (!after)
    return seconds_of_call(comm, kind, [&] {
      for (int i = 0; i < n; ++i) work();
    });
  comm.barrier();
  Real seconds = 0;
  for (int i = 0; i < n; ++i) {
    const Real start = seconds_on(kind);
    work();
    seconds += seconds_on(kind) - start;
    after();
  }
  return comm.max(seconds);
}
}  // namespace

Real seconds_of_call(const Comm& comm, TimeKind kind, const std::function<void()>& work) {
  comm.barrier();
  const Real start = seconds_on(kind);
  work();
  return comm.max(seconds_on(kind) - start);
}

Timing timing_of(std::vector<Real> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const Real median = seconds[seconds.size() / 2];
  return {median, median > 0 ? (seconds.back() - seconds.front()) / median : 0};
}

Timing measure_time(const Comm& comm, int repetitions, Real seconds, const std::function<void()>& work,
                    TimeKind kind, const std::function<void()>& after) {
  const auto run = [&](int n) { return seconds_of_calls(comm, kind, n, work, after); };
  int calls = 1;
  while (run(calls) < seconds && calls < (1 << 20)) calls *= 2;
  std::vector<Real> times;
  for (int r = 0; r < repetitions; ++r) times.push_back(run(calls) / calls);
  return timing_of(std::move(times));
}

Timing measure_windows(const Comm& comm, int windows, int steps, const std::function<void()>& step,
                       const std::function<void()>& after) {
  std::vector<Real> seconds;
  for (int window = 0; window < windows; ++window)
    seconds.push_back(seconds_of_calls(comm, TimeKind::processor, steps, step, after) / steps);
  return timing_of(std::move(seconds));
}

Real seconds_of(const std::vector<TimerRow>& rows, std::string_view name) {
  Real sum = 0;
  for (const TimerRow& row : rows)
    if (row.name == name) sum += row.mean;
  return sum;
}

Real triad_rate(const Comm& comm) {
  constexpr std::size_t n = std::size_t{1} << 24;  // 128 MiB an array
  std::vector<Real> a(n), b(n, 1.0), c(n, 2.0);
  const Real s = 3;
  const Timing timing = measure_time(comm, 5, 0.02, [&] {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
    b[0] = a[n - 1];
  });
  return 3.0 * sizeof(Real) * static_cast<Real>(n) / timing.median;
}

}  // namespace scree
