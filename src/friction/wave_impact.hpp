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
  int resolution = 10;    ///< n: sub-steps in which the fastest contact alone would be stopped
  Real rest_speed = 0;    ///< what approaches no faster is at rest: it takes up no energy [m/s]
};

/// The impact law of Liu, Zhao and Brogliato (Proc. R. Soc. A 464 (2008) 3193) at frozen positions
/// (docs/method.md, eq. D.21-D.23). Of each contact it keeps the energy E >= 0 that its compression has
/// taken up; a contact presses as a spring F = K d^h with this energy would. Contacts press one after the
/// other, in sub-steps of half the duration there and half back (second order), so energy is exact in each
/// press and friction takes what the result says. Serial. Arrays are kept for the next cluster.
template <int D>
class WaveImpact {
 public:
  /// Changes the velocities (n_bodies * n_velocities<D>), and adds to what `contacts` have of impulse and
  /// work. Starts at contacts that approach faster than the speed of rest and goes where it moves bodies, in
  /// the order given. False: 200 n sub-steps were not enough or nothing gives energy back (restitution 0
  /// everywhere), and what still approaches is left to another law.
  /// Cost: O(contacts of the bodies that it moves) a sub-step; 3 to 5 spheres take 4 n to 8 n sub-steps.
  bool run(const WaveRules& rules, std::span<WaveContact<D>> contacts, std::span<Real> velocity);
  /// Of the last run.
  std::int64_t n_steps() const { return n_steps_; }

 private:
  static constexpr int q = n_velocities<D>;
  struct Spring {
    Real energy = 0;  ///< E [J]
    Real inverse_mass = 0, inverse_mass_along = 0;
    Real depth = 1, force = 1;  ///< of E = 1
    bool is_reached = false;
  };

  void start(const WaveRules& rules);
  void find_contacts_of_bodies();
  void prepare(const WaveContact<D>& contact, Spring& spring) const;
  Real speed(const WaveContact<D>& contact, std::size_t row) const;
  void reach(std::size_t c);
  Real duration();
  void press(std::size_t c, Real duration);
  void rub(std::size_t c, Real normal_impulse);
  void push(const WaveContact<D>& contact, std::size_t row, Real impulse);

  std::span<WaveContact<D>> contacts_;
  std::span<Real> velocity_;
  std::vector<Spring> springs_;
  std::vector<std::size_t> reached_;                 // contacts, in the order in which the impact came
  std::vector<std::size_t> first_of_, contacts_of_;  // contacts of each body
  std::vector<char> is_moved_;                       // of each body
  Real elasticity_ = 1.5, step_ = 0, rest_speed_ = 0;
  std::int64_t n_steps_ = 0;
};

/// Of one contact: what an impulse makes of the energy that it has taken up.
struct ContactEnergy {
  Real energy, speed;  ///< E [J], u_N before [m/s]
  Real inverse_mass;   ///< what a unit impulse adds to u_N
  Real restitution;    ///< e: what the contact gives back counts 1/e^2 times

  /// Takes the impulse, or as much of it as brings E to 0. Returns how much.
  Real take(Real impulse);
};

}  // namespace scree
