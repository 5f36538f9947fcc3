#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/drive.hpp"
#include "schemes/nonsmooth/contact_solve.hpp"
#include "schemes/nonsmooth/loaded_walls.hpp"
#include "schemes/nonsmooth/monotone_root.hpp"

namespace scree {

/// Finds the velocities of walls under load in a step (docs/method.md, eq. D.17-D.18): with R(v) the reaction
/// of the bodies to a wall of velocity v, which never falls as v grows,
///     servo: R(v) = load,   free: R(v) + m (v - v_before)/dt = load,
/// from the velocity of the last step, each wall in turn. Contacts with the wall give way in this search; it
/// is repeated from the impulses found with contacts that are stiffer by far, until none gives way by more
/// than a small share of `radius`, the smallest of the bodies [m]. A wall that nothing holds back goes at its
/// largest speed. Each evaluation solves a friction problem. The same bits on any number of ranks if the
/// solver gives them.
template <int D>
class DrivenSolve {
 public:
  /// At the start of a step. Local.
  void begin(const State<D>& state) {
    const auto walls = state.obstacles.driven();
    before_.assign(walls.begin(), walls.end());
  }
  /// What a solve changes of the walls, as it was when the step began. A list built since then stays noted.
  /// Local.
  void restore(State<D>& state) const {
    const auto walls = state.obstacles.driven();
    for (std::size_t k = 0; k < walls.size(); ++k) {
      walls[k].velocity = before_[k].velocity;
      walls[k].reaction = before_[k].reaction;
    }
  }
  /// Before the contacts of the step are found: the velocities to try first. Local.
  void start(State<D>& state, LoadedWalls<D>* loaded) {
    restore(state);
    const auto walls = state.obstacles.driven();
    target_.assign(walls.size(), 0.0);
    for (std::size_t k = 0; k < walls.size(); ++k) {
      DrivenState& wall = walls[k];
      target_[k] = target_of(state.obstacles, wall);
      const Real max = state.obstacles.drive_of(wall).max_speed();
      if (!state.obstacles.active(wall.obstacle))
        wall.velocity = 0;
      else if (wall.order.kind == DrivenOrder::Kind::speed)
        wall.velocity = std::clamp(wall.order.value, -max, max);
      loaded->set_rigid(k, std::abs(wall.velocity) >= max);
    }
  }
  /// Calls evaluate(is_first), which makes the problem with the present velocities of the walls and solves it
  /// with `solve`, until loads are met. Leaves the velocities and reactions of the step. `walls` is null
  /// where there are none. Collective.
  template <class Evaluate>
  void run(State<D>& state, Real dt, Real radius, LoadedWalls<D>* walls, ContactSolve<D>& solve,
           const Evaluate& evaluate) {
    n_solves_ = 0;
    worst_residual_ = 0;
    radius_ = radius;
    if (!walls) return evaluate(true);
    const auto react = [&] {
      evaluate(n_solves_ == 0);
      ++n_solves_;
      reactions_ = walls->react(solve.impulse());
    };
    Search search{state, dt, *walls, solve, react};
    Real stiffness = 1;
    walls->set_stiffness(stiffness);
    search.evaluate();
    for (int round = 0; meet_loads(search); ++round) {
      if (round == max_rounds || walls->largest_penetration_rate(solve.impulse()) * dt <= negligible * radius)
        break;
      walls->set_reference_impulse(solve.impulse());
      for (std::size_t k = 0; k < reactions_.size(); ++k)
        state.obstacles.driven()[k].velocity -= reactions_[k].deflection;
      walls->set_stiffness(stiffness *= stiffening);
      search.evaluate();
    }
    finish(search);
  }
  int n_solves() const { return n_solves_; }
  /// Largest difference between reaction and load, as a share of the load, of walls within their speeds.
  Real worst_residual() const { return worst_residual_; }

 private:
  static constexpr int max_solves = 200;     // in a step, after which no search begins
  static constexpr int max_iterations = 24;  // for one wall in one turn
  static constexpr int max_turns = 8;        // of all walls in one round
  static constexpr int max_rounds = 5;       // in which contacts come to give way no more
  static constexpr Real stiffening = 10;     // from round to round
  static constexpr Real negligible = 2e-3;   // share of the smallest radius that a wall may sink in in a step

  // What a search works on.
  template <class Evaluate>
  struct Search {
    State<D>& state;
    Real dt;
    LoadedWalls<D>& walls;
    const ContactSolve<D>& solve;
    Evaluate evaluate;

    DrivenState& wall(std::size_t k) const { return state.obstacles.driven()[k]; }
    const Drive<D>& drive(std::size_t k) const { return state.obstacles.drive_of(wall(k)); }
    bool has_load(std::size_t k) const {
      return wall(k).order.kind != DrivenOrder::Kind::speed && state.obstacles.active(wall(k).obstacle);
    }
  };

