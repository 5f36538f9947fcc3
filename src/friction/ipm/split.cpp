#include "friction/ipm/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/timing.hpp"
#include "friction/cone.hpp"

namespace scree {

namespace {

constexpr Real least_regulariser = 1e-6;
/// Larger ones only shorten steps.
constexpr Real most_regulariser = 1;
/// Newton steps in a row that may fail: descent on the residuals makes no progress by then.
constexpr int most_failed = 10;
/// Smoothing of the second derivative of |r_T|, which eps_p^2 alone would let blow up where sticking contacts
/// carry next to no friction.
constexpr Real least_hessian_p = 1e-6;
/// Share of the distance to a constraint that a step which would violate it keeps.
constexpr Real kept = 0.1;
/// Share of a clipped step that is taken.
constexpr Real taken = 0.99;
constexpr Real sufficient = 1e-4;

std::size_t at(std::size_t contact, int width, int k) {
  return contact * static_cast<std::size_t>(width) + static_cast<std::size_t>(k);
}

}  // namespace

template <int D>
typename ScaledProblem<D>::Scales SplitInteriorPoint<D>::published_scales(const FrictionProblem<D>& problem) {
  if (problem.is_local()) return {};  // no bodies to take means of
  constexpr int q = n_velocities<D>;
  constexpr auto width = static_cast<std::size_t>(ScaledProblem<D>::width);
  const std::vector<Real>& v =
      problem.start_velocity.empty() ? problem.free_velocity : problem.start_velocity;
  // The largest speed at the contacts of a body travels with its active copy through a sweep.
  ScaledProblem<D> unit;
  unit.rebuild(problem, {.mass = 1, .velocity = 1});
  std::vector<Real> fastest(unit.velocity_size(), 0.0);
  unit.run_colours(fastest, [&](Index first, Index last) {
    for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
      Real square = 0;
      const Index body[2] = {problem.a[c], problem.b[c]};
      for (int i = 0; i < D; ++i) {
        Real u = problem.bias[at(c, D, i)];
        for (std::size_t side = 0; side < 2; ++side)
          for (int k = 0; k < q && body[side] >= 0; ++k)
            u += problem.jacobian[at((c * 2 + side) * D + static_cast<std::size_t>(i), q, k)] *
                 v[at(static_cast<std::size_t>(body[side]), q, k)];
        square += u * u;
      }
      for (const Index side : body) {
        if (side < 0) continue;
        Real& most = fastest[static_cast<std::size_t>(side) * width];
        most = std::max(most, std::sqrt(square));
      }
    }
  });

  std::array<Real, 3> sums{};  // trace, mass, mass * speed
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_owned()); ++i) {
    const Real* block = problem.mass.data() + i * q * q;
    for (int k = 0; k < q; ++k) sums[0] += block[k * q + k] / q;
    sums[1] += block[0];
    sums[2] += block[0] * fastest[i * width];
  }
  problem.halo->comm().sum_to_round_off(sums);
  const auto n_bodies = static_cast<Real>(unit.n_bodies_of_all());
  if (n_bodies == 0) return {};
  return {.mass = sums[0] / n_bodies, .velocity = std::max(sums[2] / sums[1], 0.25 * problem.velocity_floor)};
}

template <int D>
void SplitInteriorPoint<D>::Iterate::resize(const ScaledProblem<D>& problem) {
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  r.resize(n * D);
  stationarity.resize(n * D);
  lambda.resize(n * 2);
  c.resize(n * 2);
  y.assign(problem.velocity_size(), 0.0);
  momentum.assign(problem.velocity_size(), 0.0);
}

/// c_T of one contact.
template <int D>
Real SplitInteriorPoint<D>::constraint(const Real* r, Real mu) const {
  return std::hypot(tangential_norm<D>(r), settings_.eps_p) - mu * r[0] - settings_.eps_p - settings_.eps_s;
}

