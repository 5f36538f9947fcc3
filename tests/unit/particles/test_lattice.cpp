#include <algorithm>
#include <numbers>

#include "particles/packing/region.hpp"
#include "particles/packing/sites.hpp"
#include "unit/particles/make_bodies.hpp"

using namespace scree;

namespace {

const std::string radius_5cm = "radius = { distribution = 'constant', value = 0.05 }\n";

/// How many neighbours each body has at a distance of `spacing`, to 1 part in 1000.
template <int D>
std::vector<int> n_neighbours(const Box<D>& box, const BodyStore<D>& bodies, Real spacing) {
  std::vector<int> counts;
  for (const Vec<D>& a : bodies.position()) {
    counts.push_back(0);
    for (const Vec<D>& b : bodies.position())
      counts.back() += std::abs(norm(apart(box, a, b)) - spacing) < 1e-3 * spacing;
  }
  return counts;
}

}  // namespace

TEST_CASE("lattice: spacing 0.1 puts 100 touching disks into a unit square, in rows along x", "[particles]") {
  const Start<2> start =
      make_bed<2>({{}, filled<2>(1.0), {}}, radius_5cm + "source = { type = 'lattice', spacing = 0.1 }");
  REQUIRE(start.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(start.bodies.id()[i] == static_cast<GlobalId>(i));
    CHECK(start.bodies.position()[i][0] == Approx(0.05 + 0.1 * static_cast<Real>(i % 10)));
    CHECK(start.bodies.position()[i][1] == Approx(0.05 + 0.1 * static_cast<Real>(i / 10)));
  }
}

TEST_CASE("lattice: hexagonal has 6 and hcp 12 neighbours at the spacing, across periodic faces too",
          "[particles]") {
  const Box<2> box{{}, {{1.0, 6 * 0.1 * std::numbers::sqrt3}}, {true, true}};
  const Start<2> hexagonal = make_bed<2>(
      box, radius_5cm + "source = { type = 'lattice', arrangement = 'hexagonal', spacing = 0.1 }");
  CHECK(hexagonal.size() == 120);
  for (const int n : n_neighbours(box, hexagonal.bodies, 0.1)) CHECK(n == 6);

  const Box<3> box_3d{{}, {{0.4, 0.2 * std::numbers::sqrt3, 0.4 * std::sqrt(2.0 / 3)}}, {true, true, true}};
  const Start<3> hcp =
      make_bed<3>(box_3d, radius_5cm + "source = { type = 'lattice', arrangement = 'hcp', spacing = 0.1 }");
  CHECK(hcp.size() == 64);
  for (const int n : n_neighbours(box_3d, hcp.bodies, 0.1)) CHECK(n == 12);
}

TEST_CASE("lattice: count = 1000 in a unit cube finds the spacing 0.1 and fills it", "[particles]") {
  const Box<3> box{{}, filled<3>(1.0), {}};
  const Start<3> start = make_bed<3>(box,
                                     "radius = { distribution = 'constant', value = 0.02 }\n"
                                     "source = { type = 'lattice', count = 1000 }");
  REQUIRE(start.size() == 1000);
  CHECK(norm(start.bodies.position()[1] - start.bodies.position()[0]) == Approx(0.1).epsilon(1e-5));
}

TEST_CASE("lattice: count = 101 touching disks in a square for 100 is an error that names 100",
          "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {}};
  CHECK(make_bed<2>(box, radius_5cm + "source = { type = 'lattice', count = 100 }").size() == 100);
  CHECK_THAT(message_of([&] { make_bed<2>(box, radius_5cm + "source = { type = 'lattice', count = 101 }"); }),
             Catch::Contains("count = 101") && Catch::Contains("100 free sites") &&
                 Catch::StartsWith("test.toml:3:"));
}

TEST_CASE("lattice: sites at obstacles stay empty and ids have no gaps", "[particles]") {
  const Start<2> start = make_bodies<2>(Comm(MPI_COMM_SELF), {{}, filled<2>(1.0), {}},
                                        "[obstacles.post]\ntype = 'disk'\ncenter = [0.5, 0.5]\nradius = 0.2\n"
                                        "[particles.bed]\n" +
                                            radius_5cm + "source = { type = 'lattice', spacing = 0.1 }");
  // Only the 4 x 4 sites in the middle are less than 0.2 + 0.05 from the centre.
  CHECK(start.size() == 100 - 16);
  CHECK(smallest_obstacle_gap(start) >= 0);
  for (std::size_t i = 0; i < start.size(); ++i) CHECK(start.bodies.id()[i] == static_cast<GlobalId>(i));
}

