#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/departure.hpp"
#include "crowd/familiarity.hpp"
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
  int door = -1;  ///< the obstacle that closes it; -1: a region, or never closed

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

/// All [exits.NAME], [waypoints.NAME], [zones.NAME] and [journeys.NAME] tables: where people go, one step
/// after the other. Destinations are numbered exits first, then waypoints, then queues (the areas at their
/// ends), in deck order.
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
    int queue = -1;             ///< in queues(); a queue has neither wait nor exits, but a destination
  };
  struct Journey {
    std::string name;
    std::vector<Step> steps;  ///< the last one leads to exits, or the journey stays at its last waypoint,
    bool repeats = false;     ///< or begins anew after it
  };

  /// Declares and reads all tables. Without any [journeys.NAME] there is one, "leave", to the nearest of all
  /// exits (none if there is no exit). Local.
  void describe(Section& root, const BuildingPlan& building);
  /// Opens the exits in the plans and finds their regions; pockets have room for a whole person of
  /// `largest_radius` [m] behind where people vanish. Throws InputError. Before walls() of the plans; local.
  void place(BuildingPlan& building, Real largest_radius);
  /// An exit does not open again after `time` [s]. Before add_doors(); local.
  void close_for_good(int exit, Real time);
  /// Adds the doors that close exits, open at first: one for every line that is not always open.
  void add_doors(ObstacleSet<2>& obstacles);

  std::span<const Exit> exits() const { return exits_; }
  const std::vector<Zone>& zones() const { return zones_; }
  std::span<const Journey> journeys() const { return journeys_; }
  /// Of all steps of all journeys, in deck order.
  std::span<const QueueLine> queues() const { return queues_; }
  /// How many of them the deck names, or 1 for "leave"; those of with_exit() follow.
  std::size_t n_named() const { return n_named_; }
  /// Number of the journey of this name; throws InputError naming `where` and the valid names. An empty name
  /// means the only journey there is: -1 if there is none, an error if there are several.
  int find(const std::string& name, const std::string& where) const;
  /// Number of the destination [KIND.NAME], "exits" or "waypoints"; throws InputError naming `where` and the
  /// valid names.
  int find_destination(const std::string& kind, const std::string& name, const std::string& where) const;
  /// Whether a destination, or none (-1), is an exit.
  bool is_exit(int destination) const {
    return destination >= 0 && static_cast<std::size_t>(destination) < exits_.size();
  }
  /// Number of the journey that is as `journey` (-1: none), but leads to `exit` at its end: one of the deck,
  /// or one made before, or a new one. Throws InputError naming `where` if the journey does not lead to
  /// exits.
  int with_exit(int journey, int exit, const std::string& where);
  /// Exits, then waypoints, then queues.
  const std::vector<Destination>& destinations() const { return destinations_; }

  /// Speed factor of the zones at x (product of those that hold it). Local, O(zones).
  Real speed_factor(const Vec<2>& x, int level) const;

  /// Opens and closes doors for state.clock.time; true, on all ranks, if any changed (`before_change` was
  /// called then, before it). A door that is due to close shuts once nobody overlaps its line, and then stays
  /// shut until it is due to open: time alone does not tell. Collective, one reduction while a door waits to
  /// shut; O(bodies) then.
  bool switch_doors(State<2>& state, const std::function<void()>& before_change);
  /// 1 for each exit whose door is shut, for checkpoints.
  std::span<Real> doors() { return is_shut_; }
  bool is_shut(std::size_t exit) const { return is_shut_[exit] != 0; }
  /// By exit, how many left by it who were bound for elsewhere; for checkpoints and the summary.
  std::span<Real> left_elsewhere() { return left_elsewhere_; }
  /// Doors of a restart, as doors() has them. Local.
  void restore_doors(State<2>& state) const;

  /// For owned bodies that have reached their destination, are new (destination -1), whose exit closed or
  /// whose choice is due: the next destination, by the rules of their step:
  ///
  ///   nearest   least travel time T among open exits, once
  ///   weights   an open exit drawn with these weights, once
  ///   quickest  least max(T / speed, n / capacity), n the number of people on their way to the exit who have
  ///             a shorter travel time (to 1 s at 1 m/s); anew every `update` seconds at a time of the
  ///             person's own, and changed only for a gain of more than 1 s and 10 %; of a
  ///             group by the member whose id it is known by
  ///
  /// Of the exits of a step those count that the kind of the person knows or notices; if none of these is
  /// open and can be reached, all. People of a kind that follows another then take the exit of the nearest
  /// leader.
  ///
  /// While all exits of a step are closed, people keep the one they have, or walk to the nearest one. If the
  /// door of that one still waits to shut, those before it stand (destination -1) until it has. Whoever is
  /// behind the line of a closed exit, or in its opening and on the way to it, walks on.
  /// Somebody to whom no exit is reachable has destination -1. Depends on seed, id and state only, not on
  /// ranks. Collective; O(bodies), and one reduction of 256 integers per exit if a journey chooses the
  /// quickest.
  void choose(State<2>& state, const FloorField& floor_field, std::uint64_t seed);
  /// Ways have changed: who walks to an exit, or to where no way leads any more, is to choose anew. Local.
  void reconsider(State<2>& state, const FloorField& floor_field) const;
  /// What people know of exits and whom they follow, by kind.
  void set_familiarity(std::vector<Familiarity> of_kinds) { familiarity_ = std::move(of_kinds); }
  /// Owned bodies that are in the region of an open exit, have started and are bound for it, or in any of one
  /// that takes all, or behind the line of any, where there is no way back, within the caps of flow (smaller
  /// ids first): true on all ranks if any. `staying`: the others. Counts in state.outlets (entry
  /// `first_outlet` + exit) and departures(). Collective, one reduction.
  bool absorb(State<2>& state, std::size_t first_outlet, std::vector<Index>& staying);

  /// Who left, on this rank, since whoever writes tables of it emptied the list.
  std::vector<Departure>& departures() { return departures_; }

 private:
  void describe_exits(Section& root, const BuildingPlan& building);
  void describe_journeys(Section& root, const BuildingPlan& building);
  Step describe_step(Section& section, const BuildingPlan& building, const std::string& name_of_queue);
  void read_queue(Section& section, const BuildingPlan& building, const std::string& name, Step& step);
  std::vector<int> all_exits() const;

  /// People on their way to each exit, by travel time.
  void count_heading(const State<2>& state, const FloorField& floor_field);
  Real expected_time(int exit, Real travel_time, Real speed, bool is_heading_there) const;
  /// Those whose kind follows another go to the exit of the nearest leader within reach, if it is open and
  /// they fit through a way to it; others keep theirs. Collective if any kind follows: every rank gets all
  /// leaders; O(followers * leaders).
  void follow_leaders(State<2>& state, const FloorField& floor_field);
  /// An exit that is nearer than the present one and near enough to be noticed, or the present one.
  int noticed_exit(const Step& step, const Familiarity& familiarity, int present, const Vec<2>& x, int level,
                   Real radius, const FloorField& floor_field) const;
  bool may_change_exit(const State<2>& state, std::size_t i) const;
  int first_exit(const Step& step, const Familiarity& familiarity, GlobalId id, std::size_t number_of_step,
                 Real speed, const Vec<2>& x, int level, Real radius, const FloorField& floor_field,
                 std::uint64_t seed) const;
  /// Whether somebody leaves by an exit that it was not bound for, as nothing led back.
  bool leaves_elsewhere(const BodyStore<2>& bodies, std::size_t i, std::size_t exit) const;
  /// Whether the door of a closed exit waits to shut.
  bool is_closing(int exit, const State<2>& state) const;
  /// Whether a disk at x is between the ends of the line of the exit.
  static bool is_in_opening(const Exit& exit, const Vec<2>& x, int level, Real radius);
  /// The exit that takes somebody at x who heads for `destination`, though it is closed; -1: none.
  int closed_exit_around(const Vec<2>& x, int level, Real radius, int destination) const;
  int quicker_exit(const Step& step, const Familiarity& familiarity, int present, Real speed, const Vec<2>& x,
                   int level, Real radius, const FloorField& floor_field) const;

  std::vector<Exit> exits_;
  std::vector<Zone> zones_;
  std::vector<Journey> journeys_;
  std::vector<QueueLine> queues_;
  std::vector<Destination> destinations_;
  std::vector<Departure> departures_;
  std::vector<Familiarity> familiarity_{1};  // by kind
  std::vector<Real> is_shut_;                // by exit: 1 while its door stands
  std::vector<Real> left_elsewhere_;         // by exit
  std::size_t n_named_ = 0;                  // journeys of the deck; those of with_exit() follow
  bool has_quickest_ = false;
  std::vector<char> is_open_;           // by exit, at the time of the last choose()
  std::vector<char> is_closing_;        // the same: closed, but the door waits to shut
  std::vector<std::int64_t> heading_;   // by exit and interval of travel time
  std::vector<std::int64_t> n_nearer_;  // the same: in the intervals before
  // Work arrays of a step.
  mutable std::vector<std::int64_t> n_at_exit_;  // by exit
  mutable std::vector<Real> travel_time_;        // by exit of a step
  std::vector<Box<2>> around_;                   // by exit
  std::vector<std::vector<Index>> inside_;       // by exit
  std::vector<char> is_leaving_;                 // by owned body
};

}  // namespace scree
