// How many people have come to a source by a time, against integrals by hand.
#include "crowd/people/arrivals.hpp"

#include <catch2/catch.hpp>

#include "core/deck.hpp"
#include "support/message_of.hpp"

using namespace scree;

namespace {

Arrivals arrivals_of(const std::string& lines) {
  Deck deck = Deck::from_text("[source]\n" + lines, "test.toml");
  Arrivals arrivals;
  deck.root().table("source", {.doc = "It."}, [&](Section& section) { arrivals.describe(section); });
  deck.require_all_read();
  return arrivals;
}

std::string complaint(const std::string& lines) {
  return message_of<InputError>([&] { arrivals_of(lines); });
}

}  // namespace

TEST_CASE("arrivals: person k comes when the integral of the rate reaches k + 1", "[crowd]") {
  const Arrivals arrivals = arrivals_of("rate = 2\nstart = 1\nuntil = 4\n");
  CHECK(arrivals.n_due(0) == 0);
  CHECK(arrivals.n_due(1.49) == 0);
  CHECK(arrivals.n_due(1.5) == 1);
  CHECK(arrivals.n_due(3.99) == 5);
  CHECK(arrivals.n_due(4) == 6);
  CHECK(arrivals.n_due(1000) == 6);
  CHECK(arrivals.n_total() == 6);
}

TEST_CASE("arrivals: a schedule pauses where its rate is 0 and goes on without an end", "[crowd]") {
  const std::string schedule = "schedule = [[0, 1], [2, 0], [5, 4]]\n";
  const Arrivals arrivals = arrivals_of(schedule);
  CHECK(arrivals.n_due(2) == 2);
  CHECK(arrivals.n_due(5) == 2);
  CHECK(arrivals.n_due(5.25) == 3);
  CHECK(arrivals.n_total() >= std::int64_t{1} << 62);
  const Arrivals limited = arrivals_of(schedule + "limit = 10\n");
  CHECK(limited.n_due(7) == 10);  // not all of 2 + 8
  CHECK(limited.n_due(7.5) == 10);
  CHECK(limited.n_total() == 10);
}

TEST_CASE("arrivals: nobody comes a step late because times are sums of steps", "[crowd]") {
  const Arrivals arrivals = arrivals_of("rate = 1\n");
  Real time = 0;
  for (int step = 1; step <= 10; ++step) time += 0.1;
  REQUIRE(time < 1);
  CHECK(arrivals.n_due(time) == 1);
}

TEST_CASE("arrivals: what says nothing, or two things, is refused", "[crowd]") {
  using Catch::Contains;
  CHECK_THAT(complaint(""), Contains("[source] needs either schedule or rate"));
  CHECK_THAT(complaint("rate = 1\nschedule = [[0, 1]]"), Contains("needs either schedule or rate"));
  CHECK_THAT(complaint("rate = 1\nstart = 2\nuntil = 2"), Contains("until must exceed start"));
  CHECK_THAT(complaint("schedule = [[0, 1]]\nstart = 2"), Contains("start and until go with rate"));
  CHECK_THAT(complaint("schedule = [[3, 1], [3, 0]]"), Contains("3 s does not follow on 3 s"));
  CHECK_THAT(complaint("schedule = [[-1, 1]]"), Contains("-1 s does not"));
  CHECK_THAT(complaint("schedule = [[0, 1], [1, -2]]"), Contains("a rate must be 0 or more, not -2"));
  CHECK_THAT(complaint("schedule = [[0, 0], [1, 0]]"), Contains("nobody would come"));
}
