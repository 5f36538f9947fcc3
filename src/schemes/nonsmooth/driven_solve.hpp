#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/memory.hpp"
#include "geometry/drive.hpp"
#include "schemes/nonsmooth/contact_step.hpp"

namespace scree {

/// Finds the velocities of walls under load in a step (docs/method.md, eq. D.17-D.18): with R(v) the reaction
/// of the bodies to a wall of velocity v, which never falls as v grows,
///     servo: R(v) = load,   free: R(v) + m (v - v_before)/dt = load,
/// by the secant method from the velocity of the last step, each wall in turn and all twice if there are
/// several; again from the impulses found, until contacts give way no more. A wall that nothing holds back
/// goes at its largest speed. `radius`: the smallest of the bodies [m]. Each evaluation solves a friction
/// problem. The same bits on any number of ranks if the solver gives them.
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
  /// Calls solve(is_first), which makes and solves the problem with the present velocities of the walls,
  /// until loads are met. Leaves the velocities and reactions of the step. Collective.
  template <class Solve>
  const SolveReport& run(State<D>& state, Real dt, Real radius, ContactStep<D>& contacts,
                         const Solve& solve) {
    n_solves_ = 0;
    misfit_ = 0;
    const auto walls = state.obstacles.driven();
    if (walls.empty()) return solve(true);
    restore(state);
    target_.assign(walls.size(), 0.0);
    for (std::size_t k = 0; k < walls.size(); ++k) {
      DrivenState& wall = walls[k];
      target_[k] = target_of(state.obstacles, wall);
      const Real most = state.obstacles.drive_of(wall).max_speed();
      if (!state.obstacles.active(wall.obstacle))
        wall.velocity = 0;
      else if (wall.order.kind == DrivenOrder::Kind::speed)
        wall.velocity = std::clamp(wall.order.value, -most, most);
      contacts.set_hard(k, std::abs(wall.velocity) >= most);
    }
    const SolveReport* report = nullptr;
    const auto evaluate = [&] {
      report = &solve(n_solves_ == 0);
      ++n_solves_;
      reactions_ = contacts.react();
      is_solved_ = report->converged;
    };
    evaluate();
    const int turns = walls.size() > 1 ? 2 : 1;
    for (int turn = 0; turn < turns; ++turn)
      for (std::size_t k = 0; k < walls.size(); ++k)
        if (has_load(state, k)) find_speed(state, k, dt, radius, contacts, evaluate);
    contacts.slow_down_walls();
    for (std::size_t k = 0; k < walls.size(); ++k) {
      if (has_load(state, k) && !contacts.is_hard(k))
        misfit_ = std::max(misfit_, std::abs(misfit(state, k, dt)) / scale(state, k));
      const Real most = state.obstacles.drive_of(walls[k]).max_speed();
      walls[k].velocity = std::clamp(velocity_of(state, k), -most, most);
      walls[k].reaction = reactions_[k].load;
    }
    return *report;
  }
  int n_solves() const { return n_solves_; }
  /// Largest difference between reaction and load, as a share of the load, of walls within their speeds.
  Real worst_misfit() const { return misfit_; }
  std::size_t bytes() const { return held_bytes(before_, target_); }

 private:
  static constexpr int most_solves = 6;     // for one wall in one turn and round
  static constexpr int most_rounds = 3;     // in which contacts come to give way no more
  static constexpr Real negligible = 1e-3;  // share of the smallest radius that a wall may sink in

