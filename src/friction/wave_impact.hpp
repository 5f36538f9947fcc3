#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "friction/friction_problem.hpp"

namespace scree {

/// A contact of a cluster that meets an impact, and what the impact does to it.
template <int D>
struct WaveContact {
  static constexpr int q = n_velocities<D>;
  using Rows = std::array<Real, D* static_cast<std::size_t>(q)>;

  std::array<int, 2> body{-1, -1};  ///< places of a and b among the velocities; -1: of infinite mass
  std::array<Rows, 2> rows{};       ///< of H, for a and for b
  std::array<Rows, 2> moves{};      ///< rows of H M^-1: what a unit impulse adds to the velocities
  std::array<Real, D> obstacle{};   ///< velocity of what has infinite mass, along N, T1[, T2] [m/s]
  Real friction = 0, restitution = 1;
  Real stiffness = 1;  ///< K of F = K d^h: only ratios count

  std::array<Real, D> impulse{};    ///< along N, T1[, T2] [N s]
  Real normal = 0, tangential = 0;  ///< dissipated [J]
};

/// What is the same for all contacts of a cluster.
struct WaveRules {
  Real elasticity = 1.5;  ///< h of F = K d^h: 1.5 of Hertz, 1 of springs
  int resolution = 50;    ///< n: steps in which the fastest contact alone would be stopped
  Real rest_speed = 0;    ///< what approaches no faster when all energy is given back ends the impact [m/s]
  Real slow = 0;          ///< what approaches no faster takes up no energy [m/s]
};

/// The impact law of Liu, Zhao and Brogliato (Proc. R. Soc. A 464 (2008) 3193) at frozen positions, in steps
/// of impulse (docs/method.md, eq. D.21-D.24). Of each contact it keeps the energy E >= 0 that its
/// compression has taken up; contacts share impulses as springs F = K d^h with these energies would. The
/// energy of bodies and contacts is exact in any step, and friction takes what the result says. Serial.
/// Arrays are kept for the next cluster.
template <int D>
class WaveImpact {
 public:
  /// Changes the velocities (n_bodies * n_velocities<D>), and adds to what `contacts` have of impulse and
  /// work. Contacts go in the order given. False: 40 n steps were not enough or nothing gives energy back
  /// (restitution 0 everywhere), and what still approaches is left to another law.
  /// Cost: O(contacts) a step; 3 to 5 balls take about 4 n steps.
  bool run(const WaveRules& rules, std::span<WaveContact<D>> contacts, std::span<Real> velocity);
  /// Of the last run.
  std::int64_t n_steps() const { return n_steps_; }

 private:
  static constexpr int q = n_velocities<D>;
  struct Spring {
    Real energy = 0, speed = 0;  ///< E, u_N
    Real inverse_mass = 0, inverse_mass_along = 0;
    Real stiffness_power = 1;  ///< K^(1/(h+1))
    Real change = 0;           ///< of u_N in a whole step
    Real impulse = 0;          ///< dp of a whole step
    bool active = false;
  };

  void start(const WaveRules& rules);
  bool is_over(const WaveRules& rules);
  Real weight(const Spring& spring, Real energy, Real speed) const;
  bool share_out(bool at_half);
  void find_changes();
  void take(Real share);
  void rub(Real share);

  std::span<WaveContact<D>> contacts_;
  std::span<Real> velocity_;
  std::vector<Spring> springs_;
  std::vector<Real> moved_;   // what the impulses of a step add to the velocities
  std::vector<Real> weight_;  // of each contact
  Real power_ = 0, step_ = 0, slow_ = 0;
  std::int64_t n_steps_ = 0;
};

/// E(s) of one contact after the share s of a step of the impulse dp, in which u_N goes from u to u + du:
/// what the contact gives back counts 1/e^2 times.
struct ContactEnergy {
  Real energy, speed, change, impulse, restitution;

  /// Where E comes to 0 in the step after it was above; more than 1 if it does not.
  Real empties_at() const;
  Real after(Real share) const;
};

}  // namespace scree
