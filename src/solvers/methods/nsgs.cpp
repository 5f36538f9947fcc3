#include "core/timing.hpp"
#include "solvers/friction_solver.hpp"
#include "solvers/one_contact.hpp"

namespace scree {

/// Block Gauss-Seidel: one contact at a time, the others held (deck: solver.type = "nsgs").
///
///     u = J y + w + G r,  q = u - (W_cc + G_c) r_c                                     (docs/method.md, N.1)
///     r_c <- the r that obeys Coulomb's law in u = (W_cc + G_c) r + q                  (N.2)
///     y <- y + J_c^T (new r_c - old r_c)                                               (N.3)
///
/// Shapes  as ScaledProblem. Stops on the natural residual, looked at every `check_every` sweeps.
/// Cost    a sweep is O(contacts), one stream over the contact rows (416 bytes each in 3D) and n_phases + 1
///         hand-overs; a look costs about a sweep.
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
                    {.range = positive, .doc = "Sweeps between looks at the residual"});
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    y_.resize(problem.velocity_size());
    slip_.assign(static_cast<std::size_t>(problem.n_contacts()), 0.0);
    monitor.look(0, r, y_);
    for (std::int64_t sweep = 1; sweep <= max_sweeps_ && !monitor.done(); ++sweep) {
      run_sweep(problem, r);
      ++monitor.report().sweeps;
      // look() recomputes y from r, which also removes the round-off that updates leave.
      if (sweep % check_every_ == 0 || sweep == max_sweeps_) monitor.look(sweep, r, y_);
    }
  }

 private:
  void run_sweep(const ScaledProblem<D>& problem, std::span<Real> r) {
    Scope timer("nsgs sweep");
    constexpr int q = ScaledProblem<D>::q;
    constexpr auto width = static_cast<std::size_t>(ScaledProblem<D>::width);
    const auto* rows = problem.contacts().data();
    problem.run_phases(y_, [&](Index first, Index last) {
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
        const auto& row = rows[c];
        Real* ya = y_.data() + static_cast<std::size_t>(row.a) * width;
        Real* yb = y_.data() + static_cast<std::size_t>(row.b) * width;
        Real* rc = r.data() + c * D;
        Real W[D][D], rest[D];
        for (int i = 0; i < D; ++i) {
          Real of_a = row.w[i], of_b = 0;
          for (int k = 0; k < q; ++k) {
            of_a += row.J[0][i][k] * ya[k];
            of_b += row.J[1][i][k] * yb[k];
          }
          rest[i] = of_a + of_b;
          for (int j = 0; j < D; ++j) {
            rest[i] -= row.W[i][j] * rc[j];
            W[i][j] = row.W[i][j];
          }
          W[i][i] += row.compliance(i);
        }
        const Vec<D> found = solve_one_contact<D>(W, rest, row.mu, slip_[c]);
        Real change[D];
        for (int i = 0; i < D; ++i) {
          change[i] = found[i] - rc[i];
          rc[i] = found[i];
        }
        for (int k = 0; k < q; ++k) {
          Real to_a = 0, to_b = 0;
          for (int i = 0; i < D; ++i) {
            to_a += row.J[0][i][k] * change[i];
            to_b += row.J[1][i][k] * change[i];
          }
          ya[k] += to_a;
          yb[k] += to_b;
        }
      }
    });
  }

  std::int64_t max_sweeps_ = 20'000;
  std::int64_t check_every_ = 10;
  std::vector<Real> y_;
  std::vector<Real> slip_;  // of each contact, the guess of the next local solve
};

SCREE_PLUGIN(FrictionSolver, nsgs, Nsgs,
             "block Gauss-Seidel, one contact at a time; the same bits on any number of ranks")

}  // namespace scree
