#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "crowd/floor_field/eikonal.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/floor_field/terrain.hpp"

namespace scree {

namespace {

constexpr Real degree = std::numbers::pi / 180;

Ring rectangle(Real x0, Real y0, Real x1, Real y1) {
  return {{{x0, y0}}, {{x1, y0}}, {{x1, y1}}, {{x0, y1}}};
}

Destination place(const std::vector<Ring>& regions) {
  return {"exits.test", "test.toml:1:1", regions};
}

/// A plan and its floor field on this process alone, everything fetched.
struct Site {
  BuildingPlan plan;
  FloorField floor_field;
  Box<2> box;

  Site(const std::string& tables, const std::vector<Destination>& destinations,
       std::array<bool, 2> periodic = {false, false}, const std::vector<Zone>& zones = {}) {
    Deck deck = Deck::from_text(tables, "test.toml", {});
    plan.describe(deck.root());
    floor_field.describe(deck.root());
    deck.require_all_read();
    box = plan.bounds();
    box.periodic = periodic;
    floor_field.build(Comm(MPI_COMM_SELF), plan, box, zones, destinations);
    fetch();
  }
  void fetch() {
    const std::vector<Vec<2>> middle{0.5 * (box.lower + box.upper)};
    floor_field.fetch(std::span<const Vec<2>>(middle), norm(box.upper - box.lower));
  }
  Real time(Real x, Real y, int destination = 0) const {
    return floor_field.travel_time(destination, {{x, y}}, 0);
  }
  Vec<2> direction(Real x, Real y, int destination = 0) const {
    return floor_field.direction(destination, {{x, y}}, 0);
  }
};

std::string square(Real size, const std::string& navigation = "wall_clearance = 0.0") {
  const std::string s = std::to_string(size);
  return "[walkable]\npolygon = [[0, 0], [" + s + ", 0], [" + s + ", " + s + "], [0, " + s +
         "]]\n[navigation]\n" + navigation + "\n";
}

Real angle_between(const Vec<2>& a, const Vec<2>& b) {
  return std::abs(std::atan2(a[0] * b[1] - a[1] * b[0], dot(a, b)));
}

/// Links of a mask: all walkable neighbours are linked, but those that `cut` names with the lower cell and
/// the axis.
struct Mask {
  std::int64_t nx, ny;
  std::array<bool, 2> periodic;
  std::vector<bool> free;
  std::vector<float> steps;

