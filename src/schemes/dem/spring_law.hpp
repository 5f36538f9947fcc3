#pragma once
#include <algorithm>
#include <limits>

#include "schemes/dem/force_kernels.hpp"
#include "schemes/dem/soft_laws.hpp"
#include "state/state.hpp"

namespace scree {

/// What the deck says of contacts with springs.
struct SpringSettings {
  NormalLaw law = NormalLaw::hertz;
  TangentialLaw tangential = TangentialLaw::whole;
  bool attraction = true;  ///< damping may pull
  bool friction = true;
  Real overlap_limit = 0;  ///< as a share of the smaller radius of a contact
  bool rolling_springs = true;
  Real rolling_damping = 0.3;
};

/// The law of contacts with springs, of all pairs of materials, and the kernels that evaluate it.
template <int D>
struct SpringLaw {
  SpringSettings settings;
  SoftLaws<D> pairs;
  bool has_rolling_springs;  ///< some pair resists rolling by a spring
  bool resists_rolling;      ///< some pair resists rolling: spins of obstacles matter
  const LawKernels& kernels;
  Real reach = 0;  ///< the widest gap of a contact that has begun [m]

  /// Throws InputError naming the pair for a law that the deck does not determine.
  SpringLaw(const State<D>& state, const SpringSettings& of_deck)
      : settings(of_deck),
        pairs(laws_of(state, of_deck)),
        has_rolling_springs(
            std::ranges::any_of(pairs.laws(), [](const SoftLaw& law) { return law.rolling_stiffness > 0; })),
        resists_rolling(
            std::ranges::any_of(pairs.laws(), [](const SoftLaw& law) { return law.rolling_friction > 0; })),
        kernels(force_kernels().of(of_deck.law, of_deck.tangential, pairs.pulls())) {}

  /// For the bodies that a run may have. Local.
  void find_reach(const State<D>& state) { reach = pairs.reach(settings.law, state.lattice.largest_radius); }
  const SoftLaw& of(const MotionRecord& a, const MotionRecord& b) const {
    return pairs.of(static_cast<int>(a.material), static_cast<int>(b.material));
  }
  /// Operands of the kernels that are the same for all contacts.
  void fill(ForceBatches& batches) const {
    batches.laws = pairs.laws().data();
    batches.n_materials = pairs.n_materials();
    batches.rolling_springs = has_rolling_springs;
    batches.reach = reach;
    batches.overlap_limit = settings.overlap_limit;
    batches.law = settings.law;
    batches.min_force = settings.attraction ? -std::numeric_limits<Real>::infinity() : 0;
  }

 private:
  static SoftLaws<D> laws_of(const State<D>& state, const SpringSettings& of_deck) {
    SoftLaws<D> laws;
    laws.prepare(state, {.law = of_deck.law,
                         .friction = of_deck.friction,
                         .exact_without_attraction = !of_deck.attraction,
                         .rolling_springs = of_deck.rolling_springs,
                         .rolling_damping = of_deck.rolling_damping});
    return laws;
  }
};

}  // namespace scree
