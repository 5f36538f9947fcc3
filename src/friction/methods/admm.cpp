#include <array>
#include <memory>

#include "core/timing.hpp"
#include "friction/cone.hpp"
#include "friction/friction_solver.hpp"
#include "friction/linear/schur_system.hpp"

namespace scree {

/// Alternating directions with the shift of De Saxce (deck: solver.type = "admm"): bodies and contacts are
/// solved in turn, tied by a penalty R = rho m_c per contact, m_c = D / tr W_cc (docs/method.md, A.1-A.5).
///
///     r <- the r in K that minimises r . (1/R + G) r / 2 + t . r,   z <- t + r / R             (A.2)
///     (I + J^T R J) y = y_free + J^T (R (z - w - s e_N) + r)                                     (A.3)
///     h = J y + w,   s = mu |h_T + G_T r_T|                                                      (A.4)
///     t <- omega (h + s e_N) + (1 - omega) z - r / R                                             (A.5)
///
/// Shapes  r, t, z, h: n_contacts * D; s: n_contacts; y: velocities. All scaled, so without units.
/// Stops on the natural residual, checked every `check_every` iterations.
/// Cost    an iteration is one stream over the contact rows, one solution with a matrix that changes whenever
///         rho is balanced (eight times at most), and one exchange each way. A Krylov method takes about two
///         iterations, since it starts from the last velocities and need not end closer than they deserve.
/// Ranks   collective; agrees to the tolerance on different numbers of ranks, not to the bit.
/// Strong on structures that mostly stick (walls, towers, arches), where sweeps need thousands of passes. The
/// moving shift makes the problem non-convex: there is no proof of convergence, and rigid jammed piles
/// whose gaps may close (`--case settled-gaps` of scree_bench) stall near 1e-3.
/// Source  A. Tasora, D. Mangoni, S. Benatti, R. Garziera, Int. J. Numer. Methods Engrg. 122 (2021)
///         4093-4113, for contact; G. De Saxce, Z.-Q. Feng, Math. Comput. Modelling 28 (1998) 225-245, for
///         the shift; S. Boyd et al., Found. Trends Mach. Learn. 3 (2011) 1-122, for relaxation and
///         balancing.
template <int D>
class Admm final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.real("rho", rho_,
                 {.range = positive, .doc = "Penalty, in units of the effective mass of each contact"});
    section.real("relaxation", relaxation_,
                 {.range = {.min = 0, .max = 2, .min_open = true, .max_open = true},
                  .doc = "Over-relaxation; 1: none"});
    section.boolean("balance", balance_, {.doc = "Adapt rho when primal and dual residuals differ"});
    section.integer("max_iterations", max_iterations_,
                    {.range = positive, .doc = "Most iterations of a solve"});
    section.integer("check_every", check_every_,
                    {.range = positive, .doc = "Iterations between checks of the residual"});
    linear_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    SolveReport& report = monitor.report();
    y_.assign(problem.velocity_size(), 0.0);
    check_y_.resize(problem.velocity_size());
    monitor.check(0, r, y_);
    if (monitor.done()) return;