  bool is_free(std::int64_t i, std::int64_t j) const {
    if (periodic[0]) i = (i + nx) % nx;
    if (periodic[1]) j = (j + ny) % ny;
    return i >= 0 && i < nx && j >= 0 && j < ny && free[i + nx * j];
  }
};

/// T of all cells, row by row, for the same mask cut into tiles of this size.
std::vector<Real> solve(const Mask& mask, int edge,
                        const std::vector<std::pair<std::int64_t, Real>>& starts) {
  const Comm comm(MPI_COMM_SELF);
  Tiling tiling({{}, 1.0, mask.nx, mask.ny, mask.periodic}, edge);
  const auto links_of = [&](std::int64_t tile) {
    std::vector<Links> links(edge * edge, 0);
    for (int b = 0; b < tiling.height(tile); ++b)
      for (int a = 0; a < tiling.width(tile); ++a) {
        const std::int64_t i = tiling.first_column(tile) + a;
        const std::int64_t j = tiling.first_row(tile) + b;
        if (!mask.is_free(i, j)) continue;
        Links& link = links[a + edge * b];
        link = walkable_bit;
        if (mask.is_free(i - 1, j)) link |= link_bit(Side::left);
        if (mask.is_free(i + 1, j)) link |= link_bit(Side::right);
        if (mask.is_free(i, j - 1)) link |= link_bit(Side::lower);
        if (mask.is_free(i, j + 1)) link |= link_bit(Side::upper);
      }
    return links;
  };
  tiling.share_out(comm, [&](std::int64_t tile) {
    return std::ranges::count_if(links_of(tile), [](Links link) { return link != 0; });
  });
  Eikonal eikonal(comm, tiling);
  std::vector<std::vector<Eikonal::Start>> places(1);
  std::vector<Real> times(mask.nx * mask.ny, HUGE_VAL);
  const auto for_cells = [&](const auto& do_it) {
    for (std::size_t own = 0; own < eikonal.n_own(); ++own) {
      const std::int64_t tile = tiling.own()[own];
      for (int b = 0; b < tiling.height(tile); ++b)
        for (int a = 0; a < tiling.width(tile); ++a)
          do_it(own, a, b, tiling.first_column(tile) + a + mask.nx * (tiling.first_row(tile) + b));
    }
  };
  std::vector<std::vector<float>> steps(eikonal.n_own());
  for (auto& tile : steps) tile.assign(edge * edge, 1);
  for_cells([&](std::size_t own, int a, int b, std::int64_t cell) {
    steps[own][a + edge * b] = mask.steps[cell];
    for (const auto& start : starts)
      if (start.first == cell) places[0].push_back({eikonal.place(own, a, b), start.second});
  });
  for (std::size_t own = 0; own < eikonal.n_own(); ++own)
    eikonal.set_cells(own, links_of(tiling.own()[own]), steps[own]);
  eikonal.solve(places);
  for_cells([&](std::size_t own, int a, int b, std::int64_t cell) {
    times[cell] = eikonal.time(0, eikonal.place(own, a, b));
  });
  return times;
}

using Starts = std::vector<std::pair<std::int64_t, Real>>;

/// Three quarters of the cells are free, those of the starts are.
Mask random_mask(std::int64_t nx, std::int64_t ny, std::array<bool, 2> periodic, const Starts& starts) {
  Mask mask{nx, ny, periodic, {}, {}};
  for (std::int64_t k = 0; k < nx * ny; ++k) {
    RandomStream stream(3, k, 1);
    mask.free.push_back(stream.uniform() < 0.75);
    mask.steps.push_back(static_cast<float>(stream.uniform(0.1, 1)));
  }
  for (const auto& start : starts) mask.free[start.first] = true;
  return mask;
}

}  // namespace

TEST_CASE("eikonal: tiles of any size give the same bits, also through periodic faces") {
  const std::array<bool, 2> periodic =
      GENERATE(std::array{false, false}, std::array{true, false}, std::array{true, true});
  const Starts starts{{5 * 45 + 7, 0}, {30 * 45 + 44, 1.5}, {9, 0.25}};
  const Mask mask = random_mask(45, 37, periodic, starts);
  const std::vector<Real> whole = solve(mask, 64, starts);
  CHECK(std::ranges::count_if(whole, [](Real time) { return time < HUGE_VAL; }) > 1000);
  for (const int edge : {1, 2, 8, 32})
    CHECK(std::ranges::equal(whole, solve(mask, edge, starts), [](Real a, Real b) {
      return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    }));
}

TEST_CASE("eikonal: the solution satisfies the upwind scheme and no start is exceeded") {
  const Starts starts{{805, 0}, {807, 0.01}, {100, 1e6}};
  const Mask mask = random_mask(40, 40, {false, true}, starts);
  const std::vector<Real> times = solve(mask, 8, starts);
  CHECK(times[805] == 0);
  for (const auto& [cell, time] : starts) CHECK(times[cell] <= time);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return mask.is_free(i, j) ? times[i + 40 * ((j + 40) % 40)] : HUGE_VAL;
  };
  for (std::int64_t j = 0; j < 40; ++j)
    for (std::int64_t i = 0; i < 40; ++i) {
      const Real here = at(i, j);
      if (!(here < HUGE_VAL) || (j == 20 && (i == 5 || i == 7))) continue;
      const Real a = std::max(0.0, here - std::min(at(i - 1, j), at(i + 1, j)));
      const Real b = std::max(0.0, here - std::min(at(i, j - 1), at(i, j + 1)));
      const auto step = static_cast<Real>(mask.steps[i + 40 * j]);
      CHECK(std::sqrt(a * a + b * b) == Approx(step).epsilon(1e-9));
    }
}

TEST_CASE(
    "floor field: on free ground travel time is the distance, with an error in proportion to the cell") {
  const auto worst = [](const std::string& cell) {
    const Site site(square(20, "wall_clearance = 0.0\ncell = " + cell), {place({rectangle(3, 3, 3.4, 3.4)})});
    Real error = 0;
    for (Real x = 0.3; x < 20; x += 0.7)
      for (Real y = 0.3; y < 20; y += 0.7) {
        const Real distance = std::hypot(std::max({3 - x, x - 3.4, 0.0}), std::max({3 - y, y - 3.4, 0.0}));
        error = std::max(error, std::abs(site.time(x, y) - distance));
      }
    return error;
  };
  const Real coarse = worst("0.2");
  const Real fine = worst("0.1");
  INFO("largest error " << coarse << " s with cells of 0.2 m, " << fine << " s with 0.1 m");
  CHECK(fine < 0.15);
  CHECK(fine < 0.65 * coarse);
}

