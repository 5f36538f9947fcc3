#pragma once
#include <span>
#include <vector>

#include "core/body_halo.hpp"
#include "crowd/look_ahead.hpp"
#include "friction/friction_solver.hpp"

namespace scree {

/// The velocities nearest to the desired ones that let nobody overlap within a step (docs/method.md, eq.
/// P.6-P.9; B. Maury, J. Venel, ESAIM: M2AN 45 (2011) 145-168):
///
///     V = argmin sum |V_i - U_i|^2 / 2   subject to   gap_c + dt (n_c . (V_b - V_a)) >= 0   for all contacts
///     c
///
/// With multipliers l_c >= 0 [m/s]: V = U + sum_c l_c n_c (+ for b, - for a). Gaps of disks, of straight
/// walls and of columns are convex in the positions, so the true gaps after the step are at least the
/// linearised ones.
class VelocityProjection {
 public:
  struct Settings {
    Real tolerance = 1e-6;  ///< [m], of gaps and complementarity: see Report::residual
    std::int64_t max_sweeps = 5000;
    Real relaxation = 1.5;  ///< over-relaxation of the sweeps, in (0, 2)
  };
  struct Report {
    bool converged = false;
    std::int64_t n_contacts = 0;  ///< of all ranks
    std::int64_t sweeps = 0;      ///< or iterations of the chosen solver
    Real min_gap = 0;             ///< linearised, after the step [m]; infinite without contacts
    Real residual = 0;  ///< max over contacts of |min(l_c, u_c)| dt [m], u_c = gap_c / dt + n_c . (V_b - V_a)
    Real fastest = 0;   ///< max |V_i| [m/s]
  };

  /// Over-relaxed dual Gauss-Seidel sweeps in the order of the contacts: the same bits on any number of
  /// ranks. `velocity` (n_local): owned entries are U on entry and V on return; `multiplier` (contacts): a
  /// guess on entry. `mobility` (n_local, or empty: all move): where it is 0 somebody keeps the velocity U; a
  /// contact of two such, or of one and a wall, is no constraint. Cost of a sweep: O(contacts), about 40
  /// bytes each, and n_colours + 1 transfers. Collective.
  Report solve(BodyHalo& halo, const NearContacts& contacts, Real dt, const Settings& settings,
               std::span<Vec<2>> velocity, std::span<Real> multiplier, std::span<const Real> mobility = {});

  /// The same problem as contacts without friction between bodies of unit mass, solved by one of the friction
  /// solvers until its natural residual and then Report::residual are met; only "nsgs" gives the same bits on
  /// any number of ranks. Collective.
  Report solve(BodyHalo& halo, const NearContacts& contacts, Real dt, const Settings& settings,
               std::span<const GlobalId> ids, FrictionSolver<2>& solver, const StopRule& stop,
               std::span<Vec<2>> velocity, std::span<Real> multiplier);

 private:
  struct Row {
    Index a, b;  // b: n_local for none
    Real normal[2];
    Real bias;         // gap / dt + velocity of the wall along the normal [m/s]
    float to_a, to_b;  // 1, or 0 for who does not move, and where there is no b
    Real multiplier;
  };
  void load(const BodyHalo& halo, const NearContacts& contacts, Real dt, std::span<const Vec<2>> velocity,
            std::span<const Real> multiplier, std::span<const Real> mobility);
  void apply_multipliers(BodyHalo& halo, const NearContacts& contacts);
  Real sweep(BodyHalo& halo, const NearContacts& contacts, Real relaxation);
  void evaluate(BodyHalo& halo, Real dt, Report& report) const;
  std::span<Real> numbers() { return {velocity_.data()->component.data(), 2 * n_local_}; }

  std::vector<Row> rows_;
  std::vector<Vec<2>> desired_, velocity_;  // n_local + 1: the last one stands for none
  std::size_t n_local_ = 0;

  // As a friction problem.
  FrictionProblem<2> problem_;
  FrictionSolve<2> friction_;
  std::vector<Real> impulse_, solved_;
};

}  // namespace scree
