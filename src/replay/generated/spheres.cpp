#include "replay/generated/families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "replay/generated/bodies.hpp"

namespace scree::generated {

namespace {

/// A sphere wherever the half-integer coordinates of a site sum to an even number: face-centred cubic in
/// space.
template <int D>
ListedProblem<D> make_jammed(int size, std::uint64_t seed) {
  constexpr Real mu = 0.3;
  constexpr Real radius = brick / 4;
  const int n_sites = 2 * size + 1;  // along an axis
  using Site = std::array<int, D>;
  const auto number = [&](const Site& site) {
    std::size_t n = 0;
    for (const int s : site) n = n * static_cast<std::size_t>(n_sites) + static_cast<std::size_t>(s);
    return n;
  };
  ListedProblem<D> problem = empty_problem<D>();
  std::vector<Index> body_at(number(Site{1}) * static_cast<std::size_t>(n_sites), -1);
  std::vector<Site> sites;
  for (std::size_t i = 0; i < body_at.size(); ++i) {
    Site site;
    int sum = 0;
    for (std::size_t k = D, rest = i; k-- > 0; rest /= static_cast<std::size_t>(n_sites))
      sum += site[k] = static_cast<int>(rest % static_cast<std::size_t>(n_sites));
    if (sum % 2 != 0) continue;
    RandomStream random(seed, static_cast<GlobalId>(i), purpose::jitter);
    std::array<Real, n_velocities<D>> velocity{};
    for (int k = 0; k < n_velocities<D>; ++k)
      velocity[static_cast<std::size_t>(k)] =
          gravity * time_step * random.uniform(-1, 1) / (k < D ? 1 : radius);
    velocity[D - 1] -= gravity * time_step;
    Vec<D> at;
    for (int k = 0; k < D; ++k) at[k] = radius * (1 + std::sqrt(2.0) * site[static_cast<std::size_t>(k)]);
    body_at[i] = add_ball(problem, at, radius, velocity);
    sites.push_back(site);
  }
  for (Index body = 0; body < problem.n_bodies(); ++body) {
    const Site& site = sites[static_cast<std::size_t>(body)];
    const Vec<D>& at = problem.position[static_cast<std::size_t>(body)];
    for (int k = 0; k < D; ++k) {
      const auto axis = static_cast<std::size_t>(k);
      if (site[axis] == 0)
        problem.add_contact(the_ground, body, at - unit_vector<D>(k, radius), unit_vector<D>(k), mu);
      if (site[axis] == n_sites - 1)
        problem.add_contact(body, the_ground, at + unit_vector<D>(k, radius), unit_vector<D>(k), mu);
      for (int other = k + 1; other < D; ++other)
        for (const int side : {-1, 1}) {
          Site there = site;
          ++there[axis];
          there[static_cast<std::size_t>(other)] += side;
          if (std::any_of(there.begin(), there.end(), [&](int s) { return s < 0 || s >= n_sites; })) continue;
          const Vec<D> normal =
              unit_vector<D>(k, std::sqrt(0.5)) + unit_vector<D>(other, side * std::sqrt(0.5));
          problem.add_contact(body, body_at[number(there)], at + radius * normal, normal, mu);
        }
    }
  }
  return problem;
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
    n_cells[static_cast<std::size_t>(k)] = 1 + static_cast<int>((high[k] - low[k]) / reach);
    n_all *= n_cells[static_cast<std::size_t>(k)];
  }
  // Points of a cell as a chain, from the highest number down.
  std::vector<Index> newest(static_cast<std::size_t>(n_all), -1);
  std::vector<Index> older(points.size());
  for (Index i = 0; i < static_cast<Index>(points.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::array<int, D> cell;
    for (int k = 0; k < D; ++k)
      cell[static_cast<std::size_t>(k)] = std::clamp(static_cast<int>((points[at][k] - low[k]) / reach), 0,
                                                     n_cells[static_cast<std::size_t>(k)] - 1);
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
      for (Index j = newest[number]; j >= 0; j = older[static_cast<std::size_t>(j)]) visit(i, j);
    }
    older[at] = newest[own];
    newest[own] = i;
  }
}
template <int D>
ListedProblem<D> make_pile(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  constexpr Real mean_radius = brick / 4;
  constexpr Real reach = gravity * time_step * time_step;  // gaps that a step may close
  constexpr Real drop = 0.05 * mean_radius;
  constexpr int n_settling = 400;

  // A box about as wide as the settled pile is high; the spheres start on a loose lattice in it.
  const Real spacing = 2.5 * mean_radius;
  const int n_wide = std::max(1, static_cast<int>(std::pow(size, 1.0 / D)));
  const Real width = n_wide * spacing;
  std::vector<Vec<D>> x(static_cast<std::size_t>(size));
  std::vector<Real> radius(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    RandomStream random(seed, static_cast<GlobalId>(i), purpose::position);
    radius[i] = mean_radius * random.uniform(0.8, 1.2);
    std::size_t rest = i;
    for (int k = 0; k < D; ++k) {
      const std::size_t slot = k + 1 < D ? rest % static_cast<std::size_t>(n_wide) : rest;
      rest /= static_cast<std::size_t>(n_wide);
      x[i][k] = spacing * (static_cast<Real>(slot) + 0.5) + 0.1 * mean_radius * random.uniform(-1, 1);
    }
  }

  // Lower all spheres a little and push overlaps apart, until they have come down; then ever less.
  const Real largest = 2 * 1.2 * mean_radius;
  const auto push_apart = [&](Index i, Index j) {
    Vec<D>& a = x[static_cast<std::size_t>(i)];
    Vec<D>& b = x[static_cast<std::size_t>(j)];
    const Real least = radius[static_cast<std::size_t>(i)] + radius[static_cast<std::size_t>(j)];
    const Vec<D> from_b = a - b;
    const Real distance = norm(from_b);
    if (distance >= least || distance == 0) return;
    const Vec<D> push = (0.5 * (least / distance - 1)) * from_b;
    a += push;
    b -= push;
  };
  // The settled pile is a little less than half as high as the lattice.
  const int n_falling =
      static_cast<int>(0.6 * spacing * (static_cast<Real>(size) / std::pow(n_wide, D - 1) + 1) / drop);
  for (int round = 0; round < n_falling + n_settling; ++round) {
    const Real strength = std::min(1.0, static_cast<Real>(n_falling + n_settling - 1 - round) / n_settling);
    for (Vec<D>& at : x) at[D - 1] -= strength * strength * drop;
    for_near_pairs(x, largest, push_apart);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int k = 0; k + 1 < D; ++k) x[i][k] = std::clamp(x[i][k], radius[i], width - radius[i]);
      x[i][D - 1] = std::max(x[i][D - 1], radius[i]);
    }
  }

  ListedProblem<D> problem = empty_problem<D>();
  std::array<Real, n_velocities<D>> velocity{};
  velocity[D - 1] = -gravity * time_step;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index body = add_ball(problem, x[i], radius[i], velocity);
    const auto touch_wall = [&](const Vec<D>& normal, Real gap) {
      if (gap < reach)
        problem.add_contact(the_ground, body, x[i] - radius[i] * normal, normal, mu,
                            std::max(gap, 0.0) / time_step);
    };
    for (int k = 0; k < D; ++k) touch_wall(unit_vector<D>(k), x[i][k] - radius[i]);
    for (int k = 0; k + 1 < D; ++k) touch_wall(unit_vector<D>(k, -1), width - x[i][k] - radius[i]);
  }
  for_near_pairs(x, largest + reach, [&](Index i, Index j) {
    const auto first = static_cast<std::size_t>(j);
    const Vec<D> apart = x[static_cast<std::size_t>(i)] - x[first];
    const Real distance = norm(apart);
    const Real gap = distance - radius[first] - radius[static_cast<std::size_t>(i)];
    if (gap >= reach) return;
    const Vec<D> normal = (1 / distance) * apart;
    problem.add_contact(j, i, x[first] + (radius[first] + 0.5 * gap) * normal, normal, mu,
                        std::max(gap, 0.0) / time_step);
  });
  return problem;
}

}  // namespace

template <int D>
std::vector<GeneratedProblem<D>> spheres() {
  return {{"jammed",
           "face-centred cubic packing that fills its box, shaken at random by g dt; mu 0.3; self-stress "
           "of any size; solvable, for v = 0 violates nothing",
           "cells along an edge", 1, D == 2 ? 400 : 40, make_jammed<D>},
          {"pile", "random spheres settled in a box with walls; mu 0.5; solvable, for v = 0 violates nothing",
           "spheres", 1, 100'000, make_pile<D>}};
}
template std::vector<GeneratedProblem<2>> spheres();
template std::vector<GeneratedProblem<3>> spheres();

}  // namespace scree::generated
