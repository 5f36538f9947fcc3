#include "contact/elastic_contact.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "contact/compliance.hpp"

namespace scree {

namespace {

constexpr Real tiny = 1e-200;           // what a spring without effect takes of a velocity
constexpr Real nearly_critical = 1e-9;  // of |1 - beta^2|, below which the critical solution is as exact

/// t_e of ImpactDamping.
Real duration_of_impact(Real share) {
  const Real square = 1 - share * share;
  if (std::abs(square) < nearly_critical) return 2;
  const Real omega = std::sqrt(std::abs(square));
  const Real far = 2 * share * share - 1;
  return square > 0 ? std::atan2(2 * share * omega, far) / omega
                    : std::atanh(2 * share * omega / far) / omega;
}

}  // namespace

ImpactDamping impact_damping(Real restitution) {
  constexpr Real max_share = 100;
  const auto of_share = [](Real share) {
    const Real duration = duration_of_impact(share);
    return ImpactDamping{share, duration, std::exp(-share * duration)};
  };
  if (restitution >= 1) return {0, std::numbers::pi, 1};
  if (of_share(max_share).restitution > restitution) return of_share(max_share);
  Real low = 0, high = max_share;
  for (int i = 0; i < 100; ++i) {
    const Real middle = (low + high) / 2;
    (of_share(middle).restitution > restitution ? low : high) = middle;
  }
  return of_share((low + high) / 2);
}

SpringStep::SpringStep(Real stiffness, Real inverse_mass, Real damping_share, Real dt)
    : dt_(dt),
      inverse_mass_(inverse_mass),
      share_(damping_share),
      angle_(std::sqrt(stiffness * inverse_mass) * dt),
      phase_(2 * std::atan(angle_ / 2)),
      lag_(dt / 2),
      unit_stretch_(dt / angle_) {
  const Real square_of_angle = std::max(angle_ * angle_, tiny);
  if (too_stiff()) {
    taken_ = square_of_angle / (1 + square_of_angle);
    compliance_ = compliance_of_stiffness(stiffness, dt);
    stretch_ = 1 / dt;
    speed_ = lag_ = 0;
    return;
  }
  const Wave end = wave(phase_);
  const Real decayed = decay(phase_);
  // |1 - exp(-beta psi +- i psi sqrt(1 - beta^2))|^2, from parts that do not cancel. Rounding must not make
  // it more than without damping.
  const Real square = 1 - share_ * share_;
  const Real half_sine = wave(phase_ / 2).sine;
  const Real lost = -std::expm1(-share_ * phase_);
  const Real turned = lost * lost + 4 * decayed * square * half_sine * half_sine;
  const Real without_damping = square_of_angle / 4 / (1 + square_of_angle / 4);
  taken_ = share_ == 0 ? without_damping : std::max(1 - turned / square_of_angle, without_damping);
  compliance_ = inverse_mass_ * (1 - taken_) / taken_;
  stretch_ = compliance_ * stiffness * dt;
  speed_ = (-std::expm1(-2 * share_ * phase_) - taken_) / taken_;
  // The oscillator that the steps sample.
  const Real speed_kept = decayed * (end.cosine + share_ * end.sine);  // overlap kept by a start at rest
  const Real turn = decayed * end.sine;
  constexpr Real short_step = 1e-5;  // below which the limit is as exact
  if (phase_ < short_step) return;
  const Real share_of_step = turn * turn / (1 - speed_kept) - speed_kept + 2 * share_ * turn;
  lag_ = dt * share_of_step / (1 + share_of_step);
  unit_stretch_ = (dt - lag_) * turn / (1 - speed_kept);
}

SpringStep::Wave SpringStep::wave(Real phase) const {
  const Real square = 1 - share_ * share_;
  if (std::abs(square) < nearly_critical) return {1, phase};
  const Real omega = std::sqrt(std::abs(square));
  if (square > 0) return {std::cos(omega * phase), std::sin(omega * phase) / omega};
  return {std::cosh(omega * phase), std::sinh(omega * phase) / omega};
}

Real SpringStep::decay(Real phase) const {
  return std::exp(-share_ * phase);
}

/// The line on which the contact, left to itself, ends the step with `own_end_speed`.
ContactLine SpringStep::through(Real own_end_speed, Real u) const {
  return {compliance_, ((1 - taken_) * u - own_end_speed) / taken_};
}

/// Phase of the oscillator at the end of a step in which the contact begins, gap / -u being given [s].
Real SpringStep::phase_at_end_of_entry(Real gap_over_speed) const {
  // exp(-beta t) (p cos + q sin) falls from dt - lag at 0 to -lag at psi.
  const Real square = 1 - share_ * share_;
  const Real p = dt_ - lag_;
  const Real q = -unit_stretch_ - p * share_;
  Real low = 0, high = phase_;
  Real phase = phase_ * std::clamp((p - gap_over_speed) / dt_, 0.0, 1.0);
  for (int i = 0; i < 60; ++i) {
    const Wave at = wave(phase);
    const Real kept = decay(phase);
    const Real value = kept * (p * at.cosine + q * at.sine) - gap_over_speed;
    (value > 0 ? low : high) = phase;
    const Real slope = kept * ((q - share_ * p) * at.cosine - (square * p + share_ * q) * at.sine);
    const Real newton = slope < 0 ? phase - value / slope : low;
    const Real next = newton > low && newton < high ? newton : (low + high) / 2;
    if (std::abs(next - phase) <= 1e-15 * phase_) break;
    phase = next;
  }
  return phase;
}

ContactLine SpringStep::unilateral(const ImpactDamping& damping, const Contact& contact) const {
  const Real gap = contact.gap, u = contact.speed, load = contact.load;
  if (too_stiff()) {
    const bool impact = u < -contact.rest_speed && gap + dt_ * u <= 0;
    return impact ? through(-damping.restitution * u, u) : bilateral(gap, u);
  }
  const Real overlap = -(gap - lag_ * u) / unit_stretch_;  // of the oscillator, as a velocity
  if (overlap <= 0) {
    const Real opens = gap / (dt_ - lag_);
    // Closes within the step, if at all, by what other contacts do: it may, but no more.
    if (u >= 0 || opens >= -u) return {compliance_, opens};
    const Real phase = phase_at_end_of_entry(gap / -u);
    const Wave at = wave(phase);
    return through(u * decay(phase) * (at.cosine - share_ * at.sine), u);
  }
  const ContactLine goes_on = bilateral(gap, u);
  if (!contact.may_end) return goes_on;
  // Where on the path of a single impact the contact is, and the speed with which that began.
  const Real square = 1 - share_ * share_;
  const Real sum = -u + share_ * overlap;
  Real phase = 0, amplitude = 0;
  if (std::abs(square) < nearly_critical) {
    if (sum <= 0) return goes_on;
    phase = overlap / sum;
    amplitude = sum;
  } else {
    const Real omega = std::sqrt(std::abs(square));
    if (square < 0 && sum <= omega * overlap) return goes_on;
    phase = (square > 0 ? std::atan2(omega * overlap, sum) : std::atanh(omega * overlap / sum)) / omega;
    amplitude = std::sqrt(sum * sum + square * overlap * overlap);
  }
  if (phase + phase_ < damping.duration || phase >= damping.duration) return goes_on;
  const Real leaves = damping.restitution * amplitude * std::exp(share_ * phase);
  // What it gives back, over W/2, if nothing else acts.
  const Real released = leaves * leaves - u * u;
  if (released <= 0) return through(leaves, u);
  // With the load it leaves with the speed v, (v - u - load) (v + u) = released.
  const Real speed = 0.5 * (load + std::hypot(load + 2 * u, 2 * std::sqrt(released)));
  // The load holds it if the force is not 0 at the end.
  constexpr Real rounding = 1e-9;
  const Real overlap_without_force = 2 * share_ * speed * unit_stretch_;
  if (-gap > (1 + rounding) * ((dt_ - lag_) * speed + overlap_without_force)) return goes_on;
  // What leaves so slowly comes back within the step.
  if (2 * speed < -load) return goes_on;
  // The tangent to the curve of that energy: other contacts never draw more from it.
  const Real mean_of_both = speed + u;
  const Real compliance = std::max(compliance_, inverse_mass_ * mean_of_both * mean_of_both / released);
  return {compliance, -speed - compliance * released / (inverse_mass_ * mean_of_both)};
}

Real SpringStep::share_after_begin(Real gap, Real speed, Real end_speed) const {
  constexpr Real least = 0.01;
  const Real free = gap - lag_ * speed;  // of the oscillator
  if (free <= 0) return 1;
  const Real fastest = std::min(speed, end_speed);
  return fastest < 0 ? std::max(least, 1 + free / (fastest * dt_)) : least;
}

/// What a contact that begins with the speed 1 loses of it in this phase.
Real SpringStep::lost_speed(Real phase) const {
  const Real half_sine = wave(phase / 2).sine, square = 1 - share_ * share_;
  return std::max(-std::expm1(-share_ * phase) +
                      decay(phase) * (2 * square * half_sine * half_sine + share_ * wave(phase).sine),
                  tiny);
}

ContactLine SpringStep::begun(Real share, Real u) const {
  const Real lost = lost_speed(share * phase_);
  return {inverse_mass_ * (2 - lost) / lost, u};
}

Real SpringStep::stored_share(Real share) const {
  const Real lost = lost_speed(share * phase_), overlap = decay(share * phase_) * wave(share * phase_).sine;
  return std::min(1.0, overlap * overlap / (lost * (2 - lost)));
}

}  // namespace scree
