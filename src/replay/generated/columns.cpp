#include "replay/generated/families.hpp"

#include <cmath>
#include <utility>

#include "replay/generated/bodies.hpp"

namespace scree::generated {

namespace {

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

}  // namespace

template <int D>
std::vector<GeneratedProblem<D>> columns() {
  return {
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
       "points along an edge", 2, D == 2 ? most_bodies : 1200, make_redundant<D>}};
}
template std::vector<GeneratedProblem<2>> columns();
template std::vector<GeneratedProblem<3>> columns();

}  // namespace scree::generated