    if (!system_) system_ = std::make_unique<SchurSystem<D>>(linear_, SchurSystem<D>::Kind::symmetric);
    system_->set_pattern(problem, report);
    Real rho = rho_;
    assemble(problem, rho, report);
    z_.assign(problem.impulse_size(), 0.0);
    right_.resize(problem.velocity_size());
    std::int64_t next_balance = first_balance;
    for (std::int64_t iteration = 1; iteration <= max_iterations_; ++iteration) {
      // The first pass has no z to relax with.
      const Mismatch mismatch = update_contacts(problem, iteration == 1 ? 1 : relaxation_, r);
      ++report.iterations;
      if (iteration % check_every_ == 0 || iteration == max_iterations_) {
        monitor.check(iteration, r, check_y_);
        if (monitor.done()) return;
      }
      if (!system_->solve(right_, y_, report, inner_share, true)) {
        report.decisions.push_back("admm stopped: " + system_->failure());
        return;
      }
      // r, z and y do not depend on rho, so the next pass may use another.
      if (balance_ && iteration == next_balance && iteration < last_balance) {
        next_balance *= 2;
        const Real factor = balancing_factor(problem.comm(), mismatch);
        if (factor != 1) assemble(problem, rho *= factor, report);
      }
    }
  }

 private:
  static constexpr std::int64_t first_balance = 20, last_balance = 3000;
  /// Share of the residual of the last velocities that a Krylov method may leave in (A.3).
  static constexpr Real inner_share = 0.1;

  /// Squares of the distances, weighted with R, between the two halves and between passes.
  struct Mismatch {
    Real of_halves = 0, of_passes = 0;
  };

  void assemble(const ScaledProblem<D>& problem, Real rho, SolveReport& report) {
    blocks_.assign(problem.impulse_size() * D, 0.0);
    penalty_.resize(problem.contacts().size());
    for (std::size_t c = 0; c < penalty_.size(); ++c) {
      penalty_[c] = rho * problem.contacts()[c].effective_mass();
      for (std::size_t i = 0; i < D; ++i) blocks_[(c * D + i) * D + i] = penalty_[c];
    }
    system_->assemble(blocks_, 1, report);
  }

  /// (A.4), (A.5), (A.2) and the right-hand side of (A.3), contact by contact. Collective.
  Mismatch update_contacts(const ScaledProblem<D>& problem, Real relaxation, std::span<Real> r) {
    Scope timer("admm pass");
    constexpr std::size_t width = ScaledProblem<D>::width;
    const auto n_owned_values =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(problem.n_owned()) * width);
    const auto& free = problem.free_velocity();
    std::copy_n(free.begin(), n_owned_values, right_.begin());
    std::fill(right_.begin() + n_owned_values, right_.end(), 0.0);

    Mismatch mismatch;
    const auto& rows = problem.contacts();
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const auto& row = rows[c];
      const Real R = penalty_[c];
      Real* rc = r.data() + c * D;
      Real* zc = z_.data() + c * D;
      Real shifted[D], slip[D];
      row.relative_velocity(y_.data(), shifted);
      for (int i = 0; i < D; ++i) {
        shifted[i] += row.w[i];
        slip[i] = shifted[i] + row.compliance(i) * rc[i];
      }
      const Real shift = row.mu * tangential_norm<D>(slip);
      shifted[0] += shift;

      // (A.2) is a projection where lengths are measured with 1/R + G: scaled to an ordinary one.
      const Real root[2] = {std::sqrt(1 / R + row.g[0]), std::sqrt(1 / R + row.g[1])};
      Real t[D], x[D];
      for (int i = 0; i < D; ++i) {
        t[i] = relaxation * shifted[i] + (1 - relaxation) * zc[i] - rc[i] / R;
        x[i] = -t[i] / root[i > 0];
      }
      const Vec<D> projected = project_on_cone<D>(x, row.mu * root[1] / root[0]);
      Real impulse[D];
      for (int i = 0; i < D; ++i) {
        rc[i] = projected[i] / root[i > 0];
        const Real z = t[i] + rc[i] / R;
        mismatch.of_halves += R * (shifted[i] - zc[i]) * (shifted[i] - zc[i]);
        mismatch.of_passes += R * (z - zc[i]) * (z - zc[i]);
        zc[i] = z;
        impulse[i] = R * (z - row.w[i] - (i == 0 ? shift : 0)) + rc[i];
      }
      row.add_impulse(impulse, right_.data());
    }
    problem.halo().add_to_owners(std::span(right_).first(static_cast<std::size_t>(problem.n_local()) * width),
                                 static_cast<int>(width));
    return mismatch;
  }

  static Real balancing_factor(const Comm& comm, const Mismatch& mismatch) {
    std::array<Real, 2> squares{mismatch.of_halves, mismatch.of_passes};
    comm.sum_to_round_off(squares);
    // The ratio of 3 is squared, as the sums are.
    return squares[0] > 9 * squares[1] ? 2 : squares[1] > 9 * squares[0] ? 0.5 : 1;
  }

  Real rho_ = 5;
  Real relaxation_ = 1.6;
  bool balance_ = true;
  std::int64_t max_iterations_ = 20'000;
  std::int64_t check_every_ = 10;
  typename SchurSystem<D>::Settings linear_;
  std::unique_ptr<SchurSystem<D>> system_;
  std::vector<Real> y_, check_y_, right_, z_, blocks_, penalty_;
};

SCREE_PLUGIN(FrictionSolver, admm, Admm,
             "alternating direction method of multipliers (ADMM): one matrix for many steps; fast where "
             "contacts mostly stick",
             laboratory)

}  // namespace scree
