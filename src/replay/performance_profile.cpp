#include "replay/performance_profile.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

PerformanceProfile performance_profile(const std::vector<std::vector<Real>>& seconds) {
  PerformanceProfile profile;
  profile.tau.push_back(1);
  if (seconds.empty()) return profile;
  std::vector<std::vector<Real>> ratios(seconds.front().size());
  for (const std::vector<Real>& of_problem : seconds) {
    const Real best = std::max(least_profile_seconds, *std::ranges::min_element(of_problem));
    for (std::size_t s = 0; s < of_problem.size(); ++s)
      if (std::isfinite(of_problem[s]))
        ratios[s].push_back(std::max(least_profile_seconds, of_problem[s]) / best);
  }
  for (std::vector<Real>& of_solver : ratios) {
    std::ranges::sort(of_solver);
    profile.tau.insert(profile.tau.end(), of_solver.begin(), of_solver.end());
  }
  std::ranges::sort(profile.tau);
  profile.tau.erase(std::unique(profile.tau.begin(), profile.tau.end()), profile.tau.end());

  for (const std::vector<Real>& of_solver : ratios) {
    std::vector<Real>& share = profile.share.emplace_back();
    for (const Real tau : profile.tau) {
      const auto solved = std::ranges::upper_bound(of_solver, tau) - of_solver.begin();
      share.push_back(static_cast<Real>(solved) / static_cast<Real>(seconds.size()));
    }
  }
  return profile;
}

}  // namespace scree
