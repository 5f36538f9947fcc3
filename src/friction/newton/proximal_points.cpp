#include "friction/newton/proximal_points.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

constexpr Real share = 0.3;  // of the error of r_k that a solution may leave
constexpr int max_steps = 25;
constexpr Real max_alpha = 100;
constexpr int max_wait = 16;  // rounds

}  // namespace

template <int D>
void ProximalPoints<D>::Settings::describe(Section& section) {
  section.real("alpha", alpha,
               {.range = positive,
                .doc = "Proximal regularisation of the first round, in units of 1 / (effective mass)"});
  section.real("relaxation", relaxation,
               {.range = {.min = 0, .max = 2, .min_open = true, .max_open = true},
                .doc = "Over-relaxation of a round; 1: none"});
  newton.describe(section);
}

template <int D>
bool ProximalPoints<D>::improve(const ScaledProblem<D>& problem, std::int64_t max_rounds, std::span<Real> r,
                                SolveMonitor<D>& monitor) {
  SolveReport& report = monitor.report();
  if (alpha_ >= max_alpha) start_over();
  y_.resize(problem.velocity_size());
  Real min = monitor.check(0, r, y_);
  best_.assign(r.begin(), r.end());
  bool goes_on = true;
  int wait = 0;
  for (std::int64_t round = 1; round <= max_rounds && goes_on && !monitor.done(); ++round) {
    solution_.assign(r.begin(), r.end());
    const int steps = newton_.solve_proximal(problem, alpha_, share, max_steps, solution_, report);
    if (steps < 0) {
      goes_on = !newton_.failed() && alpha_ < max_alpha;
      alpha_ *= 4;
      wait = min_wait_;
      min_wait_ = std::min(2 * min_wait_, max_wait);
      std::copy(best_.begin(), best_.end(), r.begin());
      monitor.check(round, r, y_);  // for its clock
      continue;
    }
    const Real residual = monitor.check(round, solution_, y_);
    if (residual < min) {
      min = residual;
      best_ = solution_;
    }
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += settings_.relaxation * (solution_[i] - r[i]);
    if (wait > 0)
      --wait;
    else if (steps <= 6)
      alpha_ *= steps <= 3 ? 0.2 : 0.5;
  }
  std::copy(best_.begin(), best_.end(), r.begin());
  return goes_on;
}

template class ProximalPoints<2>;
template class ProximalPoints<3>;

}  // namespace scree
