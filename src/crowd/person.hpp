#pragma once
#include <cstddef>

#include "crowd/agent_fields.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/hazard/hazard.hpp"
#include "particles/packing/region.hpp"

namespace scree {

inline constexpr Real rounding_of_times = 1e-9;  ///< [s]; times are sums of steps

/// The numbers 0 to n - 1, for loops; clang 14 does not compile std::views of GCC's library.
struct OwnedNumbers {
  struct Iterator {
    std::size_t number;
    std::size_t operator*() const { return number; }
    Iterator& operator++() {
      ++number;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return number != other.number; }
  };
  std::size_t n;
  Iterator begin() const { return {0}; }
  Iterator end() const { return {n}; }
};

/// The owned people of a rank, by number.
inline OwnedNumbers owned(const BodyStore<2>& bodies) {
  return {static_cast<std::size_t>(bodies.n_owned())};
}

/// Where somebody is, for questions about routes.
struct Standpoint {
  Vec<2> x;         ///< between the faces of the box [m]
  int level = 0;    ///< of the building
  Real radius = 0;  ///< that its routes are wide enough for [m]
};
inline Standpoint standpoint_of(const State<2>& state, std::size_t i) {
  return {wrapped(state.box, state.bodies.position()[i]), level_of(state.bodies, i),
          agent::route_radius(state.bodies)[i]};
}

/// How long the route from there takes at 1 m/s [s]; infinite: there is none.
inline Real travel_time(const FloorField& floor_field, int destination, const Standpoint& from) {
  return floor_field.travel_time(destination, from.x, from.level, from.radius);
}
inline FloorField::Course course_of(const FloorField& floor_field, int destination, const Standpoint& from) {
  return floor_field.course(destination, from.x, from.level, from.radius);
}

/// Whether body i has started to walk, stands at no waypoint, and is not incapacitated.
inline bool may_walk(const BodyStore<2>& bodies, std::size_t i, Real time) {
  return !is_incapacitated(bodies, i) && time >= agent::premovement_end(bodies)[i] &&
         time >= agent::waits_until(bodies)[i];
}

}  // namespace scree
