#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/reset.hpp"
#include "friction/friction_problem.hpp"

namespace scree {

/// Where the walls of a problem stand in a solve, and which contacts each has: each has one or more
/// directions, which are numbered through. Units of the problem. Local; the same on all ranks, but for the
/// contacts.
template <int D>
class WallRows {
 public:
  struct Direction {
    Real velocity = 0;   ///< [m/s]
    int limit = 0;       ///< 1, -1: kept at max_speed or -max_speed, 0: it goes as loads and contacts have it
    Real impulse = 0;    ///< sum s . r, by the last residual [N s]
    Real excess = 0;     ///< impulse of load and contacts beyond what its change of velocity takes [N s]
    int n_changes = 0;   ///< of limit
    int n_unsolved = 0;  ///< checks in a row at a limit with which contacts are far from solved
  };

  /// Those of `problem`, with the velocities before the step.
  void find(const FrictionProblem<D>& problem) {
    directions_.resize(problem.walls.size());
    wall_of_.resize(problem.walls.size());
    walls_.clear();
    contacts_.clear();
    for (std::size_t k = 0; k < directions_.size(); ++k) {
      const WallUnknown& given = problem.walls[k];
      const Real speed = given.velocity_before;
      const bool is_fastest = !given.is_known && std::abs(speed) >= given.max_speed;
      directions_[k] = {.velocity = speed, .limit = is_fastest ? (speed > 0 ? 1 : -1) : 0};
      if (!given.is_further) add_wall(problem, k);
      wall_of_[k] = walls_.size() - 1;
      walls_.back().end = k + 1;
    }
    keep_best();
  }

  bool empty() const { return directions_.empty(); }
  std::span<const Direction> all() const { return directions_; }
  std::size_t size() const { return directions_.size(); }
  Direction& operator[](std::size_t k) { return directions_[k]; }
  const Direction& operator[](std::size_t k) const { return directions_[k]; }

  /// A wall has the directions [first, end).
  struct Wall {
    std::size_t first, end;
    std::size_t first_contact, end_contact;
  };
  std::span<const Wall> walls() const { return walls_; }
  /// Of this rank, in the order of a sweep; of all walls, one after the other.
  std::span<const Index> contacts_of(const Wall& wall) const {
    return std::span<const Index>(contacts_).subspan(wall.first_contact,
                                                     wall.end_contact - wall.first_contact);
  }
  /// Those of the wall that has the direction k.
  std::span<const Index> contacts_along(std::size_t k) const { return contacts_of(walls_[wall_of_[k]]); }
  std::span<const Index> contacts() const { return contacts_; }

  /// Of all contacts, by the last residual.
  Real contact_residual = 0;

  /// Of the best impulses so far.
  const Direction& best(std::size_t k) const { return best_[k]; }
  void keep_best() { copy_into(directions_, best_); }

 private:
  /// With its contacts; its first direction is k.
  void add_wall(const FrictionProblem<D>& problem, std::size_t k) {
    const std::size_t first_contact = contacts_.size();
    for (std::size_t c = 0; c < problem.at_walls.wall.size(); ++c)
      if (problem.at_walls.wall[c] == static_cast<Index>(k)) contacts_.push_back(static_cast<Index>(c));
    walls_.push_back({k, k + 1, first_contact, contacts_.size()});
  }

  std::vector<Direction> directions_, best_;
  std::vector<Wall> walls_;
  std::vector<std::size_t> wall_of_;  // of each direction
  std::vector<Index> contacts_;
};

}  // namespace scree
