#include "schemes/dem/soft_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "contact/cohesion.hpp"
#include "contact/elastic_contact.hpp"
#include "core/error.hpp"

namespace scree {

namespace {

/// Share of critical damping for a restitution of e.
Real damping_ratio_of(Real e) {
  if (e == 0) return 1;
  const Real log_e = std::log(e);
  return -log_e / std::sqrt(log_e * log_e + std::numbers::pi * std::numbers::pi);
}

/// Rebound of a body that meets Hertz's contact with this share of critical damping, if the force never
/// pulls: in units of mass, stiffness and approach speed,
///     x'' = -max(0, x^(3/2) + sqrt(5) beta x^(1/4) x')
/// from x = 0, x' = 1 until the force is 0. By classical Runge-Kutta steps, to about 1e-8.
Real hertz_rebound_without_attraction(Real beta) {
  const auto force = [&](Real x, Real v) {
    const Real depth = std::max(x, 0.0);
    return depth * std::sqrt(depth) + std::sqrt(5.0) * beta * std::sqrt(std::sqrt(depth)) * v;
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
  constexpr Real max = 3;
  if (law == NormalLaw::linear) return std::min(max, impact_damping(e).share);
  if (e >= 1) return 0;
  Real low = 0;
  Real high = max;
  if (hertz_rebound_without_attraction(max) > e) return max;
  for (int i = 0; i < 40; ++i) {
    const Real middle = 0.5 * (low + high);
    (hertz_rebound_without_attraction(middle) > e ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// Shear modulus over (1 - nu/2): what 1/G* is made of.
Real tangential_compliance(Real young_modulus, Real nu) {
  return 2 * (2 - nu) * (1 + nu) / young_modulus;
}

/// A pair of materials, and what is refused of it.
template <int D>
struct MaterialPair {
  const Materials<D>& materials;
  const PairProperties<D>& properties;
  int a, b;

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: the pair of {} and {} {}", properties.where, materials.name(a),
                                 materials.name(b), what));
  }
  [[noreturn]] void refuse_cohesion(const std::string& what) const {
    throw InputError(fmt::format("{}: the cohesion of {} and {} {}", properties.cohesion->where(),
                                 materials.name(a), materials.name(b), what));
  }
};

template <int D>
void set_linear(const MaterialPair<D>& pair, Real beta, SoftLaw& soft) {
  const ContactElasticity<D>& given = pair.properties.elasticity;
  soft.stiffness = given.given_stiffness();
  if (!(soft.stiffness > 0))
    pair.refuse("has no stiffness: the linear law of [dem] needs [pairs] stiffness in N/m");
  if (std::isinf(soft.stiffness))
    pair.refuse("is rigid: the linear law of [dem] needs a stiffness in N/m, not \"rigid\"");
  if (!given.tangential_word().empty())
    pair.refuse(
        fmt::format("has tangential_ratio = \"{}\": the linear law of [dem] takes a number, or 2/7 "
                    "if none is given",
                    given.tangential_word()));
  const Real ratio =
      given.given_tangential_ratio() > 0 ? given.given_tangential_ratio() : usual_tangential_ratio;
  soft.tangential = ratio * soft.stiffness;
  soft.damping = 2 * beta;
}

template <int D>
void set_hertz(const MaterialPair<D>& pair, Real beta, SoftLaw& soft) {
  const ContactElasticity<D>& given = pair.properties.elasticity;
  const Materials<D>& materials = pair.materials;
  if (given.given_stiffness() > 0)
    pair.refuse("has a stiffness, which Hertz's law does not use: set [dem] law = \"linear\" or remove it");
  if (given.has_young_modulus())
    pair.refuse(
        "has a young_modulus, which Hertz's law of [dem] does not use: it takes young_modulus and "
        "poisson_ratio of [materials]; remove those of the pair");
  if (!given.tangential_word().empty())
    pair.refuse("has a tangential_ratio, which Hertz's law of [dem] does not use: remove it");
  const Real nu_a = materials.poisson_ratio(pair.a), nu_b = materials.poisson_ratio(pair.b);
  const Real e_a = materials.young_modulus(pair.a), e_b = materials.young_modulus(pair.b);
  if (e_a == 0 || e_b == 0) {
    const auto& name = materials.name(e_a == 0 ? pair.a : pair.b);
    pair.refuse(fmt::format("needs the modulus of {}: give [materials.{}] young_modulus and poisson_ratio",
                            name, name));
  }
  // Allowed as long as they never meet: see find_rigid_contact().
  if (std::isinf(e_a) && std::isinf(e_b)) {
    if (pair.properties.cohesion)
      pair.refuse("attracts, but both are rigid: a contact that attracts must be elastic");
    soft.stiffness = soft.tangential = HUGE_VAL;
    return;
  }
  soft.stiffness = 2 / ((1 - nu_a * nu_a) / e_a + (1 - nu_b * nu_b) / e_b);
  soft.tangential = 8 / (tangential_compliance(e_a, nu_a) + tangential_compliance(e_b, nu_b));
  soft.damping = 2 * std::sqrt(5.0 / 6) * beta;
}

template <int D>
void set_cohesion(const MaterialPair<D>& pair, NormalLaw law, const Vec<D>& gravity, SoftLaw& soft) {
  const Cohesion<D>& cohesion = *pair.properties.cohesion;
  if (cohesion.needs_hertz() && law == NormalLaw::linear)
    pair.refuse_cohesion("is a law of Hertz's contact: set [dem] law = \"hertz\", or take another type");
  if (cohesion.range() > 0)
    pair.refuse_cohesion("has a range, which has an effect in the scheme \"nonsmooth\" only: remove it");
  soft.pull_share = cohesion.pull_share();
  if (cohesion.is_ranged())
    soft.attraction = &cohesion;
  else
    soft.pull = cohesion.pull_off(norm(gravity));
}

}  // namespace

template <int D>
void SoftLaws<D>::prepare(const State<D>& state, const Rules& rules) {
  const bool is_linear = rules.law == NormalLaw::linear;
  const Materials<D>& materials = state.materials;
  n_materials_ = static_cast<std::size_t>(materials.size());
  laws_.assign(n_materials_ * n_materials_, SoftLaw{});
  for (int a = 0; a < materials.size(); ++a)
    for (int b = 0; b < materials.size(); ++b) {
      const PairProperties<D>* properties = materials.pair(a, b);
      if (!properties) continue;
      const MaterialPair<D> pair{materials, *properties, a, b};
      SoftLaw& soft = laws_[index(a) * n_materials_ + index(b)];
      const Real beta = rules.exact_without_attraction
                            ? damping_ratio_without_attraction(properties->restitution, rules.law)
                            : damping_ratio_of(properties->restitution);
      if (is_linear)
        set_linear(pair, beta, soft);
      else
        set_hertz(pair, beta, soft);
      if (std::isinf(soft.stiffness)) continue;
      if (rules.friction) {
        soft.damping_ratio = std::sqrt(soft.tangential / soft.stiffness);
        soft.friction = properties->friction;
        soft.rolling_friction = properties->rolling_friction;
        if (rules.rolling_springs) {
          // Hertz's k_N is 3/2 of the load over the overlap.
          const Real secant = is_linear ? 1 : 2.0 / 3;
          soft.rolling_stiffness =
              (D == 2 ? 3 : 2.25) * secant * properties->rolling_friction * properties->rolling_friction;
          soft.rolling_damping = 2 * rules.rolling_damping * std::sqrt(1 + moment_of_inertia<D>(1, 1));
        }
      }
      if (properties->cohesion) set_cohesion(pair, rules.law, state.gravity, soft);
    }
}

template <int D>
Pulls SoftLaws<D>::pulls() const {
  const auto pulls = [](const SoftLaw& law) {
    return law.pull.constant > 0 || law.pull.per_length > 0 || law.pull.per_mass > 0;
  };
  if (std::ranges::any_of(laws_, [](const SoftLaw& law) { return law.attraction != nullptr; }))
    return Pulls::beyond;
  return std::ranges::any_of(laws_, pulls) ? Pulls::in_contact : Pulls::never;
}

template <int D>
Real SoftLaws<D>::reach(NormalLaw law, Real largest_radius) const {
  Real widest = 0;
  for (const SoftLaw& pair : laws_)
    if (pair.attraction)
      widest = std::max(
          widest, pair.attraction->end(largest_radius, law == NormalLaw::hertz ? 0.5 * pair.stiffness : 0));
  return widest;
}

template <int D>
std::string check_cohesive_stability(const State<D>& state, const SoftLaws<D>& laws, NormalLaw law,
                                     std::span<const AttractedPair> attracted, Real share) {
  const auto complaint = [&](const AttractedPair& pair, Real radius, Real mass) -> std::string {
    const Cohesion<D>& cohesion = *state.materials.pair(pair.a, pair.b)->cohesion;
    const Real pull = cohesion.pull_off(norm(state.gravity)).of(radius, mass);
    const Real stiffness = laws.of(pair.a, pair.b).stiffness;
    const Real deepest = share * (pair.at_obstacle ? radius : 2 * radius);  // two equal ones
    const Real carried = law == NormalLaw::hertz ? 2.0 / 3 * stiffness * std::sqrt(radius * deepest) * deepest
                                                 : stiffness * deepest;
    if (pull <= carried) return "";
    return fmt::format(
        "{}: the cohesion of {} and {} pulls with {:.3g} N, but their contact carries {:.3g} N at the "
        "overlap "
        "of {:.3g} m that [dem] overlap_limit allows: they would sink into each other; raise {} or reduce "
        "the "
        "pull",
        cohesion.where(), state.materials.name(pair.a), state.materials.name(pair.b), pull, carried, deepest,
        law == NormalLaw::hertz ? "young_modulus" : "stiffness");
  };
  for (const AttractedPair& pair : attracted) {
    std::string text = complaint(pair, pair.largest, pair.heaviest);
    if (text.empty()) text = complaint(pair, pair.smallest, pair.lightest);
    if (!text.empty()) return text;
  }
  return "";
}

namespace {

/// By which springs against rolling shorten the longest step of a body: where
/// it spins about a normal, k_r stands against its moment of inertia alone.
template <int D>
Real rolling_share(const SoftLaw& pair, NormalLaw law) {
  const Real of_load = law == NormalLaw::hertz ? 1.5 : 1;
  return 1 / std::sqrt(std::max(1.0, 0.5 * of_load * pair.rolling_stiffness / moment_of_inertia<D>(1, 1)));
}

Real rayleigh_time(Real radius, Real density, Real young_modulus, Real nu) {
  const Real shear = young_modulus / (2 * (1 + nu));
  return std::numbers::pi * radius * std::sqrt(density / shear) / (0.1631 * nu + 0.8766);
}

}  // namespace

template <int D>
StepLimit find_step_limit(const State<D>& state, const SoftLaws<D>& laws, NormalLaw law) {
  StepLimit found;
  const BodyStore<D>& bodies = state.bodies;
  const Materials<D>& materials = state.materials;
  GlobalId body = std::numeric_limits<GlobalId>::max();
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const int material = state.type_material[bodies.type()[i]];
    Real limit = HUGE_VAL;
    if (law == NormalLaw::hertz) {
      // Disks touch as spheres do (H.2): their mass is that of a sphere of this density.
      const Real density = materials.density(material) * (D == 3 ? 1 : 0.75 / bodies.radius()[i]);
      const auto limit_by = [&](int elastic) {
        return rayleigh_time(bodies.radius()[i], density, materials.young_modulus(elastic),
                             materials.poisson_ratio(elastic));
      };
      if (std::isinf(materials.young_modulus(material))) {
        // Only partners deform.
        for (int other = 0; other < materials.size(); ++other)
          if (materials.pair(material, other) && !std::isinf(materials.young_modulus(other)))
            limit = std::min(limit, limit_by(other));
      } else {
        limit = limit_by(material);
      }
      Real share = 1;
      for (int other = 0; other < laws.n_materials(); ++other)
        share = std::min(share, rolling_share<D>(laws.of(material, other), law));
      limit *= share;
      found.rayleigh_time = std::min(found.rayleigh_time, limit);
    } else {
      const Real mass = 0.5 * bodies.mass()[i];
      for (int other = 0; other < laws.n_materials(); ++other) {
        const SoftLaw& pair = laws.of(material, other);
        if (pair.stiffness == 0) continue;
        const Real time = std::sqrt(mass / pair.stiffness);
        const Real beta = 0.5 * pair.damping;
        limit = std::min(limit, 2 * time * (std::sqrt(1 + beta * beta) - beta) * rolling_share<D>(pair, law));
        found.half_period = std::min(found.half_period, std::numbers::pi * time);
      }
    }
    if (std::isinf(limit)) continue;
    if (limit > found.limit || (limit == found.limit && bodies.id()[i] > body)) continue;
    found.limit = limit;
    body = bodies.id()[i];
  }
  const Real mine = found.limit;
  found.limit = state.comm.min(mine);
  found.rayleigh_time = state.comm.min(found.rayleigh_time);
  found.half_period = state.comm.min(found.half_period);
  body = state.comm.min(mine == found.limit ? body : std::numeric_limits<GlobalId>::max());
  found.body = std::isinf(found.limit) ? -1 : body;
  return found;
}

template <int D>
std::string find_rigid_contact(const State<D>& state, const SoftLaws<D>& laws) {
  const BodyStore<D>& bodies = state.bodies;
  const Materials<D>& materials = state.materials;
  const std::size_t n_materials = materials.size();
  // Of each material the bodies, then those that move.
  std::vector<std::int64_t> count(2 * n_materials, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const std::size_t material = state.type_material[bodies.type()[i]];
    ++count[material];
    if (bodies.mobility()[i] != 0) ++count[n_materials + material];
  }
  state.comm.sum(count);
  for (std::size_t m = 0; m < n_materials; ++m) {
    if (count[n_materials + m] == 0) continue;
    const int a = static_cast<int>(m);
    const auto is_rigid = [&](int b) { return std::isinf(laws.of(a, b).stiffness); };
    const auto complaint = [&](int b) {
      return fmt::format(
          "{}: {} and {} may touch, and both are rigid: give one of them a young_modulus in Pa",
          materials.pair(a, b)->where, materials.name(a), materials.name(b));
    };
    for (const int b : state.type_material)
      if (is_rigid(b) && (b != a || count[m] > 1)) return complaint(b);
    for (const int b : state.obstacle_material)
      if (is_rigid(b)) return complaint(b);
  }
  return {};
}

template class SoftLaws<2>;
template class SoftLaws<3>;
template StepLimit find_step_limit<2>(const State<2>&, const SoftLaws<2>&, NormalLaw);
template StepLimit find_step_limit<3>(const State<3>&, const SoftLaws<3>&, NormalLaw);
template std::string check_cohesive_stability(const State<2>&, const SoftLaws<2>&, NormalLaw,
                                              std::span<const AttractedPair>, Real);
template std::string check_cohesive_stability(const State<3>&, const SoftLaws<3>&, NormalLaw,
                                              std::span<const AttractedPair>, Real);
template std::string find_rigid_contact<2>(const State<2>&, const SoftLaws<2>&);
template std::string find_rigid_contact<3>(const State<3>&, const SoftLaws<3>&);

}  // namespace scree
