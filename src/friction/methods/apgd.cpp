#include <array>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/friction_solver.hpp"

namespace scree {

/// Accelerated projected gradient with adaptive restart (deck: solver.type = "apgd").
///
///     u^ = W p + J y_free + w + G p + mu |u_T| e_N                                     (docs/method.md, G.1)
///     new r = P_K(p - d^2 u^ / L),  d_c^2 = D / tr(W_cc + G_c)                         (G.2)
///     while delta^T (W + G) delta > L |delta / d|^2, delta = new r - p: L <- 1.5 L     (G.3)
///     p <- new r + beta (new r - r),  beta from Nesterov's series; 0 after a step uphill  (G.4)
///
/// Shapes  as ScaledProblem. Stops on the natural residual, checked every `check_every` iterations.
/// Cost    one product with W per iteration, two when L has to grow: O(contacts), an addition to owners, a
///         copy to ghosts and one reduction of three numbers.
/// Ranks   collective; results agree between numbers of ranks to the tolerance, not to the bit.
/// The shift mu |u_T| moves with the iterate, so there is no proof that it converges; without friction, and
/// where contacts stick, it is the method for convex problems. Weak on dense piles.
/// Source  Y. Nesterov, Sov. Math. Dokl. 27 (1983) 372-376; B. O'Donoghue, E. Candes, Found. Comput. Math. 15
///         (2015) 715-732; for contacts H. Mazhar, T. Heyn, D. Negrut, A. Tasora, ACM Trans. Graph. 34
///         (2015) 32.
template <int D>
class Apgd final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_iterations", max_iterations_,
                    {.range = positive, .doc = "Most gradient steps of a solve"});
    section.integer("check_every", check_every_,
                    {.range = positive, .doc = "Iterations between checks of the residual"});
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    y_.resize(problem.velocity_size());
    monitor.check(0, r, y_);
    if (monitor.done()) return;
    for (Iterate* point : {&now_, &ahead_, &next_}) {
      point->r.resize(r.size());
      std::copy(r.begin(), r.end(), point->r.begin());
      point->u.resize(r.size());
    }
    step_.resize(problem.contacts().size());
    for (std::size_t c = 0; c < step_.size(); ++c) {
      const auto& row = problem.contacts()[c];
      Real trace = 0;
      for (int k = 0; k < D; ++k) trace += row.W[k][k] + row.compliance(k);
      step_[c] = D / trace;
    }
    Real curvature = largest_curvature(problem);  // L
    find_velocities(problem, now_);
    copy_into(now_.r, ahead_.r);
    copy_into(now_.u, ahead_.u);
    Real theta = 1;
    for (std::int64_t iteration = 1; iteration <= max_iterations_ && !monitor.done(); ++iteration) {
      Scope timer("apgd step");
      const bool goes_back = descend(problem, curvature);
      const Real next_theta = goes_back ? 1 : 0.5 * (1 + std::sqrt(1 + 4 * theta * theta));
      const Real beta = goes_back ? 0 : (theta - 1) / next_theta;
      theta = next_theta;
      // u is affine in r, so the point ahead needs no product of its own.
      for (std::size_t i = 0; i < r.size(); ++i) {
        ahead_.r[i] = next_.r[i] + beta * (next_.r[i] - now_.r[i]);
        ahead_.u[i] = next_.u[i] + beta * (next_.u[i] - now_.u[i]);
      }
      std::swap(now_, next_);
      curvature *= 0.98;
      ++monitor.report().iterations;
      if (iteration % check_every_ == 0 || iteration == max_iterations_) monitor.check(iteration, now_.r, y_);
    }
    std::copy(now_.r.begin(), now_.r.end(), r.begin());
  }

 private:
  struct Iterate {
    std::vector<Real> r, u;
  };

  /// u that follows from r.
  void find_velocities(const ScaledProblem<D>& problem, Iterate& point) {
    std::copy(problem.free_velocity().begin(), problem.free_velocity().end(), y_.begin());
    problem.add_impulse(point.r, y_);
    for (Index c = 0; c < problem.n_contacts(); ++c)
      problem.relative_velocity(c, point.r, y_, point.u.data() + static_cast<std::size_t>(c) * D);
  }

  /// Estimate of the largest eigenvalue of d (W + G) d, from below, by power iteration. Uses next_ and
  /// ahead_.
  Real largest_curvature(const ScaledProblem<D>& problem) {
    std::fill(ahead_.r.begin(), ahead_.r.end(), 0.0);
    find_velocities(problem, ahead_);
    for (std::size_t c = 0; c < step_.size(); ++c)
      for (std::size_t k = 0; k < D; ++k) next_.r[c * D + k] = std::sqrt(step_[c]);
    Real estimate = 1;
    for (int round = 0; round < 4; ++round) {
      find_velocities(problem, next_);
      // r = d x: x . (d W d x) and |d W d x|^2.
      std::array<Real, 2> sums{};
      for (std::size_t i = 0; i < next_.r.size(); ++i) {
        next_.u[i] -= ahead_.u[i];
        sums[0] += next_.r[i] * next_.r[i] / step_[i / D];
        sums[1] += next_.u[i] * next_.u[i] * step_[i / D];
      }
      problem.comm().sum_to_round_off(sums);
      estimate = std::sqrt(sums[1] / sums[0]);
      for (std::size_t i = 0; i < next_.r.size(); ++i)
        next_.r[i] = next_.u[i] * step_[i / D] / std::sqrt(sums[1]);
    }
    return estimate;
  }

  /// The projected step from ahead_ to next_; raises the curvature until it holds along the step. True if the
  /// step leads back towards now_, which calls for a restart.
  bool descend(const ScaledProblem<D>& problem, Real& curvature) {
    while (true) {
      for (std::size_t c = 0; c < step_.size(); ++c) {
        const Real* u = ahead_.u.data() + c * D;
        const Real mu = problem.contacts()[c].mu;
        const Real length = step_[c] / curvature;
        Real x[D];
        for (std::size_t k = 0; k < D; ++k) x[k] = ahead_.r[c * D + k] - length * u[k];
        x[0] -= length * mu * tangential_norm<D>(u);
        const Vec<D> projected = project_on_cone<D>(x, mu);
        for (int k = 0; k < D; ++k) next_.r[c * D + static_cast<std::size_t>(k)] = projected[k];
      }
      find_velocities(problem, next_);
      std::array<Real, 3> sums{};
      for (std::size_t i = 0; i < next_.r.size(); ++i) {
        const Real delta = next_.r[i] - ahead_.r[i];
        sums[0] += delta * (next_.u[i] - ahead_.u[i]);
        sums[1] += delta * delta / step_[i / D];
        sums[2] -= delta * (next_.r[i] - now_.r[i]) / step_[i / D];
      }
      problem.comm().sum_to_round_off(sums);
      // Of steps as small as round-off nothing can be told.
      if (!(sums[0] > curvature * sums[1] * (1 + 1e-9)) || sums[1] < 1e-26) return sums[2] > 0;
      curvature *= 1.5;
    }
  }

  std::int64_t max_iterations_ = 20'000;
  std::int64_t check_every_ = 10;
  Iterate now_, ahead_, next_;  // r, p and new r of the docstring
  std::vector<Real> step_;      // d^2 of each contact
  std::vector<Real> y_;
};

SCREE_PLUGIN(FrictionSolver, apgd, Apgd,
             "accelerated projected gradient with adaptive restart; for problems with little sliding")

}  // namespace scree
