#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck.hpp"
#include "friction/friction_solver.hpp"
#include "replay/split_problem.hpp"
#include "support/gather.hpp"

/// The solver with these keys of [solver], as a deck would give them.
template <int D>
std::unique_ptr<scree::FrictionSolver<D>> make_solver_with(std::string_view name, const std::string& keys) {
  auto solver = scree::make_solver<D>(name);
  scree::Deck deck = scree::Deck::from_text(keys, "test");
  solver->describe(deck.root());
  deck.require_all_read();
  return solver;
}

/// Names of all registered solvers.
template <int D>
std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const auto& entry : scree::registry<scree::FrictionSolver<D>>()) names.emplace_back(entry.name);
  return names;
}

template <int D>
struct Solution {
  std::vector<scree::Real> r, v;  ///< of the list, on every rank
  scree::SolveReport report;
};

/// Least residual that the solver has looked at.
inline scree::Real min_residual(const scree::SolveReport& report) {
  scree::Real min = HUGE_VAL;
  for (const scree::ResidualSample& sample : report.trace) min = std::min(min, sample.residual);
  return min;
}

/// Solves `whole`, shared between the ranks of `comm`, from impulses `start` of the list (empty: from zero).
template <int D>
Solution<D> solve_serial(const scree::Comm& comm, const scree::SerialProblem<D>& whole,
                         scree::FrictionSolver<D>& solver, scree::Real tolerance,
                         const std::vector<scree::Real>& start = {}, scree::Real max_seconds = HUGE_VAL) {
  using scree::Real;
  const scree::SplitProblem<D> split(comm, whole);
  const std::size_t n = split.problem().n_contacts();
  std::vector<Real> r(n * D, 0.0);
  if (!start.empty())
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] = start[static_cast<std::size_t>(split.contact_number()[i / D]) * D + i % D];
  std::vector<Real> v(static_cast<std::size_t>(split.problem().n_local()) * scree::n_velocities<D>);
  Solution<D> solution;
  solution.report = scree::solve_friction<D>(split.problem(), solver,
                                             {.tolerance = tolerance, .max_seconds = max_seconds}, r, v);
  solution.r = gather_contacts(split, r, D);
  solution.v = gather_bodies(split, v, scree::n_velocities<D>);
  return solution;
}

/// Root of twice the kinetic energy of the difference, over that of a free step.
template <int D>
scree::Real kinetic_difference(const scree::SerialProblem<D>& whole, const std::vector<scree::Real>& v,
                               const std::vector<scree::Real>& w) {
  using scree::Real;
  constexpr std::size_t q = scree::n_velocities<D>;
  Real difference = 0;
  Real free = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = 0; k < q; ++k) {
      const std::size_t j = i / q * q + k;
      const Real mass = whole.mass[i * q + k];
      difference += (v[i] - w[i]) * mass * (v[j] - w[j]);
      free += whole.free_velocity[i] * mass * whole.free_velocity[j];
    }
  return std::sqrt(difference / free);
}

/// Makes all contacts compliant: G = `scaled` / (mean mass of a body), along N and T.
template <int D>
void make_compliant(scree::SerialProblem<D>& whole, scree::Real scaled) {
  constexpr std::size_t q = scree::n_velocities<D>;
  scree::Real mass = 0;
  for (std::size_t i = 0; i < whole.position.size(); ++i)
    mass += whole.mass[i * q * q] / static_cast<scree::Real>(whole.position.size());
  whole.compliance.assign(whole.mu.size() * 2, scaled / mass);
}
