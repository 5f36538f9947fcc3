#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/plan/building_plan.hpp"
#include "crowd/queue_line.hpp"
#include "state/state.hpp"

namespace scree {

/// An exit: a line in the wall with a pocket behind it, or a region; people vanish behind it.
struct Exit {
  std::string name;
  std::string where;         ///< its place in the deck
  int level = 0;             ///< of the building
  std::vector<Vec<2>> line;  ///< two ends of the opening; empty: given as a region
  std::string colour;        ///< of the region in an image plan; empty: given otherwise
  /// Where people vanish: for a line the part of the pocket deeper than absorb_depth.
  std::vector<Ring> regions;
  Real open_border = 0;     ///< of a region: length of its border over which people get in, to 1 cm [m]
  Ring pocket;              ///< all that lies behind the line; empty for a region
  Real absorb_depth = 0.5;  ///< [m] behind the opening
  /// Times at which it opens and closes in turn [s], rising, starting with an opening; the first may be 0.
  std::vector<Real> switches{0};
  Real max_flow = 0;  ///< [1/s]; 0: no cap
  /// Whoever comes into its region leaves, not only people who are bound for it.
  bool takes_all = false;

  bool is_open(Real time) const;
  /// Whether it is closed and never opens again.
  bool is_closed_for_good(Real time) const;
  bool ever_closes() const { return switches.size() != 1 || switches[0] > 0; }
  /// Width of the opening; of a region open_border [m].
  Real width() const;
  /// Middle of the opening; of a region that of the box around it.
  Vec<2> middle() const;
  /// People per second that may be expected to get through: 1.3 per metre of width, or max_flow if less.
  Real capacity() const;
  /// How many may leave in the step that ended at `time`: max_flow lets one pass each time that a multiple of
  /// 1 / max_flow goes by, so that a pause is not made up for. No cap: a large number.
  std::int64_t n_admitted(Real time, Real last_dt) const;
};

/// The routes of people: all [exits.NAME], [waypoints.NAME], [zones.NAME] and [journeys.NAME] tables, where
/// people go, one step after the other. Destinations are numbered exits first, then waypoints, then queues
/// (the areas at their ends), in deck order. What happens at exits in a run is in Exits, which of them people
/// take in ExitChoice.
class JourneyPlan {
 public:
  enum class Choice { nearest, quickest, weights };
  struct Step {
    std::vector<int> exits;  ///< destinations to choose from; of a waypoint: one
    bool is_exit = true;
    Choice choice = Choice::nearest;
    std::vector<Real> weights;  ///< of exits, for Choice::weights
    Real update = 1;            ///< how often a quickest exit is chosen again [s]
    Real wait = 0;              ///< at a waypoint [s]
    int queue = -1;             ///< in queues(); a queue has neither wait nor exits, but a destination
  };
  struct Journey {
    std::string name;
    std::vector<Step> steps;  ///< the last one leads to exits, or the journey stays at its last waypoint,
    bool repeats = false;     ///< or begins again after it
  };

  /// Declares and reads all tables. Without any [journeys.NAME] there is one, "leave", to the nearest of all
  /// exits (none if there is no exit). Local.
  void describe(Section& root, const BuildingPlan& building);
  /// Opens the exits in the plans and finds their regions; pockets have room for a whole person of
  /// `largest_radius` [m] behind where people vanish. Throws InputError. Before walls() of the plans; local.
  void place(BuildingPlan& building, Real largest_radius);
  /// An exit does not open again after `time` [s]. Before Exits::add_doors(); local.
  void close_for_good(int exit, Real time);

  std::span<const Exit> exits() const { return exits_; }
  const std::vector<Zone>& zones() const { return zones_; }
  std::span<const Journey> journeys() const { return journeys_; }
  /// Of all steps of all journeys, in deck order.
  std::span<const QueueLine> queues() const { return queues_; }
  /// Exits, then waypoints, then queues.
  const std::vector<Destination>& destinations() const { return destinations_; }
  /// How many of journeys() the deck names, or 1 for "leave"; those of with_exit() follow.
  std::size_t n_named() const { return n_named_; }
  /// Number of the journey of this name; throws InputError naming `where` and the valid names. An empty name
  /// means the only journey there is: -1 if there is none, an error if there are several.
  int find(const std::string& name, const std::string& where) const;
  /// Number of the destination [KIND.NAME], "exits" or "waypoints"; throws InputError naming `where` and the
  /// valid names.
  int find_destination(const std::string& kind, const std::string& name, const std::string& where) const;
  /// Number of the journey that is as `journey` (-1: none), but leads to `exit` at its end: one of the deck,
  /// or one made before, or a new one. Throws InputError naming `where` if the journey does not lead to
  /// exits.
  int with_exit(int journey, int exit, const std::string& where);

  /// Whether a destination, or none (-1), is an exit.
  bool is_exit(int destination) const {
    return destination >= 0 && static_cast<std::size_t>(destination) < exits_.size();
  }
  /// Whether it is one that is closed and never opens again.
  bool is_closed_for_good(int destination, Real time) const {
    return is_exit(destination) && exits_[destination].is_closed_for_good(time);
  }
  /// Speed factor of the zones at x (product of those that hold it). Local, O(zones).
  Real speed_factor(const Vec<2>& x, int level) const;

  /// The journey of body i, and the step of it that it is at; null: it has none.
  const Journey* journey_of(const BodyStore<2>& bodies, std::size_t i) const;
  const Step* step_of(const BodyStore<2>& bodies, std::size_t i) const;
  /// Body i, which has a journey, goes on to the next step, with no destination yet; false if there is none.
  bool go_on(BodyStore<2>& bodies, std::size_t i) const;

 private:
  void describe_exits(Section& root, const BuildingPlan& building);
  void describe_journeys(Section& root, const BuildingPlan& building);
  Step describe_step(Section& section, const BuildingPlan& building, const std::string& name_of_queue);
  void read_queue(Section& section, const BuildingPlan& building, const std::string& name, Step& step);
  std::vector<int> all_exits() const;

  std::vector<Exit> exits_;
  std::vector<Zone> zones_;
  std::vector<Journey> journeys_;
  std::vector<QueueLine> queues_;
  std::vector<Destination> destinations_;
  std::size_t n_named_ = 0;  // journeys of the deck; those of with_exit() follow
};

}  // namespace scree
