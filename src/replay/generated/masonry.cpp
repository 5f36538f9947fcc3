#include "replay/generated/families.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "replay/generated/bodies.hpp"

namespace scree::generated {

namespace {

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

}  // namespace

template <int D>
std::vector<GeneratedProblem<D>> masonry() {
  std::vector<GeneratedProblem<D>> all{
      {"wall",
       "bricks of different mass in running bond with closed joints; mu 0.45 to 0.55; it stands: each brick "
       "lies on its whole length",
       "courses, and bricks in each", 1, 400, make_wall<D>},
      {"arch",
       "half a ring of stones of different mass between two abutments; mu 0.63 to 0.77; it stands: 0.2 radii "
       "thick, twice what it needs",
       "stones", 3, most_bodies, make_arch<D>}};
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
  return all;
}
template std::vector<GeneratedProblem<2>> masonry();
template std::vector<GeneratedProblem<3>> masonry();

}  // namespace scree::generated
