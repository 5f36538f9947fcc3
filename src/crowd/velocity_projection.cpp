#include "crowd/velocity_projection.hpp"

#include <algorithm>
#include <cmath>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/contact_rows.hpp"

namespace scree {

namespace {
/// Sweeps between two questions whether all ranks are done: few at first, then a fifth of those done.
std::int64_t next_check(std::int64_t sweeps) {
  return sweeps + std::clamp<std::int64_t>(sweeps / 5, 1, 20);
}
/// Over-relaxation of a sweep (docs/method.md, eq. P.7): little suffices where little presses; in long chains
/// of contacts the error that is left is smooth, and the best value comes near 2 with the length of the
/// chain.
Real relaxation_of(std::int64_t sweep, Real first) {
  constexpr Real sweeps_to_half = 20;
  constexpr Real min_distance = 0.04;  // from 2, where sweeps no longer converge
  const Real distance = (2 - first) / (1 + static_cast<Real>(sweep) / sweeps_to_half);
  return 2 - std::max(distance, std::min(min_distance, 2 - first));
}
}  // namespace

VelocityProjection::Report VelocityProjection::solve(BodyHalo& halo, const NearContacts& contacts, Real dt,
                                                     const Settings& settings, std::span<Vec<2>> velocity,
                                                     std::span<Real> multiplier,
                                                     std::span<const Real> mobility) {
  Scope timer("projection");
  Report report;
  report.n_contacts = halo.comm().sum(static_cast<std::int64_t>(contacts.size()));
  load(halo, contacts, dt, velocity, multiplier, mobility);
  apply_multipliers(halo, contacts);
  const Real tolerance = settings.tolerance / dt;
  std::int64_t check = 2;
  while (report.n_contacts > 0 && report.sweeps < settings.max_sweeps) {
    const Real met = sweep(halo, contacts, relaxation_of(report.sweeps, settings.relaxation));
    ++report.sweeps;
    if (report.sweeps < check && report.sweeps < settings.max_sweeps) continue;
    check = next_check(report.sweeps);
    // What a sweep meets is the residual at many moments: small, it asks for a judgement at one.
    if (halo.comm().max(met) > tolerance) continue;
    apply_multipliers(halo, contacts);
    evaluate(halo, dt, report);
    if (report.residual <= settings.tolerance) break;
  }
  apply_multipliers(halo, contacts);
  evaluate(halo, dt, report);
  report.converged = report.residual <= settings.tolerance;
  std::copy_n(velocity_.begin(), n_local_, velocity.begin());
  for (std::size_t c = 0; c < rows_.size(); ++c) multiplier[c] = rows_[c].multiplier;
  return report;
}

void VelocityProjection::load(const BodyHalo& halo, const NearContacts& contacts, Real dt,
                              std::span<const Vec<2>> velocity, std::span<const Real> multiplier,
                              std::span<const Real> mobility) {
  n_local_ = static_cast<std::size_t>(halo.n_local());
  desired_.assign(velocity.begin(), velocity.end());
  desired_.resize(n_local_ + 1);
  desired_[n_local_] = {};
  velocity_.resize(n_local_ + 1);
  rows_.resize(contacts.size());
  for (std::size_t c = 0; c < rows_.size(); ++c) {
    const bool is_wall = contacts.b[c] < 0;
    rows_[c] = {.a = contacts.a[c],
                .b = is_wall ? halo.n_local() : contacts.b[c],
                .normal = {contacts.normal[c][0], contacts.normal[c][1]},
                .bias = contacts.gap[c] / dt + contacts.wall_speed[c],
                .to_a = 1,
                .to_b = is_wall ? 0.0F : 1.0F,
                .multiplier = multiplier[c]};
    if (mobility.empty()) continue;
    Row& row = rows_[c];
    const auto moves = [&](Index body) { return mobility[body] != 0 ? 1.0F : 0.0F; };
    row.to_a = moves(row.a);
    if (!is_wall) row.to_b = moves(row.b);
    if (row.to_a + row.to_b > 0) continue;
    row.bias = HUGE_VAL;  // nothing can part them
    row.multiplier = 0;
  }
}

/// V = U + the multipliers, added up in the order of a sweep; without the round-off that updates leave.
void VelocityProjection::apply_multipliers(BodyHalo& halo, const NearContacts& contacts) {
  std::copy(desired_.begin(), desired_.end(), velocity_.begin());
  run_sweep_colours(halo, contacts.colour_first, contacts.interior_first, numbers(), 2,
                    [&](Index first, Index last) {
                      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
                        const Row& row = rows_[c];
                        if (row.multiplier == 0) continue;
                        Vec<2>& of_a = velocity_[row.a];
                        Vec<2>& of_b = velocity_[row.b];
                        for (int k = 0; k < 2; ++k) {
                          of_a[k] -= row.to_a * row.multiplier * row.normal[k];
                          of_b[k] += row.to_b * row.multiplier * row.normal[k];
                        }
                      }
                    });
  halo.copy_to_ghosts(numbers(), 2);
}

