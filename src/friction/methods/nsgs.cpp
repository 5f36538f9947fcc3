#include <algorithm>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/friction_solver.hpp"
#include "friction/one_contact.hpp"
#include "friction/sphere_sweep.hpp"

namespace scree {

/// Block Gauss-Seidel: one contact at a time, the others held (deck: solver.type = "nsgs").
///
///     u = J y + w + G r,  q = u - (W_cc + G_c) r_c                                     (docs/method.md, N.1)
///     r* = the r that obeys Coulomb's law in u = (W_cc + G_c) r + q                    (N.2)
///     r_c <- (1 - omega) r_c + omega r*, cut to the cone;  y <- y + J_c^T (its change)  (N.3)
///
/// Shapes  as ScaledProblem. Stops on the natural residual, checked where the rate so far says that it is
///         met, and every `check_every` sweeps. Most checks use the incrementally updated y.
/// Cost    a sweep is O(contacts), one stream over the contact rows (416 bytes each in 3D; 200 of round
///         bodies, for which N.2 needs no search) and n_colours transfers; a check costs about a sweep.
/// Ranks   collective; the order of visits is that of the problem, so all bits are the same on any number of
///         ranks.
/// Weak at long force chains, large mass ratios and tight tolerances: sweeps grow with the number of layers.
/// Source  M. Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257; F. Jourdan, P. Alart, M. Jean,
///         ibid. 155 (1998) 31-47.
template <int D>
class Nsgs final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_sweeps", max_sweeps_, {.range = positive, .doc = "Most sweeps of a solve"});
    section.integer("check_every", check_every_,
                    {.range = positive,
                     .doc = "Most sweeps between checks of the residual, which come where it should be met"});
    section.real("relaxation", relaxation_,
                 {.range = {.least = 0, .most = 2, .least_open = true, .most_open = true},
                  .doc = "Over-relaxation of a contact's impulse; 1: none"});
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
    for (std::int64_t sweep = 1; sweep <= max_sweeps_ && !monitor.done(); ++sweep) {
      // A check leaves all ghosts current, so every sweep starts with them; only checks need them again.
      const SweepTurn turn{.first = false, .last = sweep >= next || sweep == max_sweeps_};
      if (spheres)
        spheres_.run(problem, turn, y_, relaxation_);
      else
        run_sweep(problem, turn, r);
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
  static constexpr std::int64_t first_check = 2, checks_to_renewal = 10;

  /// Sweeps until the residual should be at `target` if it goes on to fall as it fell in the last `sweeps`;
  /// at least 1, at most check_every.
  std::int64_t sweeps_to(Real target, Real residual, Real before, std::int64_t sweeps) const {
    if (!(residual < before) || !(residual > target)) return check_every_;
    const Real needed = static_cast<Real>(sweeps) * std::log(target / residual) / std::log(residual / before);
    return needed < static_cast<Real>(check_every_)
               ? std::max<std::int64_t>(1, std::llround(std::ceil(needed)))
               : check_every_;
  }

  void run_sweep(const ScaledProblem<D>& problem, SweepTurn turn, std::span<Real> r) {
    Scope timer("nsgs sweep");
    const auto& rows = problem.contacts();
    problem.run_colours(y_, turn, [&](Index first, Index last) {
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
        const auto& row = rows[c];
        Real* rc = r.data() + c * D;
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
        for (int i = 0; i < D; ++i) next[i] = rc[i] + relaxation_ * (found[i] - rc[i]);
        next[0] = std::max(next[0], 0.0);
        project_on_disc<D>(next, row.mu * next[0]);
        Real change[D];
        for (int i = 0; i < D; ++i) {
          change[i] = next[i] - rc[i];
          rc[i] = next[i];
        }
        row.add_impulse(change, y_.data());
      }
    });
  }

  std::int64_t max_sweeps_ = 20'000;
  std::int64_t check_every_ = 10;
  Real relaxation_ = 1;
  std::vector<Real> y_;
  SphereSweep<D> spheres_;
  std::vector<Real> slip_;  // of each contact, the guess of the next local solve
};

SCREE_PLUGIN(FrictionSolver, nsgs, Nsgs,
             "block Gauss-Seidel, one contact at a time; the same bits on any number of ranks")

}  // namespace scree
