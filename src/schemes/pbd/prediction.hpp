#pragma once
#include <utility>

#include "neighbors/neighborhood.hpp"
#include "schemes/pbd/sweeper.hpp"
#include "state/state.hpp"
#include "state/step_messages.hpp"
#include "state/velocity_field.hpp"

namespace scree {

/// Where bodies of the scheme "pbd" go in a step by themselves, y = x + dt f(x, t), and how long a step may
/// be for that. Steps are cut where bodies would get into a solid with a far side, or obstacles that move
/// would push bodies further than candidates reach. `position` stays where the step starts; y is in the
/// records of the sweeper.
template <int D>
class PbdPrediction {
 public:
  PbdPrediction(const VelocityField<D>& field, PbdSweeper<D>& sweeper, Neighborhood<D>& neighborhood)
      : field_(field), sweeper_(sweeper), neighborhood_(neighborhood) {}

  /// What the cuts depend on: whether there are mobilities other than 1, and the smallest radius [m].
  void fit(bool weighted, Real smallest_radius) {
    weighted_ = weighted;
    smallest_radius_ = smallest_radius;
  }

  /// Puts owned bodies where they would be after dt if nothing touched them. Local.
  void predict(State<D>& state, Real dt) { evaluate(state, dt); }
  /// The same with dt, or with a shorter step where bodies would get into solids with a far side. Obstacles
  /// are left at the end of the step. Returns the skin that is used up [m]. Throws StepRefused naming the
  /// body if the step would have to be much shorter. Collective.
  Real predict_within_reach(State<D>& state, Real& dt);
  /// The length of a step of at most dt in which obstacles move so little that what they push stays among the
  /// candidates, and not further than bodies may come towards them. Local; the same on all ranks.
  Real cut_for_obstacles(const State<D>& state, Real dt) const;
  /// After the step, with its start in the records: the radius of the largest body of this rank that contacts
  /// have pushed into a solid with a far side, or through it; 0: there is none [m]. Local.
  Real pushed_through(const State<D>& state) const;

 private:
  struct Ways {
    Real moved_squared = 0;  ///< of the body farthest from where it was listed [m2]; infinite: not a number
    /// The longest way of a body over its radius; 0 if none is longer than reach() times the smallest radius.
    Real over_radius = 0;
  };
  static constexpr Real most_approach = 0.5;  // of a centre to a solid in a step, over the radius

  Ways evaluate(State<D>& state, Real dt);
  /// The length of a step in which no body that would get into a solid with a far side goes further than its
  /// reach(): dt, if none would. Obstacles stand where they are after dt. Collective.
  Real cut_for_bodies(const State<D>& state, Real dt) const;
  /// Of owned body i, after predict() [m].
  Vec<D> predicted_way(const State<D>& state, std::size_t i) const {
    return position_of<D>(std::as_const(sweeper_).records()[i]) - state.bodies.position()[i];
  }
  /// The way that a body may go by itself in a step towards a solid with a far side, as a share of its
  /// radius. If obstacles move, half of it is theirs.
  static Real reach(const State<D>& state) {
    return state.obstacles.moves() ? 0.5 * most_approach : most_approach;
  }

  const VelocityField<D>& field_;
  PbdSweeper<D>& sweeper_;
  Neighborhood<D>& neighborhood_;
  bool weighted_ = false;
  Real smallest_radius_ = 0;
  WarnOnce warn_of_long_ways_;
};

}  // namespace scree