TEST_CASE("floor field: 10 cells from a small destination the route is straight to within 3 degrees") {
  const Real half = GENERATE(0.02, 0.1, 0.3);
  const Site site(square(8), {place({rectangle(4.03 - half, 4.07 - half, 4.03 + half, 4.07 + half)})});
  Real worst = 0;
  for (int n = 0; n < 360; ++n) {
    const Vec<2> out{{std::cos(n * degree), std::sin(n * degree)}};
    const Vec<2> centre{{4.03, 4.07}};
    const Vec<2> x = centre + (half + 1.0) * out;
    // Straight to the nearest point of the square.
    Vec<2> to = x;
    for (int k = 0; k < 2; ++k) to[k] = std::clamp(x[k], centre[k] - half, centre[k] + half);
    worst = std::max(worst, angle_between(site.direction(x[0], x[1]), to - x));
  }
  INFO("worst angle " << worst / degree << " degrees, half width " << half << " m");
  CHECK(worst < 3 * degree);
}

TEST_CASE("floor field: directions are unit vectors, zero in the destination, and lead there from anywhere") {
  const Site site(square(10, "wall_clearance = 0.25"), {place({rectangle(4.22, 9.51, 5.17, 10)})});
  for (Real x = 0.05; x < 10; x += 0.43)
    for (Real y = 0.05; y < 9.5; y += 0.41) CHECK(norm(site.direction(x, y)) == Approx(1));
  CHECK(site.direction(4.7, 9.7) == Vec<2>{});
  CHECK(site.direction(4.221, 9.511) == Vec<2>{});
  for (const Vec<2>& from : {Vec<2>{{0.1, 0.1}}, Vec<2>{{9.9, 9.9}}, Vec<2>{{0.02, 9.98}}, Vec<2>{{4, 4}}}) {
    Vec<2> x = from;
    const Real time = site.floor_field.travel_time(0, x, 0);
    Real walked = 0;
    for (; walked < 40 && site.floor_field.direction(0, x, 0) != Vec<2>{}; walked += 0.02)
      x += 0.02 * site.floor_field.direction(0, x, 0);
    CHECK(ring_contains(rectangle(4.22, 9.51, 5.17, 10), x));
    CHECK(walked < time + 0.2);
  }
}

TEST_CASE("floor field: around a corner travel time is that of the geodesic") {
  const Site site(
      "[walkable]\npolygon = [[0, 0], [12, 0], [12, 12], [10, 12], [10, 2], [0, 2]]\n"
      "[navigation]\nwall_clearance = 0.0\ncell = 0.05\n",
      {place({rectangle(10, 11.5, 12, 12)})});
  const auto geodesic = [](const Vec<2>& x) { return norm(x - Vec<2>{{10, 2}}) + 9.5; };
  for (const Vec<2>& x : {Vec<2>{{0.5, 0.5}}, Vec<2>{{5, 1}}, Vec<2>{{2, 1.9}}, Vec<2>{{8, 0.2}}})
    CHECK(site.floor_field.travel_time(0, x, 0) == Approx(geodesic(x)).margin(0.1));
  for (const Vec<2>& x : {Vec<2>{{1, 0.5}}, Vec<2>{{5, 1}}, Vec<2>{{8, 0.2}}}) {
    CHECK(angle_between(site.floor_field.direction(0, x, 0), Vec<2>{{10, 2}} - x) < 3 * degree);
    site.floor_field.prefetch(0, x, 0, 0.0);
    CHECK(site.floor_field.course(0, x, 0).travel_time == site.floor_field.travel_time(0, x, 0));
  }
}

TEST_CASE("floor field: walls thinner than a cell stop routes, doors let them through, also near the wall") {
  // Two rooms with a wall of 1 cm at x = 5.02 between them and a door at its upper end, 1 m wide.
  const Site site(
      "[walkable]\nwkt = \"POLYGON ((0 0, 5.02 0, 5.02 5, 5.03 5, 5.03 0, 10 0, 10 6, 0 6, 0 0))\"\n"
      "[navigation]\nwall_clearance = 0.1\n",
      {place({rectangle(9.5, 0, 10, 1)})});
  const auto expected = [](Real x, Real y) {
    return std::hypot(5.02 - x, 5 - y) + std::hypot(9.5 - 5.03, 5 - 1);
  };
  CHECK(site.time(4.9, 1) == Approx(expected(4.9, 1)).margin(0.6));
  CHECK(site.time(5.15, 1) < 4.6);
  // A millimetre on either side of the wall.
  CHECK(site.time(5.019, 1) == Approx(expected(5.019, 1)).margin(0.6));
  CHECK(site.time(5.031, 1) < 4.7);
  // Along the wall, and off it.
  CHECK(site.direction(5.019, 1)[1] > 0.7);
  CHECK(site.direction(5.019, 1)[0] < 0);
  CHECK(site.direction(5.031, 1)[0] > 0.8);
}

