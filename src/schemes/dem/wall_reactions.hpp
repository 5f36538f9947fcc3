#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "geometry/driven_motion.hpp"
#include "schemes/dem/wall_visitor.hpp"

namespace scree {

/// What contacts exert on walls that a load moves.
template <int D>
class WallReactions {
 public:
  /// Begins a step.
  void begin_step() { reactions_.clear(); }
  /// Of a contact with a driven wall in the step, along each direction of the wall: `force` on it. Local.
  /// With w the displacement of the contact point per unit of the wall's position: reaction -f . w, its
  /// growth with the position by the stiffness, and with the velocity by the damping, along the normal and
  /// the tangents; and by how much the stiffness takes from it as the body moves.
  void record(const StepContext<D>& step, const typename WallVisitor<D>::DetectedWall& detected,
              const TouchedWall<D>& at, const SoftForce& force) {
    const ObstacleSet<D>& obstacles = step.state.obstacles;
    int number = obstacles.driven_of(detected.constraint);
    const Vec<D> foot = obstacles.at_obstacle(detected.constraint, at.foot);
    for (const DrivenState& wall : obstacles.directions_from(number))
      record(step, detected, at, force, number++, obstacles.direction_of(wall, foot),
             obstacles.driven_motion_of(wall).spin());
  }
  /// Reactions to the forces of the step, with their slopes, into state.obstacles.driven(). Exact sums;
  /// collective.
  void sum(State<D>& state) {
    const auto walls = state.obstacles.driven();
    if (walls.empty()) return;
    constexpr std::size_t width = std::tuple_size_v<decltype(Reaction::of_contact)>;
    sums_.assign(walls.size() * width, 0.0);
    ReproducibleSum::sum(state.comm, reactions_.size(), sums_, [this](std::size_t i, std::span<Real> terms) {
      std::ranges::fill(terms, 0.0);
      const auto first = static_cast<std::size_t>(reactions_[i].wall) * width;
      std::ranges::copy(reactions_[i].of_contact, terms.subspan(first, width).begin());
    });
    for (std::size_t k = 0; k < walls.size(); ++k) {
      walls[k].reaction = sums_[k * width];
      walls[k].stiffness = sums_[k * width + 1];
      walls[k].damping = sums_[k * width + 2];
      walls[k].drift = sums_[k * width + 3];
    }
  }

 private:
  void record(const StepContext<D>& step, const typename WallVisitor<D>::DetectedWall& detected,
              const TouchedWall<D>& at, const SoftForce& force, int number, const Vec<D>& direction,
              const Spin<D>& turn) {
    const MotionRecord& body = step.records.motions[detected.body];
    Real pushed = 0, along_normal = 0, body_along_normal = 0, body_along_direction = 0;
    for (int k = 0; k < D; ++k) {
      pushed -= force.force[k] * direction[k];
      along_normal += at.contact.normal[k] * direction[k];
      body_along_normal += at.contact.normal[k] * body.velocity[k];
      body_along_direction += direction[k] * body.velocity[k];
    }
    for (int k = 0; k < n_spins<D>; ++k) pushed -= force.rolling[first_spin<D> + k] * turn[k];
    const Real normal_part = along_normal * along_normal;
    const Real tangential_part = std::max(dot(direction, direction) - normal_part, 0.0);
    const SoftLaw& pair = step.law.of(body, at.wall);
    const Real root = step.law.settings.law == NormalLaw::hertz
                          ? std::sqrt(at.contact.effective_radius * std::max(at.contact.overlap, 0.0))
                          : 1;
    const Real stiffness = root * pair.stiffness;
    const Real inverse_mass = body.inverse_mass + at.wall.inverse_mass;
    const Real damping = inverse_mass > 0 ? pair.damping * std::sqrt(stiffness / inverse_mass) : 0;
    const bool rubs = step.law.settings.friction && pair.friction > 0;
    const Real tangential = rubs ? root * pair.tangential : 0;
    const Real away = along_normal * body_along_normal;
    reactions_.push_back({number,
                          {pushed, stiffness * normal_part + tangential * tangential_part,
                           damping * (normal_part + (rubs ? pair.damping_ratio * tangential_part : 0)),
                           stiffness * away + tangential * (body_along_direction - away)}});
  }
  struct Reaction {
    int wall;                        // number in driven()
    std::array<Real, 4> of_contact;  // reaction, stiffness, damping, drift
  };
  std::vector<Reaction> reactions_;
  std::vector<Real> sums_;
};

}  // namespace scree
