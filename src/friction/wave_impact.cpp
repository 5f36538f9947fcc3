#include "friction/wave_impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/reset.hpp"

namespace scree {

namespace {

template <int q>
Real product(const Real* row, const Real* velocity) {
  Real sum = 0;
  for (int k = 0; k < q; ++k) sum += row[k] * velocity[k];
  return sum;
}

/// x^h, fast for Hertz and springs.
Real power(Real x, Real h) {
  if (h == 1.5) return x * std::sqrt(x);
  return h == 1 ? x : std::pow(x, h);
}

}  // namespace

Real ContactEnergy::take(Real impulse) {
  Real taken = 0;
  if (speed < 0) {  // until it turns
    taken = std::min(impulse, -speed / inverse_mass);
    energy -= taken * (speed + 0.5 * inverse_mass * taken);
    if (taken == impulse) return taken;
  }
  const Real u = std::max(speed, 0.0);
  const Real left = impulse - taken, stored = restitution * restitution * energy;
  const Real work = left * (u + 0.5 * inverse_mass * left);
  if (work < stored) {
    energy -= work / (restitution * restitution);
    return impulse;
  }
  energy = 0;
  // dp (u + W dp/2) = e^2 E
  const Real root = u + std::sqrt(u * u + 2 * inverse_mass * stored);
  return root > 0 ? taken + 2 * stored / root : taken;
}

template <int D>
bool WaveImpact<D>::run(const WaveRules& rules, std::span<WaveContact<D>> contacts,
                        std::span<Real> velocity) {
  contacts_ = contacts;
  velocity_ = velocity;
  n_steps_ = 0;
  if (std::ranges::all_of(contacts, [](const auto& contact) { return contact.restitution == 0; }))
    return false;
  start(rules);
  const std::int64_t max_steps = std::int64_t{200} * rules.resolution;
  for (; n_steps_ < max_steps; ++n_steps_) {
    const Real half = 0.5 * duration();
    if (half == 0) return true;
    for (std::size_t k = 0; k < reached_.size(); ++k) press(reached_[k], half);
    for (std::size_t k = reached_.size(); k > 0; --k) press(reached_[k - 1], half);
  }
  return duration() == 0;
}

template <int D>
void WaveImpact<D>::start(const WaveRules& rules) {
  constexpr Real round_off = 1e-9;
  elasticity_ = rules.elasticity;
  find_contacts_of_bodies();
  reset(is_moved_, velocity_.size() / q);
  reset(springs_, contacts_.size());
  reached_.clear();
  Real largest = 0, fastest = 0;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    prepare(contacts_[c], springs_[c]);
    const Real approach = -speed(contacts_[c], 0);
    if (approach <= rules.rest_speed) continue;
    reach(c);
    largest = std::max(largest, approach / springs_[c].inverse_mass);
    fastest = std::max(fastest, approach);
  }
  step_ = largest / rules.resolution;
  rest_speed_ = std::max(rules.rest_speed, round_off * fastest);
}

template <int D>
void WaveImpact<D>::find_contacts_of_bodies() {
  const std::size_t n_bodies = velocity_.size() / q;
  reset(first_of_, n_bodies + 2);
  const auto for_each_end = [&](auto&& f) {
    for (std::size_t c = 0; c < contacts_.size(); ++c)
      for (const int body : contacts_[c].body)
        if (body >= 0) f(c, static_cast<std::size_t>(body));
  };
  for_each_end([&](std::size_t, std::size_t body) { ++first_of_[body + 2]; });
  for (std::size_t i = 2; i < first_of_.size(); ++i) first_of_[i] += first_of_[i - 1];
  contacts_of_.resize(first_of_.back());
  for_each_end([&](std::size_t c, std::size_t body) { contacts_of_[first_of_[body + 1]++] = c; });
}

template <int D>
void WaveImpact<D>::prepare(const WaveContact<D>& contact, Spring& spring) const {
  for (std::size_t side = 0; side < 2; ++side) {
    if (contact.body[side] < 0) continue;
    const Real *row = contact.rows[side].data(), *move = contact.moves[side].data();
    spring.inverse_mass += product<q>(row, move);
    // At least the largest eigenvalue of the tangential block; the block's own where it is a number.
    Real greatest = 0;
    for (int i = 1; i < D; ++i) {
      Real sum = 0;
      for (int j = 1; j < D; ++j) sum += std::abs(product<q>(row + i * q, move + j * q));
      greatest = std::max(greatest, sum);
    }
    spring.inverse_mass_along += greatest;
  }
  // E = K d^(h+1)/(h+1)
  spring.depth = std::pow((elasticity_ + 1) / contact.stiffness, 1 / (elasticity_ + 1));
  spring.force = contact.stiffness * power(spring.depth, elasticity_);
}

