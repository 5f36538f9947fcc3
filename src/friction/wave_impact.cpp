#include "friction/wave_impact.hpp"

#include <algorithm>
#include <cmath>

#include "core/reset.hpp"

namespace scree {

namespace {

constexpr Real never = 2;  // in shares of a step

/// Where u + s du changes sign in (0, 1); else 1.
Real turning_share(Real speed, Real change) {
  if ((speed < 0) == (speed + change < 0) || change == 0) return 1;
  return std::clamp(-speed / change, 0.0, 1.0);
}

template <int q>
Real product(const Real* row, const Real* velocity) {
  Real sum = 0;
  for (int k = 0; k < q; ++k) sum += row[k] * velocity[k];
  return sum;
}

}  // namespace

Real ContactEnergy::empties_at() const {
  const Real turn = turning_share(speed, change);
  const auto empties = [&](Real from, Real stored, Real u) -> Real {
    // dp (u x + du x^2/2) = e^2 E
    const Real left = stored * restitution * restitution / impulse;
    if (left <= 0) return from;
    const Real square = u * u + 2 * change * left;
    const Real root = u + std::sqrt(std::max(square, 0.0));
    if (square < 0 || root <= 0) return never;
    return from + 2 * left / root;
  };
  if (speed >= 0) {
    const Real at = empties(0, energy, speed);
    return at <= turn ? at : never;
  }
  return turn < 1 ? empties(turn, after(turn), 0) : never;
}

Real ContactEnergy::after(Real share) const {
  const Real turn = std::min(turning_share(speed, change), share);
  const auto given = [&](Real from, Real to) {
    const Real work = impulse * (to - from) * (speed + 0.5 * change * (from + to));
    if (work <= 0) return work;
    return restitution > 0 ? work / (restitution * restitution) : energy;
  };
  return energy - given(0, turn) - given(turn, share);
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
  const std::int64_t max_steps = std::int64_t{40} * rules.resolution;
  for (; n_steps_ < max_steps; ++n_steps_) {
    if (is_over(rules)) return true;
    if (!share_out(false)) return true;
    find_changes();
    if (share_out(true)) find_changes();
    Real share = 1;
    for (std::size_t c = 0; c < springs_.size(); ++c) {
      const Spring& spring = springs_[c];
      if (spring.impulse > 0)
        share = std::min(share, ContactEnergy{spring.energy, spring.speed, spring.change, spring.impulse,
                                              contacts_[c].restitution}
                                    .empties_at());
    }
    take(share);
    rub(share);
  }
  return is_over(rules);
}

template <int D>
void WaveImpact<D>::start(const WaveRules& rules) {
  constexpr Real round_off = 1e-9;
  springs_.assign(contacts_.size(), {});
  reset(moved_, velocity_.size());
  reset(weight_, contacts_.size());
  power_ = rules.elasticity / (rules.elasticity + 1);
  Real largest = 0, fastest = 0;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const WaveContact<D>& contact = contacts_[c];
    Spring& spring = springs_[c];
    spring.speed = contact.obstacle[0];
    spring.stiffness_power = std::pow(contact.stiffness, 1 / (rules.elasticity + 1));
    for (std::size_t side = 0; side < 2; ++side) {
      if (contact.body[side] < 0) continue;
      const Real *row = contact.rows[side].data(), *move = contact.moves[side].data();
      spring.speed += product<q>(row, &velocity_[static_cast<std::size_t>(contact.body[side]) * q]);
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
    largest = std::max(largest, -spring.speed / spring.inverse_mass);
    fastest = std::max(fastest, -spring.speed);
  }
  step_ = largest / rules.resolution;
  slow_ = std::max(rules.slow, round_off * fastest);
}

/// Whether all energy is given back and nothing approaches by much. Finds what is active.
template <int D>
bool WaveImpact<D>::is_over(const WaveRules& rules) {
  bool is_over = true;
  const Real rest = std::max(rules.rest_speed, slow_);
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    Spring& spring = springs_[c];
    const WaveContact<D>& contact = contacts_[c];
    spring.speed = contact.obstacle[0];
    for (std::size_t side = 0; side < 2; ++side)
      if (contact.body[side] >= 0)
        spring.speed += product<q>(contact.rows[side].data(),
                                   &velocity_[static_cast<std::size_t>(contact.body[side]) * q]);
    if (contact.restitution == 0 && spring.speed >= 0) spring.energy = 0;
    spring.active = spring.energy > 0 || spring.speed < -slow_;
    spring.impulse = spring.change = 0;
    is_over &= spring.energy == 0 && spring.speed >= -rest;
  }
  return is_over;
}

