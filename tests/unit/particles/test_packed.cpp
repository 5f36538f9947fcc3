#include <algorithm>
#include <numbers>

#include "particles/volume.hpp"
#include "unit/particles/make_bodies.hpp"

using namespace scree;

namespace {

template <int D>
Box<D> periodic_box(Real length) {
  Box<D> box{{}, filled<D>(length), {}};
  box.periodic.fill(true);
  return box;
}

template <int D>
Start<D> pack(const Box<D>& box, const std::string& radius, const std::string& keys, std::uint64_t seed = 7,
              const std::string& more = "") {
  return make_bodies<D>(
      Comm(MPI_COMM_SELF), box,
      more + "[particles.bed]\nradius = { " + radius + " }\nsource = { type = 'packed'" + keys + " }", seed);
}

template <int D>
Real solid_volume(const Start<D>& start) {
  Real sum = 0;
  for (const Real radius : start.bodies.radius()) sum += body_volume<D>(radius);
  return sum;
}

const std::string equal = "distribution = 'constant', value = 0.5";
constexpr Real accepted = 1e-6;  // overlap over the smallest radius

}  // namespace

TEST_CASE(
    "packed: equal disks fill 0.82 of a periodic box, equal spheres 0.62, without overlap, for three seeds",
    "[particles]") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Box<2> square = periodic_box<2>(20);
    const Start<2> disks = pack<2>(square, equal, ", solid_fraction = 0.82", seed);
    CHECK(solid_volume(disks) / square.volume() ==
          Approx(0.82).margin(0.5 * body_volume<2>(0.5) / square.volume()));
    CHECK(smallest_gap(square, disks.bodies) >= -accepted * 0.5);
    const Box<3> cube = periodic_box<3>(8);
    const Start<3> spheres = pack<3>(cube, equal, ", solid_fraction = 0.62", seed);
    CHECK(solid_volume(spheres) / cube.volume() ==
          Approx(0.62).margin(0.5 * body_volume<3>(0.5) / cube.volume()));
    CHECK(smallest_gap(cube, spheres.bodies) >= -accepted * 0.5);
  }
}

TEST_CASE("packed: without a solid fraction disks and spheres are packed until they jam", "[particles]") {
  const Box<2> square = periodic_box<2>(20);
  const Start<2> disks = pack<2>(square, equal, "");
  CHECK(solid_volume(disks) / square.volume() > 0.82);
  CHECK(smallest_gap(square, disks.bodies) >= -accepted * 0.5);
  const Box<3> cube = periodic_box<3>(8);
  const Start<3> spheres = pack<3>(cube, equal, "");
  CHECK(solid_volume(spheres) / cube.volume() > 0.62);
  CHECK(smallest_gap(cube, spheres.bodies) >= -accepted * 0.5);
}

TEST_CASE(
    "packed: radii of a distribution fill what was asked for, in a walled region among obstacles and held "
    "bodies",
    "[particles]") {
  const std::string more =
      "[obstacles.post]\ntype = 'disk'\ncenter = [3, 3]\nradius = 1\n"
      "[particles.held]\nmobility = 0\nradius = { distribution = 'constant', value = 0.8 }\n"
      "source = { type = 'lattice', count = 1, region = { lower = [5, 5], upper = [7, 7] } }\n";
  const Box<2> box{{}, {{10, 12}}, {}};
  const Start<2> start =
      pack<2>(box, "distribution = 'uniform', min = 0.1, max = 0.2",
              ", solid_fraction = 0.78, region = { lower = [1, 1], upper = [9, 9] }", 5, more);
  const Real taken = body_volume<2>(1.0), held = body_volume<2>(0.8);
  // The area that the post takes is found by random points.
  CHECK((solid_volume(start) - held) / (64 - taken - held) == Approx(0.78).epsilon(2e-3));
  CHECK(smallest_gap(box, start.bodies) >= -accepted * 0.1);
  CHECK(smallest_obstacle_gap(start) >= -accepted * 0.1);
  for (std::size_t i = 0; i < start.size(); ++i)
    for (int k = 0; k < 2; ++k) {
      CHECK(start.bodies.position()[i][k] >= 1 + start.bodies.radius()[i] * (1 - accepted));
      CHECK(start.bodies.position()[i][k] <= 9 - start.bodies.radius()[i] * (1 - accepted));
    }
  const Start<2> disk = pack<2>(box, "distribution = 'constant', value = 0.2",
                                ", solid_fraction = 0.7, region = { center = [5, 6], radius = 3 }");
  CHECK(solid_volume(disk) == Approx(0.7 * body_volume<2>(3.0)).epsilon(5e-3));
  for (std::size_t i = 0; i < disk.size(); ++i)
    CHECK(norm(disk.bodies.position()[i] - Vec<2>{{5, 6}}) <= 3 - 0.2 * (1 - accepted));
}

TEST_CASE("packed: a solid fraction beyond jamming is refused, with the one that was reached",
          "[particles]") {
  const auto error_of = [](const std::string& keys) {
    return message_of([&] { pack<3>(periodic_box<3>(6), equal, keys); });
  };
  CHECK_THAT(
      error_of(", solid_fraction = 0.72"),
      Catch::StartsWith("test.toml:3:") && Catch::Contains("cannot be reached: the bodies jam at 0.6"));
  CHECK_THAT(error_of(", solid_fraction = 0.5, region = { lower = [0, 0, 0], upper = [0.8, 6, 6] }"),
             Catch::Contains("too small for a body of radius 0.5 m"));
}
