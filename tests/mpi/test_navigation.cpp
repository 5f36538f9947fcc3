#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "crowd/floor_field/floor_field.hpp"

namespace scree {

namespace {

Ring rectangle(Real x0, Real y0, Real x1, Real y1) {
  return {{{x0, y0}}, {{x1, y0}}, {{x1, y1}}, {{x0, y1}}};
}

/// Rooms, doors and columns, 24 x 20 m, with two destinations and a zone.
struct Site {
  BuildingPlan plan;
  FloorField floor_field;
  Box<2> box;

  explicit Site(const Comm& comm, std::array<bool, 2> periodic = {false, false}) {
    std::string text =
        "[walkable]\n"
        "polygon = [[0, 0], [24, 0], [24, 20], [12, 20], [12, 11], [16, 11], [16, 10.9], [11.9, 10.9], "
        "[11.9, "
        "20], [0, 20], [0, 8], [9, 8], [9, 7.99], [0, 7.99]]\n"
        "[walkable.obstacles.columns]\ncircles = [";
    for (int i = 0; i < 5; ++i) text += "[" + std::to_string(3 + 4 * i) + ", 5, 0.35], ";
    text += "]\n[navigation]\n[navigation.density_cost]\nweight = 0.5\n";
    Deck deck = Deck::from_text(text, "test.toml", {});
    plan.describe(deck.root());
    floor_field.describe(deck.root());
    box = plan.bounds();
    box.periodic = periodic;
    floor_field.build(
        comm, plan, box, {{rectangle(13, 2, 15, 9), 0.6}},
        {{"exits.a", "test.toml:1:1", {rectangle(0, 9, 0.5, 10)}},
         {"exits.b", "test.toml:2:1", {rectangle(20, 19.5, 21, 20), rectangle(23.5, 1, 24, 2)}}});
  }
};

std::vector<Vec<2>> people(std::int64_t first, std::int64_t stride, std::int64_t n) {
  std::vector<Vec<2>> result;
  for (std::int64_t id = first; id < n; id += stride) {
    RandomStream stream(11, id, 1);
    const Real x = stream.uniform(0, 24);
    result.push_back({{x, stream.uniform(0, 20)}});
  }
  return result;
}

bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return std::ranges::equal(a, b, [](Real x, Real y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// Whether what these people are shown agrees with `alone`, where everything is on one rank.
bool told_the_same(const Site& site, const Site& alone, const std::vector<Vec<2>>& positions) {
  return std::ranges::all_of(positions, [&](const Vec<2>& x) {
    for (const int destination : {0, 1})
      if (site.floor_field.direction(destination, x, 0) != alone.floor_field.direction(destination, x, 0) ||
          site.floor_field.travel_time(destination, x, 0) != alone.floor_field.travel_time(destination, x, 0))
        return false;
    return true;
  });
}

}  // namespace

TEST_CASE("floor field: fields, rows and what people know have the bits of one rank", "[mpi]") {
  const Comm world;
  const Comm self(MPI_COMM_SELF);
  const std::array<bool, 2> periodic = GENERATE(std::array{false, false}, std::array{true, false});
  Site together(world, periodic);
  Site alone(self, periodic);
  const std::int64_t ny = together.floor_field.grid().ny;
  REQUIRE(ny == alone.floor_field.grid().ny);

  const auto check_rows = [&] {
    for (const int destination : {-1, 0, 1}) {
      // Other rows on each rank, none on the first.
      const std::int64_t first = ny * world.rank() / (2 * world.size());
      const std::int64_t last = world.rank() == 0 && world.size() > 1 ? first : ny - world.rank();
      CHECK(same_bits(together.floor_field.rows(destination, 0, first, last),
                      alone.floor_field.rows(destination, 0, first, last)));
    }
  };
  check_rows();
  CHECK(std::ranges::any_of(alone.floor_field.rows(1, 0, 0, ny),
                            [](Real time) { return time > 10 && time < 100; }));

  // Few people near a corner of the plan on each rank, everything on the one.
  const std::vector<Vec<2>> middle{{{12, 10}}};
  alone.floor_field.fetch(std::span<const Vec<2>>(middle), 30);
  std::vector<Vec<2>> positions = people(world.rank(), world.size(), 500);
  together.floor_field.fetch(std::span<const Vec<2>>(positions), 1);
  CHECK(told_the_same(together, alone, positions));

  // Everybody walks on, some ranks have nobody left.
  if (world.rank() % 2 == 1) positions.clear();
  for (Vec<2>& x : positions) x += together.floor_field.direction(0, x, 0);
  together.floor_field.fetch(std::span<const Vec<2>>(positions), 1.5);
  CHECK(told_the_same(together, alone, positions));

  together.floor_field.update_density(std::span<const Vec<2>>(positions));
  std::vector<Vec<2>> everybody = people(0, 1, 500);
  std::vector<Vec<2>> all_positions;
  for (std::size_t id = 0; id < everybody.size(); ++id) {
    if (static_cast<std::int64_t>(id) % world.size() % 2 == 1) continue;
    all_positions.push_back(everybody[id] + alone.floor_field.direction(0, everybody[id], 0));
  }
  alone.floor_field.update_density(std::span<const Vec<2>>(all_positions));
  CHECK(std::ranges::equal(together.floor_field.density(), alone.floor_field.density()));
  check_rows();
  CHECK(told_the_same(together, alone, positions));
}

TEST_CASE("floor field: a destination in a wall is an InputError on all ranks", "[mpi]") {
  Deck deck = Deck::from_text("[walkable]\npolygon = [[0, 0], [2, 0], [2, 2], [0, 2]]\n", "test.toml", {});
  BuildingPlan plan;
  plan.describe(deck.root());
  FloorField floor_field;
  floor_field.describe(deck.root());
  CHECK_THROWS_AS(floor_field.build(Comm(), plan, plan.bounds(), {},
                                    {{"exits.a", "test.toml:1:1", {rectangle(5, 5, 6, 6)}}}),
                  InputError);
}

TEST_CASE("floor field: more ranks than tiles, and no destination at all", "[mpi]") {
  Deck deck = Deck::from_text(
      "[walkable]\npolygon = [[0, 0], [1, 0], [1, 1], [0, 1]]\n[navigation]\nwall_clearance = 0.25\n",
      "test.toml", {});
  BuildingPlan plan;
  plan.describe(deck.root());
  FloorField floor_field;
  floor_field.describe(deck.root());
  const std::vector<Vec<2>> here{{{0.9, 0.5}}};
  floor_field.build(Comm(), plan, plan.bounds(), {}, {});
  floor_field.fetch(std::span<const Vec<2>>(here), 1);
  floor_field.build(Comm(), plan, plan.bounds(), {},
                    {{"exits.a", "test.toml:1:1", {rectangle(0, 0, 0.1, 1)}}});
  floor_field.fetch(std::span<const Vec<2>>(here), 1);
  // 0.8 m, slowed down near the walls at both ends.
  CHECK(floor_field.travel_time(0, here[0], 0) == Approx(0.95).margin(0.1));
  CHECK(floor_field.direction(0, here[0], 0)[0] < -0.99);
}

}  // namespace scree
