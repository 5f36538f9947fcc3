#pragma once
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/body_halo.hpp"
#include "core/types.hpp"

namespace scree {

/// Velocities of a rigid body: 3 in the plane (two of translation, one of rotation), 6 in space.
template <int D>
inline constexpr int n_velocities = D == 2 ? 3 : 6;
/// Those of rotation alone.
template <int D>
inline constexpr int n_turns = n_velocities<D> - D;

/// Contacts without their bodies: u = W r + w with the Delassus operator W = H^T M^-1 H of whatever couples
/// them, in blocks of D x D, column by column. W need not be symmetric.
template <int D>
struct LocalForm {
  /// n_contacts + 1: column c has the blocks [column_first[c], column_first[c + 1]).
  std::vector<Index> column_first;
  std::vector<Index> row;   ///< contact of each block's row, ascending in a column, without repetition
  std::vector<Real> block;  ///< D * D each, row by row [1/kg]
  bool empty() const { return column_first.empty(); }
};

/// A direction of a wall that a load moves, along it or about an axis: one velocity v of the problem
/// (docs/method.md, eq. D.17). The directions of a wall come one after the other. Of one that turns, kg m2,
/// rad/s and N m s.
struct WallUnknown {
  bool is_further = false;   ///< of the same wall as the one before it
  bool is_known = false;     ///< it goes as it went before the step, whatever it carries
  Real inertia = 0;          ///< A [kg]; 0: a servo, which has none
  Real impulse = 0;          ///< of its load in the step [N s]
  Real velocity_before = 0;  ///< the step [m/s]
  Real max_speed = HUGE_VAL;
  /// What a servo may miss of its load, over the tolerance of the solve [N s]; 0: as contacts.
  Real scale = 0;
};

/// What contacts have of walls that are unknowns: a row for each direction of their wall. Empty: there are
/// none.
template <int D>
struct ContactsAtWalls {
  /// n_contacts: the first direction of its wall; -1: none. Else b is -1, and a is of this rank, or -1 if it
  /// is fixed.
  std::vector<Index> wall;
  std::vector<Index> first;  ///< n_contacts + 1: contact c has the rows [first[c], first[c + 1])
  std::vector<Real> row;     ///< n_rows * D: s [-], of a direction that turns [m]
  std::vector<Real> turn;    ///< n_rows * n_turns<D> where contacts resist rolling: that of spins

  /// Calls f(direction, row) for the rows of contact c.
  template <class F>
  void for_each_row(std::size_t c, F&& f) const {
    if (wall.empty()) return;
    for (Index i = first[c]; i < first[c + 1]; ++i)
      f(static_cast<std::size_t>(wall[c] + i - first[c]), static_cast<std::size_t>(i));
  }
  bool fit(std::size_t n_contacts, bool has_walls, bool rolls) const {
    if (!has_walls) return wall.empty() && first.empty() && row.empty() && turn.empty();
    if (wall.size() != n_contacts || first.size() != n_contacts + 1) return false;
    const std::size_t n_rows = first.back();
    return row.size() == n_rows * D && turn.size() == (rolls ? n_rows * n_turns<D> : 0);
  }
};

/// One implicit time step of rigid bodies with unilateral contacts and Coulomb friction (docs/method.md,
/// eq. F.1-F.4): find v and r with
///     M (v - v_free) = H^T r,   u = H v + w + G r,
///     0 <= u_N, r_N >= 0, u_N r_N = 0,   |r_T| <= mu r_N,   u_T = 0 or r_T = -mu r_N u_T / |u_T|.
/// Round contacts may resist rolling and spinning as well, with angular impulses s on b and -s on a:
///     w = omega_b - omega_a,   |s| <= mu_r R r_N,   w = 0 or s = -mu_r R r_N w / |w|            (D.5).
/// Walls that loads move have a velocity v in each of their directions, which adds s v to u of their contacts
/// (and to w of those that resist rolling):
///     A (v - v_before) = impulse of the load + sum s . r,   |v| <= max_speed                      (D.17).
/// The problem knows neither bodies nor files: whoever fills it decides what bodies and contacts are.
///
/// Shapes  q = n_velocities<D>; a contact has D components (N, T1[, T2]).
///         Each rank lists its owned bodies, then its ghosts, and the contacts it runs; each contact of the
///         run is listed by exactly one rank, which holds both of its bodies.
/// Units   mass kg, kg m^2 (and kg m); velocities m/s, rad/s; bias m/s; mu -; compliance 1/kg; r N s.
/// Sign    u is the velocity of body b relative to a, normal from a to b; r acts on b, -r on a.
template <int D>
struct FrictionProblem {
  static constexpr int q = n_velocities<D>;

