#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "replay/generated/bodies.hpp"
#include "replay/generated/families.hpp"

namespace scree {

using namespace generated;

namespace {

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

#define SCREE_INSTANTIATE(D)                                                                        \
  template SolvedProblem<D> manufacture<D>(ListedProblem<D>, std::uint64_t, std::span<const Real>); \
  template SolvedProblem<D> manufactured_problem<D>(int, std::uint64_t);                            \
  template SolvedProblem<D> ill_conditioned_problem<D>(int, std::uint64_t);
SCREE_INSTANTIATE(2)
SCREE_INSTANTIATE(3)
#undef SCREE_INSTANTIATE

namespace generated {

template <int D>
std::vector<GeneratedProblem<D>> made_from_solutions() {
  return {{"manufactured",
           "boxes on a lattice with random contacts, mu 0 to 1, of which a third each is open, sticks and "
           "slips; made from a solution",
           "boxes", 1, most_bodies,
           [](int size, std::uint64_t seed) { return manufactured_problem<D>(size, seed).problem; }},
          {"ill_conditioned",
           "a column of cubes whose masses span size / 2 decades, six at most, in random order, on many "
           "contacts with normals 1e-3 apart; mu 0.3 to 0.7; made from a solution",
           "cubes", 2, most_bodies / 3,
           [](int size, std::uint64_t seed) { return ill_conditioned_problem<D>(size, seed).problem; }}};
}
template std::vector<GeneratedProblem<2>> made_from_solutions();
template std::vector<GeneratedProblem<3>> made_from_solutions();

}  // namespace generated

}  // namespace scree