/// One sweep after apply_multipliers(), which leaves ghosts current, or after another; velocities are then
/// not those of the owners until it comes again. Returns the largest |min(l, u)| that contacts of this rank
/// had right before their turn [m/s].
Real VelocityProjection::sweep(BodyHalo& halo, const NearContacts& contacts, Real relaxation) {
  Real met = 0;
  const auto project = [&](Index first, Index last) {
    for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
      Row& row = rows_[c];
      Real* of_a = velocity_[row.a].component.data();
      Real* of_b = velocity_[row.b].component.data();
      const Real u = row.bias + row.normal[0] * (of_b[0] - of_a[0]) + row.normal[1] * (of_b[1] - of_a[1]);
      if (u >= 0 && row.multiplier == 0) continue;
      met = std::max(met, std::abs(std::min(row.multiplier, u)));
      const Real next = std::max(row.multiplier - relaxation / (row.to_a + row.to_b) * u, 0.0);
      const Real change = next - row.multiplier;
      row.multiplier = next;
      of_a[0] -= row.to_a * change * row.normal[0];
      of_a[1] -= row.to_a * change * row.normal[1];
      of_b[0] += row.to_b * change * row.normal[0];
      of_b[1] += row.to_b * change * row.normal[1];
    }
  };
  run_sweep_colours(halo, contacts.colour_first, contacts.interior_first, numbers(), 2, project,
                    {.first = false, .last = false});
  return met;
}

/// Fills in what the present velocities and multipliers are worth.
void VelocityProjection::evaluate(BodyHalo& halo, Real dt, Report& report) const {
  Real worst[3] = {0, -HUGE_VAL, 0};  // residual, -gap, speed squared
  for (const Row& row : rows_) {
    const Vec<2>& of_a = velocity_[row.a];
    const Vec<2>& of_b = velocity_[row.b];
    const Real u = row.bias + row.normal[0] * (of_b[0] - of_a[0]) + row.normal[1] * (of_b[1] - of_a[1]);
    worst[0] = std::max(worst[0], std::abs(std::min(row.multiplier, u)));
    worst[1] = std::max(worst[1], -u);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()); ++i)
    worst[2] = std::max(worst[2], dot(velocity_[i], velocity_[i]));
  halo.comm().max(worst);
  report.residual = worst[0] * dt;
  report.min_gap = -worst[1] * dt;
  report.fastest = std::sqrt(worst[2]);
}

VelocityProjection::Report VelocityProjection::solve(BodyHalo& halo, const NearContacts& contacts, Real dt,
                                                     const Settings& settings, std::span<const GlobalId> ids,
                                                     FrictionSolver<2>& solver, const StopRule& stop,
                                                     std::span<Vec<2>> velocity, std::span<Real> multiplier) {
  constexpr std::size_t q = FrictionProblem<2>::q;
  Scope timer("projection");
  load(halo, contacts, dt, velocity, multiplier, {});
  problem_.halo = &halo;
  problem_.body_id.assign(ids.begin(), ids.end());
  problem_.mass.assign(n_local_ * q * q, 0.0);
  problem_.free_velocity.assign(n_local_ * q, 0.0);
  for (std::size_t i = 0; i < n_local_; ++i) {
    for (std::size_t k = 0; k < q; ++k) problem_.mass[(i * q + k) * q + k] = 1;
    for (std::size_t k = 0; k < 2; ++k) problem_.free_velocity[i * q + k] = desired_[i][static_cast<int>(k)];
  }
  halo.copy_to_ghosts(problem_.free_velocity, q);
  const std::size_t n = contacts.size();
  copy_into(contacts.a, problem_.a);
  copy_into(contacts.b, problem_.b);
  problem_.colour_first = contacts.colour_first;
  problem_.interior_first = contacts.interior_first;
  problem_.frame.resize(n);
  reset(problem_.bias, n * 2);
  reset(problem_.arm, n * 2);  // nobody turns
  reset(problem_.mu, n);
  problem_.compliance.clear();
  problem_.time_step = dt;
  Real fastest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()); ++i)
    fastest = std::max(fastest, dot(desired_[i], desired_[i]));
  problem_.velocity_floor = std::max(std::sqrt(halo.comm().max(fastest)), settings.tolerance / dt);
  reset(impulse_, n * 2);
  for (std::size_t c = 0; c < n; ++c) {
    problem_.frame[c] = contact_frame<2>(contacts.normal[c]);
    problem_.bias[c * 2] = rows_[c].bias;
    impulse_[c * 2] = multiplier[c];
  }
  solved_.resize(n_local_ * q);
  Report report;
  report.n_contacts = halo.comm().sum(static_cast<std::int64_t>(n));
  // The solver stops by a mean over contacts that has no unit, the step asks for the worst contact in metres.
  constexpr Real min_tolerance = 1e-15;
  StopRule strict = stop;
  strict.tolerance = std::min(stop.tolerance, settings.tolerance / dt / problem_.velocity_floor);
  while (true) {
    const SolveReport& solved = friction_.run(problem_, solver, strict, impulse_, solved_);
    for (std::size_t c = 0; c < n; ++c) rows_[c].multiplier = multiplier[c] = std::max(impulse_[c * 2], 0.0);
    apply_multipliers(halo, contacts);
    report.sweeps += solved.sweeps + solved.iterations + solved.newton_steps;
    evaluate(halo, dt, report);
    report.converged = report.residual <= settings.tolerance;
    if (report.converged || !solved.converged || strict.tolerance <= min_tolerance) break;
    strict.tolerance *= std::min(0.1, 0.3 * settings.tolerance / report.residual);
  }
  std::copy_n(velocity_.begin(), n_local_, velocity.begin());
  return report;
}

}  // namespace scree
