#pragma once
#include <cstdint>
#include <vector>

#include "crowd/exits.hpp"
#include "crowd/familiarity.hpp"
#include "crowd/people/people.hpp"
#include "crowd/person.hpp"

namespace scree {

/// Which destination people take next. For owned bodies that have reached their destination, are new
/// (destination -1), whose exit closed or whose choice is due, by the rules of their step:
///
///   nearest   least travel time T among open exits, once
///   weights   an open exit drawn with these weights, once
///   quickest  least max(T / speed, n / capacity), n the number of people on their way to the exit who have
///             a shorter travel time (to 1 s at 1 m/s); again every `update` seconds at a time of the
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
/// ranks.
class ExitChoice {
 public:
  /// References must stay valid.
  ExitChoice(const JourneyPlan& journey_plan, const Exits& exits, const People& people,
             const FloorField& floor_field)
      : journey_plan_(journey_plan), exits_(exits), people_(people), floor_field_(floor_field) {}

  /// Collective; O(bodies), and one reduction of 256 integers per exit if a journey chooses the quickest.
  void update(State<2>& state, std::uint64_t seed);
  /// Routes have changed: who walks to an exit, or to where no route leads any more, chooses again. Local.
  void reset_choice(State<2>& state) const;

 private:
  /// Somebody who chooses.
  struct Chooser {
    GlobalId id;
    Standpoint at;
    Real speed;  // desired [m/s]
    const Familiarity& familiarity;
  };
  using Step = JourneyPlan::Step;

  void find_open_exits(const State<2>& state);
  /// People on their way to each exit, by travel time.
  void count_heading(const State<2>& state);
  void choose(State<2>& state, std::size_t i, std::uint64_t seed);
  void pass_waypoints(State<2>& state, std::size_t i, const Standpoint& at) const;
  int first_exit(const Step& step, const Chooser& person, std::int32_t number_of_step, std::uint64_t seed);
  int quicker_exit(const Step& step, const Chooser& person, int present) const;
  int noticed_exit(const Step& step, const Chooser& person, int present) const;
  Real expected_time(int exit, Real travel_time, Real speed, bool is_heading_there) const;
  void follow_leaders(State<2>& state);
  bool may_change_exit(const State<2>& state, std::size_t i) const;
  int closed_exit_around(const State<2>& state, std::size_t i) const;

  bool is_open(int exit) const { return is_open_[exit] != 0; }
  bool is_closing(int exit) const { return is_closing_[exit] != 0; }
  Real travel_time(int destination, const Standpoint& from) const {
    return scree::travel_time(floor_field_, destination, from);
  }

  const JourneyPlan& journey_plan_;
  const Exits& exits_;
  const People& people_;
  const FloorField& floor_field_;
  std::vector<char> is_open_;           // by exit, at the time of the last update()
  std::vector<char> is_closing_;        // the same: closed, but the door waits to shut
  std::vector<std::int64_t> heading_;   // by exit and interval of travel time
  std::vector<std::int64_t> n_nearer_;  // the same: in the intervals before
  std::vector<Real> travel_time_;       // by exit of a step
};

}  // namespace scree
