#include "crowd/queues.hpp"

#include <cmath>
#include <limits>

#include "analysis/gathered.hpp"
#include "core/timing.hpp"
#include "crowd/micro_seconds.hpp"
#include "crowd/person.hpp"

namespace scree {

namespace {

constexpr std::size_t n_totals = 3;  // of each queue

}  // namespace

void Queues::start(BodyStore<2>& bodies) {
  if (is_used())
    walk_field_ = bodies.add_extra({{"queue_walk", "s", Ghosts::none, true, FieldSet::always,
                                     "how long its walk in the queue would take it alone"},
                                    false});
  totals_.assign(n_totals * journey_plan_.queues().size(), 0);
}

int Queues::number_of_queue(const BodyStore<2>& bodies, std::size_t i) const {
  const JourneyPlan::Step* step = journey_plan_.step_of(bodies, i);
  return step ? step->queue : -1;
}

const QueueLine* Queues::queue_ahead(const BodyStore<2>& bodies, std::size_t i) const {
  if (!is_used()) return nullptr;
  const int queue = number_of_queue(bodies, i);
  return queue < 0 ? nullptr : &journey_plan_.queues()[queue];
}

/// After service: the next step of the journey.
void Queues::finish(State<2>& state, std::size_t i) {
  BodyStore<2>& bodies = state.bodies;
  served_.push_back({bodies.id()[i], number_of_queue(bodies, i), agent::queue_since(bodies)[i],
                     agent::served_from(bodies)[i], state.clock.time, walk(bodies)[i]});
  journey_plan_.go_on(bodies, i);
  agent::queue_place(bodies)[i] = 0;
  agent::queue_since(bodies)[i] = 0;
  walk(bodies)[i] = 0;
  agent::served_from(bodies)[i] = 0;
}

/// How long body i, which joins, would walk to the counter with nobody else in the queue [s]: at its desired
/// speed in the zones along the line.
Real Queues::walk_of(const State<2>& state, const QueueLine& queue, std::size_t i) const {
  const Vec<2> x = wrapped(state.box, state.bodies.position()[i]);
  const QueueLine::Path path = queue.path(x, 1);
  const Real along = std::min(path.to_counter, queue.length);
  const auto n = static_cast<std::int64_t>(std::ceil(along / queue.spacing));
  Real pace = 1 / journey_plan_.speed_factor(x, queue.level);  // where it is
  Real slowed = 0;
  for (std::int64_t k = 0; k < n; ++k)
    slowed += 1 / journey_plan_.speed_factor(
                      queue.point((static_cast<Real>(k) + 0.5) * along / static_cast<Real>(n)), queue.level);
  if (n > 0) pace = slowed / static_cast<Real>(n);
  // Service begins half of the spacing before the place.
  return std::max(path.length - 0.5 * queue.spacing, 0.0) * pace / agent::desired_speed(state.bodies)[i];
}

/// Whether something happens to body i: it joins, comes to a counter, or has been served.
bool Queues::update_person(State<2>& state, std::uint64_t seed, std::size_t i) {
  BodyStore<2>& bodies = state.bodies;
  const QueueLine* queue = queue_ahead(bodies, i);
  if (!queue) return false;
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  const Real time = state.clock.time;
  std::int32_t& place = agent::queue_place(bodies)[i];
  if (place == 0) {
    if (time + rounding_of_times < agent::premovement_end(bodies)[i] ||
        agent::destination(bodies)[i] != queue->destination ||
        !journey_plan_.destinations()[queue->destination].contains(x, level_of(bodies, i)))
      return false;
    place = std::numeric_limits<std::int32_t>::max();  // until places are handed out
    agent::queue_since(bodies)[i] = time;
    walk(bodies)[i] = walk_of(state, *queue, i);
    return true;
  }
  const Real served_from = agent::served_from(bodies)[i];
  if (served_from == 0) return place <= queue->servers && queue->is_at(x, place);
  const Real done = served_from + queue->service_time(seed, bodies.id()[i], agent::queue_since(bodies)[i]);
  if (time + rounding_of_times < done) return false;
  finish(state, i);
  return true;
}

void Queues::place_all(State<2>& state) {
  BodyStore<2>& bodies = state.bodies;
  std::vector<Queuer> mine;
  std::vector<std::size_t> body;
  for (const std::size_t i : owned(bodies)) {
    if (agent::queue_place(bodies)[i] == 0) continue;
    mine.push_back({bodies.id()[i], number_of_queue(bodies, i), agent::queue_place(bodies)[i],
                    agent::queue_since(bodies)[i], agent::served_from(bodies)[i],
                    wrapped(state.box, bodies.position()[i])});
    body.push_back(i);
  }
  std::vector<Queuer> all = gathered_by_id(state.comm, mine);
  std::ranges::sort(all, {}, queue_order);
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].queue == all[first].queue) ++last;
    const QueueLine& queue = journey_plan_.queues()[all[first].queue];
    assign_places(std::span(all).subspan(first, last - first), queue.servers, state.clock.time,
                  [&](const Queuer& q) { return queue.is_at(q.at, q.place); });
  }
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const auto found = std::ranges::lower_bound(all, queue_order(mine[k]), {}, queue_order);
    const std::size_t i = body[k];
    const QueueLine& queue = journey_plan_.queues()[mine[k].queue];
    if (agent::served_from(bodies)[i] == 0 && found->served_from > 0) {
      // The place of another server than the first is nearer.
      const Real speed = agent::desired_speed(bodies)[i] *
                         journey_plan_.speed_factor(queue.place(found->place), queue.level);
      const Real nearer = static_cast<Real>(found->place - 1) * queue.spacing / speed;
      walk(bodies)[i] = std::max(walk(bodies)[i] - nearer, 0.0);
    }
    agent::queue_place(bodies)[i] = found->place;
    agent::served_from(bodies)[i] = found->served_from;
  }
}

