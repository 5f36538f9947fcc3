#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/section.hpp"
#include "geometry/floor_plan.hpp"

namespace scree {

/// A place that people walk to: they are there when their centre is in one of the regions.
struct Destination {
  std::string name;   ///< "exits.east"
  std::string where;  ///< its place in the deck
  std::vector<Ring> regions;
  bool contains(const Vec<2>& x) const {
    for (const Ring& region : regions)
      if (ring_contains(region, x)) return true;
    return false;
  }
};

/// An area where people walk faster or slower than elsewhere.
struct Zone {
  std::string name;
  std::string where;
  Ring region;
  Real speed_factor = 1;  ///< > 0
};

/// Ways to destinations: for each a travel-time field T with |grad T| = 1 / F on a grid (docs/method.md,
/// "Ways"), F = zone factor * clearance factor / density cost, T = 0 in the destination, solved by fast
/// marching on tiles that the ranks share. Values do not depend on the number of ranks, bit by bit.
///
/// T is the time in seconds for somebody who walks 1 m/s on free ground; infinite where there is no way.
class Navigation {
 public:
  Navigation();
  ~Navigation();
  Navigation(const Navigation&) = delete;
  Navigation& operator=(const Navigation&) = delete;

  /// Declares and reads [navigation]: cell, wall_clearance, density_cost.
  void describe(Section& root);
  Real cell() const;

  /// Solves all fields. `box` says which axes are periodic. Collective; O(cells log cells / ranks) per
  /// destination.
  void build(const Comm& comm, const FloorPlan& plan, const Box<2>& box, const std::vector<Zone>& zones,
             const std::vector<Destination>& destinations);

  /// Makes the fields of all destinations available on this rank within `margin` [m] of `positions`. After
  /// build() and after every list build. Collective.
  void fetch(std::span<const Vec<2>> positions, Real margin);

  /// Travel time [s at 1 m/s] from x; infinite if there is no way or x is not walkable. x must be within what
  /// was fetched. Local, O(1), no allocation.
  Real travel_time(int destination, const Vec<2>& x) const;
  /// Unit vector of the way from x: down the gradient of T, blended between cells; zero in the destination or
  /// where no way leads on. Local, O(1), no allocation.
  Vec<2> direction(int destination, const Vec<2>& x) const;

  /// Whether ways cost more where it is crowded, and how often that is found anew [s].
  bool counts_density() const;
  Real density_interval() const;
  /// Sets what people at `positions` (owned, any order) add to the cost, and solves all fields again. The
  /// same on any number of ranks. Collective.
  void update_density(std::span<const Vec<2>> positions);
  /// What a restart needs of the last update_density(): the density on its own coarse grid, the same on all
  /// ranks; empty without density cost. After changing it call restore_density(). Collective.
  std::span<Real> density();
  void restore_density();

  /// The grid, for outputs and checks. T of a destination (or, for -1, F without density) at the centres of
  /// the cells of rows [first_row, last_row), row by row; nan outside. Collective if any rank asks for rows
  /// of others: all ranks call it alike.
  struct Grid {
    Vec<2> origin;  ///< lower corner of cell (0, 0)
    Real cell = 0;
    std::int64_t nx = 0, ny = 0;
  };
  const Grid& grid() const;
  std::vector<Real> rows(int destination, std::int64_t first_row, std::int64_t last_row) const;

  std::size_t bytes() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace scree
