#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/reset.hpp"
#include "friction/wall_rows.hpp"
#include "geometry/driven_motion.hpp"
#include "schemes/common/assembler.hpp"
#include "schemes/nonsmooth/contact_geometry.hpp"

namespace scree {

/// Driven walls are bodies of the friction problem (docs/method.md, eq. D.17): writes their rows, and
/// moves them with the velocities that it is solved with. Both arguments of the constructor must outlive it.
/// Local, but where it says collective; the same on all ranks.
template <int D>
class WallUnknowns {
 public:
  using Solved = typename WallRows<D>::Direction;

  WallUnknowns(State<D>& state, FrictionAssembler<D>& assembler) : state_(state), assembler_(assembler) {}

  /// At the start of a step.
  void begin_step() {
    const auto walls = state_.obstacles.driven();
    before_.assign(walls.begin(), walls.end());
  }
  /// Velocities and reactions as they were then. That a list was built since is kept.
  void restore() {
    const auto walls = state_.obstacles.driven();
    for (std::size_t k = 0; k < walls.size(); ++k) {
      walls[k].velocity = before_[k].velocity;
      walls[k].reaction = before_[k].reaction;
    }
  }
  /// Before contacts are found.
  void start() {
    restore();
    for (DrivenState& wall : state_.obstacles.driven()) {
      const Real max = state_.obstacles.driven_motion_of(wall).max_speed();
      if (!state_.obstacles.active(wall.obstacle))
        wall.velocity = 0;
      else if (wall.order.kind == DrivenOrder::Kind::speed)
        wall.velocity = std::clamp(wall.order.value, -max, max);
    }
  }
  /// Writes walls and rows, and takes the velocities before the step out of the bias. After whoever writes
  /// the spins of obstacles, before all that asks for the inverse mass of a contact. `tolerance`: of the
  /// solve.
  void add_to(Real tolerance) {
    FrictionProblem<D>& problem = assembler_.problem();
    const ContactGraph<D>& contacts = assembler_.contacts();
    const std::size_t n = contacts.size();
    set_walls(problem, tolerance);
    set_velocity_floor(problem);
    find_walls(problem, contacts);
    for (std::size_t c = 0; c < n; ++c) {
      if (problem.at_walls.wall[c] < 0) continue;
      if (problem.a[c] < 0 && !is_moved(problem, c)) {  // nothing of both is asked for
        std::fill_n(&problem.bias[c * D], D, 0.0);
        problem.compliance[2 * c] = problem.compliance[2 * c + 1] = 1;
        continue;
      }
      problem.at_walls.for_each_row(
          c, [&](std::size_t k, std::size_t row) { write_row(problem, contacts, c, k, row); });
      if (problem.a[c] < 0) add_compliance(problem, contacts, c);
    }
  }
  /// Adds what attracts bodies to walls, against them: pull(c) [N s]. Collective.
  template <class Pull>
  void add_attraction(const Pull& pull) {
    FrictionProblem<D>& problem = assembler_.problem();
    ReproducibleSum::sum(state_.comm, problem.at_walls.wall.size(), attraction_,
                         [&](std::size_t c, std::span<Real> terms) {
                           std::ranges::fill(terms, 0.0);
                           problem.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
                             terms[k] = -pull(c) * problem.at_walls.row[row * D];
                           });
                         });
    for (std::size_t k = 0; k < attraction_.size(); ++k) problem.walls[k].impulse += attraction_[k];
  }
  /// Of an impact with this wall nothing is given back: it has no mass, and goes where its load pushes it.
  bool is_servo(std::size_t c) const { return is_at_servo(problem(), c); }
  /// What the wall of contact c has of the normal velocity of obstacles at the start of the step [m/s].
  Real normal_velocity(std::size_t c) const {
    Real speed = 0;
    problem().at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
      speed += problem().at_walls.row[row * D] * problem().walls[k].velocity_before;
    });
    return speed;
  }
  /// Walls go as they do in the solution, and carry what they carry there.
  void finish(std::span<const Solved> solved) {
    const auto walls = state_.obstacles.driven();
    const Real dt = problem().time_step;
    worst_residual_ = 0;
    for (std::size_t k = 0; k < walls.size(); ++k) {
      const WallUnknown& given = problem().walls[k];
      walls[k].reaction = -(solved[k].impulse + attraction_[k]) / dt;
      if (given.is_known) continue;
      walls[k].velocity = std::clamp(solved[k].velocity, -given.max_speed, given.max_speed);
      const Real load = std::abs(given.impulse - attraction_[k]);
      if (solved[k].limit == 0 && load > 0)
        worst_residual_ = std::max(worst_residual_, std::abs(solved[k].excess) / load);
    }
  }
  /// What obstacles do work with becomes what walls do it with: the mean of their velocities before and
  /// after, as bodies do; but a servo in rigid contact, which has no mass, the one after. Once, after the
  /// last solve of the step.
  void use_working_velocities() {
    FrictionProblem<D>& problem = assembler_.problem();
    const std::span<Real> of_step = assembler_.surface_velocity(),
                          of_work = assembler_.own_mean_surface_velocity();
    for (std::size_t c = 0; c < problem.at_walls.wall.size(); ++c) {
      if (problem.at_walls.wall[c] < 0) continue;
      const bool is_spring =
          !of_work.empty() && !pair_of(state_, assembler_.contacts(), c).elasticity.rigid();
      problem.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
        const WallUnknown& given = problem.walls[k];
        const Real after = state_.obstacles.driven()[k].velocity;
        const Real working = given.inertia > 0 ? 0.5 * (given.velocity_before + after) : after;
        // An order of this step may have changed the velocity.
        const Real of_two_steps = 0.5 * (before_[k].velocity + after);
        for (std::size_t i = 0; i < D; ++i) {
          const Real along = problem.at_walls.row[row * D + i];
          of_step[c * D + i] += along * ((is_spring ? after : working) - given.velocity_before);
          if (!of_work.empty()) of_work[c * D + i] += along * (of_two_steps - given.velocity_before);
        }
        // Rolling friction is no spring: it works with the velocity of rigid contacts.
        for (std::size_t i = 0; i < n_turns<D> && problem.rolls(); ++i)
          problem.spin_bias[c * n_turns<D> + i] += problem.at_walls.turn[row * n_turns<D> + i] * working;
      });
    }
  }
  /// Walls go on to where they separate from bodies that overlap, in dt and by at most `max` [m].
  void correct(std::span<const Solved> separated, Real dt, Real max) {
    const auto walls = state_.obstacles.driven();
    for (std::size_t k = 0; k < walls.size(); ++k) {
      const WallUnknown& given = problem().walls[k];
      if (given.is_known) continue;
      const Real velocity = std::clamp(separated[k].velocity, -given.max_speed, given.max_speed);
      walls[k].position += std::clamp(dt * (velocity - walls[k].velocity), -max, max);
    }
  }
  /// Largest difference between reaction and load, as a share of the load, of walls within their speeds.
  Real worst_residual() const { return worst_residual_; }

  /// The same problem with walls that go as they did in its solution: for whoever knows no others.
  FrictionProblem<D> problem_with_given_walls(FrictionProblem<D> given) const {
    for (std::size_t c = 0; c < given.at_walls.wall.size(); ++c)
      given.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
        const Real velocity = state_.obstacles.driven()[k].velocity;
        for (std::size_t i = 0; i < D; ++i)
          given.bias[c * D + i] += given.at_walls.row[row * D + i] * velocity;
      });
    given.walls.clear();
    given.at_walls = {};
    return given;
  }

 private:
  const FrictionProblem<D>& problem() const { return std::as_const(assembler_).problem(); }

  void set_walls(FrictionProblem<D>& problem, Real tolerance) {
    const auto walls = state_.obstacles.driven();
    problem.walls.resize(walls.size());
    reset(attraction_, walls.size());
    for (std::size_t k = 0; k < walls.size(); ++k) {
      const DrivenMotion<D>& driven_motion = state_.obstacles.driven_motion_of(walls[k]);
      const Real impulse = problem.time_step * target_of(state_.obstacles, walls[k]);
      problem.walls[k] = {.is_further = walls[k].direction > 0,
                          .is_known = walls[k].order.kind == DrivenOrder::Kind::speed ||
                                      !state_.obstacles.active(walls[k].obstacle),
                          .inertia = driven_motion.inertia(),
                          .impulse = impulse,
                          .velocity_before = walls[k].velocity,
                          .max_speed = driven_motion.max_speed(),
                          .scale = driven_motion.load_tolerance() / tolerance * std::abs(impulse)};
    }
  }
  /// Without gravity, what the largest load gives to all in a step.
  void set_velocity_floor(FrictionProblem<D>& problem) const {
    if (problem.velocity_floor > 0) return;
    const std::size_t n = state_.bodies.n_owned();
    const std::span<const Real> mass = std::as_const(state_.bodies).mass();
    const Real total = ReproducibleSum::sum(state_.comm, mass.first(n));
    for (std::size_t k = 0; k < problem.walls.size(); ++k) {
      const DrivenMotion<D>& driven_motion = state_.obstacles.driven_motion_of(state_.obstacles.driven()[k]);
      if (!driven_motion.turns() && total + driven_motion.inertia() > 0)
        problem.velocity_floor = std::max(
            problem.velocity_floor, std::abs(problem.walls[k].impulse) / (total + driven_motion.inertia()));
    }
  }
  /// The walls of contacts, with rows of zeros.
  void find_walls(FrictionProblem<D>& problem, const ContactGraph<D>& contacts) const {
    ContactsAtWalls<D>& at_walls = problem.at_walls;
    const std::size_t n = contacts.size();
    reset(at_walls.wall, n, Index{-1});
    reset(at_walls.first, n + 1);
    for (std::size_t c = 0; c < n; ++c) {
      const int k = contacts.b[c] < 0 ? state_.obstacles.driven_of(contacts.wall[c]) : -1;
      at_walls.wall[c] = k;
      const std::size_t n_rows = k < 0 ? 0 : state_.obstacles.directions_from(k).size();
      at_walls.first[c + 1] = at_walls.first[c] + static_cast<Index>(n_rows);
    }
    const std::size_t n_rows = at_walls.first[n];
    reset(at_walls.row, n_rows * D);
    reset(at_walls.turn, problem.rolls() ? n_rows * n_turns<D> : 0);
  }
  /// Whether loads may move the wall of contact c in some direction.
  static bool is_moved(const FrictionProblem<D>& problem, std::size_t c) {
    bool moved = false;
    problem.at_walls.for_each_row(
        c, [&](std::size_t k, std::size_t) { moved = moved || !problem.walls[k].is_known; });
    return moved;
  }
  void write_row(FrictionProblem<D>& problem, const ContactGraph<D>& contacts, std::size_t c, std::size_t k,
                 std::size_t row) {
    const DrivenState& wall = state_.obstacles.driven()[k];
    const Vec<D> point = std::as_const(state_.bodies).position()[contacts.a[c]] + contacts.branch[c];
    const Vec<D> direction =
        state_.obstacles.direction_of(wall, state_.obstacles.at_obstacle(contacts.wall[c], point));
    for (std::size_t i = 0; i < D; ++i) {
      const Real along = problem.at_walls.row[row * D + i] = dot(problem.frame[c][i], direction);
      problem.bias[c * D + i] -= along * wall.velocity;
    }
    if (!problem.rolls() || problem.rolling[2 * c] == 0) return;
    const auto axes = turning_frame<D>(problem.frame[c]);
    const auto spin = state_.obstacles.driven_motion_of(wall).spin();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Real turn = problem.at_walls.turn[row * n_turns<D> + i] = dot(axes[i], spin);
      problem.spin_bias[c * n_turns<D> + i] -= turn * wall.velocity;
    }
  }
  /// A contact with a body that is fixed is a little compliant, as nothing else determines how much each of
  /// several carries: by 1e-6 of what the wall, or else the body, would.
  void add_compliance(FrictionProblem<D>& problem, const ContactGraph<D>& contacts, std::size_t c) const {
    constexpr Real share = 1e-6;
    Real of_wall = 0;
    problem.at_walls.for_each_row(c, [&](std::size_t k, std::size_t row) {
      const Real* along = &problem.at_walls.row[row * D];
      Real squared = 0;
      for (std::size_t i = 0; i < D; ++i) squared += along[i] * along[i];
      if (problem.walls[k].inertia > 0) of_wall += squared / problem.walls[k].inertia;
    });
    const Real of_body = 1 / state_.bodies.mass()[contacts.a[c]];
    problem.compliance[2 * c] = problem.compliance[2 * c + 1] = share * (of_wall > 0 ? of_wall : of_body);
  }

  State<D>& state_;
  FrictionAssembler<D>& assembler_;
  std::vector<DrivenState> before_;
  std::vector<Real> attraction_;  // of each wall [N s]
  Real worst_residual_ = 0;
};

}  // namespace scree