void Queues::update_totals(const Comm& comm, std::size_t n_before) {
  const std::size_t n_queues = journey_plan_.queues().size();
  std::vector<std::int64_t> sums(2 * n_queues, 0);
  std::vector<Real> longest(n_queues, 0);
  for (std::size_t k = n_before; k < served_.size(); ++k) {
    const std::size_t q = served_[k].queue;
    const std::int64_t waited = in_micro(served_[k].waited());
    ++sums[2 * q];
    sums[2 * q + 1] += waited;
    longest[q] = std::max(longest[q], static_cast<Real>(waited));
  }
  comm.sum(sums);
  comm.max(longest);
  for (std::size_t q = 0; q < n_queues; ++q) {
    totals_[n_totals * q] += static_cast<Real>(sums[2 * q]);
    totals_[n_totals * q + 1] += static_cast<Real>(sums[2 * q + 1]);
    totals_[n_totals * q + 2] = std::max(totals_[n_totals * q + 2], longest[q]);
  }
}

void Queues::update(State<2>& state, std::uint64_t seed, bool has_departures) {
  if (!is_used()) return;
  Scope timer("queues");
  const std::size_t n_before = served_.size();
  bool is_any = false;
  for (const std::size_t i : owned(state.bodies)) is_any = update_person(state, seed, i) || is_any;
  if (!state.comm.any(is_any || has_departures)) return;
  place_all(state);
  update_totals(state.comm, n_before);
}

std::int64_t Queues::n_served() const {
  Real n = 0;
  for (std::size_t k = 0; k < totals_.size(); k += n_totals) n += totals_[k];
  return std::llround(n);
}

std::vector<QueueReport> Queues::reports(const State<2>& state) const {
  const std::size_t n_queues = journey_plan_.queues().size();
  std::vector<std::int64_t> counts(2 * n_queues, 0);
  for (const std::size_t i : owned(state.bodies)) {
    if (agent::queue_place(state.bodies)[i] == 0) continue;
    const std::size_t q = number_of_queue(state.bodies, i);
    ++counts[2 * q + (agent::served_from(state.bodies)[i] > 0 ? 1 : 0)];
  }
  state.comm.sum(counts);
  std::vector<QueueReport> reports(n_queues);
  for (std::size_t q = 0; q < n_queues; ++q) {
    const Real n = totals_[n_totals * q];
    reports[q] = {
        .n_waiting = counts[2 * q],
        .n_at_counter = counts[2 * q + 1],
        .n_served = std::llround(n),
        .mean_wait = n > 0 ? micro * totals_[n_totals * q + 1] / n : std::numeric_limits<Real>::quiet_NaN(),
        .longest_wait = micro * totals_[n_totals * q + 2]};
  }
  return reports;
}

}  // namespace scree
