// Queues: places, paths along the line, and who is served when.
#include <cmath>
#include <vector>

#include "crowd/queue_line.hpp"
#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

/// A line of 2.4 m along x from the counter at the origin, then 1.2 m along y.
QueueLine corner() {
  QueueLine queue;
  queue.line = {{{0, 0}}, {{2.4, 0}}, {{2.4, 1.2}}};
  queue.length = 3.6;
  return queue;
}

Queuer queuer(GlobalId id, Real since) {
  Queuer q;
  q.id = id;
  q.since = since;
  return q;
}

std::vector<std::int32_t> places(const std::vector<Queuer>& people) {
  std::vector<std::int32_t> list;
  for (const Queuer& q : people) list.push_back(q.place);
  return list;
}

struct Waits {
  Real mean = 0;
  Real by_recursion = 0;  ///< mean by Lindley's recursion, for the same people
};

/// Waits of `n` people who come by a Poisson process to a counter with a constant service time, in steps of
/// dt, everybody at the place as soon as it is given.
Waits waits(std::uint64_t seed, int n, Real rate, Real service, Real dt) {
  QueueLine queue;
  queue.service = constant_distribution(service);
  RandomStream stream(seed, 0, purpose::source);
  Real next = 0, free = 0;
  Waits waits;
  std::vector<Queuer> people;
  int n_came = 0, n_done = 0;
  for (std::int64_t step = 1; n_done < n; ++step) {
    const Real time = static_cast<Real>(step) * dt;
    if (!people.empty() && people[0].served_from > 0 &&
        time + 1e-9 >= people[0].served_from + queue.service_time(seed, people[0].id, people[0].since)) {
      waits.mean += (people[0].served_from - people[0].since) / n;
      people.erase(people.begin());
      ++n_done;
    }
    for (; n_came < n && next <= time; next -= std::log(1 - stream.uniform()) / rate) {
      people.push_back(queuer(n_came++, time));
      const Real begin = std::max(time, free);
      waits.by_recursion += (begin - time) / n;
      free = begin + service;
    }
    assign_places(people, 1, time, [](const Queuer&) { return true; });
  }
  return waits;
}

}  // namespace

TEST_CASE("queues: places lie along the line", "[crowd]") {
  const QueueLine queue = corner();
  CHECK(queue.n_places() == 7);
  CHECK(norm(queue.place(1)) == 0);
  CHECK(norm(queue.place(5) - Vec<2>{{2.4, 0}}) < 1e-12);
  CHECK(norm(queue.place(7) - Vec<2>{{2.4, 1.2}}) < 1e-12);
  CHECK(norm(queue.place(9) - Vec<2>{{2.4, 1.2}}) < 1e-12);  // beyond the line: its end
  CHECK(queue.is_at({{0.59, 0.29}}, 2));
  CHECK_FALSE(queue.is_at({{0.59, 0.31}}, 2));
}

TEST_CASE("queues: the path leads along the line to the place", "[crowd]") {
  const QueueLine queue = corner();
  // From the end to the counter: down the last piece first, not across the corner.
  const QueueLine::Path from_end = queue.path({{2.4, 1.2}}, 1);
  CHECK(norm(from_end.direction - Vec<2>{{0, -1}}) < 1e-12);
  CHECK(from_end.to_place == Approx(3.6));
  CHECK(from_end.to_counter == Approx(3.6));
  // Around the corner, aiming 0.5 m ahead along the line.
  const QueueLine::Path near_corner = queue.path({{2.4, 0.2}}, 1);
  CHECK(norm(near_corner.direction - 1 / std::hypot(0.3, 0.2) * Vec<2>{{-0.3, -0.2}}) < 1e-12);
  CHECK(near_corner.to_place == Approx(2.6));
  // Near the place, or pushed beyond it: straight to it.
  const QueueLine::Path near_place = queue.path({{1.5, 0.1}}, 3);
  CHECK(near_place.to_place == Approx(std::hypot(0.3, 0.1)));
  const QueueLine::Path beyond = queue.path({{0.9, 0}}, 3);
  CHECK(norm(beyond.direction - Vec<2>{{1, 0}}) < 1e-12);
  CHECK(beyond.to_place == Approx(0.3));
  CHECK(queue.path({{1.2, 0}}, 3).to_place == Approx(0).margin(1e-12));
}