  void finish(const auto& search) {
    search.walls.slow_down(search.solve.impulse());
    for (std::size_t k = 0; k < before_.size(); ++k) {
      if (search.has_load(k) && !search.walls.is_rigid(k))
        worst_residual_ = std::max(worst_residual_, std::abs(load_residual(search, k)) / scale(search, k));
      DrivenState& wall = search.wall(k);
      const Real max = search.drive(k).max_speed();
      wall.velocity = std::clamp(velocity_of(search, k), -max, max);
      wall.reaction = reactions_[k].load;
    }
  }

  Real velocity_of(const auto& search, std::size_t k) const {
    return search.wall(k).velocity - reactions_[k].deflection;
  }
  /// By how much the wall pushes too hard [N].
  Real load_residual(const auto& search, std::size_t k) const {
    const Real of_inertia =
        search.drive(k).inertia() / search.dt * (velocity_of(search, k) - before_[k].velocity);
    return reactions_[k].load + of_inertia - target_[k];
  }
  /// What a residual is small against; of a load 0 what the smallest speeds give.
  Real scale(const auto& search, std::size_t k) const {
    constexpr Real slow = 1e-6;
    const Real of_speed = slow * reactions_[k].slope * search.drive(k).max_speed();
    return std::max({std::abs(target_[k]), of_speed, std::numeric_limits<Real>::min()});
  }
  /// What a residual may be. A wall with inertia is as exact as the velocities of bodies.
  Real error(const auto& search, std::size_t k) const {
    return std::max(search.drive(k).load_tolerance() * scale(search, k),
                    search.drive(k).inertia() / search.dt * search.solve.settings().tolerance *
                        search.walls.velocity_scale());
  }
  /// It goes at its largest speed and carries no more than its load. Where bodies jam, nothing solves the
  /// problem of such a step.
  bool is_at_limit(const auto& search, std::size_t k) const {
    if (!search.walls.is_rigid(k) ||
        search.solve.report().residual.penetration_rate * search.dt > negligible * radius_)
      return false;
    const Real velocity = search.wall(k).velocity, max = search.drive(k).max_speed(),
               now = load_residual(search, k);
    return (velocity >= max && now <= error(search, k)) || (velocity <= -max && now >= -error(search, k));
  }
  bool is_met(const auto& search, std::size_t k) const {
    if (search.walls.is_rigid(k)) return is_at_limit(search, k);
    return std::abs(load_residual(search, k)) <= error(search, k) &&
           std::abs(velocity_of(search, k)) <= search.drive(k).max_speed();
  }

  /// False: all walls under load go at their largest speeds.
  bool meet_loads(auto& search) {
    for (int turn = 0; turn < max_turns && n_solves_ < max_solves; ++turn) {
      bool all_met = true;
      for (std::size_t k = 0; k < before_.size(); ++k) {
        if (!search.has_load(k) || is_met(search, k)) continue;
        find_speed(search, k);
        all_met = false;
      }
      if (all_met || before_.size() == 1) break;
    }
    for (std::size_t k = 0; k < before_.size(); ++k)
      if (search.has_load(k) && !search.walls.is_rigid(k)) return true;
    return false;
  }
  /// Tries the largest speed in the direction of `velocity`. False: that is too fast.
  bool saturates(auto& search, std::size_t k, Real velocity) {
    search.walls.set_rigid(k, true);
    search.wall(k).velocity = std::copysign(search.drive(k).max_speed(), velocity);
    search.evaluate();
    if (is_at_limit(search, k)) return true;
    search.walls.set_rigid(k, false);
    return false;
  }
  /// The speed of one wall with which its load is met, or as near to it as a jump of the reaction lets it.
  void find_speed(auto& search, std::size_t k) {
    DrivenState& wall = search.wall(k);
    MonotoneRoot root;
    Real tried = search.walls.is_rigid(k) ? std::copysign(1.0, wall.velocity) : 0;  // direction of a limit
    if (tried != 0) {
      search.walls.set_rigid(k, false);
      search.evaluate();
    }
    for (int i = 0; i < max_iterations; ++i) {
      const Real now = load_residual(search, k), velocity = wall.velocity;
      const bool is_near = std::abs(now) <= error(search, k);
      const Real steepest = reactions_[k].slope + search.drive(k).inertia() / search.dt;
      if (is_near && std::abs(velocity_of(search, k)) <= search.drive(k).max_speed()) return;
      if (is_near || steepest == 0) {
        const Real direction = std::copysign(1.0, is_near ? velocity_of(search, k) : -now);
        if (direction == tried) return;
        tried = direction;
        if (saturates(search, k, direction)) return;
        if (is_near) wall.velocity = velocity;
        search.evaluate();
        continue;
      }
      root.note(velocity, now);
      if (root.width() * steepest <= error(search, k)) return;
      wall.velocity = root.next(steepest);
      const Real max_change = reactions_[k].pressed * std::abs(wall.velocity - velocity);
      search.walls.set_target_load(k, std::clamp(-now, -max_change, max_change));
      search.evaluate();
    }
  }

  std::vector<DrivenState> before_;
  std::vector<Real> target_;
  std::span<const typename LoadedWalls<D>::Reaction> reactions_;
  int n_solves_ = 0;
  Real worst_residual_ = 0, radius_ = 0;
};

}  // namespace scree