  // Local bodies (owned, then ghosts).
  std::vector<GlobalId> body_id;  ///< for messages, and to name results; the same on all ranks
  /// n_local * q * q: blocks of M, positive definite. May be unsymmetric by a few percent (gyroscopic terms
  /// of an implicit step); solvers then work with B = M^-1 H^T where they use H^T else.
  std::vector<Real> mass;
  /// Another number whenever masses have changed, the same on all ranks; 0: they may have without a word.
  std::int64_t mass_stamp = 0;
  std::vector<Real> free_velocity;  ///< n_local * q; ghosts as their owners
  /// n_local * q: before the step, for restitution, energies and files; empty: as free_velocity.
  std::vector<Real> start_velocity;

  // Contacts of this rank in the order of a sweep: colour p has [colour_first[p], colour_first[p + 1]), of
  // which those before interior_first[p] touch bodies shared between ranks.
  std::vector<Index> a, b;  ///< local bodies; -1: a static body or wall, without velocities
  /// n_contacts * 2 * D * q: rows of H for a, then for b; zero where -1. Empty if bodies are round.
  std::vector<Real> jacobian;
  std::vector<Real> bias;        ///< n_contacts * D: w
  std::vector<Real> mu;          ///< n_contacts: Coulomb coefficient >= 0
  std::vector<Real> compliance;  ///< n_contacts * 2: G along N and along T >= 0; empty: rigid
  /// n_contacts * 2: mu_r >= 0 and R > 0 [m] of round contacts; empty: none resists rolling. Then impulses
  /// have n_turns<D> numbers more for each contact, after those of all: s [N m s] in turning_frame().
  std::vector<Real> rolling;
  /// Beside `rolling`, n_contacts * n_turns<D>: spin of the obstacle, in place of omega_b [rad/s].
  std::vector<Real> spin_bias;
  /// The same on all ranks; empty: no load moves a wall.
  std::vector<WallUnknown> walls;
  ContactsAtWalls<D> at_walls;  ///< beside them
  std::vector<Index> colour_first, interior_first;
  /// N, T1[, T2] of each contact; may be empty where there is a jacobian.
  std::vector<std::array<Vec<D>, D>> frame;
  /// Where all bodies are round at their contacts, in place of the jacobian: how far the contact lies from
  /// the centres of a and of b [m], n_contacts * 2, 0 for none. Levers are along the normal, mass blocks are
  /// m I and J I; then W_cc is diagonal, and solvers use a shorter form.
  std::vector<Real> arm;
  /// The local form, in place of bodies: mass, free_velocity and jacobian are empty then, a and b are -1, and
  /// the halo (of one rank) counts bodies_of_local_form(). Compliance adds to it as to any problem.
  LocalForm<D> local;

  Real time_step = 0;       ///< [s], for the overlap that compliance implies
  Real velocity_floor = 0;  ///< [m/s], about |g| dt: least velocity to which errors are compared
  /// [m/s], what errors are compared to; 0: rms of |H v_free + w| per contact, at least velocity_floor.
  Real velocity_scale = 0;
  BodyHalo* halo = nullptr;
  /// n_contacts [m/s]: > 0 where a contact is measured against what it changes itself (docs/method.md, F.8),
  /// or against this velocity if that is more; 0 where against the velocity scale of all. Empty: all 0. Only
  /// of bodies that are round.
  std::vector<Real> own_scale;

  bool is_local() const { return !local.empty(); }
  /// False on a rank without contacts.
  bool is_round() const { return !arm.empty(); }
  bool rolls() const { return !rolling.empty(); }
  /// The first direction of the wall of contact c, if that is an unknown; -1: it is none.
  Index wall_of(std::size_t c) const { return at_walls.wall.empty() ? -1 : at_walls.wall[c]; }
  /// Of all contacts of this rank.
  std::size_t n_impulses() const { return a.size() * static_cast<std::size_t>(rolls() ? q : D); }
  Index n_contacts() const { return static_cast<Index>(a.size()); }
  Index n_owned() const { return halo->n_owned(); }
  Index n_local() const { return halo->n_local(); }