TEST_CASE("floor field: a door of 0.6 m is passable with walls that slow down") {
  const Site site(
      "[walkable]\npolygon = [[0, 0], [5, 0], [5, 2.7], [5.5, 2.7], [5.5, 0], [10, 0], [10, 6], [5.5, 6], "
      "[5.5, 3.3], [5, 3.3], [5, 6], [0, 6]]\n[navigation]\n",
      {place({rectangle(9, 0, 10, 6)})});
  CHECK(site.time(1, 3) == Approx(8).margin(0.6));
  CHECK(angle_between(site.direction(5.25, 3), {{1, 0}}) < 5 * degree);
  CHECK(site.direction(4.9, 4)[1] < -0.4);
}

TEST_CASE("floor field: a pocket without a route, another room and what lies outside are infinitely far") {
  const Site site(
      "[walkable]\nwkt = \"MULTIPOLYGON (((0 0, 4 0, 4 4, 0 4, 0 0)), ((4.01 0, 8 0, 8 4, 4.01 4, 4.01 "
      "0)))\"\n"
      "[navigation]\n",
      {place({rectangle(0, 0, 0.5, 0.5)}), place({rectangle(7.5, 0, 8, 0.5)})});
  CHECK(std::isfinite(site.time(3.99, 2, 0)));
  CHECK(std::isinf(site.time(4.02, 2, 0)));
  CHECK(std::isinf(site.time(3.99, 2, 1)));
  CHECK(std::isfinite(site.time(4.02, 2, 1)));
  CHECK(site.direction(4.02, 2, 0) == Vec<2>{});
  CHECK(norm(site.direction(4.02, 2, 1)) == Approx(1));
  for (const int destination : {0, 1}) {
    CHECK(std::isinf(site.time(20, 2, destination)));
    CHECK(std::isinf(site.time(2, -1, destination)));
    CHECK(std::isinf(site.time(NAN, 1, destination)));
    CHECK(site.direction(1e300, 0, destination) == Vec<2>{});
    site.floor_field.prefetch(destination, {{1e300, NAN}}, 0, 0.0);  // asks for nothing
  }
}

TEST_CASE("floor field: through the periodic faces of a corridor the shorter route is taken") {
  const Site site(
      "[walkable]\npolygon = [[0, 0], [10.07, 0], [10.07, 2], [0, 2]]\n[navigation]\nwall_clearance = 0.0\n",
      {place({rectangle(1, 0, 1.5, 2)})}, {true, false});
  CHECK(site.floor_field.grid().nx == 101);
  CHECK(site.floor_field.grid().cell == Approx(10.07 / 101));
  CHECK(site.time(9.5, 1) == Approx(10.07 - 9.5 + 1).margin(0.05));
  CHECK(site.direction(9.5, 1)[0] == Approx(1).margin(1e-3));
  CHECK(site.direction(4, 1)[0] == Approx(-1).margin(1e-3));
  // Positions need not be wrapped; in the face itself nothing is cut off.
  CHECK(site.time(9.5 - 10.07, 1) == Approx(site.time(9.5, 1)));
  CHECK(site.time(10.07, 1) == Approx(1).margin(0.05));
  CHECK(site.direction(0, 1)[0] == Approx(1).margin(1e-3));
  CHECK(site.direction(10.06, 1)[0] == Approx(1).margin(1e-3));
}

TEST_CASE("floor field: cells that fit no periodic box are refused, and so are destinations in walls") {
  const std::string tables = "[walkable]\npolygon = [[0, 0], [10, 0], [10, 3.14159], [0, 3.14159]]\n";
  CHECK_THROWS_WITH(
      Site(tables + "[navigation]\ncell = 0.1\n", {place({rectangle(1, 0, 1.5, 2)})}, {true, true}),
      Catch::Contains("periodic box") && Catch::StartsWith("test.toml:4:"));
  CHECK_NOTHROW(Site(tables, {place({rectangle(1, 0, 1.5, 2)})}, {false, true}));
  CHECK_THROWS_WITH(Site(tables, {place({rectangle(1, 4, 1.5, 5)})}),
                    Catch::StartsWith("test.toml:1:1: no walkable cell"));
}

