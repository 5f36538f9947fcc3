#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

/// Bodies of this rank whose centres passed through thin obstacles, in a scheme that cannot put them back.
struct PassedThrough {
  std::int64_t count = 0;
  GlobalId body = std::numeric_limits<GlobalId>::max();  ///< the smallest of them
  Index constraint = -1;                                 ///< the part of an obstacle that it passed through

  void add(GlobalId id, Index through) {
    ++count;
    if (id >= body) return;
    body = id;
    constraint = through;
  }
  /// Which body passed through what, the same on all ranks. Collective.
  template <int D>
  std::string complaint(const State<D>& state) const;
};

/// Sees to it that no body changes the side of a thin obstacle in a step. Sweeps and solvers end before all
/// is settled, so neighbours may have pressed a body through, and a step may be long. A body whose centre
/// passed through, along the straight path in the frame of the obstacle, is put back to touch it on its own
/// side; between two obstacles closer than its diameter, to where its centre lies between them.
template <int D>
class TunnellingGuard {
 public:
  /// `place`: where the owned bodies are, records of sweeps or positions; paths start at step_start(), and
  /// obstacles stand where they were placed for `time`. Returns the deepest overlap of the bodies put back,
  /// over all ranks [m]. Throws StepRefused if a body has no place. Without thin obstacles it does nothing.
  /// Cost: O(candidates of thin obstacles + bodies). Collective.
  template <class Place>
  Real keep(const State<D>& state, const Neighborhood<D>& neighborhood, std::span<Place> places, Real time);
  /// The same with the positions of `state`, which bodies have moved to from previous(). If it throws, they
  /// and the obstacles go back to where the step starts.
  Real keep(State<D>& state, const Neighborhood<D>& neighborhood, Real time);

 private:
  /// Of a wall candidate's bodies the points of the wall that are nearest to where they are, into surface_.
  template <class Place>
  void find_surface(const State<D>& state, Index constraint, std::span<const Index> bodies,
                    std::span<const Place> places);
  bool put_back(const State<D>& state, Index body, Vec<D>& x);
  void find_on_path(const State<D>& state, std::size_t body, const Vec<D>& from, const Vec<D>& x);

  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
  std::vector<Index> thin_;     // obstacles
  std::vector<Index> on_path_;  // constraints
  NearParts<D> near_;
};

}  // namespace scree