  /// Throws InputError on all ranks for arrays of the wrong length, numbers that are not finite, mu < 0,
  /// compliance < 0, a negative time step or velocity floor, a mass block that is not positive definite, W_cc
  /// of a local form alike, or a contact without a body; the message names the body (smallest id) or the
  /// contact. Collective.
  void validate() const;

  /// The rows of H of contact c for a (side 0) or b (1): D * q numbers, zero where there is no body that
  /// moves.
  void find_rows(std::size_t c, std::size_t side, Real* rows) const;
  /// H v of contact c, from the velocities of the local bodies (n_local * q) [m/s].
  Vec<D> relative_velocity(std::size_t c, std::span<const Real> v) const;
  /// w of a contact that resists rolling, in turning_frame() [rad/s].
  Vec<n_turns<D>> relative_spin(std::size_t c, std::span<const Real> v) const;
  /// Its component along N, which the spins of round bodies have no part in.
  Real normal_velocity(std::size_t c, std::span<const Real> v) const;

 private:
  void validate_local() const;
};

template <int D>
Vec<D> FrictionProblem<D>::relative_velocity(std::size_t c, std::span<const Real> v) const {
  const Index ends[2] = {a[c], b[c]};
  Vec<D> u;
  if (!is_round()) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (ends[side] < 0) continue;
      const Real* row = &jacobian[(c * 2 + side) * D * q];
      const Real* body = &v[static_cast<std::size_t>(ends[side]) * q];
      for (int i = 0; i < D; ++i)
        for (int k = 0; k < q; ++k) u[i] += row[i * q + k] * body[k];
    }
    return u;
  }
  // u = (v_b - v_a) - (R_a omega_a + R_b omega_b) x n.
  Real moved[D] = {}, spin[q - D] = {};
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    const Real* body = &v[static_cast<std::size_t>(ends[side]) * q];
    const Real lever = arm[2 * c + side];
    for (int k = 0; k < D; ++k) moved[k] += side == 0 ? -body[k] : body[k];
    for (int k = 0; k < q - D; ++k) spin[k] += lever * body[D + k];
  }
  const auto& f = frame[c];
  for (int i = 0; i < D; ++i)
    for (int k = 0; k < D; ++k) u[i] += f[i][k] * moved[k];
  if constexpr (D == 2) {
    u[1] -= spin[0];
  } else {
    for (int k = 0; k < 3; ++k) {
      u[1] -= f[2][k] * spin[k];
      u[2] += f[1][k] * spin[k];
    }
  }
  return u;
}

/// The axes about which rolling and spinning of a contact are counted: T2, -T1, N in space, so that rolling
/// about the first moves the surface along the first tangent. In the plane there is one.
template <int D>
std::array<Vec<n_turns<D>>, n_turns<D>> turning_frame(const std::array<Vec<D>, D>& frame) {
  if constexpr (D == 2)
    return {Vec<1>{{1}}};
  else
    return {frame[2], -1.0 * frame[1], frame[0]};
}

template <int D>
Vec<n_turns<D>> FrictionProblem<D>::relative_spin(std::size_t c, std::span<const Real> v) const {
  const Index ends[2] = {a[c], b[c]};
  Vec<q - D> spin, w;
  for (std::size_t side = 0; side < 2; ++side)
    for (int k = 0; k < q - D && ends[side] >= 0 && arm[2 * c + side] > 0; ++k)
      spin[k] += (side == 0 ? -1 : 1) * v[static_cast<std::size_t>(ends[side]) * q + D + k];
  const auto axes = turning_frame<D>(frame[c]);
  for (int k = 0; k < q - D; ++k)
    w[k] = dot(axes[k], spin) + spin_bias[c * (q - D) + static_cast<std::size_t>(k)];
  return w;
}

template <int D>
Real FrictionProblem<D>::normal_velocity(std::size_t c, std::span<const Real> v) const {
  if (!is_round()) return relative_velocity(c, v)[0];
  Vec<D> moved;
  for (int k = 0; k < D && a[c] >= 0; ++k) moved[k] -= v[static_cast<std::size_t>(a[c]) * q + k];
  for (int k = 0; k < D && b[c] >= 0; ++k) moved[k] += v[static_cast<std::size_t>(b[c]) * q + k];
  return dot(frame[c][0], moved);
}

/// Solvers keep the velocities of q / D contacts of a local form together, as they keep those of a body.
template <int D>
constexpr Index bodies_of_local_form(Index n_contacts) {
  constexpr Index together = n_velocities<D> / D;
  return (n_contacts + together - 1) / together;
}

}  // namespace scree
