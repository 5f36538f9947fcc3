#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/navigation.hpp"
#include "dynamics/state.hpp"
#include "geometry/floor_plan.hpp"

namespace scree {

/// An exit: a line in the wall with a pocket behind it, or a region; people vanish behind it.
struct Exit {
  std::string name;
  std::string where;         ///< its place in the deck
  std::vector<Vec<2>> line;  ///< two ends of the opening; empty: given as a region
  std::vector<Ring>
      regions;  ///< where people vanish: for a line the part of the pocket deeper than absorb_depth
  Real absorb_depth = 0.5;  ///< [m] behind the opening
  /// Times at which it opens and closes in turn [s], rising, starting with an opening; the first may be 0.
  std::vector<Real> switches{0};
  Real max_flow = 0;  ///< [1/s]; 0: no cap
  int door = -1;      ///< the obstacle that closes it; -1: a region, which just does not absorb

  bool is_open(Real time) const;
};

/// All [exits.NAME], [waypoints.NAME], [zones.NAME] and [journeys.NAME] tables: where people go, one step
/// after the other. Destinations are numbered exits first, then waypoints, in deck order.
class Journeys {
 public:
  enum class Choice { nearest, quickest, weights };
  struct Step {
    std::vector<int> exits;  ///< destinations to choose from; of a waypoint: one
    bool is_exit = true;
    Choice choice = Choice::nearest;
    std::vector<Real> weights;  ///< of exits, for Choice::weights
    Real update = 1;            ///< how often a quickest exit is chosen anew [s]
    Real wait = 0;              ///< at a waypoint [s]
  };
  struct Journey {
    std::string name;
    std::string where;
    std::vector<Step> steps;  ///< the last one leads to exits, or the journey stays at its last waypoint
  };

  /// Declares and reads all tables. Local.
  void describe(Section& root);
  /// Opens the exits in the plan and finds their regions. Throws InputError. Before walls() of the plan;
  /// local.
  void place(FloorPlan& plan);
  /// Adds the doors that close exits, open at first.
  void add_doors(ObstacleSet<2>& obstacles);

  std::span<const Exit> exits() const { return exits_; }
  std::span<const Zone> zones() const { return zones_; }
  std::span<const Journey> journeys() const { return journeys_; }
  /// Number of the journey of this name; throws InputError naming `where` and the valid names.
  int find(const std::string& name, const std::string& where) const;
  /// Exits, then waypoints.
  const std::vector<Destination>& destinations() const { return destinations_; }

  /// Speed factor of the zones at x (product of those that hold it). Local, O(zones).
  Real speed_factor(const Vec<2>& x) const;

  /// Opens and closes doors for state.clock.time; true, on all ranks, if any changed (`before_change` was
  /// called then, before it). Local.
  bool switch_doors(State<2>& state, const std::function<void()>& before_change) const;

  /// For owned bodies that have reached their destination, are new (destination -1), whose exit closed or
  /// whose choice is due: the next destination, by the rules of their step. Depends on seed, id and state
  /// only, not on ranks: "quickest" compares travel time / speed + people heading there / flow (docs).
  /// Collective.
  void choose(State<2>& state, const Navigation& ways, std::uint64_t seed);
  /// Owned bodies that are in the region of an open exit which they may use (any exit takes everybody who
  /// comes into it), within the caps of flow: true on all ranks if any. `staying`: the others. Books
  /// state.sinks (entry `first_sink` + exit) and state.departures. Collective.
  bool absorb(State<2>& state, std::size_t first_sink, std::vector<Index>& staying);

 private:
  std::vector<Exit> exits_;
  std::vector<Zone> zones_;
  std::vector<Journey> journeys_;
  std::vector<Destination> destinations_;
};

}  // namespace scree
