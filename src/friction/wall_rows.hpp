#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/reset.hpp"
#include "friction/friction_problem.hpp"

namespace scree {

/// Where the walls of a problem stand in a solve, and which contacts each has. Units of the problem. Local;
/// the same on all ranks, but for the contacts.
template <int D>
class WallRows {
 public:
  struct Wall {
    Real velocity = 0;   ///< [m/s]
    int limit = 0;       ///< 1, -1: kept at max_speed or -max_speed, 0: it goes as loads and contacts have it
    Real impulse = 0;    ///< sum s . r, by the last residual [N s]
    Real excess = 0;     ///< impulse of load and contacts beyond what its change of velocity takes [N s]
    int n_changes = 0;   ///< of limit
    int n_unsolved = 0;  ///< checks in a row at a limit with which contacts are far from solved
  };

  /// Those of `problem`, with the velocities before the step.
  void find(const FrictionProblem<D>& problem) {
    walls_.resize(problem.walls.size());
    first_.assign(walls_.size() + 1, 0);
    contacts_.clear();
    for (std::size_t k = 0; k < walls_.size(); ++k) {
      const WallUnknown& given = problem.walls[k];
      const Real speed = given.velocity_before;
      const bool is_fastest = !given.is_known && std::abs(speed) >= given.max_speed;
      walls_[k] = {.velocity = speed, .limit = is_fastest ? (speed > 0 ? 1 : -1) : 0};
      for (std::size_t c = 0; c < problem.at_walls.wall.size(); ++c)
        if (problem.at_walls.wall[c] == static_cast<Index>(k)) contacts_.push_back(static_cast<Index>(c));
      first_[k + 1] = contacts_.size();
    }
    keep_best();
  }

  bool empty() const { return walls_.empty(); }
  std::span<const Wall> all() const { return walls_; }
  std::size_t size() const { return walls_.size(); }
  Wall& operator[](std::size_t k) { return walls_[k]; }
  const Wall& operator[](std::size_t k) const { return walls_[k]; }
  /// Of this rank, in the order of a sweep; of all walls, one after the other.
  std::span<const Index> contacts_of(std::size_t k) const {
    return std::span<const Index>(contacts_).subspan(first_[k], first_[k + 1] - first_[k]);
  }
  std::span<const Index> contacts() const { return contacts_; }

  /// Of all contacts, by the last residual.
  Real contact_residual = 0;

  /// Of the best impulses so far.
  const Wall& best(std::size_t k) const { return best_[k]; }
  void keep_best() { copy_into(walls_, best_); }

 private:
  std::vector<Wall> walls_, best_;
  std::vector<std::size_t> first_;
  std::vector<Index> contacts_;
};

}  // namespace scree
