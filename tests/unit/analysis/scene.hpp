#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measure.hpp"
#include "core/deck.hpp"

namespace scree {

template <int D>
using Places = std::vector<Vec<D>>;

/// Bodies at given places with radius 1, ids in order; contacts are added by hand.
template <int D>
struct Scene {
  explicit Scene(const std::vector<Vec<D>>& places, const std::string& obstacles = "") {
    state.comm = Comm(MPI_COMM_SELF);
    state.box = {filled<D>(0.0), filled<D>(10.0), {}};
    state.bodies.resize(static_cast<Index>(places.size()), 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      state.bodies.id()[i] = static_cast<GlobalId>(i);
      state.bodies.position()[i] = places[i];
      state.bodies.radius()[i] = 1;
    }
    Deck deck = Deck::from_text(obstacles, "test.toml");
    state.obstacles.describe(deck.root());
  }

  /// Gives bodies mass, spin and, from the tables of a deck, materials: all bodies and obstacles are of the
  /// first.
  void add_inertia(const std::vector<Real>& masses, const std::string& materials = "") {
    state.bodies.carry(FieldSet::with_inertia);
    state.bodies.resize(state.bodies.n_owned(), 0);
    std::ranges::copy(masses, state.bodies.mass().begin());
    Deck deck = Deck::from_text(materials, "test.toml");
    state.materials.describe(deck.root());
    state.type_material = {0};
    state.obstacle_material.assign(state.obstacles.list().size(), 0);
  }

  void touch(Index a, Index b, Index wall, Real gap, const Vec<D>& normal = {}, Real force = 0) {
    contacts.a.push_back(a);
    contacts.b.push_back(b);
    contacts.wall.push_back(wall);
    contacts.gap.push_back(gap);
    contacts.normal.push_back(normal);
    contacts.branch.push_back({});
    contacts.force.push_back(force);
    contacts.place.push_back(static_cast<Index>(contacts.place.size()));
  }

  /// A contact with friction; `branch` as in ContactGraph.
  void push(Index a, Index b, Index wall, const Vec<D>& branch, Real force, const Vec<D>& friction = {}) {
    touch(a, b, wall, 0, branch * (1 / norm(branch)), force);
    contacts.branch.back() = branch;
    contacts.friction.push_back(friction);
  }

  /// A measure from its table in a deck.
  static std::unique_ptr<Measure<D>> measure_of(const std::string& lines) {
    Deck deck = Deck::from_text(lines, "test.toml");
    std::unique_ptr<Measure<D>> measure;
    deck.root().kind("type", measure, {.required = true, .doc = ""});
    deck.require_all_read();
    return measure;
  }
  /// The row of a measure as a list of (name, value).
  std::vector<std::pair<std::string, Real>> row(Measure<D>& measure) {
    measure.check(state);
    const MeasuredRow columns = columns_of(measure, state), values = measure.record({state, contacts});
    REQUIRE(values.size() == columns.size());
    std::vector<std::pair<std::string, Real>> named;
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE(values[i].name == columns[i].name);
      named.emplace_back(values[i].name, values[i].value);
    }
    return named;
  }
  std::vector<std::pair<std::string, Real>> row(const std::string& lines) { return row(*measure_of(lines)); }
  Real value(const std::string& lines, const std::string& column) {
    for (const auto& [name, number] : row(lines))
      if (name == column) return number;
    FAIL("no column " << column);
    return 0;
  }

  State<D> state;
  ContactGraph<D> contacts;
};

}  // namespace scree
