#include "friction/newton/semismooth_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/timing.hpp"
#include "friction/cone.hpp"

namespace scree {

namespace {

// The proximal term, in units of 1 / m_c.
constexpr Real first_proximal = 1e-6;
constexpr Real min_proximal = 1e-10;
constexpr Real max_proximal = 0.1;

constexpr int max_halvings = 7;
// Gives up when so many steps in a row together have not halved the error.
constexpr int max_slow_steps = 12;

}  // namespace

template <int D>
void SemismoothNewton<D>::Settings::describe(Section& section) {
  section.real("penalty", penalty,
               {.range = positive,
                .doc = "Weight of relative velocities in the choice between open, stick and slip, in units "
                       "of the effective mass of a contact"});
  section.integer("max_steps", max_steps, {.range = positive, .doc = "Most Newton steps of an attempt"});
  linear.describe(section);
}

template <int D>
SemismoothNewton<D>::SemismoothNewton(const Settings& settings)
    : settings_(settings), system_(settings.linear, SchurSystem<D>::Kind::general) {}

template <int D>
std::string SemismoothNewton<D>::improve(const ScaledProblem<D>& problem, std::span<Real> r,
                                         SolveMonitor<D>& monitor) {
  Scope timer("newton");
  SolveReport& report = monitor.report();
  start(problem, 0, {}, report);

  monitor.check(0, r, y_);
  Real error = find_projection(problem, r, y_);
  Real eps = first_proximal;
  Real to_halve = error;
  int slow_steps = 0;
  for (std::int64_t step = 1; step <= settings_.max_steps; ++step) {
    if (monitor.done()) return "done";
    linearise(problem, r, eps);
    system_.assemble(blocks_, 1, report);
    const bool solved = find_direction(problem, report);
    ++report.newton_steps;
    Real length = 1;
    const Real trial_error = solved ? search_line(problem, r, error, length) : HUGE_VAL;
    if (!solved || !(trial_error <= error)) {  // also where it is not a number
      failed_ = !solved;
      if (eps >= max_proximal)
        return solved ? "no step shorter than its proximal term lowers the error" : system_.failure();
      eps = std::min(10 * eps, max_proximal);
      find_error(problem, r);
    } else {
      error = trial_error;
      std::copy(trial_.begin(), trial_.end(), r.begin());
      monitor.check(step, r, y_);
      if (length == 1)
        eps = std::max(0.1 * eps, min_proximal);
      else if (length < 0.2)
        eps = std::min(10 * eps, max_proximal);
    }
    if (error <= 0.5 * to_halve) {
      to_halve = error;
      slow_steps = 0;
    } else if (++slow_steps == max_slow_steps) {
      return fmt::format("{} steps in a row have not halved the error", max_slow_steps);
    }
  }
  return monitor.done() ? "done" : fmt::format("the limit of {} steps", settings_.max_steps);
}

template <int D>
int SemismoothNewton<D>::solve_proximal(const ScaledProblem<D>& problem, Real alpha, Real share,
                                        int max_steps, std::span<Real> r, SolveReport& report) {
  Scope timer("newton");
  start(problem, alpha, r, report);
  Real error = find_error(problem, r);
  const Real target = share * error;
  for (int step = 1; step <= max_steps; ++step) {
    linearise(problem, r, 0);
    system_.assemble(blocks_, 1, report);
    ++report.newton_steps;
    failed_ = !find_direction(problem, report);
    if (failed_) return -1;
    Real length = 1;
    const Real trial_error = search_line(problem, r, error, length);
    if (!(trial_error <= error)) return -1;
    error = trial_error;
    std::copy(trial_.begin(), trial_.end(), r.begin());
    if (error <= target) return step;
  }
  return -1;
}

template <int D>
void SemismoothNewton<D>::start(const ScaledProblem<D>& problem, Real alpha, std::span<const Real> centre,
                                SolveReport& report) {
  failed_ = false;
  alpha_ = alpha;
  centre_.assign(centre.begin(), centre.end());
  const auto& rows = problem.contacts();
  effective_mass_.resize(rows.size());
  for (std::size_t c = 0; c < rows.size(); ++c) effective_mass_[c] = rows[c].effective_mass();
  for (auto* impulses : {&u_, &x_, &change_, &trial_}) impulses->resize(problem.impulse_size());
  for (auto* velocities : {&y_, &dy_, &right_}) velocities->resize(problem.velocity_size());
  blocks_.resize(problem.impulse_size() * D);
  system_.set_pattern(problem, report);
}

template <int D>
Real SemismoothNewton<D>::find_error(const ScaledProblem<D>& problem, std::span<const Real> r) {
  y_ = problem.free_velocity();
  problem.add_impulse(r, y_);
  return find_projection(problem, r, y_);
}

template <int D>
Real SemismoothNewton<D>::search_line(const ScaledProblem<D>& problem, std::span<const Real> r, Real error,
                                      Real& length) {
  Real trial_error = HUGE_VAL;
  length = 1;
  for (int halving = 0; halving <= max_halvings; ++halving, length *= 0.5) {
    for (std::size_t i = 0; i < r.size(); ++i) trial_[i] = r[i] + length * change_[i];
    trial_error = find_error(problem, trial_);
    if (trial_error <= (1 - 1e-3 * length) * error) break;
  }
  return trial_error;
}

/// u of all contacts (W.1); returns |r - p|. Collective.
template <int D>
Real SemismoothNewton<D>::find_projection(const ScaledProblem<D>& problem, std::span<const Real> r,
                                          std::span<const Real> y) {
  std::array<Real, 1> square{0};
  for (Index c = 0; c < problem.n_contacts(); ++c) {
    const auto at = static_cast<std::size_t>(c) * D;
    const Real R = settings_.penalty * effective_mass_[c];
    Real p[D];
    problem.relative_velocity(c, r, y, u_.data() + at);
    if (alpha_ > 0)
      for (std::size_t i = 0; i < D; ++i)
        u_[at + i] += alpha_ / effective_mass_[c] * (r[at + i] - centre_[at + i]);
    for (std::size_t i = 0; i < D; ++i) p[i] = r[at + i] - R * u_[at + i];
    p[0] = std::max(p[0], 0.0);
    project_on_disc<D>(p, problem.contacts()[c].mu * p[0]);
    for (std::size_t i = 0; i < D; ++i) square[0] += (r[at + i] - p[i]) * (r[at + i] - p[i]);
  }
  problem.comm().sum_to_round_off(square);
  return std::sqrt(square[0]);
}

/// K and x of (W.4) at r, whose u is known. Local.
template <int D>
void SemismoothNewton<D>::linearise(const ScaledProblem<D>& problem, std::span<const Real> r, Real eps) {
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    const auto& row = problem.contacts()[c];
    const Real R = settings_.penalty * effective_mass_[c];
    const Real soft_n = row.g[0] + (alpha_ + eps) / effective_mass_[c];
    const Real soft_t = row.g[1] + (alpha_ + eps) / effective_mass_[c];
    const Real* u = u_.data() + c * D;
    const Real* old = r.data() + c * D;
    Real* x = x_.data() + c * D;
    Real* K = blocks_.data() + c * D * D;

    const Real z_n = old[0] - R * u[0];
    if (z_n <= 0) {  // open: the impulse vanishes
      for (int i = 0; i < D; ++i) x[i] = -old[i];
      continue;
    }
    x[0] = -u[0] / soft_n;
    K[0] = 1 / soft_n;
    Real z[D];
    for (int i = 0; i < D; ++i) z[i] = old[i] - R * u[i];
    const Real length = tangential_norm<D>(z);
    const Real bound = row.mu * z_n;
    if (length <= bound && bound > 0) {  // stick: the relative velocity vanishes
      for (int i = 1; i < D; ++i) {
        x[i] = -u[i] / soft_t;
        K[i * D + i] = 1 / soft_t;
      }
      continue;
    }
    // Slip: along e = z_T / |z_T| the impulse follows mu times the normal one; across, the disc is round
    // and leaves the share s = mu z_N / |z_T| of a change of z_T.
    Real e[D] = {};
    if (length > 0)
      for (int i = 1; i < D; ++i) e[i] = z[i] / length;
    const Real share = length > 0 ? bound / length : 0;
    const Real across = 1 / (1 - share + share * R * soft_t);
    const Real wanted = row.mu * (old[0] + x[0]);
    Real along = 0;
    for (int i = 1; i < D; ++i) along += e[i] * (wanted * e[i] - old[i]);
    for (int i = 1; i < D; ++i) {
      const Real rest = wanted * e[i] - old[i] - along * e[i];
      x[i] = along * e[i] + across * rest;
      K[i * D] = row.mu * e[i] / soft_n;
      for (int j = 1; j < D; ++j) K[i * D + j] = R * share * across * ((i == j ? 1 : 0) - e[i] * e[j]);
    }
  }
}

/// dy of (W.3), then dr (`change_`) contact by contact. False if the linear system could not be solved.
/// Collective.
template <int D>
bool SemismoothNewton<D>::find_direction(const ScaledProblem<D>& problem, SolveReport& report) {
  std::fill(right_.begin(), right_.end(), 0.0);
  problem.add_impulse(x_, right_);
  if (!system_.solve(right_, dy_, report)) return false;
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    const auto& row = problem.contacts()[c];
    Real du[D];
    row.relative_velocity(dy_.data(), du);
    for (std::size_t i = 0; i < D; ++i) {
      Real change = x_[c * D + i];
      for (std::size_t j = 0; j < D; ++j) change -= blocks_[(c * D + i) * D + j] * du[j];
      change_[c * D + i] = change;
    }
  }
  return true;
}

template class SemismoothNewton<2>;
template class SemismoothNewton<3>;

}  // namespace scree
