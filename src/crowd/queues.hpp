#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "crowd/journey_plan.hpp"
#include "crowd/queue_line.hpp"
#include "state/state.hpp"

namespace scree {

/// Somebody who has been served.
struct Served {
  GlobalId id = 0;
  std::int32_t queue = 0;
  Real since = 0, served_from = 0, done = 0;  ///< [s]
  Real walk = 0;                              ///< how long its walk to the counter would take it alone [s]

  /// Beyond the walk [s].
  Real waited() const { return std::max(served_from - since - walk, 0.0); }
};

/// How a queue is doing: numbers of people, times of those who have been served [s].
struct QueueReport {
  std::int64_t n_waiting = 0, n_at_counter = 0, n_served = 0;
  Real mean_wait = 0;  ///< Served::waited(); NaN if nobody has been served
  Real longest_wait = 0;
};

/// What happens in the queues of journeys (docs/method.md, "Queues"). Who comes into the joining area of the
/// queue of its step joins; places go by the time of joining, then by id; who is at one of the first places
/// is served; then the journey goes on. All is in the fields of bodies queue_place (0: in no queue),
/// queue_since, queue_walk and served_from, so restarts are exact, and the bits depend on no rank.
class Queues {
 public:
  /// The reference must stay valid.
  explicit Queues(const JourneyPlan& journey_plan) : journey_plan_(journey_plan) {}

  bool is_used() const { return !journey_plan_.queues().empty(); }
  /// With nothing done: see memory(). Gives bodies the field queue_walk if there are queues; before the first
  /// of them is made. Local.
  void start(BodyStore<2>& bodies);
  /// After a step, before ExitChoice::update(). `has_departures`: whether somebody left the run in it.
  /// Collective: one reduction a step; in steps in which somebody joins, comes to a counter or has been
  /// served, everybody in a queue is made known to all ranks. Local without queues.
  void update(State<2>& state, std::uint64_t seed, bool has_departures);

  /// The queue that body i is in or on the way to; null: none. Local.
  const QueueLine* queue_ahead(const BodyStore<2>& bodies, std::size_t i) const;

  /// Who has been served, on this rank, since whoever writes tables of it emptied the list.
  std::vector<Served>& served() { return served_; }
  std::int64_t n_served() const;
  /// Of each queue. Collective.
  std::vector<QueueReport> reports(const State<2>& state) const;
  /// For checkpoints, of each queue: people served, their waiting in all and the longest [1e-6 s].
  std::span<Real> memory() { return totals_; }

 private:
  int number_of_queue(const BodyStore<2>& bodies, std::size_t i) const;
  bool update_person(State<2>& state, std::uint64_t seed, std::size_t i);
  std::span<Real> walk(BodyStore<2>& bodies) const { return bodies.extra<Real>(walk_field_); }
  Real walk_of(const State<2>& state, const QueueLine& queue, std::size_t i) const;
  void finish(State<2>& state, std::size_t i);
  void place_all(State<2>& state);
  void update_totals(const Comm& comm, std::size_t n_before);

  const JourneyPlan& journey_plan_;
  std::size_t walk_field_ = 0;  // number of the field queue_walk
  std::vector<Served> served_;
  std::vector<Real> totals_;
};

}  // namespace scree