/// Velocity along N, T1[, T2] at the contact.
template <int D>
Real WaveImpact<D>::speed(const WaveContact<D>& contact, std::size_t row) const {
  Real speed = contact.obstacle[row];
  for (std::size_t side = 0; side < 2; ++side)
    if (contact.body[side] >= 0)
      speed += product<q>(&contact.rows[side][row * q],
                          &velocity_[static_cast<std::size_t>(contact.body[side]) * q]);
  return speed;
}

template <int D>
void WaveImpact<D>::reach(std::size_t c) {
  if (springs_[c].is_reached) return;
  springs_[c].is_reached = true;
  reached_.push_back(c);
}

/// Of the next sub-step, in which the contact that presses most gets at most the impulse of a sub-step, and
/// as much as it has left to give. 0: all energy is given back and nothing approaches any more.
template <int D>
Real WaveImpact<D>::duration() {
  constexpr Real least = 1e-6;  // of the impulse
  Real greatest = 0, impulse = step_;
  for (const std::size_t c : reached_) {
    Spring& spring = springs_[c];
    const Real u = speed(contacts_[c], 0), e = contacts_[c].restitution;
    if (e == 0 && u >= 0) spring.energy = 0;
    if (spring.energy == 0 && u >= -rest_speed_) continue;
    const Real at_half = spring.energy + 0.5 * step_ * std::max(-u, 0.0);
    const Real force = spring.force * std::pow(at_half, elasticity_ / (elasticity_ + 1));
    if (force <= greatest) continue;
    greatest = force;
    impulse = step_;
    if (u > 0) impulse = std::clamp(e * e * spring.energy / u, least * step_, step_);
  }
  return greatest > 0 ? impulse / greatest : 0;
}

/// What the contact's spring does in this duration while others wait, with its force at half of it.
template <int D>
void WaveImpact<D>::press(std::size_t c, Real duration) {
  WaveContact<D>& contact = contacts_[c];
  Spring& spring = springs_[c];
  const Real u = speed(contact, 0);
  if (spring.energy == 0 && u >= -rest_speed_) return;
  const Real depth = spring.depth * std::pow(spring.energy, 1 / (elasticity_ + 1)) - 0.5 * duration * u;
  ContactEnergy path{spring.energy, u, spring.inverse_mass, contact.restitution};
  const Real impulse = path.take(depth > 0 ? duration * contact.stiffness * power(depth, elasticity_)
                                           : std::numeric_limits<Real>::max());
  spring.energy = path.energy;
  contact.impulse[0] += impulse;
  contact.normal -= impulse * (u + 0.5 * impulse * spring.inverse_mass);
  push(contact, 0, impulse);
  for (const int end : contact.body) {
    if (end < 0) continue;
    const std::size_t body = end;
    if (is_moved_[body]) continue;
    is_moved_[body] = 1;
    for (std::size_t k = first_of_[body]; k < first_of_[body + 1]; ++k) reach(contacts_of_[k]);
  }
  if (contact.friction > 0) rub(c, impulse);
}

template <int D>
void WaveImpact<D>::push(const WaveContact<D>& contact, std::size_t row, Real impulse) {
  for (std::size_t side = 0; side < 2; ++side) {
    if (contact.body[side] < 0) continue;
    Real* v = &velocity_[static_cast<std::size_t>(contact.body[side]) * q];
    const Real* move = &contact.moves[side][row * q];
    for (int k = 0; k < q; ++k) v[k] += move[k] * impulse;
  }
}

/// Friction of what was pressed: it takes no less than nothing.
template <int D>
void WaveImpact<D>::rub(std::size_t c, Real normal_impulse) {
  WaveContact<D>& contact = contacts_[c];
  std::array<Real, D> slip{};
  Real size = 0;
  for (std::size_t i = 1; i < D; ++i) {
    slip[i] = speed(contact, i);
    size += slip[i] * slip[i];
  }
  if (size == 0) return;
  size = std::sqrt(size);
  const Real impulse = std::min(size / springs_[c].inverse_mass_along, contact.friction * normal_impulse);
  for (std::size_t i = 1; i < D; ++i) {
    const Real along = -impulse * slip[i] / size;
    contact.impulse[i] += along;
    push(contact, i, along);
  }
  Real left = 0;  // of the slip, along itself
  for (std::size_t i = 1; i < D; ++i) left += speed(contact, i) * slip[i] / size;
  contact.tangential += 0.5 * impulse * (size + left);
}

template class WaveImpact<2>;
template class WaveImpact<3>;

}  // namespace scree
