#include <optional>

#include "friction/friction_solver.hpp"
#include "friction/newton/proximal_points.hpp"

namespace scree {

/// Proximal points with semismooth Newton steps inside (deck: solver.type = "proximal"); see ProximalPoints.
template <int D>
class Proximal final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.integer("max_rounds", max_rounds_,
                    {.range = positive, .doc = "Most proximal problems of a solve"});
    settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!points_) points_.emplace(settings_);
    points_->start_over();
    if (!points_->improve(problem, max_rounds_, r, monitor))
      monitor.report().decisions.push_back("proximal stopped: Newton steps fail however soft the problem");
  }

 private:
  std::int64_t max_rounds_ = 500;
  typename ProximalPoints<D>::Settings settings_;
  std::optional<ProximalPoints<D>> points_;
};

SCREE_PLUGIN(
    FrictionSolver, proximal, Proximal,
    "proximal point method with semismooth Newton steps; converges where sweeps and plain Newton steps stall",
    laboratory)

}  // namespace scree
