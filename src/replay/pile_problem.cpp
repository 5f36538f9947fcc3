// The family "pile" of generated problems: sequential sweeps over its pairs, some hundred of them, so it is
// not one of those that Python makes.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "replay/generated_problems.hpp"

namespace scree {

namespace {

constexpr Real gravity = 9.81;    // m/s2
constexpr Real time_step = 0.01;  // s
constexpr Real density = 2500;    // kg/m3
constexpr Index the_ground = -1;

/// A sphere, or a disc 1 m deep.
template <int D>
Index add_sphere(SerialProblem<D>& problem, const Vec<D>& at, Real radius,
                 const std::array<Real, n_velocities<D>>& velocity) {
  const Real mass = density * std::numbers::pi * radius * radius * (D == 2 ? 1 : 4.0 / 3 * radius);
  const Real moment = (D == 2 ? 0.5 : 0.4) * mass * radius * radius;
  if constexpr (D == 2)
    return problem.add_body(at, mass, std::array{moment}, velocity);
  else
    return problem.add_body(at, mass, std::array{moment, 0.0, 0.0, 0.0, moment, 0.0, 0.0, 0.0, moment},
                            velocity);
}

/// Runs visit(i, j), i > j, for all points nearer to each other than `reach`, and for some that are not. The
/// visit may move the points a little.
template <int D, class Visit>
void for_near_pairs(const std::vector<Vec<D>>& points, Real reach, Visit&& visit) {
  Vec<D> low = points.front();
  Vec<D> high = low;
  for (const Vec<D>& x : points)
    for (int k = 0; k < D; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  std::array<int, D> n_cells;
  int n_all = 1;
  for (int k = 0; k < D; ++k) {
    n_cells[k] = 1 + static_cast<int>((high[k] - low[k]) / reach);
    n_all *= n_cells[k];
  }
  // Points of a cell as a chain, from the highest number down.
  std::vector<Index> newest(n_all, -1);
  std::vector<Index> older(points.size());
  for (Index i = 0; i < static_cast<Index>(points.size()); ++i) {
    std::array<int, D> cell;
    for (int k = 0; k < D; ++k)
      cell[k] = std::clamp(static_cast<int>((points[i][k] - low[k]) / reach), 0, n_cells[k] - 1);
    std::size_t own = 0;
    for (int neighbour = 0; neighbour < (D == 2 ? 9 : 27); ++neighbour) {
      std::size_t number = 0;
      bool exists = true;
      for (std::size_t k = 0, digits = static_cast<std::size_t>(neighbour); k < D; ++k, digits /= 3) {
        const int c = cell[k] + static_cast<int>(digits % 3) - 1;
        exists = exists && c >= 0 && c < n_cells[k];
        number = number * static_cast<std::size_t>(n_cells[k]) + static_cast<std::size_t>(std::max(c, 0));
      }
      if (!exists) continue;
      if (neighbour == (D == 2 ? 4 : 13)) own = number;
      for (Index j = newest[number]; j >= 0; j = older[j]) visit(i, j);
    }
    older[i] = newest[own];
    newest[own] = i;
  }
}

constexpr Real mean_radius = 0.1 / 4;
constexpr Real spacing = 2.5 * mean_radius;  // of the lattice where spheres start

template <int D>
struct Spheres {
  std::vector<Vec<D>> x;
  std::vector<Real> radius;
  Real width = 0;  // of the box
};

/// On a loose lattice in a box about as wide as the settled pile is high.
template <int D>
Spheres<D> loose_spheres(int size, std::uint64_t seed, int n_wide) {
  Spheres<D> spheres{std::vector<Vec<D>>(size), std::vector<Real>(size), n_wide * spacing};
  for (std::size_t i = 0; i < spheres.x.size(); ++i) {
    RandomStream random(seed, static_cast<GlobalId>(i), purpose::position);
    spheres.radius[i] = mean_radius * random.uniform(0.8, 1.2);
    std::size_t rest = i;
    for (int k = 0; k < D; ++k) {
      const std::size_t slot = k + 1 < D ? rest % static_cast<std::size_t>(n_wide) : rest;
      rest /= static_cast<std::size_t>(n_wide);
      spheres.x[i][k] = spacing * (static_cast<Real>(slot) + 0.5) + 0.1 * mean_radius * random.uniform(-1, 1);
    }
  }
  return spheres;
}

/// Lowers all spheres a little and pushes overlaps apart, until they have come down; then ever less.
template <int D>
void settle(Spheres<D>& spheres, int n_wide) {
  constexpr Real drop = 0.05 * mean_radius;
  constexpr int n_settling = 400;
  std::vector<Vec<D>>& x = spheres.x;
  const std::vector<Real>& radius = spheres.radius;
  const auto push_apart = [&](Index i, Index j) {
    Vec<D>& a = x[i];
    Vec<D>& b = x[j];
    const Real min = radius[i] + radius[j];
    const Vec<D> from_b = a - b;
    const Real distance = norm(from_b);
    if (distance >= min || distance == 0) return;
    const Vec<D> push = (0.5 * (min / distance - 1)) * from_b;
    a += push;
    b -= push;
  };
  // The settled pile is a little less than half as high as the lattice.
  const int n_falling =
      static_cast<int>(0.6 * spacing * (static_cast<Real>(x.size()) / std::pow(n_wide, D - 1) + 1) / drop);
  for (int round = 0; round < n_falling + n_settling; ++round) {
    const Real strength = std::min(1.0, static_cast<Real>(n_falling + n_settling - 1 - round) / n_settling);
    for (Vec<D>& at : x) at[D - 1] -= strength * strength * drop;
    for_near_pairs(x, 2 * 1.2 * mean_radius, push_apart);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int k = 0; k + 1 < D; ++k) x[i][k] = std::clamp(x[i][k], radius[i], spheres.width - radius[i]);
      x[i][D - 1] = std::max(x[i][D - 1], radius[i]);
    }
  }
}

}  // namespace

