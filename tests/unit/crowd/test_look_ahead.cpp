// What people see on their way, against numbers by hand (docs/method.md, eq. P.1-P.2).
#include "crowd/look_ahead.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "geometry/walls.hpp"
#include "unit/neighbors/random_state.hpp"

namespace scree {
namespace {

/// People of radius 0.2 m who walk to the right at 1 m/s, or as `walks` says, in a field of 20 m x 20 m.
struct Scene {
  static constexpr Real certain = 7;  // everything within this gap is a candidate
  State<2> state;
  Neighborhood<2> neighborhood{Comm(MPI_COMM_SELF), for_crowds(), Outside::keep};
  std::vector<WalkingIntent> walks;
  LookAhead look_ahead;

  static NeighborhoodSettings for_crowds() {
    NeighborhoodSettings settings;
    settings.in_classes = false;
    settings.searches_pairs = true;
    return settings;
  }
  explicit Scene(const std::vector<Vec<2>>& places, const std::vector<Edge>& walls = {},
                 bool periodic = false) {
    std::vector<Body<2>> people;
    for (const Vec<2>& x : places) people.push_back({static_cast<GlobalId>(people.size()), x, 0.2});
    const Box<2> field{{{0, 0}}, {{20, 20}}, {periodic, false}};
    state = state_of(Comm(MPI_COMM_SELF), field, people, [](GlobalId) { return true; });
    if (!walls.empty()) state.obstacles.add("walls", "test", std::make_unique<WallSegments>(walls));
    state.obstacles.place(0);
    neighborhood.make_lattice(state, 0, {}, certain);
    neighborhood.rebuild(state);
    look_ahead.prepare(state, neighborhood, state.lattice.skin);
    walks.assign(places.size(), {{1, 0}, 1});
  }
  void find(const LookAhead::Perception& perception, Real dt = 0.05) {
    set_walks();
    look_ahead.find(state, neighborhood, perception, dt);
  }
  /// Bodies are kept in the order of blocks.
  void set_walks() {
    const auto mine = look_ahead.walks(state);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = walks[state.bodies.id()[i]];
  }
  std::size_t place_of(GlobalId id) const {
    const auto ids = state.bodies.id();
    return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
  }
  Real free_distance(GlobalId id) const { return look_ahead.result(place_of(id)).free_distance; }
  Real turned_distance(GlobalId id, int k) const { return look_ahead.result(place_of(id)).turned[k]; }
  Real room_left(GlobalId id) const { return look_ahead.result(place_of(id)).room_left; }
  Real room_right(GlobalId id) const { return look_ahead.result(place_of(id)).room_right; }
  Real left(GlobalId id) const { return look_ahead.result(place_of(id)).left; }
  Real right(GlobalId id) const { return look_ahead.result(place_of(id)).right; }
};

}  // namespace

TEST_CASE("look ahead: the free path ends where a disk that reaches into it begins", "[crowd]") {
  // 0.3 m aside, radii 0.2 + 0.2 m: 3 - sqrt(0.16 - 0.09).
  Scene scene({{{5, 5}}, {{8, 5.3}}});
  scene.find({.range = 6});
  CHECK(scene.free_distance(0) == Approx(3 - std::sqrt(0.07)));
  CHECK(scene.free_distance(1) == 6);  // nobody is ahead of the one in front
  scene.walks[1] = {{-1, 0}, 1};
  scene.find({.range = 6});
  CHECK(scene.free_distance(1) == scene.free_distance(0));
  scene.find({.range = 2});
  CHECK(scene.free_distance(0) == 2);
  // In a path half as wide it does not stand.
  scene.find({.range = 6, .headway_width = 0.5});
  CHECK(scene.free_distance(0) == 6);
}

TEST_CASE("look ahead: the nearest of several counts, and nobody behind or beside", "[crowd]") {
  Scene scene({{{5, 5}}, {{9, 5}}, {{7, 5}}, {{4, 5}}, {{6, 5.41}}});
  scene.find({.range = 6});
  CHECK(scene.free_distance(0) == Approx(2 - 0.4));
  CHECK(scene.free_distance(2) == Approx(2 - 0.4));
  CHECK(scene.free_distance(3) == Approx(1 - 0.4));
}

TEST_CASE("look ahead: who has further to go to the same destination is not ahead", "[crowd]") {
  constexpr LookAhead::Perception perception{.range = 6, .turning_angle = 0.3};
  const auto free_distances = [&](Real destination, Real time) {
    Scene scene({{{5, 5}}, {{6, 5}}});
    scene.walks[0] = {{1, 0}, 1, 0, 2, 10};
    scene.walks[1] = {{1, 0}, 1, 0, destination, time};
    scene.find(perception);
    return std::pair(scene.free_distance(0), scene.turned_distance(0, 0));
  };
  const auto free = std::pair(6.0, 6.0);
  const Real turned = std::cos(0.3) - std::sqrt(0.16 - std::sin(0.3) * std::sin(0.3));
  const auto blocked = [&](const std::pair<Real, Real>& found) {
    return std::abs(found.first - 0.6) < 1e-12 && std::abs(found.second - turned) < 1e-12;
  };
  CHECK(free_distances(2, 10.1) == free);
  CHECK(blocked(free_distances(2, 10)));  // as far: both wait
  CHECK(blocked(free_distances(2, 9.9)));
  CHECK(blocked(free_distances(1, 10.1)));   // goes elsewhere
  CHECK(blocked(free_distances(-1, 10.1)));  // goes nowhere
}

TEST_CASE("look ahead: the path taken behind others narrows with their last speed over the free one",
          "[crowd]") {
  // Disks would touch within 0.4 m across; half of it behind people who walk, all of it behind those who
  // stand.
  constexpr LookAhead::Perception perception{.range = 6, .headway_width = 1, .moving_width = 0.5};
  const auto is_ahead = [&](Real across, Real last_speed) {
    Scene scene({{{5, 5}}, {{8, 5 + across}}});
    scene.walks[1] = {{1, 0}, 2, last_speed};
    scene.find(perception);
    return scene.free_distance(0) < 6;
  };
  CHECK(is_ahead(0.39, 0));
  CHECK(is_ahead(0.39, 0.74));  // 0.37 of the free speed
  CHECK_FALSE(is_ahead(0.21, 1.8));
  CHECK(is_ahead(0.19, 1.8));
  CHECK(is_ahead(0.19, 3));
  CHECK(is_ahead(0.29, 1.27));  // in the middle between both
  CHECK_FALSE(is_ahead(0.31, 1.27));
}

TEST_CASE("look ahead: room beside people ends at others and is known to walls", "[crowd]") {
  Scene scene({{{10, 11}}, {{10.1, 11.7}}, {{10.5, 10.4}}, {{9.9, 12.9}}}, {Edge{{{0, 10}}, {{20, 10}}}});
  scene.find({.range = 6, .side_range = 1});
  CHECK(scene.room_left(0) == Approx(0.7 - std::sqrt(0.15)));
  CHECK(scene.room_right(0) == 1);  // the one on the right is ahead, not beside
  CHECK(scene.room_right(1) == scene.room_left(0));
  CHECK(scene.room_left(1) == Approx(1.2 - std::sqrt(0.12)));
  CHECK(scene.room_left(3) == 1);
  const std::size_t first = scene.place_of(0);
  CHECK(scene.look_ahead.result(first).wall_right == Approx(0.8));
  CHECK(scene.look_ahead.result(first).wall_left == HUGE_VAL);
}

TEST_CASE("look ahead: who overlaps already leaves no distance, not a negative one", "[crowd]") {
  Scene scene({{{5, 5}}, {{5.3, 5}}});
  scene.find({.range = 6});
  CHECK(scene.free_distance(0) == 0);
}

TEST_CASE("look ahead: people are seen across periodic faces", "[crowd]") {
  Scene scene({{{19, 5}}, {{1, 5}}}, {}, true);
  scene.find({.range = 6});
  CHECK(scene.free_distance(0) == Approx(2 - 0.4));
  CHECK(scene.free_distance(1) == 6);
}

TEST_CASE("look ahead: new directions are looked along again, near contacts stay", "[crowd]") {
  Scene scene({{{5, 5}}, {{5, 7}}});
  const LookAhead::Perception perception{.range = 6, .reach = 2};
  scene.find(perception);
  CHECK(scene.free_distance(0) == 6);
  scene.walks[0] = {{0, 1}, 1};
  scene.set_walks();
  scene.look_ahead.find_again(scene.state, scene.neighborhood, perception);
  CHECK(scene.free_distance(0) == Approx(1.6));
  CHECK(scene.look_ahead.near().size() == 1);
}

TEST_CASE("look ahead: somebody oncoming is met after gap over closing speed, left and right apart",
          "[crowd]") {
  const LookAhead::Perception perception{.range = 6, .oncoming = true, .lateral_clearance = 0.2};
  const auto meets = [&](Real aside, const WalkingIntent& other) {
    Scene scene({{{5, 5}}, {{8, 5 + aside}}});
    scene.walks = {{{1, 0}, 1.5}, other};
    scene.find(perception);
    return std::pair(scene.left(0), scene.right(0));
  };
  const WalkingIntent towards{{{-1, 0}}, 1};
  const Real time = (3 - 0.4) / (1.5 + 1);
  CHECK(meets(0.3, towards).first == Approx(time));
  CHECK(meets(0.3, towards).second == HUGE_VAL);
  CHECK(meets(-0.3, towards).first == HUGE_VAL);
  CHECK(meets(-0.3, towards).second == Approx(time));
  CHECK(meets(-0.1, towards).first == Approx(time));  // straight ahead counts as left
  CHECK(meets(0.59, towards).first == Approx(time));  // radii and lateral clearance: 0.6 m
  const auto nobody = std::pair(HUGE_VAL, HUGE_VAL);
  CHECK(meets(0.61, towards) == nobody);
  CHECK(meets(0.3, {{1, 0}, 0.5}) == nobody);  // overtaken, not met
  CHECK(meets(0.3, {{0, -1}, 1}) == nobody);   // crosses
}

TEST_CASE("look ahead: turned directions go to the right and left, once and twice as far", "[crowd]") {
  constexpr Real angle = std::numbers::pi / 6;
  CHECK(LookAhead::turn_angle(0, angle) == -angle);
  CHECK(LookAhead::turn_angle(1, angle) == angle);
  CHECK(LookAhead::turn_angle(2, angle) == -2 * angle);
  CHECK(LookAhead::turn_angle(3, angle) == 2 * angle);
  for (int k = 0; k < LookAhead::n_turns; ++k) {
    const Real turned = LookAhead::turn_angle(k, angle);
    Scene scene({{{10, 10}}, {{10 + 3 * std::cos(turned), 10 + 3 * std::sin(turned)}}});
    scene.find({.range = 6, .turning_angle = angle});
    for (int other = 0; other < LookAhead::n_turns; ++other)
      CHECK(scene.turned_distance(0, other) == Approx(other == k ? 3 - 0.4 : 6));
    CHECK(scene.free_distance(0) == 6);
  }
}

TEST_CASE("look ahead: turned paths to a wall count 3.1 times the gap along them", "[crowd]") {
  // 0.8 m of gap to a wall on the right of somebody who walks along it.
  Scene scene({{{10, 11}}}, {Edge{{{0, 10}}, {{20, 10}}}});
  scene.find({.range = 6, .turning_angle = std::numbers::pi / 4});
  CHECK(scene.turned_distance(0, 2) == Approx(3.1 * 0.8));
  CHECK(scene.turned_distance(0, 0) == Approx(3.1 * 0.8 * std::numbers::sqrt2));
  CHECK(scene.turned_distance(0, 1) == 6);
  CHECK(scene.free_distance(0) == 6);
}

TEST_CASE("look ahead: near contacts have the gap, and the normal from the smaller id on", "[crowd]") {
  Scene scene({{{10, 11}}, {{10, 11.5}}, {{13, 11}}}, {Edge{{{0, 10}}, {{20, 10}}}});
  scene.find({.range = 6, .reach = 0.9});
  const NearContacts& near = scene.look_ahead.near();
  REQUIRE(near.size() == 3);  // one pair, two at the wall; the third gap of people is 2.6 m
  int n_walls = 0;
  for (std::size_t c = 0; c < near.size(); ++c) {
    CHECK(near.wall_speed[c] == 0);
    const std::size_t a = near.a[c];
    if (near.b[c] < 0) {
      ++n_walls;
      CHECK(scene.state.bodies.id()[a] != 1);  // 1.3 m away
      CHECK(near.gap[c] == Approx(0.8));
      CHECK(near.normal[c] == Vec<2>{{0, -1}});
    } else {
      CHECK(scene.state.bodies.id()[a] == 0);
      CHECK(scene.state.bodies.id()[near.b[c]] == 1);
      CHECK(near.gap[c] == Approx(0.1));
      CHECK(near.normal[c] == Vec<2>{{0, 1}});
    }
  }
  CHECK(n_walls == 2);
}

}  // namespace scree
