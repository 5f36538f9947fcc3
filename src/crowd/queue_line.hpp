#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/section.hpp"
#include "crowd/people/distribution.hpp"

namespace scree {

class FloorPlan;

/// A counter and the line before it: the table `queue` of a step of a journey. Places lie every `spacing`
/// along the line, from the counter on; people join at the end of the line.
struct QueueLine {
  std::string name;
  std::string where;         ///< of the line in the deck
  std::vector<Vec<2>> line;  ///< from the counter to the end [m]
  Real spacing = 0.6;        ///< [m]
  std::int64_t servers = 1;
  int level = 0;  ///< of the building
  std::shared_ptr<const Distribution> service;
  int destination = -1;  ///< the area at the end of the line
  Real length = 0;       ///< [m]

  /// Declares and reads the keys. Local.
  void describe(Section& section, const std::string& name_if_none);
  std::int64_t n_places() const;
  /// Place k of the line, counted from 1; beyond the last one, the end of the line.
  Vec<2> place(std::int64_t k) const;
  /// Corners of the area at the end in which people join.
  std::vector<Vec<2>> joining_area() const;
  /// Throws InputError if a place is not walkable, or the places are too close for people of `largest_radius`
  /// [m]. Local.
  void require_room(const FloorPlan& plan, Real largest_radius) const;

  /// The path of somebody at x along the line to place k: unit vector, zero at the place; what is left of the
  /// line to the place, in which it slows down; the length of the line from the counter to x; and that of the
  /// whole path [m]. Local, O(corners).
  struct Path {
    Vec<2> direction;
    Real to_place, to_counter, length;
  };
  Path path(const Vec<2>& x, std::int64_t k) const;
  /// Whether somebody at x stands at place k: within half of the spacing.
  bool is_at(const Vec<2>& x, std::int64_t k) const;
  /// How long the person is served who joined at `since` [s]. Depends on the arguments only.
  Real service_time(std::uint64_t seed, GlobalId id, Real since) const;
  /// The point of the line so far from the counter [m]; beyond the line, its end.
  Vec<2> point(Real along) const;
};

/// Somebody in a queue.
struct Queuer {
  GlobalId id = 0;
  std::int32_t queue = 0;
  std::int32_t place = 0;  ///< from 1 on
  Real since = 0;          ///< when it joined [s]
  Real served_from = 0;    ///< [s]; 0: not yet
  Vec<2> at;               ///< [m]
};
/// The order of queues: first come, first served; of those who come at once, the smaller id first.
inline auto queue_order(const Queuer& q) {
  return std::tuple(q.queue, q.since, q.id);
}

/// Hands out the places of one queue, in the order of queue_order, and begins to serve, at `time`, those of
/// the first `servers` places who stand there (`is_there`), one after the other: nobody before somebody who
/// came earlier. Local, O(people log people).
void assign_places(std::span<Queuer> people, std::int64_t servers, Real time,
                   const std::function<bool(const Queuer&)>& is_there);

}  // namespace scree
