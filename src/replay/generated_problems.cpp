#include "replay/generated_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "core/error.hpp"
#include "core/random.hpp"

namespace scree {

namespace {

constexpr Real gravity = 9.81;    // m/s2
constexpr Real time_step = 0.01;  // s
constexpr Real density = 2500;    // kg/m3; in the plane of discs and plates 1 m deep
constexpr Real brick = 0.1;       // m, the length bodies are made of
constexpr Index the_ground = -1;

/// Random streams of these problems, one for each use.
namespace stream {
constexpr std::uint32_t mass = 1001, friction = 1002, body = 1003, contact = 1004, velocity = 1005,
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

/// Equal boxes one on the other, with the density and speed that `matter(k)` says.
template <int D, class Matter>
ListedProblem<D> make_column(int size, std::uint64_t seed, const Vec<D>& half, Real mu, Real jitter,
                             Matter&& matter) {
  ListedProblem<D> problem = empty_problem<D>();
  Block<D> below{};
  for (int k = 0; k < size; ++k) {
    Block<D> block = block_of_column(seed, k, half, jitter);
    const auto [rho, speed] = matter(k);
    block.body = add_box(problem, block.at, half, rho, speed);
    if (k == 0)
      stand_on_ground(problem, block, mu);
    else
      join(problem, below, block, D - 1, mu);
    below = block;
  }
  return problem;
}

template <int D>
ListedProblem<D> make_stack(int size, std::uint64_t seed) {
  return make_column<D>(size, seed, filled<D>(brick / 2), 0.5, 0.1, [](int) {
    return std::pair{density, 0.0};
  });
}

template <int D>
ListedProblem<D> make_mass_ratio(int size, std::uint64_t seed) {
  return make_column<D>(size, seed, filled<D>(brick / 2), 0.5, 0.1, [size](int k) {
    return std::pair{density * std::pow(1e4, static_cast<Real>(k) / (size - 1)), 0.0};
  });
}

template <int D>
ListedProblem<D> make_sliding(int size, std::uint64_t seed) {
  Vec<D> half = filled<D>(brick);
  half[D - 1] = brick / 20;
  // Whatever the masses, plate k is pushed back by mu g dt times its own.
  return varied(make_column<D>(size, seed, half, 0.3, 0,
                               [](int k) {
                                 return std::pair{density, 0.1 * (k + 1)};
                               }),
                seed, 0.1, 0);
}

template <int D>
ListedProblem<D> make_redundant(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  ListedProblem<D> problem = empty_problem<D>();
  Vec<D> half = filled<D>(brick);
  half[D - 1] = brick / 20;
  Vec<D> at;
  at[D - 1] = half[D - 1];
  const Index plate = add_box(problem, at, half, density, 0.5 * mu * gravity * time_step);
  for (int i = 0; i < (D == 2 ? size : size * size); ++i) {
    Vec<D> point;
    point[0] = half[0] * (2.0 * (i % size) / (size - 1) - 1);
    const int row = i / size;
    if (D == 3) point[1] = half[1] * (2.0 * row / (size - 1) - 1);
    problem.add_contact(the_ground, plate, point, unit_vector<D>(D - 1), mu);
  }
  return varied(std::move(problem), seed, 0.1, 0.1);
}

/// Every brick lies on its whole length, so from the top down its weight and what rests on it can go straight
/// down at the ends of the overlaps below: the wall stands whatever the masses and mu are. So do kapla and
/// tower.
template <int D>
ListedProblem<D> make_wall(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  ListedProblem<D> problem = empty_problem<D>();
  std::vector<Block<D>> below, course;
  for (int level = 0; level < size; ++level) {
    // Running bond: odd courses begin and end with half a brick.
    Real end = 0;
    for (Real begin = 0; begin < size; begin = end) {
      end = std::min<Real>(begin == 0 && level % 2 == 1 ? 0.5 : begin + 1, size);
      Block<D> block{0, {}, filled<D>(brick / 4)};
      block.half[0] = 0.5 * (end - begin) * brick;
      block.at[0] = 0.5 * (end + begin) * brick;
      block.at[D - 1] = (2 * level + 1) * block.half[D - 1];
      block.body = add_box(problem, block.at, block.half);
      if (!course.empty()) join(problem, course.back(), block, 0, mu);
      if (level == 0) stand_on_ground(problem, block, mu);
      for (const Block<D>& under : below) join(problem, under, block, D - 1, mu);
      course.push_back(block);
    }
    below = std::move(course);
    course.clear();
  }
  return varied(std::move(problem), seed, 0.1, 0.1);
}

ListedProblem<3> make_kapla(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  ListedProblem<3> problem = empty_problem<3>();
  std::vector<Block<3>> below, level;
  for (int k = 0; k < size; ++k) {
    const int along = k % 2;
    for (const Real side : {-0.8, 0.8}) {
      Block<3> plank{0, {}, filled<3>(brick / 10)};
      plank.half[along] = brick;
      plank.at[1 - along] = side * brick;
      plank.at[2] = (2 * k + 1) * plank.half[2];
      plank.body = add_box(problem, plank.at, plank.half);
      if (k == 0) stand_on_ground(problem, plank, mu);
      for (const Block<3>& under : below) join(problem, under, plank, 2, mu);
      level.push_back(plank);
    }
    below = std::move(level);
    level.clear();
  }
  return varied(std::move(problem), seed, 0.1, 0.1);
}

/// Stones between two circles, from one angle to another: their centre of mass is that of the piece of the
/// ring, their inertia that of a box of the same size.
struct Ring {
  Real inner = 0.9, outer = 1.1;  // m
  Real thickness() const { return outer - inner; }
  Real arc(Real angle) const { return 0.5 * angle * (inner + outer); }
  /// Distance of the centre of mass of a stone from the axis.
  Real center(Real angle) const {
    return 4.0 / 3 * std::sin(angle / 2) / angle * (std::pow(outer, 3) - std::pow(inner, 3)) /
           (outer * outer - inner * inner);
  }
  /// The direction at an angle in the plane of two axes.
  template <int D>
  static Vec<D> direction(Real angle, int second_axis) {
    return unit_vector<D>(0, std::cos(angle)) + unit_vector<D>(second_axis, std::sin(angle));
  }
};

/// A semicircular arch of equal stones stands from a thickness of 0.1075 mean radii on, and without slip from
/// mu = 0.31 (Heyman's safe theorem; Milankovitch 1907); this one is 0.2 thick. Masses that differ by a share
/// s move its line of thrust by at most s radii, and 0.046 are free on either side.
template <int D>
ListedProblem<D> make_arch(int size, std::uint64_t seed) {
  constexpr Real mu = 0.7;
  const Ring ring;
  const auto direction = [](Real angle) { return Ring::direction<D>(angle, D - 1); };
  const Real quarter = std::numbers::pi / 2;
  const Real angle = std::numbers::pi / size;
  ListedProblem<D> problem = empty_problem<D>();
  Vec<D> half = filled<D>(brick / 2);
  half[0] = ring.arc(angle) / 2;
  half[D - 1] = ring.thickness() / 2;
  for (int k = 0; k < size; ++k) {
    const Real middle = (k + 0.5) * angle;
    add_box(problem, ring.center(angle) * direction(middle), half, density, 0,
            {direction(middle + quarter), direction(middle)});
  }
  for (int k = 0; k <= size; ++k)
    for (const Real radius : {ring.inner, ring.outer})
      for (int side = 0; side < D - 1; ++side) {
        Vec<D> point = radius * direction(k * angle);
        if (D == 3) point[1] = side == 0 ? -half[1] : half[1];
        problem.add_contact(k == 0 ? the_ground : k - 1, k == size ? the_ground : k, point,
                            direction(k * angle + quarter), mu);
      }
  return varied(std::move(problem), seed, 0.03, 0.1);
}

ListedProblem<3> make_tower(int size, std::uint64_t seed) {
  constexpr Real mu = 0.5;
  constexpr int n_around = 12;
  const Ring ring;
  const auto direction = [](Real angle) { return Ring::direction<3>(angle, 1); };
  const Real quarter = std::numbers::pi / 2;
  const Real angle = 2 * std::numbers::pi / n_around;
  const Vec<3> half{{ring.arc(angle) / 2, ring.thickness() / 2, brick / 2}};
  ListedProblem<3> problem = empty_problem<3>();
  // Stone k of a course lies between the angles (k + shift) and (k + shift + 1); odd courses are shifted.
  const auto shift = [](int level) { return 0.5 * (level % 2); };
  const auto stone = [](int level, int k) { return level * n_around + (k + n_around) % n_around; };
  for (int level = 0; level < size; ++level)
    for (int k = 0; k < n_around; ++k) {
      const Real middle = (k + shift(level) + 0.5) * angle;
      add_box(problem, ring.center(angle) * direction(middle) + unit_vector<3>(2, (2 * level + 1) * half[2]),
              half, density, 0, {direction(middle + quarter), unit_vector<3>(2)});
    }
  for (int level = 0; level < size; ++level)
    for (int k = 0; k < n_around; ++k) {
      const Real bed = 2 * level * half[2];
      const Real from = k + shift(level);
      for (const Real radius : {ring.inner, ring.outer})
        for (int end = 0; end < 2; ++end) {
          for (int part = 0; part < 2; ++part) {
            const Index below = level == 0 ? the_ground : stone(level - 1, k + part - (level % 2 == 0));
            problem.add_contact(
                below, stone(level, k),
                radius * direction((from + 0.5 * (part + end)) * angle) + unit_vector<3>(2, bed),
                unit_vector<3>(2), mu);
          }
          const Real joint = (from + 1) * angle;
          problem.add_contact(stone(level, k), stone(level, k + 1),
                              radius * direction(joint) + unit_vector<3>(2, bed + 2 * end * half[2]),
                              direction(joint + quarter), mu);
        }
    }
  return varied(std::move(problem), seed, 0.1, 0.1);
}

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

/// A direction drawn evenly.
template <int D>
Vec<D> random_direction(RandomStream& random) {
  Vec<D> x;
  for (int k = 0; k < D; ++k) x[k] = random.normal();
  return (1 / norm(x)) * x;
}

/// Rows of H for one body of a contact: 0 for a, 1 for b.
template <int D>
const Real* rows_of(const ListedProblem<D>& problem, std::size_t contact, std::size_t side) {
  return problem.jacobian.data() + (contact * 2 + side) * D * problem.q;
}

/// Adds M^-1 x to y for one body, with a mass block as add_body makes it.
template <int D>
void add_inverse_mass(const Real* block, const Real* x, Real* y) {
  constexpr int q = n_velocities<D>;
  for (int k = 0; k < D; ++k) y[k] += x[k] / block[0];
  if constexpr (D == 2) {
    y[2] += x[2] / block[2 * q + 2];
  } else {
    std::array<Vec<3>, 3> column;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) column[static_cast<std::size_t>(j)][i] = block[(3 + i) * q + 3 + j];
    const Vec<3> moment{{x[3], x[4], x[5]}};
    const Real determinant = dot(column[0], cross(column[1], column[2]));
    for (std::size_t j = 0; j < 3; ++j)  // Cramer's rule
      y[3 + j] += dot(moment, cross(column[(j + 1) % 3], column[(j + 2) % 3])) / determinant;
  }
}

template <int D>
std::vector<GeneratedProblem<D>> all_problems() {
  // Two million contacts at most, with which lists, shares and files take some GB of memory; the pile is
  // bounded by its sweeps, which are minutes.
  constexpr int most_bodies = 400'000;
  std::vector<GeneratedProblem<D>> all{
      {"stack",
       "a column of cubes, each a little out of line; mu 0.5; it stands: the centre of all that lies above a "
       "face is over that face",
       "cubes", 1, most_bodies, make_stack<D>},
      {"mass_ratio",
       "a column of cubes, each heavier than the one below, the last 1e4 times the first; it stands as a "
       "stack does",
       "cubes", 2, most_bodies, make_mass_ratio<D>},
      {"sliding",
       "thin plates of different mass on each other; plate k (from 1) comes in with k * 0.1 m/s and is "
       "slowed "
       "by mu g dt, mu 0.3: its solution",
       "plates", 1, most_bodies, make_sliding<D>},
      {"redundant",
       "a plate on many points, pushed half as hard as would move it; mu 0.45 to 0.55; it stays: friction in "
       "proportion to the load holds it",
       "points along an edge", 2, D == 2 ? most_bodies : 1200, make_redundant<D>},
      {"wall",
       "bricks of different mass in running bond with closed joints; mu 0.45 to 0.55; it stands: each brick "
       "lies on its whole length",
       "courses, and bricks in each", 1, 400, make_wall<D>},
      {"arch",
       "half a ring of stones of different mass between two abutments; mu 0.63 to 0.77; it stands: 0.2 radii "
       "thick, twice what it needs",
       "stones", 3, most_bodies, make_arch<D>},
  };
  if constexpr (D == 3) {
    all.push_back({"tower",
                   "rings of 12 stones of different mass in bond, closed joints; mu 0.45 to 0.55; it stands "
                   "as a wall does",
                   "courses", 1, 10'000, make_tower});
    all.push_back({"kapla",
                   "planks of different mass crosswise, two to a layer; mu 0.45 to 0.55; it stands: each "
                   "plank is held up at both ends",
                   "layers", 1, 100'000, make_kapla});
  }
  all.push_back(
      {"jammed",
       "face-centred cubic packing that fills its box, shaken at random by g dt; mu 0.3; self-stress "
       "of any size; solvable, for v = 0 violates nothing",
       "cells along an edge", 1, D == 2 ? 400 : 40, make_jammed<D>});
  all.push_back({"pile",
                 "random spheres settled in a box with walls; mu 0.5; solvable, for v = 0 violates nothing",
                 "spheres", 1, 100'000, make_pile<D>});
  all.push_back(
      {"manufactured",
       "boxes on a lattice with random contacts, mu 0 to 1, of which a third each is open, sticks and "
       "slips; made from a solution",
       "boxes", 1, most_bodies,
       [](int size, std::uint64_t seed) { return manufactured_problem<D>(size, seed).problem; }});
  all.push_back(
      {"ill_conditioned",
       "a column of cubes whose masses span size / 2 decades, six at most, in random order, on many "
       "contacts with normals 1e-3 apart; mu 0.3 to 0.7; made from a solution",
       "cubes", 2, most_bodies / 3,
       [](int size, std::uint64_t seed) { return ill_conditioned_problem<D>(size, seed).problem; }});
  return all;
}

}  // namespace

template <int D>
SolvedProblem<D> manufacture(ListedProblem<D> problem, std::uint64_t seed, std::span<const Real> carried) {
  constexpr std::size_t q = n_velocities<D>;
  constexpr Real speed = gravity * time_step;
  const auto n_bodies = static_cast<std::size_t>(problem.n_bodies());
  const auto n_contacts = static_cast<std::size_t>(problem.n_contacts());
  SolvedProblem<D> solved{std::move(problem), std::vector<Real>(n_bodies * q),
                          std::vector<Real>(n_contacts * D), std::vector<Real>(n_contacts * D)};
  ListedProblem<D>& listed = solved.problem;

  for (std::size_t i = 0; i < n_bodies; ++i) {
    RandomStream random(seed, static_cast<GlobalId>(i), stream::velocity);
    const Real* block = listed.mass.data() + i * q * q;
    for (std::size_t k = 0; k < q; ++k)
      solved.v[i * q + k] = speed * random.uniform(-1, 1) * std::sqrt(block[0] / block[k * q + k]);
  }
  for (std::size_t c = 0; c < n_contacts; ++c) {
    RandomStream random(seed, static_cast<GlobalId>(c), stream::impulse);
    Real* r = solved.r.data() + c * D;
    Real* u = solved.u.data() + c * D;
    Real lighter = HUGE_VAL;
    for (const Index body : {listed.a[c], listed.b[c]})
      if (body >= 0) lighter = std::min(lighter, listed.mass[static_cast<std::size_t>(body) * q * q]);
    const Real kind = random.uniform();
    const Real normal = random.uniform(0.2, 1);
    const Real tangential = random.uniform(0.2, 0.9);
    const Vec<D - 1> direction = random_direction<D - 1>(random);
    const bool carries = !carried.empty() && carried[c * D] > 0;
    const bool is_open = !carries && 3 * kind < 1;
    const bool slips = !carries && 3 * kind > 2;
    if (carries) {
      std::copy_n(carried.data() + c * D, D, r);
    } else if (is_open) {
      u[0] = normal * speed;
      for (int k = 1; k < D; ++k) u[k] = tangential * speed * direction[k - 1];
    } else {
      r[0] = normal * lighter * speed;
      for (int k = 1; k < D; ++k) r[k] = (slips ? 1 : tangential) * listed.mu[c] * r[0] * direction[k - 1];
      for (int k = 1; slips && k < D; ++k) u[k] = -tangential * speed * direction[k - 1];
    }
  }

  std::vector<Real> push(n_bodies * q);  // H^T r
  for (std::size_t c = 0; c < n_contacts; ++c)
    for (std::size_t k = 0; k < D; ++k) {
      listed.bias[c * D + k] = solved.u[c * D + k];
      for (std::size_t side = 0; side < 2; ++side) {
        const Index body = side == 0 ? listed.a[c] : listed.b[c];
        if (body < 0) continue;
        const auto first = static_cast<std::size_t>(body) * q;
        const Real* row = rows_of(listed, c, side) + k * q;
        for (std::size_t j = 0; j < q; ++j) {
          push[first + j] += row[j] * solved.r[c * D + k];
          listed.bias[c * D + k] -= row[j] * solved.v[first + j];
        }
      }
    }
  for (std::size_t i = 0; i < n_bodies; ++i) {
    std::array<Real, q> gained{};
    add_inverse_mass<D>(listed.mass.data() + i * q * q, push.data() + i * q, gained.data());
    for (std::size_t k = 0; k < q; ++k) listed.free_velocity[i * q + k] = solved.v[i * q + k] - gained[k];
  }
  return solved;
}

template <int D>
SolvedProblem<D> manufactured_problem(int size, std::uint64_t seed) {
  const int n_wide = static_cast<int>(std::ceil(std::pow(size, 1.0 / D) - 1e-9));
  ListedProblem<D> problem = empty_problem<D>();
  for (int i = 0; i < size; ++i) {
    RandomStream random(seed, i, stream::body);
    Vec<D> at, half;
    for (int k = 0, rest = i; k < D; ++k, rest /= n_wide) at[k] = (rest % n_wide + 0.5) * brick;
    for (int k = 0; k < D; ++k) half[k] = brick * random.uniform(0.25, 0.5);
    Orientation<D> orientation{random_direction<D>(random), random_direction<D>(random)};
    const Vec<D>& first = orientation.first;
    orientation.last -= dot(first, orientation.last) * first;
    orientation.last *= 1 / norm(orientation.last);
    add_box(problem, at, half, density * random.uniform(0.5, 2), 0.0, orientation);
  }
  // Each body with the one before it along each axis, or with the ground: none, one or two contacts.
  for (int i = 0; i < size; ++i)
    for (int k = 0, stride = 1; k < D; ++k, stride *= n_wide) {
      RandomStream random(seed, static_cast<GlobalId>(i) * D + k, stream::contact);
      const bool first_of_line = i / stride % n_wide == 0;
      const int n = i == 0 && k == 0 ? 1 : static_cast<int>(3 * random.uniform());
      for (int j = 0; j < n; ++j) {
        Vec<D> point = problem.position[static_cast<std::size_t>(i)] - unit_vector<D>(k, brick / 2);
        point += 0.3 * brick * random_direction<D>(random);
        Vec<D> normal = unit_vector<D>(k) + 0.5 * random_direction<D>(random);
        normal *= 1 / norm(normal);
        const Real mu = random.uniform() < 0.1 ? 0 : random.uniform();
        problem.add_contact(first_of_line ? the_ground : i - stride, i, point, normal, mu);
      }
    }
  return manufacture(std::move(problem), seed);
}

template <int D>
SolvedProblem<D> ill_conditioned_problem(int size, std::uint64_t seed) {
  constexpr Real most_decades = 6;
  constexpr Real tilt = 1e-3;
  constexpr int n_along = D == 2 ? 4 : 3;  // contacts along an edge of a face
  constexpr int n_of_face = D == 2 ? n_along : n_along * n_along;
  const Real decades = std::min(0.5 * size, most_decades);
  std::vector<int> turn(static_cast<std::size_t>(size));
  std::iota(turn.begin(), turn.end(), 0);
  std::sort(turn.begin(), turn.end(), [seed](int i, int j) {
    return RandomStream(seed, i, stream::order).uniform() < RandomStream(seed, j, stream::order).uniform();
  });
  ListedProblem<D> problem = empty_problem<D>();
  std::vector<Block<D>> blocks;
  for (int k = 0; k < size; ++k) {
    Block<D> block = block_of_column<D>(seed, k, filled<D>(brick / 2), 0.1);
    const Real place = static_cast<Real>(turn[static_cast<std::size_t>(k)]) / (size - 1);
    block.body = add_box(problem, block.at, block.half, density * std::pow(10, decades * place));
    blocks.push_back(block);
  }
  // The corners of a face carry what is above it, and stick; contacts between them have impulses to match the
  // lighter body. So a light body between heavy ones is in balance but for its own weight, and free
  // velocities are of the size of g dt though impulses span all decades.
  std::vector<Real> carried;
  Real mass_above = 0;
  Vec<D> moment_above;  // mass times place
  for (int k = size - 1; k >= 0; --k) {
    const Block<D>& block = blocks[static_cast<std::size_t>(k)];
    const Face<D> face =
        k == 0 ? bottom(block) : *overlap(blocks[static_cast<std::size_t>(k - 1)], block, D - 1);
    const Real mass = problem.mass[static_cast<std::size_t>(k * problem.q * problem.q)];
    mass_above += mass;
    moment_above += mass * block.at;
    for (int i = 0; i < n_of_face; ++i) {
      RandomStream random(seed, static_cast<GlobalId>(k) * n_of_face + i, stream::contact);
      Vec<D> point = face.low;
      Real weight = mass_above * gravity * time_step;
      for (int axis = 0, rest = i; axis + 1 < D; ++axis, rest /= n_along) {
        const Real along = static_cast<Real>(rest % n_along) / (n_along - 1);
        const Real width = face.high[axis] - face.low[axis];
        const Real center = (moment_above[axis] / mass_above - face.low[axis]) / width;
        point[axis] += along * width;
        weight *= along == 0 ? 1 - center : along == 1 ? center : 0;
      }
      Vec<D> normal = unit_vector<D>(D - 1) + tilt * random_direction<D>(random);
      normal *= 1 / norm(normal);
      const auto contact = static_cast<std::size_t>(
          problem.add_contact(k == 0 ? the_ground : k - 1, k, point, normal, random.uniform(0.3, 0.7)));
      const Real* row = rows_of(problem, contact, 1);
      for (int j = 0; j < D; ++j) carried.push_back(weight * row[j * problem.q + D - 1]);
    }
  }
  return manufacture<D>(std::move(problem), seed, carried);
}

template <int D>
std::span<const GeneratedProblem<D>> generated_problems() {
  static const std::vector<GeneratedProblem<D>> all = all_problems<D>();
  return all;
}

template <int D>
ListedProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed) {
  std::string listed_name(name);
  std::replace(listed_name.begin(), listed_name.end(), '-', '_');
  std::string names;
  for (const GeneratedProblem<D>& problem : generated_problems<D>()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", problem.name);
    if (problem.name != listed_name) continue;
    if (size < problem.least_size || size > problem.largest_size)
      throw InputError(fmt::format("generated problem \"{}\": size {} ({}) is {}: sizes go from {} to {}",
                                   name, size, problem.size,
                                   size < problem.least_size ? fmt::format("below {}", problem.least_size)
                                                             : fmt::format("above {}", problem.largest_size),
                                   problem.least_size, problem.largest_size));
    return problem.make(size, seed);
  }
  throw InputError(fmt::format("there is no generated problem \"{}\"; there are {}", name, names));
}

#define SCREE_INSTANTIATE(D)                                                                        \
  template SolvedProblem<D> manufacture<D>(ListedProblem<D>, std::uint64_t, std::span<const Real>); \
  template SolvedProblem<D> manufactured_problem<D>(int, std::uint64_t);                            \
  template SolvedProblem<D> ill_conditioned_problem<D>(int, std::uint64_t);                         \
  template std::span<const GeneratedProblem<D>> generated_problems<D>();                            \
  template ListedProblem<D> generate_problem<D>(std::string_view, int, std::uint64_t);
SCREE_INSTANTIATE(2)
SCREE_INSTANTIATE(3)
#undef SCREE_INSTANTIATE

}  // namespace scree