/// The force of a spring that holds this energy, over what is the same for all.
template <int D>
Real WaveImpact<D>::weight(const Spring& spring, Real energy, Real speed) const {
  constexpr Real seed = 1e-4;
  if (energy <= 0) {
    if (speed >= 0) return 0;
    energy = seed * speed * speed / (2 * spring.inverse_mass);
  }
  return spring.stiffness_power * std::pow(energy, power_);
}

/// The impulses of a step, by the energies at its start or at half of it. False: nothing presses.
template <int D>
bool WaveImpact<D>::share_out(bool at_half) {
  Real greatest = 0;
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    const Spring& spring = springs_[c];
    weight_[c] = 0;
    if (!spring.active) continue;
    Real energy = spring.energy, speed = spring.speed;
    if (at_half && spring.impulse > 0) {
      const ContactEnergy path{energy, speed, spring.change, spring.impulse, contacts_[c].restitution};
      // What has given all back by then presses as with a quarter of it, its mean on a force that falls to 0.
      constexpr Real of_ended = 0.25;
      if (path.empties_at() > 0.5) {
        energy = path.after(0.5);
        speed += 0.5 * spring.change;
      } else {
        energy *= of_ended;
      }
    }
    weight_[c] = weight(spring, energy, speed);
    greatest = std::max(greatest, weight_[c]);
  }
  if (greatest == 0) return false;
  for (std::size_t c = 0; c < springs_.size(); ++c) springs_[c].impulse = step_ * weight_[c] / greatest;
  return true;
}

/// What the impulses of a whole step do to the velocities of bodies and contacts.
template <int D>
void WaveImpact<D>::find_changes() {
  std::ranges::fill(moved_, 0.0);
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    if (springs_[c].impulse == 0) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      if (contacts_[c].body[side] < 0) continue;
      Real* moved = &moved_[static_cast<std::size_t>(contacts_[c].body[side]) * q];
      for (std::size_t k = 0; k < q; ++k) moved[k] += contacts_[c].moves[side][k] * springs_[c].impulse;
    }
  }
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    springs_[c].change = 0;
    for (std::size_t side = 0; side < 2 && springs_[c].active; ++side)
      if (contacts_[c].body[side] >= 0)
        springs_[c].change += product<q>(contacts_[c].rows[side].data(),
                                         &moved_[static_cast<std::size_t>(contacts_[c].body[side]) * q]);
  }
}

/// Takes this share of the step along the normals.
template <int D>
void WaveImpact<D>::take(Real share) {
  for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] += share * moved_[i];
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    Spring& spring = springs_[c];
    if (spring.impulse == 0) continue;
    const ContactEnergy path{spring.energy, spring.speed, spring.change, spring.impulse,
                             contacts_[c].restitution};
    spring.energy = path.empties_at() <= share ? 0 : std::max(path.after(share), 0.0);
    const Real impulse = share * spring.impulse;
    contacts_[c].impulse[0] += impulse;
    contacts_[c].normal -= impulse * (spring.speed + 0.5 * share * spring.change);
  }
}

/// Friction of what this share of the step pressed, contact by contact: so none takes less than nothing.
template <int D>
void WaveImpact<D>::rub(Real share) {
  for (std::size_t c = 0; c < springs_.size(); ++c) {
    WaveContact<D>& contact = contacts_[c];
    if (contact.friction == 0 || springs_[c].impulse == 0) continue;
    std::array<Real, D> slip{};
    Real size = 0;
    for (std::size_t i = 1; i < D; ++i) {
      slip[i] = contact.obstacle[i];
      for (std::size_t side = 0; side < 2; ++side)
        if (contact.body[side] >= 0)
          slip[i] += product<q>(&contact.rows[side][i * q],
                                &velocity_[static_cast<std::size_t>(contact.body[side]) * q]);
      size = std::hypot(size, slip[i]);
    }
    if (size == 0) continue;
    const Real impulse =
        std::min(size / springs_[c].inverse_mass_along, contact.friction * share * springs_[c].impulse);
    Real change = 0;  // of the slip, along itself
    for (std::size_t i = 1; i < D; ++i) {
      const Real along = -impulse * slip[i] / size;
      contact.impulse[i] += along;
      for (std::size_t side = 0; side < 2; ++side) {
        if (contact.body[side] < 0) continue;
        Real* v = &velocity_[static_cast<std::size_t>(contact.body[side]) * q];
        const Real* move = &contact.moves[side][i * q];
        for (int k = 0; k < q; ++k) v[k] += move[k] * along;
        for (std::size_t j = 1; j < D; ++j)
          change += product<q>(&contact.rows[side][j * q], move) * along * slip[j] / size;
      }
    }
    contact.tangential += impulse * (size + 0.5 * change);
  }
}

template class WaveImpact<2>;
template class WaveImpact<3>;

}  // namespace scree
