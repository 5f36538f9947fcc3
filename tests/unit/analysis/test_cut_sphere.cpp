// Volumes of the parts into which planes along the axes cut a ball.
#include <catch2/catch.hpp>

#include "analysis/cut_sphere.hpp"
#include "core/random.hpp"

namespace scree {

namespace {

/// Boxes between random planes, which cut the ball or not, and what its parts come to.
template <int D>
void check_parts_add_up() {
  RandomStream stream(7, D, purpose::radius);
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Real radius = 0.3 + stream.uniform();
    Vec<D> centre;
    std::array<std::array<Real, 4>, D> planes;
    for (int k = 0; k < D; ++k) {
      centre[k] = stream.uniform() - 0.5;
      std::array<Real, 4>& along = planes[k];
      along = {-HUGE_VAL, 3 * (stream.uniform() - 0.5), 3 * (stream.uniform() - 0.5), HUGE_VAL};
      if (along[1] > along[2]) std::swap(along[1], along[2]);
    }
    Real sum = 0;
    for (int code = 0; code < (D == 2 ? 9 : 27); ++code) {
      Box<D> box;
      for (int k = 0, digits = code; k < D; ++k, digits /= 3) {
        box.lower[k] = planes[k][digits % 3];
        box.upper[k] = planes[k][digits % 3 + 1];
      }
      sum += volume_in_box<D>(centre, radius, box);
    }
    CHECK(sum == Approx(volume_below<D>(radius, radius)).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("parts of balls and disks that planes cut add up to the whole") {
  check_parts_add_up<2>();
  check_parts_add_up<3>();
}

TEST_CASE("a corner in a ball: the sum of thin slices, each a corner in a disk") {
  const Real a = 0.3, b = -0.2, c = 0.1;
  const Box<3> box{{{a, b, c}}, {{HUGE_VAL, HUGE_VAL, 0.7}}, {}};
  constexpr int n = 20000;
  Real sum = 0;
  for (int i = 0; i < n; ++i) {
    const Real z = c + (0.7 - c) * (i + 0.5) / n;
    const Box<2> slice{{{a, b}}, {{HUGE_VAL, HUGE_VAL}}, {}};
    sum += volume_in_box<2>(Vec<2>{}, std::sqrt(1 - z * z), slice) * (0.7 - c) / n;
  }
  CHECK(volume_in_box<3>(Vec<3>{}, 1, box) == Approx(sum).epsilon(1e-8));
  CHECK(volume_in_box<2>(Vec<2>{}, 2, {{{0, 0}}, {{HUGE_VAL, HUGE_VAL}}, {}}) ==
        Approx(std::numbers::pi).epsilon(1e-14));
}

}  // namespace scree
