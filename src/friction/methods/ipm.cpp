#include <fmt/format.h>

#include <optional>

#include "friction/ipm/nesterov_todd.hpp"
#include "friction/ipm/split.hpp"

namespace scree {

/// Interior point (deck: solver.type = "ipm"): follows impulses strictly inside their cones to a solution,
/// with one linear system
///     (s I + J^T K J) dy = b                                                           (docs/method.md, S.1)
/// per step, whose blocks K grow to 1/gap where contacts press and vanish where they open. Variants:
/// - "nt": Nesterov-Todd scaling of the shifted cones, predictor and corrector (I.1-I.9);
/// - "split": the published method with separate normal and friction multipliers (I.10-I.18). It works in its
///   own scales and ends by its own test, which weakens like 1/sqrt(contacts).
///
/// Shapes  as ScaledProblem.
/// Cost    a linear system with two right-hand sides per step, 10 to 80 steps.
/// Ranks   collective; agrees between numbers of ranks to the tolerance only.
/// Sources see NesterovTodd and SplitInteriorPoint.
template <int D>
class Ipm final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.choice("variant", is_split_, {{"nt", false}, {"split", true}},
                   {.doc = "Nesterov-Todd scaling, or the published method with split multipliers"});
    section.integer("max_steps", max_steps_, {.range = positive, .doc = "Most Newton steps of a solve"});
    section.real("start", scaled_.start,
                 {.range = positive, .doc = "\"nt\": scaled normal impulse of a cold start"});
    section.real("eps_p", split_.eps_p,
                 {.range = positive, .doc = "\"split\": smoothing of |r_T|, in scaled impulses"});
    section.real("eps_s", split_.eps_s,
                 {.range = positive, .doc = "\"split\": widening of the friction disc, in scaled impulses"});
    section.real("eps_T", split_.eps_T,
                 {.range = positive, .doc = "\"split\": ends when min(E1, E2) is below"});
    linear_.describe(section);
    if (!section.reading()) return;
    // Resolved decks, from which a run goes on, give every key.
    const auto refuse = [&](const char* key, bool of_split, Real value, Real usual) {
      if (is_split_ != of_split && value != usual)
        section.fail(key, fmt::format("{} has no effect without variant = \"{}\": remove it", key,
                                      of_split ? "split" : "nt"));
    };
    const typename SplitInteriorPoint<D>::Settings split;
    refuse("start", false, scaled_.start, typename NesterovTodd<D>::Settings{}.start);
    refuse("eps_p", true, split_.eps_p, split.eps_p);
    refuse("eps_s", true, split_.eps_s, split.eps_s);
    refuse("eps_T", true, split_.eps_T, split.eps_T);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!system_) system_.emplace(linear_, SchurSystem<D>::Kind::symmetric);
    scaled_.max_steps = split_.max_steps = max_steps_;
    if (!is_split_)
      nesterov_todd_.iterate(problem, scaled_, *system_, r, monitor);
    else
      split_point_.iterate(problem, split_, *system_, r, monitor);
  }

 private:
  bool is_split_ = false;
  std::int64_t max_steps_ = 200;
  typename NesterovTodd<D>::Settings scaled_;
  typename SplitInteriorPoint<D>::Settings split_;
  typename SchurSystem<D>::Settings linear_;
  std::optional<SchurSystem<D>> system_;
  NesterovTodd<D> nesterov_todd_;
  SplitInteriorPoint<D> split_point_;
};

SCREE_PLUGIN(FrictionSolver, ipm, Ipm, "interior-point method: few steps, each with a linear system",
             laboratory)

}  // namespace scree
