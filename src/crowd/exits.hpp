#pragma once
#include <functional>
#include <span>
#include <vector>

#include "crowd/departure.hpp"
#include "crowd/journey_plan.hpp"
#include "geometry/box.hpp"

namespace scree {

/// What happens at the exits in a run: their doors open and close, and people leave.
class Exits {
 public:
  /// The reference must stay valid.
  explicit Exits(const JourneyPlan& journey_plan) : journey_plan_(journey_plan) {}

  /// An outlet of the run for each exit. Local.
  void add_outlets(State<2>& state);
  /// Entry of State::outlets of the first of them.
  std::size_t first_outlet() const { return first_outlet_; }
  /// Adds the doors that close exits, open at first: one for every line that is not always open.
  void add_doors(ObstacleSet<2>& obstacles);
  /// The obstacle that closes an exit; -1: a region, or never closed.
  int door(std::size_t exit) const { return doors_[exit]; }
  bool has_door(std::size_t exit) const { return doors_[exit] >= 0; }
  bool is_shut(std::size_t exit) const { return is_shut_[exit] != 0; }
  /// Whether the door of a closed exit waits to shut.
  bool is_closing(std::size_t exit, const State<2>& state) const;
  /// Whether a disk at x is between the ends of the line of the exit.
  bool is_in_opening(std::size_t exit, const Vec<2>& x, int level, Real radius) const;
  /// Opens and closes doors for state.clock.time; true, on all ranks, if any changed (`before_change` was
  /// called then, before it). A door that is due to close shuts once nobody overlaps its line, and then stays
  /// shut until it is due to open: time alone does not say. Collective, one reduction while a door waits to
  /// shut; O(bodies) then.
  bool switch_doors(State<2>& state, const std::function<void()>& before_change);
  /// 1 for each exit whose door is shut, for checkpoints.
  std::span<Real> doors() { return is_shut_; }
  /// Doors of a restart, as doors() has them. Local.
  void restore_doors(State<2>& state) const;

  /// Owned bodies leave that are in the region of an open exit, have started and are bound for it, or in any
  /// of one that takes all, or behind the line of any, where nobody can go back, within the caps of flow
  /// (smaller ids first): true on all ranks if any, and then `staying` are the others. Counts in
  /// state.outlets and departures(). Collective, one reduction, and another one if anybody leaves; at an exit
  /// with a cap a list of those before it.
  bool remove_arrived(State<2>& state, std::vector<Index>& staying);
  /// Who left, on this rank, since whoever writes tables of it emptied the list.
  std::vector<Departure>& departures() { return departures_; }
  /// By exit, how many left by it who were bound for elsewhere; for checkpoints and the summary.
  std::span<Real> left_elsewhere() { return left_elsewhere_; }

 private:
  void find_arrived(const State<2>& state);
  void limit_departures(const State<2>& state, std::int32_t exit, std::int64_t n_admitted);

  const JourneyPlan& journey_plan_;
  std::size_t first_outlet_ = 0;
  std::vector<int> doors_;            // by exit
  std::vector<Real> is_shut_;         // by exit: 1 while its door stands
  std::vector<Real> left_elsewhere_;  // by exit
  std::vector<Departure> departures_;
  // Work arrays of a step.
  std::vector<Box<2>> around_;           // by exit
  std::vector<std::int64_t> n_at_exit_;  // by exit
  std::vector<std::int32_t> exit_of_;    // by owned body
};

}  // namespace scree