template <int D>
SerialProblem<D> pile_problem(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  constexpr Real reach = gravity * time_step * time_step;  // gaps that a step may close
  const int n_wide = std::max(1, static_cast<int>(std::pow(size, 1.0 / D)));
  Spheres<D> spheres = loose_spheres<D>(size, seed, n_wide);
  settle(spheres, n_wide);
  const std::vector<Vec<D>>& x = spheres.x;
  const std::vector<Real>& radius = spheres.radius;

  SerialProblem<D> problem;
  problem.time_step = time_step;
  problem.velocity_floor = gravity * time_step;
  std::array<Real, n_velocities<D>> velocity{};
  velocity[D - 1] = -gravity * time_step;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index body = add_sphere(problem, x[i], radius[i], velocity);
    const auto touch_wall = [&](const Vec<D>& normal, Real gap) {
      if (gap < reach)
        problem.add_contact(the_ground, body, x[i] - radius[i] * normal, normal, mu,
                            std::max(gap, 0.0) / time_step);
    };
    for (int k = 0; k < D; ++k) touch_wall(unit_vector<D>(k), x[i][k] - radius[i]);
    for (int k = 0; k + 1 < D; ++k) touch_wall(unit_vector<D>(k, -1), spheres.width - x[i][k] - radius[i]);
  }
  for_near_pairs(x, 2 * 1.2 * mean_radius + reach, [&](Index i, Index j) {
    const Vec<D> apart = x[i] - x[j];
    const Real distance = norm(apart);
    const Real gap = distance - radius[j] - radius[i];
    if (gap >= reach) return;
    const Vec<D> normal = (1 / distance) * apart;
    problem.add_contact(j, i, x[j] + (radius[j] + 0.5 * gap) * normal, normal, mu,
                        std::max(gap, 0.0) / time_step);
  });
  return problem;
}

template SerialProblem<2> pile_problem<2>(int, std::uint64_t);
template SerialProblem<3> pile_problem<3>(int, std::uint64_t);

}  // namespace scree
