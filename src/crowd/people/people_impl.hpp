#pragma once
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "crowd/people/arrivals.hpp"
#include "crowd/people/mixture.hpp"
#include "crowd/people/people.hpp"
#include "crowd/people/start_space.hpp"
#include "particles/fill.hpp"

/// What the files of People share.
namespace scree {

struct Population {
  std::string name;
  std::string where;  // its place in the deck
  Mixture mixture;
  Ring region;  // empty: the whole plan
  std::int64_t count = 0;
  Real density = 0;  // [1/m2]; 0: count is given
  bool on_lattice = false;
  int journey = -1;

  std::int64_t n_people(Real area) const {
    return count > 0 ? count : static_cast<std::int64_t>(std::llround(density * area));
  }
};

enum class WhenFull { wait, drop, error };

struct Source {
  std::string name;
  std::string where;
  Mixture mixture;
  Ring region;
  Arrivals arrivals;
  WhenFull when_full = WhenFull::wait;
  int journey = -1;
};

/// Somebody whom a source is about to send.
struct Arrival {
  std::size_t source;
  NewBody<2> body;
  Traits traits;
};

/// The densest share of an area that equal disks cover: pi / sqrt(12).
inline const Real densest_disks = std::numbers::pi / std::sqrt(12.0);
/// How many people with their centres in the space there can be, taken as disks of their mean area.
Real most_that_fit(const StartSpace& space, const Mixture& mixture);
/// Fills in body i.
void put_person(State<2>& state, Index i, const NewBody<2>& made, const Traits& traits, std::size_t group,
                int journey);

struct People::Impl {
  std::vector<AgentType> kinds;
  std::vector<Population> populations;
  std::vector<Source> sources;
  const Journeys* journeys = nullptr;
  std::size_t first_inlet = 0;  // in State::inlets, of the sources

  /// Where sources put people: spaces for good, the grid of obstacles as long as the same ones stand in the
  /// same places.
  struct Places {
    Places(const ObstacleSet<2>& obstacles, std::span<const Exit> exits, const Box<2>& domain, Real reach)
        : near(obstacles, exits, domain, reach) {}
    NearObstacles near;  // spaces refer to it
    std::vector<std::unique_ptr<StartSpace>> spaces;
    std::vector<char> active;
    std::int64_t step = 0;
  };
  mutable std::unique_ptr<Places> places;

  void describe_kinds(Section& root);
  void describe_populations(Section& root);
  void describe_sources(Section& root);
  int read_journey(Section& section) const;

  Real largest_radius() const {
    Real largest = 0;
    for (const AgentType& kind : kinds) largest = std::max(largest, kind.radius->most());
    return largest;
  }
  const Places& places_of_sources(const State<2>& state, const FloorPlan& plan) const;
  void feed(std::size_t s, State<2>& state, const StartSpace& space, std::uint64_t seed,
            std::vector<Arrival>& arrivals) const;
};

}  // namespace scree
