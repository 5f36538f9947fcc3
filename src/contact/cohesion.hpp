#pragma once
#include <string>

#include "core/plugin.hpp"
#include "core/section.hpp"
#include "core/types.hpp"

namespace scree {

/// The pull-off force of two bodies [N] in parts: constant + per_length * R + per_mass * m, with R their
/// effective radius and m the mass of the lighter one that can move.
struct PullOff {
  Real constant = 0;    ///< [N]
  Real per_length = 0;  ///< [N/m]
  Real per_mass = 0;    ///< [m/s2]

  Real of(Real effective_radius, Real lighter_mass) const {
    return constant + per_length * effective_radius + per_mass * lighter_mass;
  }
};

/// What an attraction that acts beyond contact is given.
struct AttractedContact {
  Real overlap = 0;           ///< [m], negative: a gap
  Real effective_radius = 0;  ///< R [m]
  Real modulus = 0;           ///< E* of Hertz's law [Pa]; 0 with the linear law
  Real elastic = 0;           ///< force of the law without attraction; 0 without overlap [N]
  Real contact_radius = 0;    ///< sqrt(R overlap) with Hertz's law; 0 without overlap [m]
};
struct AttractedForce {
  Real force = 0;           ///< with the attraction, positive: pushes [N]
  Real pull = 0;            ///< with `force` the load that limits friction [N]
  Real contact_radius = 0;  ///< of the stiffnesses of Hertz's law [m]
};

/// How surfaces attract each other (docs/method.md, "Cohesion"), apart from the dimension.
class Attraction {
 public:
  virtual ~Attraction() = default;
  /// The largest pull of two bodies at rest in contact. `gravity`: its size [m/s2].
  virtual PullOff pull_off(Real gravity) const = 0;
  /// Whether it acts beyond overlap 0, or not as the constant pull_off() within: then end() and force()
  /// apply. A contact begins at overlap 0 and ends at the gap end().
  virtual bool is_ranged() const { return false; }
  /// The widest gap of a contact that has begun [m].
  virtual Real end(Real /*effective_radius*/, Real /*modulus*/) const { return 0; }
  /// Of a contact that has begun and has not ended.
  virtual AttractedForce force(const AttractedContact& contact) const {
    return {contact.elastic, 0, contact.contact_radius};
  }
  /// Impacts of the scheme "nonsmooth" that would leave with at most this share of pull_off() as energy
  /// stick [m].
  virtual Real range() const { return 0; }
  /// Whether the deck counts with gravity: a complaint if there is none.
  virtual bool needs_gravity() const { return false; }
  /// Whether it is a law of Hertz's contact.
  virtual bool needs_hertz() const { return false; }
  /// Liquid between two bodies [m3]; 0: none.
  virtual Real volume(Real /*effective_radius*/) const { return 0; }
};

/// [pairs."A-B".cohesion] of a deck.
template <int D>
class Cohesion : public Attraction {
 public:
  /// Declares and reads the keys of this type.
  virtual void describe(Section& section) = 0;

  /// How often the pull counts in the load that limits friction: mu (F_N + pull_share * F_c).
  Real pull_share() const { return thornton_ ? 2 : 1; }
  const std::string& where() const { return where_; }

 protected:
  /// The key friction_load.
  void describe_friction_load(Section& section) {
    section.choice(
        "friction_load", thornton_, {{"elastic", false}, {"thornton", true}},
        {.doc = "Load that limits friction: \"elastic\", mu (F_N + F_c) with the pull-off force F_c; "
                "\"thornton\", mu |F_N + 2 F_c|, as in LAMMPS"});
    if (section.reading()) where_ = section.where("type");
  }
  void describe_range(Section& section) {
    section.real("range", range_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "Scheme \"nonsmooth\" only: an impact that would leave with an energy of at most "
                         "range times the pull-off force sticks; 0: none does"});
  }

  bool thornton_ = false;
  Real range_ = 0;
  std::string where_;
};

}  // namespace scree
