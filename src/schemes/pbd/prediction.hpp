#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/timing.hpp"
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
  Real predict_within_reach(State<D>& state, Real& dt) {
    while (true) {
      const Displacements displacements = evaluate(state, dt);
      state.obstacles.place(state.clock.time + dt);
      Real displacement = displacements.over_radius;  // the longest on any rank
      const Real used = neighborhood_.used_skin(state, displacements.moved_squared, dt, &displacement);
      if (displacement > reach(state) && state.obstacles.any_far_side()) {
        const Real shorter = cut_for_bodies(state, dt);
        if (shorter < dt) {
          dt = shorter;
          continue;
        }
      }
      if (displacement > 1)
        warn_of_long_displacements_(state.clock, [&] {
          return fmt::format(
              "bodies go further than their radius in a step of {:.3g} s and may pass each other where their "
              "paths cross; reduce [time] step if they should not. Further steps are not named",
              dt);
        });
      return used;
    }
  }
  /// The length of a step of at most dt in which obstacles move so little that what they push stays among the
  /// candidates, and not further than bodies may come towards them. Local; the same on all ranks.
  Real cut_for_obstacles(const State<D>& state, Real dt) const {
    if (!state.obstacles.moves()) return dt;
    constexpr Real min_share = 0.1;  // lists that reach less far than this are made wider instead
    const Real limit = smallest_radius_ * std::clamp(0.5 * state.lattice.skin / smallest_radius_, min_share,
                                                     max_approach - reach(state));
    const Real time = state.clock.time;
    // From end to end, and by how fast surfaces are: one that turns by a whole circle ends where it began.
    constexpr Real instant = 1e-3;  // of the step
    const auto displacement_of_obstacles = [&] {
      Real max = state.obstacles.travel(time, time + dt, state.box);
      for (const Real share : {0.0, 0.5, 1 - instant}) {
        const Real at = time + share * dt;
        max = std::max(max, state.obstacles.travel(at, at + instant * dt, state.box) / instant);
      }
      return max;
    };
    // It is nearly in proportion to time; where it is not, a few rounds find the length.
    constexpr int max_rounds = 20;
    for (int round = 0; round < max_rounds; ++round) {
      const Real travel = displacement_of_obstacles();
      if (!(travel > limit)) break;
      dt /= std::ceil(travel / limit);
    }
    return dt;
  }
  /// After the step, with its start in the records: the radius of the largest body of this rank that contacts
  /// have pushed into a solid with a far side, or through it; 0: there is none [m]. Local.
  Real pushed_through(const State<D>& state) const {
    // From where it may be without a word, a centre needs half of its free displacement to get into a solid.
    constexpr Real min_share = 0.5 * max_approach;
    Real largest = 0;
    const auto position = state.bodies.position();
    const auto records = std::as_const(sweeper_).records();
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Vec<D> start = position_of<D>(records[i]), displacement = position[i] - start;
      const Real radius = inner_radius(state, i), min = min_share * radius;
      if (dot(displacement, displacement) > min * min &&
          state.obstacles.path_meets_solid(start, position[i], 0.01 * radius))
        largest = std::max(largest, radius);
    }
    return largest;
  }

 private:
  struct Displacements {
    Real moved_squared = 0;  ///< of the body farthest from its reference [m2]; infinite: not a number
    /// The longest displacement of a body over its radius; 0 if none is longer than reach() times the
    /// smallest radius.
    Real over_radius = 0;
  };
  static constexpr Real max_approach = 0.5;  // of a centre to a solid in a step, over the radius

  Displacements evaluate(State<D>& state, Real dt) {
    Scope timer("free motion");
    // Beyond the cache a step costs what it moves, so each array is gone through once: the velocities of a
    // stretch of bodies are used while they are at hand and not kept.
    BodyStore<D>& bodies = state.bodies;
    const std::size_t n = bodies.n_owned();
    const auto position = std::as_const(bodies).position().first(n);
    const auto previous = bodies.previous();
    const auto reference = std::as_const(bodies).reference_position();
    const auto mobility = std::as_const(bodies).mobility();
    const auto records = sweeper_.records();
    constexpr std::size_t stretch = 256;
    std::array<Vec<D>, stretch> velocity;
    Real max = 0, fastest_squared = 0;
    for (std::size_t first = 0; first < n; first += stretch) {
      const std::size_t count = std::min(stretch, n - first);
      field_.evaluate(state.clock.time, position.subspan(first, count), std::span(velocity).first(count));
      if (!previous.empty()) std::ranges::copy(position.subspan(first, count), previous.begin() + first);
      if (weighted_)
        for (std::size_t k = 0; k < count; ++k)
          if (mobility[first + k] == 0) velocity[k] = Vec<D>{};
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = first + k;
        const Vec<D> y = position[i] + dt * velocity[k];
        for (int c = 0; c < D; ++c) records[i].x[c] = y[c];
        max = farther<D>(max, y - reference[i]);
        fastest_squared = std::max(fastest_squared, dot(velocity[k], velocity[k]));
      }
    }
    // No field turns bodies by itself.
    std::copy_n(bodies.orientation().begin(), sweeper_.orientations().size(),
                sweeper_.orientations().begin());
    sweeper_.owned_records_written();
    Displacements displacements{.moved_squared = max};
    // Only then it matters which body it is.
    if (dt * std::sqrt(fastest_squared) > reach(state) * smallest_radius_)
      for (std::size_t i = 0; i < n; ++i)
        displacements.over_radius = std::max(displacements.over_radius,
                                             norm(predicted_displacement(state, i)) / inner_radius(state, i));
    return displacements;
  }
  /// The length of a step in which no body that would get into a solid with a far side goes further than its
  /// reach(): dt, if none would. Obstacles stand where they are after dt. Collective.
  Real cut_for_bodies(const State<D>& state, Real dt) const {
    const auto position = std::as_const(state.bodies).position();
    Real max = 0;  // displacement over what is allowed
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const Vec<D> displacement = predicted_displacement(state, i);
      const Real radius = inner_radius(state, i), share = norm(displacement) / (reach(state) * radius);
      if (share > 1 && std::isfinite(share) &&  // what is not finite is refused with the list
          state.obstacles.path_meets_solid(position[i], position[i] + displacement,
                                           (1 - max_approach) * radius))
        max = std::max(max, share);
    }
    max = state.comm.max(max);
    constexpr Real max_parts = 1 << 20;
    if (max > max_parts)
      neighborhood_.list().refuse_displacement(state, dt, [&](std::size_t i, Real within) {
        return (within / dt) * predicted_displacement(state, i);
      });
    return max > 0 ? dt / std::max(2.0, std::ceil(max)) : dt;
  }
  /// Of owned body i, after predict() [m].
  Vec<D> predicted_displacement(const State<D>& state, std::size_t i) const {
    return position_of<D>(std::as_const(sweeper_).records()[i]) - state.bodies.position()[i];
  }
  /// The radius of a sphere, of a body with a shape that of its inscribed sphere [m].
  static Real inner_radius(const State<D>& state, std::size_t i) {
    const Real radius = state.bodies.radius()[i];
    return state.bodies.carries_shapes() ? state.shapes.inscribed_radius(state.bodies.shape()[i], radius)
                                         : radius;
  }
  /// How far a body may go by itself in a step towards a solid with a far side, as a share of its
  /// radius. If obstacles move, half of it is theirs.
  static Real reach(const State<D>& state) {
    return state.obstacles.moves() ? 0.5 * max_approach : max_approach;
  }

  const VelocityField<D>& field_;
  PbdSweeper<D>& sweeper_;
  Neighborhood<D>& neighborhood_;
  bool weighted_ = false;
  Real smallest_radius_ = 0;
  WarnOnce warn_of_long_displacements_;
};

}  // namespace scree
