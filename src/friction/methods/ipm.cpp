#include <optional>

#include "friction/ipm/nesterov_todd.hpp"

namespace scree {

/// Interior point (deck: solver.type = "ipm"): follows impulses strictly inside their cones to a solution,
/// with one linear system
///     (s I + J^T K J) dy = b                                                           (docs/method.md, S.1)
/// per step, whose blocks K grow to 1/gap where contacts press and vanish where they open: Nesterov-Todd
/// scaling of the shifted cones, predictor and corrector (I.1-I.9).
///
/// Shapes  as ScaledProblem.
/// Cost    a linear system with two right-hand sides per step, 10 to 80 steps.
/// Ranks   collective; agrees between numbers of ranks to the tolerance only.
/// Source  see NesterovTodd.
template <int D>
class Ipm final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_steps", settings_.max_steps,
                    {.range = positive, .doc = "Most Newton steps of a solve"});
    section.real("start", settings_.start,
                 {.range = positive, .doc = "Scaled normal impulse of a cold start"});
    linear_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!system_) system_.emplace(linear_, SchurSystem<D>::Kind::symmetric);
    nesterov_todd_.iterate(problem, settings_, *system_, r, monitor);
  }

 private:
  typename NesterovTodd<D>::Settings settings_;
  typename SchurSystem<D>::Settings linear_;
  std::optional<SchurSystem<D>> system_;
  NesterovTodd<D> nesterov_todd_;
};

SCREE_PLUGIN(FrictionSolver, ipm, Ipm, "interior-point method: few steps, each with a linear system",
             laboratory)

}  // namespace scree
