#pragma once
#include <array>
#include <cmath>

#include "replay/serial_problem.hpp"

/// Touching disks or spheres near the points of a square lattice with n of them per side, on a floor: normals
/// point in all directions and every body falls. The same on any number of ranks.
template <int D>
scree::SerialProblem<D> lattice_problem(int n, scree::Real mu = 0.5, bool double_contacts = false) {
  using scree::Index;
  using scree::Real;
  constexpr int q = scree::n_velocities<D>;
  scree::SerialProblem<D> problem;
  problem.time_step = 1e-3;
  problem.velocity_floor = 9.81e-3;
  const int n_layers = D == 3 ? n : 1;
  const auto noise = [](Index i, int k) {
    return std::sin(12.9898 * (i + 1) + 78.233 * (k + 1)) * 0.2;  // some number in [-0.2, 0.2]
  };
  for (int z = 0; z < n_layers; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const Index i = problem.n_bodies();
        const std::array<int, 3> cell{x, y, z};
        scree::Vec<D> at;
        for (int k = 0; k < D; ++k) at[k] = cell[k] + noise(i, k);
        const Real mass = 1 + 4 * noise(i, 7) * noise(i, 7);
        std::array<Real, 9> inertia{};
        for (std::size_t k = 0; k < 9; k += 4) inertia[k] = 0.1 * mass;
        std::array<Real, q> velocity{};
        velocity[D - 1] = -0.01;
        velocity[0] = 0.01 * noise(i, 9);
        problem.add_body(at, mass, std::span(inertia).first(D == 3 ? 9 : 1), velocity);
      }
  const auto connect = [&](Index a, Index b) {
    const scree::Vec<D>& from = problem.position[a];
    const scree::Vec<D>& to = problem.position[b];
    const Real length = norm(to - from);
    const scree::Vec<D> normal = (1 / length) * (to - from);
    problem.add_contact(a, b, from + 0.5 * length * normal, normal, mu);
    if (double_contacts) problem.add_contact(a, b, from + 0.4 * length * normal, normal, mu);
  };
  std::array<int, 3> step{1, n, n * n};
  for (Index i = 0; i < problem.n_bodies(); ++i) {
    const std::array<int, 3> cell{i % n, i / n % n, i / (n * n)};
    for (std::size_t k = 0; k < D; ++k)
      if (cell[k] + 1 < n) connect(i, i + step[k]);
    if (cell[D - 1] == 0) {
      scree::Vec<D> up;
      up[D - 1] = 1;
      const scree::Vec<D>& centre = problem.position[i];
      problem.add_contact(-1, i, centre - 0.5 * up, up, mu);
    }
  }
  return problem;
}
