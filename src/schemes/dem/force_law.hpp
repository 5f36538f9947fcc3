#pragma once
// The law of a soft contact (docs/method.md, eq. H.1-H.5), for kernels that are compiled once per instruction
// set: see force_kernels_set.cpp.
#include <array>

#include "neighbors/lanes.hpp"
#include "schemes/dem/force_kernels.hpp"

namespace scree::SCREE_SET {

namespace {

// The law is written once, for a number type T: Lanes, several contacts at once, or Real.

Real square_root(Real x) {
  return std::sqrt(x);
}
Real largest(Real a, Real b) {
  return a > b ? a : b;
}
bool any_less(Real a, Real b) {
  return a < b;
}
template <class T>
struct Three {
  T x, y, z;
};
template <class T>
Three<T> operator+(const Three<T>& a, const Three<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
Three<T> operator-(const Three<T>& a, const Three<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
Three<T> operator*(T factor, const Three<T>& a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
template <class T>
T dot(const Three<T>& a, const Three<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
Three<T> cross(const Three<T>& a, const Three<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
struct BodyMotion {
  Three<T> velocity;
  T inverse_mass;
  Three<T> spin;
};
template <class T>
struct Law {
  T stiffness, tangential, damping, damping_ratio, friction, rolling_friction, rolling_stiffness,
      rolling_damping;
};
/// What pairs of materials attract with: nothing for kernels without cohesion.
template <Pulls pulls, class T>
struct Pull {};
template <class T>
struct Pull<Pulls::in_contact, T> {
  T constant, per_length, per_mass, share;
};
template <class T>
constexpr int n_contacts_of = sizeof(T) / sizeof(Real);
template <class T>
struct Pull<Pulls::beyond, T> {
  Pull<Pulls::in_contact, T> in_contact;
  std::array<const SoftLaw*, n_contacts_of<T>> law;
};
template <class T>
struct Contact {
  Three<T> normal;  // from a to b
  T overlap, effective_radius, lever_a, lever_b;
};
template <class T>
struct Force {
  Three<T> force, torque, rolling;  // as SoftForce
  T pull, load;                     // the same; kernels without cohesion do not set them
};

/// ContactHistory and RollingHistory.
template <class T>
struct History {
  Three<T> spring;
  T stiffness;
  Three<T> angle;
};

Real number(Real of, int) {
  return of;
}
Real number(const Lanes& of, int k) {
  return of[k];
}
void set_number(Real& of, int, Real value) {
  of = value;
}
void set_number(Lanes& of, int k, Real value) {
  of[k] = value;
}

/// The modulus E* of Hertz's law [Pa]; 0 with the linear law.
template <NormalLaw law>
Real modulus_of(const SoftLaw& pair) {
  return law == NormalLaw::hertz ? 0.5 * pair.stiffness : 0;
}

/// Attraction beyond contact, one contact after the other, as each is a law of its own. `elastic` is the
/// force without damping and without attraction; stiffnesses become those of the contact that there is.
template <NormalLaw law, class T>
[[gnu::noinline]] void attract(const Pull<Pulls::beyond, T>& pull, const Contact<T>& c, T& k_normal,
                               T& k_tangent, T& elastic, T& load_pull, T& attraction) {
  for (int k = 0; k < n_contacts_of<T>; ++k) {
    const SoftLaw& pair = *pull.law[k];
    const Real overlap = number(c.overlap, k);
    const Real radius = number(c.effective_radius, k);
    const bool overlaps = overlap > 0;
    Real contact_radius = law == NormalLaw::hertz && overlaps ? std::sqrt(radius * overlap) : 0;
    const Real stiffness = law == NormalLaw::hertz ? pair.stiffness * contact_radius : pair.stiffness;
    Real force =
        !overlaps ? 0 : (law == NormalLaw::hertz ? 2.0 / 3 * stiffness * overlap : stiffness * overlap);
    const Real without = force;
    Real of_load = number(load_pull, k);
    if (pair.attraction) {
      const AttractedForce attracted =
          pair.attraction->force({overlap, radius, modulus_of<law>(pair), force, contact_radius});
      contact_radius = attracted.contact_radius;
      of_load = attracted.pull;
      force = attracted.force + of_load;
    }
    const Real share = law == NormalLaw::hertz ? contact_radius : (overlaps ? 1 : 0);
    set_number(k_normal, k, pair.stiffness * share);
    set_number(k_tangent, k, pair.tangential * share);
    set_number(elastic, k, force);
    set_number(load_pull, k, of_load);
    set_number(attraction, k, without - (force - of_load));
  }
}

/// Torque on b of a spring with slider and damper against rolling at this
/// relative spin, of at most `max` (docs/method.md, eq. H.5b).
template <class T>
[[gnu::always_inline]] inline Three<T> rolling_torque(const ForceBatches& p, const Law<T>& pair,
                                                      const Contact<T>& c, T k_normal, T inverse_inertia,
                                                      const Three<T>& spin, T max, Three<T>& angle) {
  const T zero = 0 * max, one = zero + 1;
  const T stiffness = pair.rolling_stiffness * k_normal * c.effective_radius * c.effective_radius;
  const T damping =
      pair.rolling_damping * square_root(inverse_inertia > 0 ? stiffness / inverse_inertia : zero);
  angle = (stiffness > 0 ? one : zero) * (angle + (zero + p.dt) * spin);
  const T stretched = stiffness * square_root(dot(angle, angle));
  const T kept = stretched > max ? max / stretched : one;
  angle = kept * angle;
  const Three<T> torque = -stiffness * angle - damping * spin;
  const T size = square_root(dot(torque, torque));
  return (size > max ? max / size : one) * torque;
}

/// docs/method.md, eq. H.1-H.5 and H.12-H.14. `history` advances by p.dt.
template <NormalLaw law, TangentialLaw tangential, Pulls pulls, class T>
[[gnu::always_inline]] inline Force<T> force_of(const ForceBatches& p, const Law<T>& pair,
                                                const Pull<pulls, T>& cohesion, const Contact<T>& c,
                                                const BodyMotion<T>& a, const BodyMotion<T>& b,
                                                History<T>& history) {
  const T zero = 0 * c.overlap;
  const Three<T> turning = c.lever_a * a.spin + c.lever_b * b.spin;
  const Three<T> slip = (b.velocity - a.velocity) - cross(turning, c.normal);  // of b against a
  const T opening = dot(slip, c.normal);
  const Three<T> along_tangent = slip - opening * c.normal;
  const T inverse_mass = a.inverse_mass + b.inverse_mass;
  const T mass = inverse_mass > 0 ? 1 / inverse_mass : zero;

  T k_normal = pair.stiffness;
  T k_tangent = pair.tangential;
  T elastic = k_normal * c.overlap;
  if constexpr (law == NormalLaw::hertz) {
    const T root = square_root(c.effective_radius * c.overlap);
    k_normal = k_normal * root;
    k_tangent = k_tangent * root;
    elastic = 2.0 / 3 * k_normal * c.overlap;
  }
  T pull = zero;
  [[maybe_unused]] T attraction = zero;
  const auto constant_pull = [&](const Pull<Pulls::in_contact, T>& of) {
    const T max = largest(a.inverse_mass, b.inverse_mass);
    return of.constant + of.per_length * c.effective_radius + (max > 0 ? of.per_mass / max : zero);
  };
  if constexpr (pulls == Pulls::in_contact) attraction = pull = constant_pull(cohesion);
  if constexpr (pulls == Pulls::beyond) {
    pull = constant_pull(cohesion.in_contact);
    attract<law>(cohesion, c, k_normal, k_tangent, elastic, pull, attraction);
  }
  const T gamma = pair.damping * square_root(mass * k_normal);
  T normal_force = largest(elastic - gamma * opening, zero + p.min_force);
  if constexpr (pulls != Pulls::never) normal_force = normal_force - pull;

  Three<T>& spring = history.spring;
  if constexpr (tangential == TangentialLaw::whole) {
    history.stiffness = zero;
  } else {
    // The spring of this stiffness that has the force of the last step.
    const T before = history.stiffness;
    const T one = zero + 1;
    T share = before > 0 ? (k_tangent > 0 ? before / k_tangent : one) : one;
    if constexpr (tangential == TangentialLaw::rescaled) share = share > 1 ? one : share;
    spring = share * spring;
    history.stiffness = k_tangent;
  }
  if constexpr (pulls == Pulls::beyond)
    history.stiffness = history.stiffness > 0 ? history.stiffness : zero - 1;
  spring = spring + (zero + p.dt) * along_tangent;
  spring = spring - dot(spring, c.normal) * c.normal;  // the tangent plane turns with the bodies
  const Three<T> damping = (pair.damping_ratio * gamma) * along_tangent;
  Three<T> friction = -k_tangent * spring - damping;
  T load = normal_force;
  if constexpr (pulls == Pulls::in_contact) load = load + cohesion.share * pull;
  if constexpr (pulls == Pulls::beyond) load = load + cohesion.in_contact.share * pull;
  const T pressing = load < 0 ? -load : load;  // or pulling
  const T max = pair.friction * pressing;
  const T squared = dot(friction, friction);
  if (any_less(max * max, squared)) {
    const auto slides = squared > max * max;
    const T share = slides ? max / square_root(squared) : zero + 1;
    friction = share * friction;
    // The spring keeps what friction can carry. It is not made to balance the damping as well, as is often
    // done: that stretches it backward where contacts form in fast sliding (docs/method.md).
    const T stretched = k_tangent * k_tangent * dot(spring, spring);
    const T kept = slides ? (stretched > max * max ? max / square_root(stretched) : zero + 1) : zero + 1;
    spring = kept * spring;
  }
  Force<T> result{
      normal_force * c.normal + friction, cross(c.normal, friction), {zero, zero, zero}, zero, zero};
  if constexpr (pulls != Pulls::never) {
    result.pull = attraction;
    result.load = pressing;
  }
  if (any_less(zero, pair.rolling_friction)) {
    const Three<T> rolling = b.spin - a.spin;
    const T max_torque = pair.rolling_friction * c.effective_radius * pressing;
    if (p.rolling_springs) {
      // Of rolling about the contact point; a wall does not roll.
      const T of_a = a.inverse_mass / (c.lever_a * c.lever_a);
      const T of_b = c.lever_b > 0 ? b.inverse_mass / (c.lever_b * c.lever_b) : zero;
      result.rolling = rolling_torque(p, pair, c, k_normal, of_a + of_b, rolling, max_torque, history.angle);
    } else {
      const T speed = square_root(dot(rolling, rolling));
      result.rolling = (speed > 0 ? -max_torque / speed : zero) * rolling;
    }
  }
  return result;
}

/// `vector`: from the centre of a to that of b.
template <class T>
[[gnu::always_inline]] inline Contact<T> contact_of(const Three<T>& vector, T radius_a, T radius_b) {
  const T distance = square_root(dot(vector, vector));
  const T inverse = distance > 0 ? 1 / distance : 0 * distance;
  Contact<T> c{
      inverse * vector, radius_a + radius_b - distance, radius_a * radius_b / (radius_a + radius_b), {}, {}};
  c.normal.x = distance > 0 ? c.normal.x : 0 * distance + 1;  // of coincident centres
  c.lever_a = radius_a - 0.5 * c.overlap;
  c.lever_b = radius_b - 0.5 * c.overlap;
  return c;
}

}  // namespace

}  // namespace scree::SCREE_SET
