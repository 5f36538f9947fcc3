#pragma once
#include <optional>
#include <string>
#include <vector>

#include "schemes/common/attracted_pairs.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "state/state.hpp"

namespace scree {

/// The laws of all pairs of materials of a deck, and what they ask of the time step
/// (docs/method.md, eq. H.1-H.8).
///
/// Linear: stiffness k of the pair; k_T = tangential_ratio * k (2/7 if not given), normal and tangential
/// damping as the restitution e of the pair asks: gamma = 2 beta sqrt(m* k), beta = -ln e / sqrt(ln^2 e +
/// pi^2). Hertz-Mindlin: moduli of the two materials,
///     1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b,  1/G* = 2 (2 - nu_a)(1 + nu_a)/E_a + the same of b,
/// k_N = 2 E* sqrt(R* d), k_T = 8 G* sqrt(R* d), gamma = 2 sqrt(5/6) beta sqrt(m* k): e is then the ratio of
/// the speeds at any speed (D. Antypov and J. A. Elliott, EPL 94 (2011) 50004).
template <int D>
class SoftLaws {
 public:
  struct Rules {
    NormalLaw law = NormalLaw::hertz;
    bool friction = true;
    /// Damping that gives the restitution e if forces never pull, instead of the formula above.
    bool exact_without_attraction = false;
    bool rolling_springs = true;
    Real rolling_damping = 0.3;  ///< share of critical damping of rolling springs
  };
  /// Throws InputError, naming the pair, for a law that the deck's tables do not determine.
  void prepare(const State<D>& state, const Rules& rules);

  std::span<const SoftLaw> laws() const { return laws_; }
  const SoftLaw& of(int a, int b) const { return laws_[index(a) * n_materials_ + index(b)]; }
  /// Which attraction some pair has.
  Pulls pulls() const;
  /// The widest gap [m] of contacts that have begun, of bodies up to this radius [m].
  Real reach(NormalLaw law, Real largest_radius) const;
  int n_materials() const { return static_cast<int>(n_materials_); }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::vector<SoftLaw> laws_;
  std::size_t n_materials_ = 0;
};

/// Says which two materials attract each other more than their contact carries at an overlap of `share` of
/// the radius, of their largest or smallest bodies; empty if none do. `attracted`: of attracted_pairs().
/// Local.
template <int D>
std::string check_cohesive_stability(const State<D>& state, const SoftLaws<D>& laws, NormalLaw law,
                                     std::span<const AttractedPair> attracted, Real share);

/// The longest time step of a run, and whose it is (docs/method.md, eq. H.7-H.8).
struct StepLimit {
  Real rayleigh_time = HUGE_VAL;  ///< of Hertz's law, least of all bodies [s]
  Real half_period = HUGE_VAL;    ///< of the linear law without damping, least of all bodies [s]
  Real limit = HUGE_VAL;          ///< a longer step is unstable [s]
  GlobalId body = -1;             ///< the one that sets it; -1: there is none
};

/// Hertz's law: the Rayleigh time pi R sqrt(rho/G) / (0.1631 nu + 0.8766) of a body. G and nu are those of
/// its material; of a rigid one those of the partner that makes it shortest. Linear law: the motion of two
/// equal bodies of m* = m/2 is stable up to 2 sqrt(m*/k) (sqrt(1 + beta^2) - beta), k and beta = gamma /
/// (2 sqrt(m* k)) of the pair of the material that makes it shortest; half of a period is pi sqrt(m*/k).
/// Bodies that cannot move have no limit. Collective, O(bodies).
template <int D>
StepLimit find_step_limit(const State<D>& state, const SoftLaws<D>& laws, NormalLaw law);

/// Says which two materials have a contact that is not elastic, if a body that moves is made of one of
/// them and another body or an obstacle of the other; empty if there is none. Collective, O(bodies).
template <int D>
std::string find_rigid_contact(const State<D>& state, const SoftLaws<D>& laws);

}  // namespace scree