TEST_CASE("floor field: around columns the route keeps the clearance and times grow by the detour only") {
  std::string columns = "[walkable.obstacles.columns]\ncircles = [";
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      columns += "[" + std::to_string(3 + 4 * i) + ", " + std::to_string(3 + 4 * j) + ", 0.3], ";
  const Site site(square(18, "") + columns + "]\n", {place({rectangle(17.5, 8, 18, 10)})});
  Vec<2> x{{0.3, 7}};
  const Real expected = site.floor_field.travel_time(0, x, 0);
  CHECK(expected == Approx(17.3).margin(0.8));
  Real nearest = HUGE_VAL;
  Real walked = 0;
  for (; walked < 40 && site.floor_field.direction(0, x, 0) != Vec<2>{}; walked += 0.01) {
    x += 0.01 * site.floor_field.direction(0, x, 0);
    for (int i = 0; i < 16; ++i)
      nearest = std::min(nearest, std::hypot(x[0] - 3 - 4 * (i / 4), x[1] - 3 - 4 * (i % 4)) - 0.3);
  }
  CHECK(walked == Approx(expected).margin(0.5));
  CHECK(nearest > 0.15);
}

TEST_CASE("floor field: zones change times by their factor and clearance slows at walls") {
  const Zone mud{rectangle(4, 0, 6, 10), 0.5};
  const Site site(
      "[walkable]\npolygon = [[0, 0], [10, 0], [10, 10], [0, 10]]\n[navigation]\nspeed_at_walls = 0.1\n",
      {place({rectangle(0, 0, 1, 10)})}, {false, false}, {mud});
  CHECK(site.time(8, 5) == Approx(3 + 2 / 0.5 + 2).margin(0.05));
  const std::vector<Real> factors = site.floor_field.rows(-1, 0, 50, 51);
  REQUIRE(factors.size() == 100);
  CHECK(factors[50] == Approx(0.5));
  CHECK(factors[70] == Approx(1));
  CHECK(factors[99] == Approx(0.1 + 0.9 * 0.05 / 0.45));
}

TEST_CASE("floor field: people make routes through them longer, and a restart finds the same routes") {
  const std::string tables = square(10, "[navigation.density_cost]\nweight = 2.0\nupdate = \"2 s\"");
  const std::vector<Destination> destinations{place({rectangle(9, 0, 10, 10)})};
  Site site(tables, destinations);
  CHECK(site.floor_field.counts_density());
  CHECK(site.floor_field.density_interval() == 2);
  REQUIRE(site.floor_field.density().size() == 100);
  CHECK(std::ranges::all_of(site.floor_field.density(), [](Real value) { return value == 0; }));
  const Real before = site.time(1, 5);
  // A column of 4 x 10 m with one person per square metre.
  std::vector<Vec<2>> people;
  for (int i = 3; i < 7; ++i)
    for (int j = 0; j < 10; ++j) people.push_back({{i + 0.5, j + 0.5}});
  site.floor_field.update_density(std::span<const Vec<2>>(people));
  CHECK(site.time(1, 5) == Approx(before + 2 * 4).margin(0.1));
  CHECK(site.floor_field.density()[3] == 1);
  CHECK(site.floor_field.density()[2] == 0);

  Site restarted(tables, destinations);
  std::ranges::copy(site.floor_field.density(), restarted.floor_field.density().begin());
  restarted.floor_field.restore_density();
  CHECK(restarted.floor_field.rows(0, 0, 0, 100) == site.floor_field.rows(0, 0, 0, 100));
  CHECK(restarted.time(1, 5) == site.time(1, 5));
}

TEST_CASE("floor field: rows of a field have times at the centres of cells, nan outside") {
  const Site site(
      "[walkable]\npolygon = [[0, 0], [5, 0], [5, 5], [2, 5], [2, 2], [0, 2]]\n[navigation]\nwall_clearance "
      "= 0.0\n",
      {place({rectangle(0, 0, 0.5, 2)})});
  const std::vector<Real> rows = site.floor_field.rows(0, 0, 10, 40);
  REQUIRE(rows.size() == 30 * 50);
  CHECK(rows[0] == 0);
  CHECK(rows[20] == Approx(2.05 - 0.5).margin(0.01));
  CHECK(std::isnan(rows[50 * 20 + 10]));
  CHECK(std::isfinite(rows[50 * 20 + 25]));
  CHECK(site.floor_field.rows(0, 0, 50, 60).empty());
}

}  // namespace scree
