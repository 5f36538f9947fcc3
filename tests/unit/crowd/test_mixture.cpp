// What people of a mixture are like: shares, streams, and the numbers that plan their room.
#include "crowd/people/mixture.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "core/deck.hpp"
#include "support/message_of.hpp"

using namespace scree;

namespace {

AgentType kind(const std::string& name, Real radius, Real speed) {
  return {name, constant_distribution(radius), constant_distribution(speed)};
}

const std::vector<AgentType> kinds{kind("adult", 0.2, 1.4), kind("child", 0.15, 1.0), kind("tall", 0.3, 1.6)};

Mixture mixture_of(const std::string& lines) {
  Deck deck = Deck::from_text("[people]\n" + lines, "test.toml");
  Mixture mixture;
  deck.root().table("people", {.doc = "They."}, [&](Section& section) { mixture.describe(section, kinds); });
  deck.require_all_read();
  return mixture;
}

std::string complaint(const std::string& lines) {
  return message_of<InputError>([&] { mixture_of(lines); });
}

}  // namespace

TEST_CASE("mixture: kinds come in their shares, numbered as in the deck", "[crowd]") {
  const Mixture mixture = mixture_of("agents = ['tall', 'adult']\nshares = [1, 3]\n");
  constexpr int n = 4000;
  int n_tall = 0;
  for (GlobalId number = 0; number < n; ++number) {
    const Person person = mixture.draw(7, number);
    REQUIRE((person.kind == 0 || person.kind == 2));
    n_tall += person.kind == 2;
    CHECK(person.radius == (person.kind == 2 ? 0.3 : 0.2));
    CHECK(person.speed == (person.kind == 2 ? 1.6 : 1.4));
    CHECK(person.premovement == 0);
  }
  CHECK(std::abs(n_tall - n / 4) < 5 * std::sqrt(n * 0.25 * 0.75));
}

TEST_CASE("mixture: without agents all are of the first kind; a share of 0 is never drawn", "[crowd]") {
  const Mixture first = mixture_of("");
  const Mixture one_of_two = mixture_of("agents = ['child', 'tall']\nshares = [0, 0.1]\n");
  for (GlobalId number = 0; number < 200; ++number) {
    CHECK(first.draw(1, number).kind == 0);
    CHECK(one_of_two.draw(1, number).kind == 2);
  }
}

TEST_CASE("mixture: a person is a function of seed and number; the radius alone is the same", "[crowd]") {
  const std::string lines =
      "agents = ['adult', 'child', 'tall']\n"
      "premovement = { distribution = 'uniform', min = 5, max = 50 }\n";
  const Mixture mixture = mixture_of(lines), again = mixture_of(lines);
  int n_other_seed = 0;
  for (GlobalId number = 200; number-- > 0;) {
    const Person a = mixture.draw(3, number), b = again.draw(3, number);
    CHECK(a.kind == b.kind);
    CHECK(a.premovement == b.premovement);
    CHECK((a.premovement >= 5 && a.premovement <= 50));
    CHECK(mixture.radius(3, number) == a.radius);
    n_other_seed += mixture.draw(4, number).premovement != a.premovement;
  }
  CHECK(n_other_seed > 190);
}

TEST_CASE("mixture: the mean disk weighs kinds by their shares, bounds take all of them", "[crowd]") {
  const Mixture mixture = mixture_of("agents = ['adult', 'tall']\nshares = [1, 3]\n");
  CHECK(mixture.mean_disk_area() == Approx(std::numbers::pi * (0.25 * 0.04 + 0.75 * 0.09)));
  CHECK(mixture.largest_radius() == 0.3);
  CHECK(mixture.typical_radius() == 0.2);
}

TEST_CASE("mixture: names and shares that do not fit are refused", "[crowd]") {
  using Catch::Contains;
  CHECK_THAT(complaint("agents = ['adlut']"), Contains("there is no [agents.adlut]") && Contains("adult"));
  CHECK_THAT(complaint("agents = ['adult', 'tall']\nshares = [1]"),
             Contains("as many shares as agents (2), not 1"));
  CHECK_THAT(complaint("agents = ['adult', 'tall']\nshares = [0, 0]"), Contains("the shares sum to 0"));
}
