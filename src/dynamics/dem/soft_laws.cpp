#include "dynamics/dem/soft_laws.hpp"

#include <fmt/format.h>

#include <limits>
#include <numbers>

#include "core/error.hpp"

namespace scree {

namespace {

constexpr Real usual_tangential_ratio = 2.0 / 7;

/// Share of critical damping for a restitution of e.
Real damping_ratio_of(Real e) {
  if (e == 0) return 1;
  const Real log_e = std::log(e);
  return -log_e / std::sqrt(log_e * log_e + std::numbers::pi * std::numbers::pi);
}

/// Rebound of a body that meets a contact with this share of critical damping, if the force never pulls: in
/// units of mass, stiffness and approach speed,
///     x'' = -max(0, f(x) + g(x) x'),   f = x, g = 2 beta (linear);   f = x^(3/2), g = sqrt(5) beta x^(1/4)
///     (Hertz)
/// from x = 0, x' = 1 until the force is 0. By classical Runge-Kutta steps, to about 1e-8.
Real rebound_without_attraction(Real beta, NormalLaw law) {
  const auto force = [&](Real x, Real v) {
    const Real depth = std::max(x, 0.0);
    return law == NormalLaw::linear
               ? depth + 2 * beta * v
               : depth * std::sqrt(depth) + std::sqrt(5.0) * beta * std::sqrt(std::sqrt(depth)) * v;
  };
  constexpr Real h = 2e-3;
  Real x = 0;
  Real v = 1;
  while (true) {
    const Real k1 = -force(x, v);
    const Real k2 = -force(x + 0.5 * h * v, v + 0.5 * h * k1);
    const Real k3 = -force(x + 0.5 * h * (v + 0.5 * h * k1), v + 0.5 * h * k2);
    const Real k4 = -force(x + h * (v + 0.5 * h * k2), v + h * k3);
    const Real next_x = x + h * (v + h / 6 * (k1 + k2 + k3));
    const Real next_v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    if (next_v < 0 && force(next_x, next_v) <= 0) {
      // The force falls through 0 within the step, and the velocity hardly changes there.
      const Real before = force(x, v);
      const Real share = before > 0 ? before / (before - force(next_x, next_v)) : 0;
      return -(v + share * (next_v - v));
    }
    x = next_x;
    v = next_v;
  }
}

/// Share of critical damping for a restitution of e if forces never pull. Less than some 0.02 is not reached.
Real damping_ratio_without_attraction(Real e, NormalLaw law) {
  constexpr Real most = 3;
  if (e >= 1) return 0;
  Real low = 0;
  Real high = most;
  if (rebound_without_attraction(most, law) > e) return most;
  for (int i = 0; i < 40; ++i) {
    const Real middle = 0.5 * (low + high);
    (rebound_without_attraction(middle, law) > e ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Shear modulus over (1 - nu/2): what 1/G* is made of.
Real tangential_compliance(Real young_modulus, Real nu) {
  return 2 * (2 - nu) * (1 + nu) / young_modulus;
}

}  // namespace

template <int D>
void SoftLaws<D>::prepare(const State<D>& state, const Rules& rules) {
  const NormalLaw law = rules.law;
  const Materials<D>& materials = state.materials;
  n_materials_ = static_cast<std::size_t>(materials.size());
  laws_.assign(n_materials_ * n_materials_, SoftLaw{});
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b < materials.size(); ++b) {
      const PairProperties<D>* pair = materials.pair(a, b);
      if (!pair) continue;
      const auto refuse = [&](const std::string& what) {
        throw InputError(fmt::format("{}: the pair of {} and {} {}", materials.where(a), materials.name(a),
                                     materials.name(b), what));
      };
      SoftLaw& soft = laws_[index(a) * n_materials_ + index(b)];
      const Real beta = rules.exact_without_attraction
                            ? damping_ratio_without_attraction(pair->restitution, law)
                            : damping_ratio_of(pair->restitution);
      const ContactElasticity<D>& given = pair->elasticity;
      if (law == NormalLaw::linear) {
        soft.stiffness = given.given_stiffness();
        if (!(soft.stiffness > 0) || std::isinf(soft.stiffness))
          refuse("has no stiffness: the linear law of [dem] needs [pairs] stiffness in N/m");
        const Real ratio =
            given.given_tangential_ratio() > 0 ? given.given_tangential_ratio() : usual_tangential_ratio;
        soft.tangential = ratio * soft.stiffness;
        soft.damping = 2 * beta;
      } else {
        if (given.given_stiffness() > 0)
          refuse("has a stiffness, which Hertz's law does not use: set [dem] law = \"linear\" or remove it");
        const Real nu_a = materials.poisson_ratio(a);
        const Real nu_b = materials.poisson_ratio(b);
        const Real e_a = materials.young_modulus(a);
        const Real e_b = materials.young_modulus(b);
        if (e_a == 0 || e_b == 0)
          refuse(fmt::format("needs the modulus of {}: give [materials.{}] young_modulus and poisson_ratio",
                             materials.name(e_a == 0 ? a : b), materials.name(e_a == 0 ? a : b)));
        // Two rigid materials: bodies that never meet; a contact would have an infinite force.
        if (std::isinf(e_a) && std::isinf(e_b)) {
          soft.stiffness = soft.tangential = HUGE_VAL;
          continue;
        }
        soft.stiffness = 2 / ((1 - nu_a * nu_a) / e_a + (1 - nu_b * nu_b) / e_b);
        soft.tangential = 8 / (tangential_compliance(e_a, nu_a) + tangential_compliance(e_b, nu_b));
        soft.damping = 2 * std::sqrt(5.0 / 6) * beta;
      }
      if (rules.friction) {
        soft.damping_ratio = std::sqrt(soft.tangential / soft.stiffness);
        soft.friction = pair->friction;
        soft.rolling_friction = pair->rolling_friction;
      }
    }
}

template <int D>
StepLimit find_step_limit(const State<D>& state, const SoftLaws<D>& laws, NormalLaw law) {
  StepLimit found;
  const BodyStore<D>& bodies = state.bodies;
  GlobalId body = std::numeric_limits<GlobalId>::max();
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const int material = state.group_material[static_cast<std::size_t>(bodies.group()[i])];
    Real limit = HUGE_VAL;
    if (law == NormalLaw::hertz) {
      const Real modulus = state.materials.young_modulus(material);
      const Real nu = state.materials.poisson_ratio(material);
      if (std::isinf(modulus)) continue;
      const Real shear = modulus / (2 * (1 + nu));
      limit = std::numbers::pi * bodies.radius()[i] * std::sqrt(state.materials.density(material) / shear) /
              (0.1631 * nu + 0.8766);
      found.rayleigh_time = std::min(found.rayleigh_time, limit);
    } else {
      Real stiffest = 0;
      for (int other = 0; other < laws.n_materials(); ++other)
        stiffest = std::max(stiffest, laws.of(material, other).stiffness);
      if (stiffest == 0) continue;
      const SoftLaw& pair = laws.of(material, material);
      const Real mass = 0.5 * bodies.mass()[i];
      const Real beta = 0.5 * pair.damping;
      limit = 2 * std::sqrt(mass / stiffest);
      found.collision_time =
          std::min(found.collision_time, std::numbers::pi / std::sqrt(stiffest / mass * (1 - beta * beta)));
    }
    if (limit > found.limit || (limit == found.limit && bodies.id()[i] > body)) continue;
    found.limit = limit;
    body = bodies.id()[i];
  }
  const Real mine = found.limit;
  found.limit = state.comm.min(mine);
  found.rayleigh_time = state.comm.min(found.rayleigh_time);
  found.collision_time = state.comm.min(found.collision_time);
  body = state.comm.min(mine == found.limit ? body : std::numeric_limits<GlobalId>::max());
  found.body = std::isinf(found.limit) ? -1 : body;
  return found;
}

template class SoftLaws<2>;
template class SoftLaws<3>;
template StepLimit find_step_limit<2>(const State<2>&, const SoftLaws<2>&, NormalLaw);
template StepLimit find_step_limit<3>(const State<3>&, const SoftLaws<3>&, NormalLaw);

}  // namespace scree