/// Constraints (I.10), residuals (I.12) and the sums that tests and merits need.
template <int D>
void SplitInteriorPoint<D>::evaluate(const ScaledProblem<D>& problem, Iterate& it) const {
  constexpr int q = ScaledProblem<D>::q;
  constexpr int width = ScaledProblem<D>::width;
  it.momentum = problem.free_velocity();
  problem.add_impulse(it.r, it.momentum);
  for (std::size_t k = 0; k < it.y.size(); ++k) it.momentum[k] = it.y[k] - it.momentum[k];

  std::array<Real, 5> sums{};  // momentum, stationarity, lambda c squared, law, -lambda c
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_owned()); ++i)
    for (int k = 0; k < q; ++k) {
      const Real rho = it.momentum[at(i, width, k)];
      sums[0] += rho * rho;
    }
  for (std::size_t c = 0; c < static_cast<std::size_t>(problem.n_contacts()); ++c) {
    const auto& row = problem.contacts()[c];
    const Real* r = it.r.data() + c * D;
    const Real* lambda = it.lambda.data() + c * 2;
    Real u[D];
    problem.relative_velocity(static_cast<Index>(c), it.r, it.y, u);
    it.c[c * 2] = -r[0];
    it.c[c * 2 + 1] = constraint(r, row.mu);

    const Real length = std::hypot(tangential_norm<D>(r), settings_.eps_p);
    Real* rho = it.stationarity.data() + c * D;
    rho[0] = -u[0] + lambda[0];
    for (int k = 1; k < D; ++k) rho[k] = -u[k] - lambda[1] * r[k] / length;
    const Real weight = std::clamp(row.mu * r[0] / (tangential_norm<D>(u) + 1e-8) * row.W[0][0], 1e-3, 1.0);
    sums[1] += rho[0] * rho[0];
    for (int k = 1; k < D; ++k) sums[1] += weight * weight * rho[k] * rho[k];

    for (int k = 0; k < 2; ++k) {
      const Real product = lambda[k] * it.c[at(c, 2, k)];
      sums[2] += product * product;
      sums[4] -= product;
    }

    Real law[D];
    for (int k = 0; k < D; ++k) law[k] = r[k] - u[k];
    law[0] = std::max(law[0], 0.0);
    project_on_disc<D>(law, row.mu * r[0]);
    for (int k = 0; k < D; ++k) sums[3] += (law[k] - r[k]) * (law[k] - r[k]);
  }
  problem.comm().sum_to_round_off(sums);
  it.momentum2 = sums[0];
  it.stationarity2 = sums[1];
  it.product2 = sums[2];
  it.law2 = sums[3];
  it.gap = sums[4] / static_cast<Real>(2 * problem.n_contacts_of_all());
}

template <int D>
Real SplitInteriorPoint<D>::barrier2(const ScaledProblem<D>& problem, const Iterate& it, Real tau) const {
  const auto n = static_cast<Real>(2 * problem.n_contacts_of_all());
  return std::max(it.product2 + n * tau * (tau - 2 * it.gap), 0.0);
}

/// The published start: unit normal impulses, and multipliers of the size of the other residuals.
template <int D>
void SplitInteriorPoint<D>::start(const ScaledProblem<D>& problem) {
  at_.resize(problem);
  trial_.resize(problem);
  std::fill(at_.r.begin(), at_.r.end(), 0.0);
  for (std::size_t c = 0; c < at_.r.size() / D; ++c) at_.r[c * D] = 1;
  std::fill(at_.lambda.begin(), at_.lambda.end(), 1e-2);
  at_.y = problem.free_velocity();
  evaluate(problem, at_);
  const Real others = std::min(at_.momentum2, at_.stationarity2);
  const Real factor = std::min(std::sqrt(others / barrier2(problem, at_, kept * at_.gap)), 10.0);
  if (factor > 0)
    for (Real& lambda : at_.lambda) lambda *= factor;
  evaluate(problem, at_);
}

