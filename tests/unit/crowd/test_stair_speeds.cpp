// Speeds on stairs by age: the table in m/s, between its two slopes, and the factors that give a kind its
// mean.
#include "crowd/people/stair_speeds.hpp"

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

constexpr Real degree = 3.14159265358979323846 / 180;

const std::string house = R"(
[floors.ground]
elevation = 0
walkable = { polygon = [[0, 0], [4, 0], [4, 6], [0, 6]] }
[floors.upper]
elevation = 3
walkable = { polygon = [[9, 0], [14, 0], [14, 6], [9, 6]] }
[connectors.stair]
factors = "fruin"
polygon = [[4, 2], [9, 2], [9, 4], [4, 4]]
bottom = { floor = "ground", line = [[4, 2], [4, 4]] }
top = { floor = "upper", line = [[9, 2], [9, 4]] }
[connectors.other]
polygon = [[4, 4.5], [9, 4.5], [9, 6], [4, 6]]
bottom = { floor = "ground", line = [[4, 4.5], [4, 6]] }
top = { floor = "upper", line = [[9, 4.5], [9, 6]] }
)";

}  // namespace

TEST_CASE("Fruin's speeds on stairs in m/s, with the slope between his two stairs", "[crowd]") {
  CHECK(fruin_speed("under 30", "male", false, 32 * degree) == Approx(163 * 0.00508));
  CHECK(fruin_speed("under 30", "", true, 27 * degree) == Approx(0.58).margin(0.005));
  CHECK(fruin_speed("30 to 50", "female", true, 27 * degree) == Approx(107 * 0.00508));
  CHECK(fruin_speed("over 50", "", false, 29.5 * degree) == Approx(112.5 * 0.00508));
  CHECK(fruin_speed("over 50", "", false, 50 * degree) == Approx(108 * 0.00508));
  CHECK(fruin_speed("over 50", "", false, 10 * degree) == Approx(117 * 0.00508));
  for (const char* sex : {"male", "female", ""})
    for (const bool goes_up : {true, false})
      for (const Real angle : {27 * degree, 32 * degree})
        CHECK(fruin_speed("over 50", sex, goes_up, angle) < fruin_speed("under 30", sex, goes_up, angle));
}

TEST_CASE("factors by age give each kind its mean horizontal speed, and leave other stairs alone",
          "[crowd]") {
  Deck deck = Deck::from_text(house + R"(
[agents.young]
age = "under 30"
speed = { distribution = "uniform", min = 1, max = 2 }
[agents.old]
age = "over 50"
sex = "female"
speed = { distribution = "constant", value = 0.8 }
)",
                              "test.toml");
  BuildingPlan building;
  JourneyPlan journey_plan;
  People people;
  building.describe(deck.root());
  journey_plan.describe(deck.root(), building);
  people.describe(deck.root(), building, journey_plan);
  set_stair_factors(building, people.types());
  const Incline& stair = *building.level(building.find("stair")).incline;
  const Real angle = std::atan(0.6);  // 31 degrees
  for (const bool goes_up : {true, false}) {
    const Real along_slope = 1 / std::cos(angle);
    CHECK(stair.factor(goes_up, 0) * 1.5 / along_slope ==
          Approx(fruin_speed("under 30", "", goes_up, angle)));
    CHECK(stair.factor(goes_up, 1) * 0.8 / along_slope ==
          Approx(fruin_speed("over 50", "female", goes_up, angle)));
  }
  CHECK(stair.up_factor == Approx((stair.factor(true, 0) + stair.factor(true, 1)) / 2));
  CHECK(building.max_factor() == 1);
  const Incline& other = *building.level(building.find("other")).incline;
  CHECK(other.factor(true, 1) == 0.5);
  CHECK(other.factor(false, 0) == 0.75);
}
