#pragma once
#include <span>
#include <vector>

#include "core/section.hpp"
#include "core/types.hpp"

namespace scree {

/// A unilateral constraint without friction on the velocities of one body or two: with J v = n . (v_a - v_b)
/// the approach speed, it asks for J v <= 0. Obstacles and bodies that are fixed do not move: v_b = 0.
template <int D>
struct ImpactConstraint {
  int a = 0;
  int b = -1;            ///< -1: an obstacle
  Vec<D> normal{};       ///< from a to b; any length but 0, which scales the approach speed
  Real restitution = 0;  ///< Newton's coefficient e in [0, 1]
  Real rest_speed = 0;   ///< approached at most this fast it does not rebound: e = 0 [m/s]
};

/// Bodies that touch each other and obstacles at the moment of an impact.
template <int D>
struct ImpactProblem {
  std::span<const Real> mass;  ///< of each body [kg]
  std::span<const ImpactConstraint<D>> constraints;
};

enum class ImpactStop {
  exit,   ///< no constraint is approached
  rest,   ///< hardly any velocity is left
  limit,  ///< max_steps were taken; constraints may still be approached
};
std::string_view name(ImpactStop stop);

struct ImpactReport {
  std::int64_t steps = 0;
  ImpactStop stop = ImpactStop::exit;
};

/// The velocities after an impact on several constraints at once (docs/method.md, "Impacts"): one step after
/// the other until no constraint is approached faster than S, or no body is faster than S_v. Both are counted
/// in units of the largest speed of a body at the start, |v0|, so that a change of units changes nothing.
template <int D>
class ImpactLaw {
 public:
  struct Settings {
    Real approach_threshold = 0x1p-51;  ///< S = 2 * 2^-52
    Real rest_threshold = 1e-12;        ///< S_v
    std::int64_t max_steps = 10'000;    ///< n_max
  };

  virtual ~ImpactLaw() = default;
  /// Declares and reads the settings.
  virtual void describe(Section& section);
  void set(const Settings& settings) { settings_ = settings; }

  /// Changes `velocity` (of each body [m/s]) to that after the impact. `impulse` becomes what each constraint
  /// took, >= 0: -impulse * n acts on a, +impulse * n on b (n as long as it is given; [N s] if it is a unit
  /// vector). Local; O(constraints) per step, no allocation in them.
  ImpactReport resolve(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity, std::span<Real> impulse);

  /// The constraints approached faster than S times `scale`, in ascending order. Valid until the next call.
  std::span<const std::size_t> approached(const ImpactProblem<D>& problem, std::span<const Vec<D>> velocity,
                                          Real scale);

 protected:
  /// One step: adds impulses at constraints of `active_`, with `approach_` and `effective_mass_` known.
  virtual void step(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity, std::span<Real> impulse) = 0;

  /// e of constraint i at its present approach speed.
  Real restitution(const ImpactProblem<D>& problem, std::size_t i) const;
  std::vector<Real> approach_;        ///< J_i v of each constraint
  std::vector<Real> effective_mass_;  ///< 1 / (J_i M^-1 J_i^T) of each constraint
  std::vector<std::size_t> active_;   ///< approached, in ascending order
  std::vector<Vec<D>> sum_;           ///< of each body, for the step

 private:
  Settings settings_;
};

/// J_i v, the approach speed of constraint i (of a normal of unit length).
template <int D>
Real approach_speed(const ImpactConstraint<D>& constraint, std::span<const Vec<D>> velocity);

/// 1 / (J_i M^-1 J_i^T) [kg].
template <int D>
Real effective_mass(const ImpactProblem<D>& problem, std::size_t i);

/// v <- v - M^-1 J_i^T p: constraint i takes the impulse p.
template <int D>
void apply_impulse(const ImpactProblem<D>& problem, std::size_t i, Real p, std::span<Vec<D>> velocity);

/// The nearest point to v, in the norm of the masses, that fulfils J_i v <= bound_i for all constraints: what
/// remains of v if they act without rebound (for accelerations, too). Replaces v; `impulse` becomes that of
/// each constraint, >= 0. By sweeps of projections until they change the approach speeds by less than 1e-15
/// of `scale`; returns whether they got there. Local; allocates.
template <int D>
bool project_admissible(const ImpactProblem<D>& problem, std::span<const Real> bound, Real scale,
                        std::span<Vec<D>> velocity, std::span<Real> impulse);

/// Largest speed of a body [m/s].
template <int D>
Real largest_speed(std::span<const Vec<D>> velocity);

template <>
std::span<const Entry<ImpactLaw<2>>> registry<ImpactLaw<2>>();
template <>
std::span<const Entry<ImpactLaw<3>>> registry<ImpactLaw<3>>();

}  // namespace scree
