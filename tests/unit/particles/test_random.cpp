#include <algorithm>

#include "particles/volume.hpp"
#include "unit/particles/make_bodies.hpp"

using namespace scree;

namespace {

template <int D>
Real solid_volume(const BodyStore<D>& bodies) {
  Real volume = 0;
  for (const Real radius : bodies.radius()) volume += body_volume<D>(radius);
  return volume;
}

}  // namespace

TEST_CASE("random: 2000 disks at solid fraction 0.4 in a periodic box do not overlap by looking at all pairs",
          "[particles]") {
  const Box<2> box{{}, {{2.0, 1.0}}, {true, true}};
  const Start<2> start = make_bed<2>(box,
                                     "radius = { distribution = 'constant', value = 0.0112838 }\n"
                                     "source = { type = 'random', solid_fraction = 0.4 }");
  CHECK(start.size() == 2000);
  CHECK(smallest_gap(box, start.bodies) > -1e-15);
  // Without periodic images bodies would stay away from the faces, or meet across them.
  CHECK(std::ranges::any_of(start.bodies.position(), [](const Vec<2>& x) { return x[0] < 0.01; }));
}

TEST_CASE("random: a clearance of 2 mm is kept between spheres of 12 to 40 mm and to a floor",
          "[particles]") {
  const Box<3> box{{}, filled<3>(1.0), {true, false, false}};
  const Start<3> start =
      make_bodies<3>(Comm(MPI_COMM_SELF), box,
                     "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0, 0.3]\nnormal = [0, 0, 1]\n"
                     "[particles.bed]\nradius = { distribution = 'uniform', min = '12 mm', max = "
                     "'40 mm', weight = 'volume' }\n"
                     "source = { type = 'random', solid_fraction = 0.12, clearance = '2 mm' }");
  CHECK(solid_volume(start.bodies) == Approx(0.12).epsilon(0.1));
  CHECK(smallest_gap(box, start.bodies) >= 0.002 - 1e-15);
  CHECK(smallest_obstacle_gap(start) >= 0.002);
  for (std::size_t i = 0; i < start.size(); ++i) {
    RandomStream stream(7, start.bodies.id()[i], purpose::radius);
    REQUIRE(start.bodies.radius()[i] == start.groups[0].sizes.draw(stream).radius);
  }
}

TEST_CASE("random: a quarter of 40000 disks is in each quarter of the box, within 3.5 percent",
          "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {true, true}};
  const Start<2> start = make_bed<2>(box,
                                     "radius = { distribution = 'constant', value = 0.001 }\n"
                                     "source = { type = 'random', count = 40000 }");
  std::array<int, 4> counts{};
  for (const Vec<2>& x : start.bodies.position()) ++counts[(x[0] < 0.5 ? 0 : 1) + (x[1] < 0.5 ? 0 : 2)];
  for (const int n : counts) CHECK(std::abs(n - 10000) < 350);  // 4 standard deviations of independent points
}

TEST_CASE("random: later groups avoid earlier ones, whichever is larger", "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {true, false}};
  for (const bool large_first : {true, false}) {
    const std::string large =
        "radius = { distribution = 'constant', value = 0.1 }\nsource = { type = 'random', count = 4 }\n";
    const std::string small =
        "radius = { distribution = 'constant', value = 0.01 }\nsource = { type = 'random', count = 60 }\n";
    const Start<2> start = make_bodies<2>(Comm(MPI_COMM_SELF), box,
                                          "[particles.a]\n" + (large_first ? large : small) +
                                              "[particles.b]\n" + (large_first ? small : large));
    CHECK(start.next_id == 64);
    CHECK(smallest_gap(box, start.bodies) > -1e-15);
  }
}

TEST_CASE("random: a ball region across a periodic face wraps its bodies into the domain", "[particles]") {
  const Box<3> box{{}, filled<3>(1.0), {true, false, false}};
  const Start<3> start =
      make_bed<3>(box,
                  "radius = { distribution = 'constant', value = 0.02 }\nsource = { type = "
                  "'random', solid_fraction = 0.2, region = { center = [0, 0.5, 0.5], radius = 0.3 } }");
  CHECK(start.size() == Approx(0.2 * std::pow(0.3 / 0.02, 3)).margin(1));
  CHECK(smallest_gap(box, start.bodies) > -1e-15);
  int n_right = 0;
  for (const Vec<3>& x : start.bodies.position()) {
    CHECK(norm(apart(box, x, Vec<3>{{0, 0.5, 0.5}})) <= 0.28 + 1e-12);
    CHECK(box.contains(x));
    n_right += x[0] > 0.5;
  }
  CHECK(n_right > 200);
}

TEST_CASE("random: what cannot fit is an error that says how many could and how dense they are",
          "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {}};
  const std::string radius = "radius = { distribution = 'constant', value = 0.05 }\n";
  const auto error = [&](const std::string& keys) {
    return message_of([&] { make_bed<2>(box, radius + "source = { type = 'random', " + keys + " }"); });
  };
  CHECK_THAT(error("solid_fraction = 0.8"),
             Catch::Matches("test.toml:3:.* of 102 bodies found a place \\(solid "
                            "fraction 0\\.[45].*"));
  CHECK_THAT(error("count = 1, region = { lower = [0, 0], upper = [1, 0.09] }"),
             Catch::Contains("too small"));
  CHECK_THAT(error("count = 1, solid_fraction = 0.1"), Catch::Contains("either count or solid_fraction"));
  CHECK_THAT(error("solid_fraction = 0.001"), Catch::Contains("less than half a body"));
}
