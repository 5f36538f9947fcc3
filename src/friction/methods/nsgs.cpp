#include <algorithm>

#include "core/parallel.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/friction_solver.hpp"
#include "friction/one_contact.hpp"
#include "friction/sphere_sweep.hpp"

namespace scree {

/// Block Gauss-Seidel with momentum: one contact at a time, the others held (deck: solver.type = "nsgs").
///
///     u = J y + w + G r,  q = u - (W_cc + G_c) r_c                                     (docs/method.md, N.1)
///     r* = the r that obeys Coulomb's law in u = (W_cc + G_c) r + q                    (N.2)
///     r_c <- r*;  y <- y + J_c^T (its change)                                          (N.3)
///     between sweeps r <- r + beta p, as in the conjugate gradient method              (N.4)
///
/// Shapes  as ScaledProblem. Stops on the natural residual, checked where the rate so far says that it is
///         met, and every `check_every` sweeps. Most checks use the incrementally updated y.
/// Cost    a sweep is O(contacts), one stream over the contact rows (416 bytes each in 3D; 200 of round
///         bodies, for which N.2 needs no search), n_colours transfers and an exact sum; a check costs about
///         a sweep.
/// Ranks   collective; the order of visits is that of the problem, so all bits are the same on any number of
///         ranks.
/// Weak at long force chains, large mass ratios and tight tolerances: sweeps grow with the number of layers.
/// Source  M. Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257; F. Jourdan, P. Alart, M. Jean,
///         ibid. 155 (1998) 31-47; momentum: M. Silcowitz, S. Niebe, K. Erleben, The Visual Computer 26
///         (2010) 893-901.
template <int D>
class Nsgs final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_sweeps", max_sweeps_, {.range = positive, .doc = "Most sweeps of a solve"});
    section.integer("check_every", check_every_,
                    {.range = positive,
                     .doc = "Most sweeps between checks of the residual, which come where it should be met"});
  }
  bool same_on_any_ranks() const override { return true; }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    y_.resize(problem.velocity_size());
    reset(slip_, static_cast<std::size_t>(problem.n_contacts()));
    Real residual = monitor.check(0, r, y_);
    const bool spheres = problem.has_spheres();
    if (spheres && !monitor.done()) spheres_.load(problem, r);
    std::int64_t checked = 0, n_checks = 0;
    std::int64_t next = std::min(first_check, check_every_);
    SweepMomentum momentum;
    Real last_change = HUGE_VAL;
    for (std::int64_t sweep = 1; sweep <= max_sweeps_ && !monitor.done(); ++sweep) {
      if (sweep <= n_plain_sweeps) {
        // A check leaves all ghosts current, so every sweep starts with them; only checks need them again.
        const SweepTurn turn{.first = false,
                             .last = sweep >= next || sweep == max_sweeps_ || sweep == n_plain_sweeps};
        if (spheres)
          spheres_.run(problem, turn, y_);
        else
          run_sweep(problem, turn, r);
      } else {
        if (sweep == n_plain_sweeps + 1) begin_momentum(problem);
        move_on(momentum);
        const Real change = spheres ? spheres_.run_on(problem, momentum, y_) : run_on(problem, momentum, r);
        momentum = change < last_change ? SweepMomentum{change / last_change, 1} : SweepMomentum{};
        last_change = change;
      }
      ++monitor.report().sweeps;
      if (sweep < next && sweep < max_sweeps_) continue;
      if (spheres) spheres_.store(r);
      // Every tenth check recomputes y from r, which removes the round-off of the updates.
      const Real before = residual;
      if (++n_checks % checks_to_renewal == 0)
        residual = monitor.check(sweep, r, y_);
      else if (spheres && monitor.norm() == ResidualNorm::natural)
        residual = monitor.check_known(spheres_.natural_residual(problem, y_), sweep, r, y_);
      else
        residual =
            monitor.check_known(find_residual_of_velocities<D>(problem, monitor.norm(), r, y_), sweep, r, y_);
      next = sweep + sweeps_to(monitor.tolerance(), residual, before, sweep - checked);
      checked = sweep;
    }
  }

 private:
  // Easy problems are solved before momentum would gain anything.
  static constexpr std::int64_t first_check = 2, checks_to_renewal = 10, n_plain_sweeps = 4;

  /// Sweeps until the residual should be at `target` if it goes on to fall as it fell in the last `sweeps`;
  /// at least 1, at most check_every.
  std::int64_t sweeps_to(Real target, Real residual, Real before, std::int64_t sweeps) const {
    if (!(residual < before) || !(residual > target)) return check_every_;
    const Real needed = static_cast<Real>(sweeps) * std::log(target / residual) / std::log(residual / before);
    return needed < static_cast<Real>(check_every_)
               ? std::max<std::int64_t>(1, std::llround(std::ceil(needed)))
               : check_every_;
  }

  void begin_momentum(const ScaledProblem<D>& problem) {
    reset(velocity_momentum_, static_cast<std::size_t>(problem.n_owned()) * ScaledProblem<D>::width);
    reset(start_velocity_, velocity_momentum_.size());
    if (problem.has_spheres()) return;
    reset(momentum_, problem.impulse_size());
    reset(change_, problem.impulse_size());
  }

  /// The velocities of owned bodies with momentum (N.4), in which r gets it contact by contact.
  void move_on(SweepMomentum momentum) {
    for (std::size_t i = 0; i < velocity_momentum_.size(); ++i) {
      const Real p = momentum.beta * velocity_momentum_[i];
      velocity_momentum_[i] = p + momentum.share * (y_[i] - start_velocity_[i]);
      y_[i] += p;
      start_velocity_[i] = y_[i];
    }
  }

  /// Returns the local solution of contact c from its impulse rc, which it replaces, and the change.
  template <class Row>
  void solve(const Row& row, std::size_t c, Real* rc, Real* change) {
    Real W[D][D], rest[D];
    row.relative_velocity(y_.data(), rest);
    for (int i = 0; i < D; ++i) {
      rest[i] += row.w[i];
      for (int j = 0; j < D; ++j) {
        rest[i] -= row.W[i][j] * rc[j];
        W[i][j] = row.W[i][j];
      }
      W[i][i] += row.compliance(i);
    }
    const Vec<D> found = solve_one_contact<D>(W, rest, row.mu, slip_[c]);
    Real next[D];
    for (int i = 0; i < D; ++i) next[i] = found[i];
    next[0] = std::max(next[0], 0.0);
    project_on_disc<D>(next, row.mu * next[0]);
    for (int i = 0; i < D; ++i) {
      change[i] = next[i] - rc[i];
      rc[i] = next[i];
    }
    row.add_impulse(change, y_.data());
  }

  void run_sweep(const ScaledProblem<D>& problem, SweepTurn turn, std::span<Real> r) {
    Scope timer("nsgs sweep");
    const auto& rows = problem.contacts();
    problem.run_colours(y_, turn, [&](Index first, Index last) {
      Real change[D];
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c)
        solve(rows[c], c, r.data() + c * D, change);
    });
  }

  /// The same with momentum. Returns the sum of d . (W + G) d.
  Real run_on(const ScaledProblem<D>& problem, SweepMomentum momentum, std::span<Real> r) {
    Scope timer("nsgs sweep");
    const auto& rows = problem.contacts();
    const std::span<Real> square = problem.scratch(1);
    problem.run_colours(y_, [&](Index first, Index last) {
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
        Real* rc = r.data() + c * D;
        Real* d = &change_[c * D];
        for (std::size_t i = 0; i < D; ++i) {
          Real& p = momentum_[c * D + i];
          const Real moved = momentum.beta * p;
          rc[i] += moved;
          p = moved + momentum.share * d[i];
        }
        solve(rows[c], c, rc, d);
        square[c] = 0;
        for (int i = 0; i < D; ++i) {
          Real along = rows[c].compliance(i) * d[i];
          for (int j = 0; j < D; ++j) along += rows[c].W[i][j] * d[j];
          square[c] += d[i] * along;
        }
      }
    });
    return ReproducibleSum::sum(problem.comm(), square);
  }

  std::int64_t max_sweeps_ = 20'000;
  std::int64_t check_every_ = 10;
  std::vector<Real> y_;
  SphereSweep<D> spheres_;
  std::vector<Real> slip_;  // of each contact, the guess of the next local solve
  std::vector<Real> velocity_momentum_, start_velocity_;  // of owned bodies
  std::vector<Real> momentum_, change_;                   // of contacts that are not packed
};

SCREE_PLUGIN(FrictionSolver, nsgs, Nsgs,
             "block Gauss-Seidel with momentum, one contact at a time; the same bits on any number of ranks")

}  // namespace scree