  static bool has_load(const State<D>& state, std::size_t k) {
    const DrivenState& wall = state.obstacles.driven()[k];
    return wall.order.kind != DrivenOrder::Kind::speed && state.obstacles.active(wall.obstacle);
  }
  Real inertia_per_time(const State<D>& state, std::size_t k, Real dt) const {
    return state.obstacles.drive_of(state.obstacles.driven()[k]).inertia() / dt;
  }
  /// By how much the wall pushes too hard [N].
  Real misfit(const State<D>& state, std::size_t k, Real dt) const {
    const Real velocity = state.obstacles.driven()[k].velocity - reactions_[k].deflection;
    return reactions_[k].load + inertia_per_time(state, k, dt) * (velocity - before_[k].velocity) -
           target_[k];
  }
  Real slope(const State<D>& state, std::size_t k, Real dt) const {
    return reactions_[k].slope + inertia_per_time(state, k, dt);
  }
  /// What a misfit is small against; of a load 0 what the smallest speeds give.
  Real scale(const State<D>& state, std::size_t k) const {
    constexpr Real slow = 1e-6;
    const Real of_speed =
        slow * reactions_[k].slope * state.obstacles.drive_of(state.obstacles.driven()[k]).max_speed();
    return std::max({std::abs(target_[k]), of_speed, std::numeric_limits<Real>::min()});
  }
  Real velocity_of(const State<D>& state, std::size_t k) const {
    return state.obstacles.driven()[k].velocity - reactions_[k].deflection;
  }
  /// It goes at its largest speed and carries no more than its load. Where bodies jam, nothing solves the
  /// problem of such a step.
  bool is_at_limit(const State<D>& state, std::size_t k, Real dt) const {
    const DrivenState& wall = state.obstacles.driven()[k];
    const Drive<D>& drive = state.obstacles.drive_of(wall);
    const Real now = misfit(state, k, dt), error = drive.load_tolerance() * scale(state, k);
    if (!is_solved_) return false;
    return (wall.velocity >= drive.max_speed() && now <= error) ||
           (wall.velocity <= -drive.max_speed() && now >= -error);
  }
  template <class Evaluate>
  void go_hard(State<D>& state, std::size_t k, ContactStep<D>& contacts, Real velocity,
               const Evaluate& evaluate) {
    DrivenState& wall = state.obstacles.driven()[k];
    contacts.set_hard(k, true);
    wall.velocity = std::copysign(state.obstacles.drive_of(wall).max_speed(), velocity);
    evaluate();
  }
  template <class Evaluate>
  void find_speed(State<D>& state, std::size_t k, Real dt, Real radius, ContactStep<D>& contacts,
                  const Evaluate& evaluate) {
    for (int round = 0; round < most_rounds; ++round) {
      if (!find_root(state, k, dt, contacts, evaluate) || contacts.spread(k) * dt <= negligible * radius)
        return;
      if (!contacts.carry_solved()) return;
      for (std::size_t other = 0; other < reactions_.size(); ++other)
        state.obstacles.driven()[other].velocity -= reactions_[other].deflection;
      evaluate();
    }
  }
  /// False: the wall goes at its largest speed.
  template <class Evaluate>
  bool find_root(State<D>& state, std::size_t k, Real dt, ContactStep<D>& contacts,
                 const Evaluate& evaluate) {
    DrivenState& wall = state.obstacles.driven()[k];
    const Drive<D>& drive = state.obstacles.drive_of(wall);
    Real low = -HUGE_VAL, high = HUGE_VAL, last_velocity = NAN, last_misfit = NAN;
    for (int n = 0; n < most_solves; ++n) {
      if (contacts.is_hard(k)) {
        if (is_at_limit(state, k, dt)) return false;
        contacts.set_hard(k, false);
        evaluate();
        continue;
      }
      const Real now = misfit(state, k, dt), velocity = wall.velocity;
      if (std::abs(now) <= drive.load_tolerance() * scale(state, k)) {
        if (std::abs(velocity_of(state, k)) <= drive.max_speed()) return true;
        go_hard(state, k, contacts, velocity_of(state, k), evaluate);
        if (is_at_limit(state, k, dt)) return false;
        contacts.set_hard(k, false);
        wall.velocity = velocity;
        evaluate();
        return true;
      }
      (now < 0 ? low : high) = velocity;
      // No wall is stiffer than one that jams; softer ones show by how much.
      Real growth = slope(state, k, dt);
      const Real secant = (now - last_misfit) / (velocity - last_velocity);
      if (secant > 0 && (secant < growth || growth == 0)) growth = secant;
      if (growth == 0) {
        go_hard(state, k, contacts, -now, evaluate);
        last_velocity = last_misfit = NAN;
        continue;
      }
      Real next = velocity - now / growth;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (next == velocity) return true;
      last_velocity = velocity;
      last_misfit = now;
      wall.velocity = next;
      evaluate();
    }
    return true;
  }

  std::vector<DrivenState> before_;
  std::vector<Real> target_;
  std::span<const typename DrivenContacts<D>::Reaction> reactions_;
  bool is_solved_ = true;
  int n_solves_ = 0;
  Real misfit_ = 0;
};

}  // namespace scree