/// (I.14)-(I.16).
template <int D>
bool SplitInteriorPoint<D>::find_newton_step(const ScaledProblem<D>& problem, SchurSystem<D>& system,
                                             Real tau, Real epsilon, SolveReport& report) {
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  const Real p = settings_.eps_p * settings_.eps_p;
  const Real hessian_p = std::max(p, least_hessian_p);
  std::fill(blocks_.begin(), blocks_.end(), 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    const auto& row = problem.contacts()[c];
    const Real* r = at_.r.data() + c * D;
    const Real* lambda = at_.lambda.data() + c * 2;
    const Real* constraints = at_.c.data() + c * 2;
    const Real* rho = at_.stationarity.data() + c * D;
    const Real slope[2] = {1 / (constraints[0] - epsilon * lambda[0]),
                           1 / (constraints[1] - epsilon * lambda[1])};
    const Real product[2] = {lambda[0] * constraints[0] + tau, lambda[1] * constraints[1] + tau};
    Real* K = blocks_.data() + c * D * D;
    Real* x = x_.data() + c * D;
    K[0] = 1 / (epsilon + row.g[0] - lambda[0] * slope[0]);
    x[0] = K[0] * (rho[0] - product[0] * slope[0]);

    const Real t = tangential_norm<D>(r);
    const Real length = std::hypot(t, settings_.eps_p);
    const Real curved = t * t + hessian_p;
    const Real along = -lambda[1] * slope[1];
    const Real across = lambda[1] / (curved * std::sqrt(curved));
    Real gradient[D] = {};
    for (int k = 1; k < D; ++k) gradient[k] = r[k] / length;
    const Real diagonal = epsilon + row.g[1] + across * hessian_p;
    Real y[D] = {};
    for (int k = 1; k < D; ++k) y[k] = rho[k] + gradient[k] * product[1] * slope[1];
    if constexpr (D == 2) {
      K[3] = 1 / (diagonal + along * gradient[1] * gradient[1]);
      x[1] = K[3] * y[1];
    } else {
      const Real a11 = diagonal + along * gradient[1] * gradient[1] + across * r[2] * r[2];
      const Real a12 = along * gradient[1] * gradient[2] - across * r[1] * r[2];
      const Real a22 = diagonal + along * gradient[2] * gradient[2] + across * r[1] * r[1];
      const Real determinant = a11 * a22 - a12 * a12;
      K[4] = a22 / determinant;
      K[5] = K[7] = -a12 / determinant;
      K[8] = a11 / determinant;
      x[1] = K[4] * y[1] + K[5] * y[2];
      x[2] = K[7] * y[1] + K[8] * y[2];
    }
  }
  // (1 + epsilon) dy + J^T K J dy = -rho_v + J^T K x; x_ holds K x.
  for (std::size_t k = 0; k < rhs_.size(); ++k) rhs_[k] = -at_.momentum[k];
  problem.add_impulse(x_, rhs_);
  system.assemble(blocks_, 1 + epsilon, report);
  if (!system.solve(rhs_, dy_, report)) return false;

  for (std::size_t c = 0; c < n; ++c) {
    Real change[D];
    problem.contacts()[c].relative_velocity(dy_.data(), change);
    const Real* r = at_.r.data() + c * D;
    Real* dr = dr_.data() + c * D;
    for (int i = 0; i < D; ++i) {
      dr[i] = x_[at(c, D, i)];
      for (int j = 0; j < D; ++j) dr[i] -= blocks_[at(c * D + static_cast<std::size_t>(i), D, j)] * change[j];
    }
    const Real length = std::hypot(tangential_norm<D>(r), settings_.eps_p);
    Real growth[2] = {-dr[0], 0};  // of the constraints
    for (int k = 1; k < D; ++k) growth[1] += r[k] / length * dr[k];
    for (int k = 0; k < 2; ++k) {
      const Real lambda = at_.lambda[at(c, 2, k)];
      const Real constraint = at_.c[at(c, 2, k)];
      dlambda_[at(c, 2, k)] =
          -(lambda * growth[k] + lambda * constraint + tau) / (constraint - epsilon * lambda);
    }
  }
  return true;
}

/// Down the residuals themselves; only where no part of the Newton step helps.
template <int D>
void SplitInteriorPoint<D>::find_gradient_step(Real tau) {
  for (std::size_t k = 0; k < dy_.size(); ++k) dy_[k] = -at_.momentum[k];
  dr_ = at_.stationarity;
  for (std::size_t k = 0; k < dlambda_.size(); ++k) dlambda_[k] = at_.lambda[k] * at_.c[k] + tau;
}

/// The trial at this share of the step, each contact moved back inside its constraints.
template <int D>
void SplitInteriorPoint<D>::set_trial(const ScaledProblem<D>& problem, Real length) {
  for (std::size_t k = 0; k < at_.y.size(); ++k) trial_.y[k] = at_.y[k] + taken * length * dy_[k];
  for (std::size_t c = 0; c < static_cast<std::size_t>(problem.n_contacts()); ++c) {
    const Real mu = problem.contacts()[c].mu;
    const Real* old = at_.r.data() + c * D;
    Real clipped[D];
    for (int k = 0; k < D; ++k) clipped[k] = old[k] + length * dr_[at(c, D, k)];
    if (clipped[0] <= 0) clipped[0] = kept * old[0];
    if (constraint(clipped, mu) >= 0) {
      const Real wanted = kept * at_.c[c * 2 + 1] + mu * clipped[0] + settings_.eps_p + settings_.eps_s;
      const Real radius =
          wanted > settings_.eps_p ? std::sqrt((wanted - settings_.eps_p) * (wanted + settings_.eps_p)) : 0;
      project_on_disc<D>(clipped, radius);
    }
    for (int k = 0; k < D; ++k) trial_.r[at(c, D, k)] = old[k] + taken * (clipped[k] - old[k]);
    for (int k = 0; k < 2; ++k) {
      const Real lambda = at_.lambda[at(c, 2, k)];
      const Real next = std::max(lambda + length * dlambda_[at(c, 2, k)], 0.0);
      trial_.lambda[at(c, 2, k)] = lambda + taken * (next - lambda);
    }
  }
}

