#include <optional>

#include "friction/newton/semismooth_newton.hpp"

namespace scree {

/// Semismooth Newton method (deck: solver.type = "newton"): SemismoothNewton, which is fast where it starts
/// close, after as many Gauss-Seidel sweeps as bring it there.
///
/// Sweeps until the natural residual is `start_residual` or `start_sweeps` have been run, whichever comes
/// first, then takes Newton steps (docs/method.md, eq. W.1-W.6), whatever the residual. A guess that is good
/// enough needs no sweeps.
/// Cost    see nsgs and SemismoothNewton. Collective.
template <int D>
class Newton final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.real("start_residual", start_residual_,
                 {.range = positive, .doc = "Natural residual at which Newton steps replace sweeps"});
    section.integer("start_sweeps", start_sweeps_,
                    {.range = non_negative, .doc = "Most Gauss-Seidel sweeps before the Newton steps"});
    settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) newton_.emplace(settings_);
    if (start_sweeps_ > 0) {
      monitor.pause_when([this](std::int64_t sweep, Real residual) {
        return residual <= start_residual_ || sweep >= start_sweeps_;
      });
      sweeper_->iterate(problem, r, monitor);
      monitor.pause_when({});
    }
    if (monitor.done()) return;
    const std::string end = newton_->improve(problem, r, monitor);
    if (!monitor.done()) monitor.report().decisions.push_back("newton stopped: " + end);
  }

 private:
  Real start_residual_ = 1e-4;
  std::int64_t start_sweeps_ = 2000;
  typename SemismoothNewton<D>::Settings settings_;
  std::unique_ptr<FrictionSolver<D>> sweeper_ = make_solver<D>("nsgs");
  std::optional<SemismoothNewton<D>> newton_;
};

SCREE_PLUGIN(FrictionSolver, newton, Newton,
             "semismooth Newton steps after Gauss-Seidel sweeps; from 1e-4 to round-off in a few steps",
             laboratory)

}  // namespace scree