TEST_CASE("queues: first come, first served; at once, the smaller id first", "[crowd]") {
  std::vector<Queuer> people{queuer(9, 2), queuer(4, 2), queuer(7, 1)};
  std::ranges::sort(people, {}, queue_order);
  CHECK(people[0].id == 7);
  CHECK(people[1].id == 4);
  CHECK(people[2].id == 9);
  assign_places(people, 2, 3, [](const Queuer&) { return true; });
  CHECK(places(people) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(people[0].served_from == 3);
  CHECK(people[1].served_from == 3);
  CHECK(people[2].served_from == 0);

  // The first one has been served and goes: the second goes on being served, the third waits for being there.
  people.erase(people.begin());
  assign_places(people, 2, 5, [](const Queuer& q) { return q.id != 9; });
  CHECK(places(people) == std::vector<std::int32_t>{1, 2});
  CHECK(people[0].served_from == 3);
  CHECK(people[1].served_from == 0);
}

TEST_CASE("queues: nobody is served before somebody who came earlier", "[crowd]") {
  std::vector<Queuer> people{queuer(0, 1), queuer(1, 2)};
  assign_places(people, 2, 3, [](const Queuer& q) { return q.id == 1; });
  CHECK(people[1].served_from == 0);
  assign_places(people, 2, 4, [](const Queuer&) { return true; });
  CHECK(people[0].served_from == 4);
  CHECK(people[1].served_from == 4);
}

TEST_CASE("queues: service times follow their distribution, anew at each visit", "[crowd]") {
  Deck deck = Deck::from_text(
      "line = [[0, 0], [3, 0]]\nservice = { distribution = 'lognormal', median = 12, "
      "sigma = 0.5 }\n",
      "test.toml");
  QueueLine queue;
  queue.describe(deck.root(), "desk");
  constexpr int n = 4000;
  int n_below_median = 0;
  Real sum = 0;
  for (int id = 0; id < n; ++id) {
    const Real time = queue.service_time(3, id, 17.05);
    CHECK(time == queue.service_time(3, id, 17.05));
    n_below_median += time < 12 ? 1 : 0;
    sum += std::log(time);
  }
  // Four standard errors.
  CHECK(std::abs(n_below_median - n / 2) < 4 * std::sqrt(n) / 2);
  CHECK(std::abs(sum / n - std::log(12)) < 4 * 0.5 / std::sqrt(n));
  CHECK(queue.service_time(3, 5, 17.05) != queue.service_time(3, 5, 17.1));
  CHECK(queue.service_time(3, 5, 17.05) != queue.service_time(4, 5, 17.05));
}

TEST_CASE("queues: M/D/1 at 0.05 per s and 10 s waits 5 s on average", "[crowd]") {
  // Pollaczek and Khinchine: rho s / (2 (1 - rho)), rho = 0.5, in whole steps of 0.05 s, with nobody there at
  // first.
  constexpr int n_seeds = 20;
  Real sum = 0, squares = 0;
  for (std::uint64_t seed = 1; seed <= n_seeds; ++seed) {
    const Waits found = waits(seed, 400, 0.05, 10, 0.05);
    CHECK(found.mean == Approx(found.by_recursion).epsilon(1e-9));
    sum += found.mean;
    squares += found.mean * found.mean;
  }
  const Real mean = sum / n_seeds;
  const Real error = std::sqrt((squares / n_seeds - mean * mean) / (n_seeds - 1));
  CAPTURE(mean, error);
  CHECK(error < 0.5);
  CHECK(std::abs(mean - 5) < 4 * error);
}