/// Halves the step until one of the two merits (I.17) falls; takes it then.
template <int D>
bool SplitInteriorPoint<D>::search(const ScaledProblem<D>& problem, Real tau, int halvings, Real& length) {
  const auto barrier_merit = [&](const Iterate& it) {
    return it.momentum2 + it.stationarity2 + barrier2(problem, it, tau);
  };
  const auto law_merit = [](const Iterate& it) { return it.momentum2 + it.law2 + it.product2; };
  length = 1;
  for (int k = 0; k <= halvings; ++k, length *= 0.5) {
    set_trial(problem, length);
    evaluate(problem, trial_);
    const Real enough = 1 - sufficient * length;
    if (barrier_merit(trial_) <= enough * barrier_merit(at_) ||
        law_merit(trial_) <= enough * law_merit(at_)) {
      std::swap(at_, trial_);
      return true;
    }
  }
  return false;
}

/// Checks at_ with the monitor; r gets its impulses in the scales of `problem`.
template <int D>
void SplitInteriorPoint<D>::show(const ScaledProblem<D>& problem, std::int64_t step, std::span<Real> r,
                                 SolveMonitor<D>& monitor, bool keep) {
  scaled_.unscale_impulse(at_.r, r);
  problem.scale_impulse(r, r);
  monitor.check(step, r, y_, keep);
}

template <int D>
auto SplitInteriorPoint<D>::run(const ScaledProblem<D>& problem, SchurSystem<D>& system, std::span<Real> r,
                                SolveMonitor<D>& monitor) -> End {
  SolveReport& report = monitor.report();
  start(scaled_);
  system.set_pattern(scaled_, report);

  const auto n_contacts = static_cast<Real>(problem.n_contacts_of_all());
  const Real n_velocities_of_all = static_cast<Real>(problem.n_bodies_of_all()) * ScaledProblem<D>::q;
  Real regulariser = 1e-4;
  int n_failed = 0;  // searches along Newton steps, one after the other
  for (std::int64_t step = 1;; ++step) {
    Scope timer("ipm step");
    const Real tau = kept * at_.gap;
    const Real barrier = barrier2(scaled_, at_, tau);
    const Real momentum = std::sqrt(at_.momentum2) / n_velocities_of_all;
    first_ = std::max({momentum, std::sqrt(at_.stationarity2) / (D * n_contacts),
                       std::sqrt(barrier) / (2 * n_contacts), at_.gap});
    second_ = std::max(momentum, std::sqrt(at_.law2) / (D * n_contacts));
    // The result is the last iterate, not the best one.
    if (step > 1) show(problem, step - 1, r, monitor, false);
    if (std::min(first_, second_) < settings_.eps_T) return End::published_test;
    if (monitor.done())
      return report.trace.back().residual <= monitor.tolerance() ? End::natural_residual : End::out_of_time;
    if (step > settings_.max_steps) return End::max_steps;

    // (I.13)
    const Real epsilon = regulariser * std::cbrt(at_.momentum2 + at_.stationarity2 + barrier);
    if (!find_newton_step(scaled_, system, tau, epsilon, report)) return End::no_direction;
    ++report.newton_steps;
    Real length = 0;
    const bool found = search(scaled_, tau, 10, length);
    regulariser = found && length == 1 ? std::max(regulariser / 4, least_regulariser)
                                       : std::min(4 * regulariser, most_regulariser);
    n_failed = found ? 0 : n_failed + 1;
    if (found) continue;
    find_gradient_step(tau);
    if (n_failed == most_failed || !search(scaled_, tau, 20, length)) return End::no_progress;
  }
}

template <int D>
void SplitInteriorPoint<D>::iterate(const ScaledProblem<D>& problem, const Settings& settings,
                                    SchurSystem<D>& system, std::span<Real> r, SolveMonitor<D>& monitor) {
  settings_ = settings;
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  dr_.resize(n * D);
  x_.resize(n * D);
  dlambda_.resize(n * 2);
  blocks_.resize(n * D * D);
  dy_.assign(problem.velocity_size(), 0.0);
  rhs_.assign(problem.velocity_size(), 0.0);
  y_.resize(problem.velocity_size());
  // The method ignores the first guess, which may be good enough already.
  monitor.check(0, r, y_, false);
  if (monitor.done()) {
    monitor.check(0, r, y_);
    return;
  }
  scaled_.rebuild(problem.original(), published_scales(problem.original()));
  const End end = run(problem, system, r, monitor);
  SolveReport& report = monitor.report();
  show(problem, report.newton_steps, r, monitor, true);

  const auto words = [&]() -> std::string {
    switch (end) {
      case End::max_steps:
        return "max_steps";
      case End::published_test:
        return "the published test";
      case End::natural_residual:
        return "the natural residual";
      case End::out_of_time:
        return "its time";
      case End::no_direction:
        return "a step without direction (" + system.failure() + ")";
      case End::no_progress:
        break;
    }
    return "lack of progress";
  };
  report.decisions.push_back(fmt::format("ipm split: ended by {} after {} steps; E1 = {:.2e}, E2 = {:.2e}",
                                         words(), report.newton_steps, first_, second_));
}

template class SplitInteriorPoint<2>;
template class SplitInteriorPoint<3>;

}  // namespace scree
