#pragma once
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace scree {

template <int D>
struct State;

/// Where the mechanical energy of a run came from and went [J], added up from the start (docs/method.md, eq.
/// E.1-E.5). It is exact to round-off, in soft contact to the order of the time step (eq. H.9-H.11):
///     kinetic + potential = start + wall_work + force_work + inflow - outflow - friction - rolling - impact
///                           + correction + integration + stiffening - elastic + cohesion
struct EnergyBalance {
  bool kept = true;      ///< whether these entries are made
  bool stored = false;   ///< whether contacts store energy
  bool pulls = false;    ///< whether contacts attract
  Real start = 0;        ///< kinetic and potential at the start
  Real wall_work = 0;    ///< done by moving obstacles on bodies
  Real force_work = 0;   ///< done on bodies by forces that have no potential
  Real friction = 0;     ///< dissipated by friction
  Real rolling = 0;      ///< dissipated by resistance to rolling
  Real impact = 0;       ///< dissipated along normals: inelastic impacts, gaps closed, compliance, damping
  Real correction = 0;   ///< potential energy given by moving overlapping bodies apart
  Real integration = 0;  ///< what the time step itself adds in a field of force
  Real inflow = 0;       ///< of bodies that entered
  Real outflow = 0;      ///< of bodies that left
  Real stiffening = 0;   ///< given to tangential springs by changes of their stiffness and by turning
  Real elastic = 0;      ///< stored in contacts now
  Real cohesion = 0;     ///< work of the attraction of contacts on bodies

  /// What schemes whose entries are integrals over time need of the last step: powers [W], and the energy in
  /// tangential springs [J].
  struct LastStep {
    std::int64_t step = -1;  ///< its number; -1: there is none
    Real impact = 0, friction = 0, rolling = 0, wall_work = 0, stretching = 0, force_work = 0, springs = 0,
         cohesion = 0;
  };
  LastStep last{};

  Real total() const {
    return start + wall_work + force_work + inflow - outflow - friction - rolling - impact + correction +
           integration + stiffening - elastic + cohesion;
  }
  /// Calls f(name, number) for each entry.
  template <class Balance, class F>
  static void for_each(Balance& balance, F&& f) {
    f("start", balance.start);
    f("wall_work", balance.wall_work);
    f("force_work", balance.force_work);
    f("friction", balance.friction);
    f("rolling", balance.rolling);
    f("impact", balance.impact);
    f("correction", balance.correction);
    f("integration", balance.integration);
    f("inflow", balance.inflow);
    f("outflow", balance.outflow);
  }
  /// The same of those that are 0 unless contacts store energy.
  template <class Balance, class F>
  static void for_each_stored(Balance& balance, F&& f) {
    f("stiffening", balance.stiffening);
    f("elastic", balance.elastic);
  }
  /// The same of those that are 0 unless contacts attract.
  template <class Balance, class F>
  static void for_each_cohesive(Balance& balance, F&& f) {
    f("cohesion", balance.cohesion);
  }
  /// The same of what is remembered of the last step, without its number.
  template <class Balance, class F>
  static void for_each_remembered(Balance& balance, F&& f) {
    auto& last = balance.last;
    f("last_impact", last.impact);
    f("last_friction", last.friction);
    f("last_rolling", last.rolling);
    f("last_wall_work", last.wall_work);
    f("last_stretching", last.stretching);
    f("last_force_work", last.force_work);
    f("last_springs", last.springs);
    f("last_cohesion", last.cohesion);
  }
};

struct MechanicalEnergy {
  Real kinetic = 0;    ///< [J], rotation included
  Real potential = 0;  ///< [J], that of gravity 0 where the coordinates are 0; bodies are followed through
                       ///< periodic faces
  Real total() const { return kinetic + potential; }
};

/// Potential energy of each owned body in state.forces [J]; empty if there are none. Local.
template <int D>
std::vector<Real> potential_in_forces(const State<D>& state);
/// The same into an array that is kept.
template <int D>
void find_potential_in_forces(const State<D>& state, std::vector<Real>& energy);

/// Of all bodies of all ranks, which must have inertia; the same bits on any number of ranks. Collective.
template <int D>
MechanicalEnergy mechanical_energy(const State<D>& state);

/// Energy of rotation of body i, which must be owned [J]. Local.
template <int D>
Real rotational_energy(const State<D>& state, std::size_t i);

/// Moment of inertia of a round body about its centre [kg m2]: 2/5 m r^2 of a solid sphere, 1/2 m r^2 of a
/// disk.
template <int D>
constexpr Real moment_of_inertia(Real mass, Real radius) {
  return (D == 2 ? 0.5 : 0.4) * mass * radius * radius;
}

}  // namespace scree
