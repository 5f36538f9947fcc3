#include "schemes/event/impact_law.hpp"

#include <algorithm>

namespace scree {

std::string_view name(ImpactStop stop) {
  return stop == ImpactStop::exit ? "exit" : stop == ImpactStop::rest ? "rest" : "limit";
}

template <int D>
Real approach_speed(const ImpactConstraint<D>& constraint, std::span<const Vec<D>> velocity) {
  Vec<D> v = velocity[constraint.a];
  if (constraint.b >= 0) v -= velocity[constraint.b];
  return dot(constraint.normal, v);
}

template <int D>
Real effective_mass(const ImpactProblem<D>& problem, std::size_t i) {
  const ImpactConstraint<D>& constraint = problem.constraints[i];
  Real inverse_mass = 1 / problem.mass[constraint.a];
  if (constraint.b >= 0) inverse_mass += 1 / problem.mass[constraint.b];
  return 1 / (dot(constraint.normal, constraint.normal) * inverse_mass);
}

template <int D>
void apply_impulse(const ImpactProblem<D>& problem, std::size_t i, Real p, std::span<Vec<D>> velocity) {
  const ImpactConstraint<D>& constraint = problem.constraints[i];
  const std::size_t a = constraint.a;
  velocity[a] -= (p / problem.mass[a]) * constraint.normal;
  if (constraint.b < 0) return;
  const std::size_t b = constraint.b;
  velocity[b] += (p / problem.mass[b]) * constraint.normal;
}

template <int D>
bool project_admissible(const ImpactProblem<D>& problem, std::span<const Real> bound, Real scale,
                        std::span<Vec<D>> velocity, std::span<Real> impulse) {
  constexpr int max_sweeps = 100'000;
  constexpr Real negligible = 1e-15;
  std::ranges::fill(impulse, 0.0);
  std::vector<Real> mass(impulse.size());
  for (std::size_t i = 0; i < mass.size(); ++i) mass[i] = effective_mass(problem, i);
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    Real largest = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) {
      const Real excess = approach_speed<D>(problem.constraints[i], velocity) - bound[i];
      const Real before = impulse[i];
      impulse[i] = std::max(0.0, before + mass[i] * excess);
      apply_impulse(problem, i, impulse[i] - before, velocity);
      largest = std::max(largest, std::abs(impulse[i] - before) / mass[i]);
    }
    if (largest <= negligible * scale) return true;
  }
  return false;
}

template <int D>
Real largest_speed(std::span<const Vec<D>> velocity) {
  Real largest = 0;
  for (const Vec<D>& v : velocity) largest = std::max(largest, norm(v));
  return largest;
}

template <int D>
void ImpactLaw<D>::describe(Section& section) {
  section.real("approach_threshold", settings_.approach_threshold,
               {.range = positive,
                .doc = "Approach speed above which a contact counts as closing, over the largest speed of a "
                       "body of the cluster before the impact",
                .audience = Audience::laboratory});
  section.real("rest_threshold", settings_.rest_threshold,
               {.range = non_negative,
                .doc = "Largest speed of a body at which the cluster counts as at rest, in the same unit",
                .audience = Audience::laboratory});
  section.integer("max_impact_steps", settings_.max_steps,
                  {.range = {.min = 1}, .doc = "Steps of the law after which an impact is given up"});
}

template <int D>
ImpactReport ImpactLaw<D>::resolve(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity,
                                   std::span<Real> impulse) {
  effective_mass_.resize(problem.constraints.size());
  for (std::size_t i = 0; i < problem.constraints.size(); ++i)
    effective_mass_[i] = effective_mass(problem, i);
  sum_.resize(velocity.size());
  std::ranges::fill(impulse, 0.0);
  const Real start_speed = largest_speed<D>(velocity);
  for (ImpactReport report;; ++report.steps) {
    if (approached(problem, velocity, start_speed).empty()) return report;
    report.stop = ImpactStop::rest;
    if (largest_speed<D>(velocity) <= settings_.rest_threshold * start_speed) return report;
    report.stop = ImpactStop::limit;
    if (report.steps == settings_.max_steps) return report;
    report.stop = ImpactStop::exit;
    step(problem, velocity, impulse);
  }
}

template <int D>
std::span<const std::size_t> ImpactLaw<D>::approached(const ImpactProblem<D>& problem,
                                                      std::span<const Vec<D>> velocity, Real scale) {
  approach_.resize(problem.constraints.size());
  active_.clear();
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
    approach_[i] = approach_speed<D>(problem.constraints[i], velocity);
    if (approach_[i] > settings_.approach_threshold * scale) active_.push_back(i);
  }
  return active_;
}

template <int D>
Real ImpactLaw<D>::restitution(const ImpactProblem<D>& problem, std::size_t i) const {
  const ImpactConstraint<D>& constraint = problem.constraints[i];
  return approach_[i] <= constraint.rest_speed * norm(constraint.normal) ? 0 : constraint.restitution;
}

template Real approach_speed<2>(const ImpactConstraint<2>&, std::span<const Vec<2>>);
template Real effective_mass<2>(const ImpactProblem<2>&, std::size_t);
template void apply_impulse<2>(const ImpactProblem<2>&, std::size_t, Real, std::span<Vec<2>>);
template bool project_admissible<2>(const ImpactProblem<2>&, std::span<const Real>, Real, std::span<Vec<2>>,
                                    std::span<Real>);
template Real approach_speed<3>(const ImpactConstraint<3>&, std::span<const Vec<3>>);
template Real effective_mass<3>(const ImpactProblem<3>&, std::size_t);
template void apply_impulse<3>(const ImpactProblem<3>&, std::size_t, Real, std::span<Vec<3>>);
template bool project_admissible<3>(const ImpactProblem<3>&, std::span<const Real>, Real, std::span<Vec<3>>,
                                    std::span<Real>);
template Real largest_speed<2>(std::span<const Vec<2>>);
template Real largest_speed<3>(std::span<const Vec<3>>);
template class ImpactLaw<2>;
template class ImpactLaw<3>;

}  // namespace scree
