#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What makes a level of a building a lift: a cabin that takes people from the floors that it serves to one
/// of them. Its door is on the same side on all floors. Units: m, s.
struct Lift {
  struct Stop {
    int floor = 0;         ///< its level in the building
    Real elevation = 0;    ///< [m]
    std::size_t line = 0;  ///< in BuildingPlan::map(), from the floor to the cabin; after join()
  };
  std::vector<Stop> stops;       ///< by elevation
  std::size_t to = 0;            ///< the stop at which people get out
  std::array<Vec<2>, 2> door{};  ///< ends of the door [m]
  std::string where_door;        ///< its place in the deck
  Vec<2> inward{};               ///< unit vector across the door, into the cabin; after join()
  Real depth = 0;                ///< of the cabin, from the door on [m]; after join()
  Vec<2> inside{};               ///< where routes into it lead, behind the door; after join() [m]
  std::int64_t capacity = 0;     ///< persons
  Real speed = 1;                ///< [m/s]
  Real door_time = 5;            ///< to open and to close the door, together [s]
  Real dwell = 4;                ///< the door closes when nobody has come through for this time [s]
  Real wait = std::nan("");      ///< that routes reckon with; not a number: see travel_time() [s]
  Real closed_from = HUGE_VAL;   ///< nobody enters it from then on [s]

  bool is_closed(Real time) const {
    constexpr Real rounding = 1e-9;  // times are sums of steps
    return time + rounding >= closed_from;
  }
  /// From one stop to another, doors closed [s].
  Real ride_time(std::size_t from, std::size_t to_stop) const {
    return std::abs(stops[to_stop].elevation - stops[from].elevation) / speed;
  }
  /// What a route from a stop to the stop `to` is reckoned to take, without walking: to wait, to see the door
  /// close, the ride, and to see it open. The wait is `wait`, or that for a lift which comes from the stop
  /// `to` [s].
  Real travel_time(std::size_t stop) const {
    const Real ride = ride_time(stop, to) + door_time / 2;
    return (std::isfinite(wait) ? wait : ride) + dwell + door_time / 2 + ride;
  }
};

}  // namespace scree
