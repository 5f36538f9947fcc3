#pragma once
#include <cmath>

#include "core/types.hpp"

namespace scree {

/// Damping of a spring contact that leaves with the restitution e and never pulls (docs/method.md, eq. D.6).
///
/// In units of mass, stiffness and approach speed the overlap of one impact obeys x'' = -max(0, x + 2 beta
/// x'), x(0) = 0, x'(0) = 1. The force falls to 0 after the time t_e, and the speed is exp(-beta t_e) then
/// (T. Schwager, T. Poeschel, Granular Matter 9 (2007) 465). Both have a closed form; beta follows from e by
/// bisection.
struct ImpactDamping {
  Real share = 0;        ///< beta: damping over critical damping
  Real duration = 0;     ///< t_e, in units of sqrt(mass/stiffness)
  Real restitution = 1;  ///< exp(-beta t_e): e, or a little more for e below 3e-5
};
/// Of a restitution in [0, 1].
ImpactDamping impact_damping(Real restitution);

/// What a contact asks of a step along one direction: the impulse is r = -(u + bias) / compliance, with u the
/// velocity of the surfaces at the end of the step. These are w and G of the friction problem.
struct ContactLine {
  Real compliance = 0;  ///< [1/kg]
  Real bias = 0;        ///< [m/s]
};

/// A spring with a damper between two bodies, over a step of length dt, if positions move with the velocities
/// of the end of the step (docs/method.md, eq. D.7-D.11).
///
/// The impulse is linear in the stretch x and the velocity u of the start and in the velocity u' of the end.
/// The three coefficients are those for which a load F stretches the contact by F/k; free motion is that of
/// the implicit midpoint rule, with the phase psi = 2 atan(omega dt / 2) per step; and it is damped by
/// exp(-beta psi), so that beta means at any length of the step what it means for short ones. Without damping
/// the energy m u^2/2 + k y^2/2 is constant in any network of such contacts, with y = x - u dt/2. Any length
/// of the step is stable. Units: SI. O(1).
class SpringStep {
 public:
  /// `inverse_mass` W [1/kg]: the velocity that a unit impulse gives; omega = sqrt(k W).
  SpringStep(Real stiffness, Real inverse_mass, Real damping_share, Real dt);

  /// The spring in both directions. x: stretch [m]; u: velocity that stretches [m/s]; both at the start.
  ContactLine bilateral(Real x, Real u) const { return {compliance_, stretch_ * x + speed_ * u}; }

  /// Of a contact that pushes only, by the solution of the single contact over the step: where it begins
  /// within the step, it takes up as much as if it had begun at that moment; where it ends, it gives back
  /// what it holds. So a single impact leaves with exactly `damping.restitution` at any omega dt.
  ///
  /// Where omega dt > 30, an impact is Newton's and any other contact a spring taken implicitly: what a
  /// contact holds from one step to the next would be less than solvers resolve.
  struct Contact {
    Real gap = 0;         ///< of the surfaces, negative for overlap [m]
    Real speed = 0;       ///< their velocity along the normal, negative for approach [m/s]
    Real load = 0;        ///< what all else added to it in the step before [m/s]: decides what ends
    Real rest_speed = 0;  ///< Newton's impacts are faster [m/s]
    bool may_end = true;  ///< false: others push it together again, as a step was solved in which it ended
  };
  ContactLine unilateral(const ImpactDamping& damping, const Contact& contact) const;

  /// How much of the step a contact lasts that begins in it, in [0.01, 1]. `speed`: at the start,
  /// `end_speed`: at the end if there is no contact, both negative for approach.
  Real share_after_begin(Real gap, Real speed, Real end_speed) const;
  /// Along a tangent of such a contact: the spring, unstretched when it begins, in this share of the step.
  /// r = -(u' + u)/G, so it takes energy whatever else acts; alone it leaves the u' of the oscillator.
  ContactLine begun(Real share, Real u) const;
  /// Of the energy that such a contact took, what is stored.
  Real stored_share(Real share) const;
  /// The oscillator that the steps sample has the stretch x - lag() u times a factor. lag() is dt/2 without
  /// damping, and the factor 1.
  Real lag() const { return lag_; }
  /// What it stores at this x - lag() u [J], and the other way round.
  Real energy_of(Real stretch) const { return 0.5 / inverse_mass_ * std::pow(stretch / unit_stretch_, 2); }
  Real stretch_of(Real energy) const { return unit_stretch_ * std::sqrt(2 * inverse_mass_ * energy); }
  /// Whether omega dt > 30.
  bool too_stiff() const { return angle_ > 30; }

 private:
  /// Motion after a phase in units of the spring: overlap and approach after exp(-beta phase) were taken out.
  struct Wave {
    Real cosine, sine;
  };
  Wave wave(Real phase) const;
  Real decay(Real phase) const;
  Real phase_at_end_of_entry(Real gap_over_speed) const;
  Real lost_speed(Real phase) const;
  ContactLine through(Real own_end_speed, Real u) const;

  Real dt_, inverse_mass_, share_;
  Real angle_, phase_;                 // omega dt, psi
  Real taken_;                         // W / (G + W)
  Real compliance_, stretch_, speed_;  // G, and the coefficients of x and u in the bias
  Real lag_, unit_stretch_;            // x - lag u = -unit_stretch (overlap of the oscillator, as a velocity)
};

}  // namespace scree
