#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "state/state.hpp"

namespace scree {

/// Which candidates of obstacles must be looked at now. A body near a mesh has a candidate for each triangle
/// around it, most of them out of its reach: one that is farther than its radius by a clearance c stays so
/// until the body and the obstacle have moved by c. What was put off is looked at again then; the others
/// every time. It changes no result.
///
/// Of a block with few candidates per body all are due every time. Memory: 12 bytes per candidate and 48 per
/// body near such obstacles. Local; no allocation between lists.
template <int D>
class WallDistanceBounds {
 public:
  /// After a list build: all are due.
  void prepare(const State<D>& state, const SweepSchedule<D>& schedule);
  /// Before each look at all blocks, with the obstacles placed.
  void begin(const ObstacleSet<D>& obstacles);
  /// Places in wall_bodies() of the candidates of a block that are due, ascending, with its bodies at
  /// `places`. Good until the next call. Cost: O(bodies near obstacles, and all candidates of those with any
  /// due).
  std::span<const Index> due(const State<D>& state, const SweepSchedule<D>& schedule,
                             const typename SweepSchedule<D>::Block& block,
                             std::span<const SweepRecord> places);
  /// A candidate that was due is not again before its body and obstacle have moved by `clearance` [m].
  void skip_until(Index place, Real clearance) {
    if (bodies_.empty()) return;
    due_at_[place] = bodies_[body_of_[place]].travelled + clearance;
  }
  /// From now on all candidates of the body of this one are due every time: its centre is in a solid, where
  /// parts may answer that are out of its reach.
  void look_always(Index place) {
    if (bodies_.empty()) return;
    bodies_[body_of_[place]].travelled = HUGE_VAL;
  }

 private:
  struct Body {
    Vec<D> x;               // where it was last [m]
    Real travelled = 0;     // its path since the list, with that of obstacles [m]
    Real next = -HUGE_VAL;  // the first of its candidates is due then [m]
  };
  static bool pays(const SweepSchedule<D>& schedule, const typename SweepSchedule<D>::Block& block);
  Real moved_around(const State<D>& state, std::span<const typename SweepSchedule<D>::WallBody> bodies,
                    std::span<const SweepRecord> places) const;

  std::vector<Body> bodies_;         // as SweepSchedule::bodies_at_walls()
  std::vector<Real> due_at_;         // of each candidate, in the path of its body [m]
  std::vector<Index> body_of_;       // of each candidate, in bodies_
  std::vector<std::uint64_t> bits_;  // of the candidates of a block
  std::vector<Index> due_;
  std::vector<Pose<D>> poses_, poses_before_;  // of the last begin(), and the one before
  std::vector<int> moved_;                     // obstacles that moved between them
};

}  // namespace scree