TEST_CASE("lattice: in a box or ball, layers and posts, just the sites are taken that one by one are free",
          "[particles]") {
  const Box<3> box{{}, filled<3>(1.0), {false, true, false}};
  for (const std::string region : {"", "region = { center = [0.5, 0.5, 0.5], radius = 0.45 },",
                                   "region = { lower = [0.1, 0, 0.2], upper = [0.83, 0.9, 0.97] },"}) {
    const Start<3> start = make_bodies<3>(
        Comm(MPI_COMM_SELF), box,
        "[obstacles.post]\ntype = 'sphere'\ncenter = [0.4, 0.5, 0.5]\nradius = 0.11\n[particles.bed]\n"
        "radius = { distribution = 'constant', value = 0.02 }\n"
        "source = { type = 'lattice', " +
            region + " arrangement = 'hcp', spacing = 0.05 }");
    Box<3> bounds = box;
    if (region.find("center") != std::string::npos)
      bounds = {filled<3>(0.5 - 0.45), filled<3>(0.5 + 0.45), {}};
    else if (!region.empty())
      bounds = {{{0.1, 0, 0.2}}, {{0.83, 0.9, 0.97}}, {}};
    const Sites<3> sites(bounds, true, 0.05, 0.02);
    std::vector<Vec<3>> expected;
    for (std::int64_t i = 0; i < sites.size(); ++i) {
      const Vec<3> x = sites.place(i);
      const Real reach = 0.02 * (1 - 1e-9);
      bool free = norm(x - Vec<3>{{0.4, 0.5, 0.5}}) - 0.11 >= reach;
      for (int k = 0; k < 3; ++k)
        free = free && (bounds.is_periodic(k) ||
                        (x[k] - bounds.lower[k] >= reach && bounds.upper[k] - x[k] >= reach));
      if (region.find("center") != std::string::npos) free = free && norm(x - filled<3>(0.5)) + reach <= 0.45;
      if (free) expected.push_back(wrapped(box, x));
    }
    REQUIRE(expected.size() > 1000);
    REQUIRE(start.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(start.bodies.position()[i] == expected[i]);
  }
}

TEST_CASE("lattice: jitter 0.2 moves bodies by up to a fifth of the spacing and keeps them off the walls",
          "[particles]") {
  const Box<2> box{{}, filled<2>(10.0), {}};
  const std::string lines =
      "radius = { distribution = 'constant', value = 0.3 }\nsource = { type = 'lattice', spacing = 1";
  const Start<2> regular = make_bed<2>(box, lines + " }");
  const Start<2> moved = make_bed<2>(box, lines + ", jitter = 0.2 }");
  REQUIRE(regular.size() == 100);
  REQUIRE(moved.size() == 100);
  Real farthest = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const Vec<2> d = moved.bodies.position()[i] - regular.bodies.position()[i];
    for (int k = 0; k < 2; ++k) {
      farthest = std::max(farthest, std::abs(d[k]));
      CHECK(moved.bodies.position()[i][k] >= 0.3);
      CHECK(moved.bodies.position()[i][k] <= 9.7);
    }
  }
  CHECK(farthest <= 0.2);
  CHECK(farthest > 0.19);
}

TEST_CASE("lattice: a disk region of radius 1 holds the disks that are wholly inside", "[particles]") {
  const Start<2> start = make_bed<2>({filled<2>(-2), filled<2>(2), {}},
                                     radius_5cm +
                                         "source = { type = 'lattice', spacing = 0.1, region = { center = "
                                         "[0.5, 0], radius = 1 } }");
  CHECK(start.size() > 250);
  for (const Vec<2>& x : start.bodies.position()) CHECK(norm(x - Vec<2>{{0.5, 0}}) <= 0.95 + 1e-8);
}

TEST_CASE("lattice: spacing and count together, a region outside or too small are errors", "[particles]") {
  const Box<2> box{{}, filled<2>(1.0), {}};
  const auto error = [&](const std::string& keys) {
    return message_of([&] { make_bed<2>(box, radius_5cm + "source = { type = 'lattice'" + keys + " }"); });
  };
  CHECK_THAT(error(""), Catch::Contains("either spacing or count"));
  CHECK_THAT(error(", spacing = 1, count = 3"), Catch::Contains("either spacing or count"));
  CHECK_THAT(error(", spacing = 0.1, region = { lower = [0, 0], upper = [1, 1.1] }"),
             Catch::Contains("beyond the domain"));
  CHECK_THAT(error(", spacing = 0.1, region = { lower = [0, 0], upper = [1, 0] }"), Catch::Contains("empty"));
  CHECK_THAT(error(", spacing = 0.1, region = { lower = [0, 0], upper = [1, 1], radius = 0.2 }"),
             Catch::Contains("either lower and upper"));
  CHECK_THAT(error(", spacing = 0.1, region = { lower = [0, 0], upper = [1, 0.05] }"),
             Catch::Contains("no site"));
}
