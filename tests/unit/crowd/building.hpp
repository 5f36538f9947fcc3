#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/deck.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/exit_choice.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/journey_plan.hpp"
#include "crowd/people/people.hpp"
#include "geometry/walls.hpp"
#include "support/message_of.hpp"

namespace scree {

/// The tables of a crowd in a deck text, furnished as a run does it, without a scheme that moves anybody.
struct Building {
  BuildingPlan plan;
  JourneyPlan journey_plan;
  People people;
  FloorField floor_field;
  Exits exits{journey_plan};
  ExitChoice exit_choice{journey_plan, exits, people, floor_field};
  State<2> state;
  std::uint64_t seed;

  explicit Building(const std::string& toml, const Comm& comm = Comm(MPI_COMM_SELF),
                    std::array<bool, 2> periodic = {}, std::uint64_t with_seed = 7)
      : state{.comm = comm, .box = {}}, seed(with_seed) {
    Deck deck = Deck::from_text(toml, "test.toml");
    plan.describe(deck.root());
    journey_plan.describe(deck.root(), plan);
    people.describe(deck.root(), plan, journey_plan);
    floor_field.describe(deck.root());
    deck.require_all_read();
    journey_plan.place(plan, people.largest_radius());
    state.box = plan.bounds();
    state.box.periodic = periodic;
    for (int k = 0; k < 2; ++k) {
      if (periodic[k]) continue;
      state.box.lower[k] -= people.largest_radius();
      state.box.upper[k] += people.largest_radius();
    }
    std::vector<Edge> walls;
    for (const Edge& wall : plan.plan(0).walls()) {
      // What closes the plan along a periodic axis is no wall.
      bool at_face = false;
      for (int k = 0; k < 2; ++k) at_face = at_face || (periodic[k] && wall.a[k] == wall.b[k]);
      if (!at_face) walls.push_back(wall);
    }
    state.obstacles.add("walls", plan.where(), std::make_unique<WallSegments>(std::move(walls)));
    if (!plan.plan(0).columns().empty())
      state.obstacles.add("columns", plan.where(),
                          std::make_unique<Columns>(std::vector<Columns::Column>(
                              plan.plan(0).columns().begin(), plan.plan(0).columns().end())));
    exits.add_doors(state.obstacles);
    state.obstacles.place(0);
    state.bodies.carry_extra(agent::fields);
    exits.add_outlets(state);
    people.prepare(state);
    floor_field.build(comm, plan, state.box, journey_plan.zones(), journey_plan.destinations());
  }

  std::size_t size() const { return static_cast<std::size_t>(state.bodies.n_owned()); }
  std::span<const Vec<2>> positions() const { return std::as_const(state.bodies).position().first(size()); }
  void populate() {
    people.populate(state, plan, seed);
    state.memory.clear(state.bodies.n_owned());
  }
  void choose() {
    floor_field.fetch(positions(), 1);
    exit_choice.update(state, seed);
  }
  void tick(Real dt) {
    ++state.clock.step;
    state.clock.time += dt;
    state.clock.last_dt = dt;
  }
  bool feed() {
    return people.feed(state, plan, seed, [] {});
  }
  /// Somebody at x on the journey 0; the place among the bodies.
  std::size_t put(const Vec<2>& x, Real speed = 1) {
    const Index i = state.bodies.n_owned();
    state.bodies.resize(i + 1, 0);
    const std::size_t at = i;
    state.bodies.id()[at] = state.next_id++;
    state.bodies.position()[at] = x;
    state.bodies.radius()[at] = 0.2;
    agent::desired_speed(state.bodies)[at] = speed;
    agent::destination(state.bodies)[at] = -1;
    agent::group(state.bodies)[at] = -1;
    return at;
  }
};

/// Smallest gap between two people, images across periodic faces counted [m].
inline Real smallest_gap_of(const Building& building) {
  const BodyStore<2>& bodies = building.state.bodies;
  const Box<2>& box = building.state.box;
  Real gap = HUGE_VAL;
  for (std::size_t i = 0; i < building.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec<2> d = bodies.position()[i] - bodies.position()[j];
      for (int k = 0; k < 2; ++k)
        if (box.is_periodic(k)) d[k] -= box.length(k) * std::round(d[k] / box.length(k));
      gap = std::min(gap, norm(d) - bodies.radius()[i] - bodies.radius()[j]);
    }
  return gap;
}

/// Smallest gap between a person and an obstacle [m].
inline Real smallest_wall_gap_of(const Building& building) {
  Real gap = HUGE_VAL;
  for (int c = 0; c < building.state.obstacles.n_constraints(); ++c)
    for (std::size_t i = 0; i < building.size(); ++i) {
      const Vec<2> x = building.positions()[i];
      SurfacePoint<2> nearest;
      building.state.obstacles.nearest(c, {&x, 1}, {&nearest, 1});
      gap = std::min(gap, nearest.distance - building.state.bodies.radius()[i]);
    }
  return gap;
}

}  // namespace scree
