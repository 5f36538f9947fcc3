#pragma once
#include <string>

#include "core/section.hpp"

namespace scree {

/// R_a R_b / (R_a + R_b) of two round bodies [m]; at a flat wall the radius itself.
inline Real effective_radius(Real a, Real b) {
  return a * b / (a + b);
}

/// g [1/kg] of a contact of stiffness k [N/m] in a step of dt [s] (docs/method.md, eq. C.1).
inline Real compliance_of_stiffness(Real k, Real dt) {
  return 1 / (k * dt * dt);
}

/// k [N/m] of a contact of compliance g [1/kg] in a step of dt [s]; infinite if rigid (eq. C.1).
inline Real stiffness_of_compliance(Real g, Real dt) {
  return 1 / (g * dt * dt);
}

/// Tangential over normal stiffness of a contact that is given by a stiffness, if the deck does not say.
inline constexpr Real usual_tangential_ratio = 2.0 / 7;

/// How far a contact deforms under load, as users know it: a stiffness, or the elastic constants of the
/// bodies (docs/method.md, eq. C.1-C.4).
///
/// Elastic constants, both bodies alike, E* = E / (2 (1 - nu^2)):
/// - spheres (Hertz): F = 4/3 E* sqrt(R*) d^(3/2). Its stiffness grows with the load, so the load must be
///   stated: F/d ("secant", which overlaps as Hertz says at that load) or dF/dd = 3/2 F/d ("tangent", which
///   oscillates as Hertz says about that load);
/// - disks, as parallel cylinders 1 m long: F = pi/4 E* (1 m) d, whatever the radius and the load.
///
/// Along the tangents k_T/k_N is usual_tangential_ratio beside a stiffness, and beside elastic constants that
/// of bodies that do not slip ("mindlin"), 2 (1 - nu) / (2 - nu) (R. D. Mindlin, J. Appl. Mech. 16 (1949)
/// 259-268), unless the deck says otherwise.
template <int D>
class ContactElasticity {
 public:
  /// Keys stiffness, or young_modulus with poisson_ratio (and in space reference_load, linearization); and
  /// tangential_ratio. Rigid if none is given.
  void describe(Section& section);

  bool rigid() const { return stiffness_ < 0 && young_modulus_ < 0; }
  /// The key stiffness [N/m]; negative if the deck does not give it, infinite if "rigid".
  Real given_stiffness() const { return stiffness_word_ == "rigid" ? HUGE_VAL : stiffness_; }
  /// The key tangential_ratio if it is a number, else negative.
  Real given_tangential_ratio() const { return tangential_ratio_; }
  /// The key tangential_ratio if it is a word, else empty.
  const std::string& tangential_word() const { return tangential_word_; }
  bool has_young_modulus() const { return young_modulus_ > 0; }
  struct Stiffness {
    Real normal = HUGE_VAL, tangential = HUGE_VAL;  ///< [N/m]; infinite: rigid
  };
  /// Of a contact with this effective radius [m].
  Stiffness stiffness(Real effective_radius) const;

 private:
  Real normal_stiffness(Real effective_radius) const;
  static constexpr Real not_given = -2;  // a value that every key refuses: see Section::has
  Real stiffness_ = not_given;
  std::string stiffness_word_;
  Real young_modulus_ = not_given;
  Real poisson_ratio_ = not_given;
  Real reference_load_ = not_given;
  bool is_tangent_ = false;  ///< of Hertz's law at the reference load; else the secant
  Real tangential_ratio_ = not_given;
  std::string tangential_word_;  // empty: a number or not given
};

}  // namespace scree
