#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

#include "core/random.hpp"
#include "replay/listed_problem.hpp"

/// What generated problems are made of: boxes and spheres, and contacts of their faces.
namespace scree::generated {

inline constexpr Real gravity = 9.81;    // m/s2
inline constexpr Real time_step = 0.01;  // s
inline constexpr Real density = 2500;    // kg/m3; in the plane of discs and plates 1 m deep
inline constexpr Real brick = 0.1;       // m, the length bodies are made of
inline constexpr Index the_ground = -1;

/// Random streams of these problems, one for each use.
namespace stream {
inline constexpr std::uint32_t mass = 1001, friction = 1002, body = 1003, contact = 1004, velocity = 1005,
                               impulse = 1006, order = 1007;
}

template <int D>
ListedProblem<D> empty_problem() {
  ListedProblem<D> problem;
  problem.time_step = time_step;
  problem.velocity_floor = gravity * time_step;
  return problem;
}

/// Directions of the first and last axis of a box; the others follow.
template <int D>
struct Orientation {
  Vec<D> first = unit_vector<D>(0);
  Vec<D> last = unit_vector<D>(D - 1);
};

/// A box, free to fall from rest or with `speed` along the x axis. In the plane it is 1 m deep.
template <int D>
Index add_box(ListedProblem<D>& problem, const Vec<D>& at, const Vec<D>& half, Real rho = density,
              Real speed = 0, const Orientation<D>& orientation = {}) {
  Real mass = rho;
  for (int k = 0; k < D; ++k) mass *= 2 * half[k];
  const Real xx = mass / 3 * half[0] * half[0];
  const Real zz = mass / 3 * half[D - 1] * half[D - 1];
  std::array<Real, n_velocities<D>> velocity{speed};
  velocity[D - 1] = -gravity * time_step;
  if constexpr (D == 2) {
    return problem.add_body(at, mass, std::array{xx + zz}, velocity);
  } else {
    const Real yy = mass / 3 * half[1] * half[1];
    std::array<Real, 9> inertia{};
    const Vec<3>& e = orientation.first;
    const Vec<3>& f = orientation.last;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        inertia[static_cast<std::size_t>(3 * i + j)] =
            (i == j ? xx + zz : 0) + (yy - xx) * e[i] * e[j] + (yy - zz) * f[i] * f[j];
    return problem.add_body(at, mass, inertia, velocity);
  }
}

/// A sphere, or a disc 1 m deep.
template <int D>
Index add_ball(ListedProblem<D>& problem, const Vec<D>& at, Real radius,
               const std::array<Real, n_velocities<D>>& velocity) {
  const Real mass = density * std::numbers::pi * radius * radius * (D == 2 ? 1 : 4.0 / 3 * radius);
  const Real moment = (D == 2 ? 0.5 : 0.4) * mass * radius * radius;
  if constexpr (D == 2)
    return problem.add_body(at, mass, std::array{moment}, velocity);
  else
    return problem.add_body(at, mass, std::array{moment, 0.0, 0.0, 0.0, moment, 0.0, 0.0, 0.0, moment},
                            velocity);
}

/// Contacts at the corners of the region in which the faces of two boxes meet: `low` and `high` are equal
/// along `axis`, which is the normal from a to b.
template <int D>
void add_face(ListedProblem<D>& problem, Index a, Index b, const Vec<D>& low, const Vec<D>& high, int axis,
              Real mu) {
  for (unsigned corner = 0; corner < (1U << D); ++corner) {
    if (corner >> axis & 1U) continue;
    Vec<D> at = low;
    for (int k = 0; k < D; ++k)
      if (corner >> k & 1U) at[k] = high[k];
    problem.add_contact(a, b, at, unit_vector<D>(axis), mu);
  }
}

/// A box along the axes that has been added.
template <int D>
struct Block {
  Index body;
  Vec<D> at, half;
};

/// A rectangle across one of the axes, or an interval.
template <int D>
struct Face {
  Vec<D> low, high;
};

/// Where the face of `first` towards the positive `axis` and the opposite face of `second` overlap.
template <int D>
std::optional<Face<D>> overlap(const Block<D>& first, const Block<D>& second, int axis) {
  Face<D> face;
  for (int k = 0; k < D; ++k) {
    face.low[k] = std::max(first.at[k] - first.half[k], second.at[k] - second.half[k]);
    face.high[k] = std::min(first.at[k] + first.half[k], second.at[k] + second.half[k]);
    if (k != axis && face.high[k] - face.low[k] < 1e-6 * first.half[k]) return {};
  }
  face.low[axis] = face.high[axis] = first.at[axis] + first.half[axis];
  return face;
}

template <int D>
Face<D> bottom(const Block<D>& block) {
  Face<D> face{block.at - block.half, block.at + block.half};
  face.high[D - 1] = face.low[D - 1];
  return face;
}

/// Contacts where the faces overlap, if they do.
template <int D>
void join(ListedProblem<D>& problem, const Block<D>& first, const Block<D>& second, int axis, Real mu) {
  if (const auto face = overlap(first, second, axis))
    add_face(problem, first.body, second.body, face->low, face->high, axis, mu);
}

template <int D>
void stand_on_ground(ListedProblem<D>& problem, const Block<D>& block, Real mu) {
  const Face<D> face = bottom(block);
  add_face(problem, the_ground, block.body, face.low, face.high, D - 1, mu);
}

/// Multiplies each mass and each mu by a factor of its own, at most 1 +- the share.
template <int D>
ListedProblem<D> varied(ListedProblem<D> problem, std::uint64_t seed, Real share_of_mass, Real share_of_mu) {
  const auto factor = [seed](std::size_t id, std::uint32_t use, Real share) {
    return 1 + share * RandomStream(seed, static_cast<GlobalId>(id), use).uniform(-1, 1);
  };
  for (std::size_t i = 0; i < problem.mass.size(); ++i)
    problem.mass[i] *= factor(i / (problem.q * problem.q), stream::mass, share_of_mass);
  for (std::size_t c = 0; c < problem.mu.size(); ++c)
    problem.mu[c] *= factor(c, stream::friction, share_of_mu);
  return problem;
}

/// Box k of a column, shifted sideways by at most `jitter` half widths.
template <int D>
Block<D> block_of_column(std::uint64_t seed, int k, const Vec<D>& half, Real jitter) {
  RandomStream random(seed, k, purpose::jitter);
  Block<D> block{0, {}, half};
  for (int axis = 0; axis + 1 < D; ++axis) block.at[axis] = jitter * half[axis] * random.uniform(-1, 1);
  block.at[D - 1] = (2 * k + 1) * half[D - 1];
  return block;
}

}  // namespace scree::generated
