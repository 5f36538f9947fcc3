#pragma once
#include <algorithm>
#include <any>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contact/materials.hpp"
#include "core/parallel.hpp"
#include "geometry/box.hpp"
#include "geometry/lattice.hpp"
#include "geometry/level_map.hpp"
#include "geometry/obstacle.hpp"
#include "particles/body_store.hpp"
#include "particles/contact_memory.hpp"
#include "particles/orientation.hpp"
#include "particles/shape_table.hpp"
#include "state/domain_deformation.hpp"
#include "state/energy_balance.hpp"

namespace scree {

template <int D>
class ForceField;

/// Where a run stands in time.
struct Clock {
  std::int64_t step = 0;    ///< steps taken
  Real time = 0;            ///< [s]
  Real last_dt = 0;         ///< length of the last step [s]; 0 before the first
  Real reference_time = 0;  ///< when the neighbour list was built [s]
};

/// How far a source of bodies has come.
struct InletProgress {
  std::string name;
  std::int64_t n_made = 0;
  std::int64_t n_dropped = 0;  ///< for whom there was no room and who never come
  std::int64_t n_tries = 0;    ///< places tried in vain for the body that is to come next
  std::int64_t n_due = 0;      ///< how many should have come by now; follows from the time

  /// Bodies that are due and wait for a free place.
  std::int64_t n_waiting() const { return std::max<std::int64_t>(n_due - n_made - n_dropped, 0); }
};

/// What an outlet has taken.
struct OutletProgress {
  std::string name;
  std::int64_t n_removed = 0;
  Real mass = 0;  ///< [kg]; 0 in first-order schemes
};

/// The stage of [[stages]] that runs.
struct StageProgress {
  std::int64_t index = 0;
  Real begin = 0;  ///< [s]
};

/// Numbers that checkpoints keep under a name.
struct NamedNumbers {
  std::string name;
  std::span<Real> numbers;
};

/// All that a restart needs; everything else can be rebuilt from it (and from the deck).
template <int D>
struct State {
  Comm comm;
  Box<D> box;
  BodyStore<D> bodies{};
  ObstacleSet<D> obstacles{};
  Clock clock{};
  DomainDeformation<D> deformation{};  ///< how the periods of `box` change
  Lattice<D> lattice{};    ///< the global lattice of cell blocks that orders sweeps: independent of the ranks
  ContactMemory memory{};  ///< multipliers or impulses remembered by pair
  GlobalId next_id = 0;    ///< the first unused global id

  // From the deck; the same throughout a run.
  std::shared_ptr<const LevelMap> levels{};                    ///< of a building; null: all bodies may meet
  std::vector<std::string> level_names{};                      ///< of all levels; empty of one
  std::any world{};                                            ///< what an environment shows to its measures
  Vec<D> gravity{};                                            ///< [m/s2]
  std::vector<std::shared_ptr<const ForceField<D>>> forces{};  ///< on bodies, besides gravity and contacts
  ShapeTable<D> shapes{};                                      ///< of bodies
  Materials<D> materials{};                                    ///< empty in first-order schemes
  std::vector<int> type_material{};                            ///< of each type of body
  std::vector<bool> type_rotates{};                            ///< of each type of body
  std::vector<int> obstacle_material{};                        ///< of each obstacle

  EnergyBalance energy_balance{};
  std::vector<InletProgress> inlets{};
  std::vector<OutletProgress> outlets{};
  StageProgress stage{};
};

/// Whether levels let two bodies meet.
template <int D>
bool may_meet(const State<D>& state, std::size_t i, std::size_t j) {
  if constexpr (D == 2)
    if (state.levels)
      return state.levels->may_meet(state.bodies.position()[i], state.bodies.level()[i],
                                    state.bodies.position()[j], state.bodies.level()[j]);
  return true;
}
/// Whether a body and an obstacle are on one level, and it does not let the body through.
template <int D>
bool may_meet_obstacle(const State<D>& state, std::size_t i, int constraint) {
  if (!state.levels) return true;
  const Obstacle<D>& obstacle = state.obstacles.obstacle_with(constraint);
  if (obstacle.level >= 0 && obstacle.level != state.bodies.level()[i]) return false;
  return !obstacle.admits || !std::ranges::binary_search(*obstacle.admits, state.bodies.id()[i]);
}

/// The radius of body i, of one with a shape that of the sphere of its volume [m].
template <int D>
Real equal_sphere_radius(const State<D>& state, std::size_t i) {
  const Real radius = state.bodies.radius()[i];
  return state.bodies.carries_shapes() ? state.shapes.radius_of_equal_sphere(state.bodies.shape()[i], radius)
                                       : radius;
}

/// How the frame is turned in which the shape of body i was described; of a sphere the orientation.
template <int D>
Orientation<D> described_orientation(const State<D>& state, std::size_t i) {
  const Orientation<D>& of_body_axes = state.bodies.orientation()[i];
  if (!state.bodies.carries_shapes()) return of_body_axes;
  return combined<D>(of_body_axes, reversed<D>(state.shapes[state.bodies.shape()[i]].to_body_axes));
}

/// The centre of body i, followed through periodic faces [m].
template <int D>
Vec<D> followed_position(const State<D>& state, std::size_t i) {
  return state.bodies.position()[i] + state.box.shift(state.bodies.image()[i]);
}

/// The velocity of body i about the flow of a deforming domain; its velocity where there is none [m/s].
template <int D>
Vec<D> velocity_about_flow(const State<D>& state, std::size_t i) {
  const Vec<D>& velocity = state.bodies.velocity()[i];
  return state.deformation.moves()
             ? velocity - state.deformation.flow_at(state.box, state.bodies.position()[i])
             : velocity;
}

}  // namespace scree
