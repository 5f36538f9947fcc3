#include "particles/shape_table.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numbers>

#include "core/deck.hpp"
#include "particles/orientation.hpp"
#include "particles/shape_text.hpp"
#include "unit/particles/make_bodies.hpp"

namespace scree {
namespace {

const std::string two_shapes = R"(
[shapes.brick]
type = "box"
size = [0.2, 0.1, 0.06]
rounding_radius = 0.002
[shapes.rod]
type = "capsule"
length = 0.3
width = 0.1
)";

template <int D>
ShapeTable<D> shapes_of(const std::string& toml) {
  Deck deck = Deck::from_text(toml, "test.toml");
  ShapeTable<D> shapes;
  shapes.describe(deck.root());
  deck.require_all_read();
  return shapes;
}

Box<3> room() {
  return {filled<3>(0), filled<3>(4)};
}

}  // namespace

TEST_CASE("shapes: volume and moments of boxes, capsules and balls of any size", "[convex]") {
  const ShapeTable<3> shapes = shapes_of<3>(two_shapes);
  REQUIRE(shapes.size() == 3);
  CHECK(shapes.find("rod") == 2);
  CHECK(shapes.find("stone") == -1);
  constexpr Real pi = std::numbers::pi;
  // The ball.
  CHECK(shapes.volume(0, 0.5) == Approx(pi / 6));
  CHECK(shapes.moments(0, 2, 0.5)[1] == Approx(0.4 * 2 * 0.25));
  // The brick as described, and twice as large.
  const Real r = shapes[1].form.radius;
  CHECK(shapes.volume(1, r) == Approx(0.2 * 0.1 * 0.06));
  CHECK(shapes.volume(1, 2 * r) == Approx(8 * 0.2 * 0.1 * 0.06));
  const auto moments = shapes.moments(1, 3, r);
  CHECK(moments[0] == Approx(3.0 / 12 * (0.1 * 0.1 + 0.06 * 0.06)));
  CHECK(moments[2] == Approx(3.0 / 12 * (0.2 * 0.2 + 0.1 * 0.1)));
  CHECK(shapes.inscribed_radius(1, r) == Approx(0.03));
  CHECK(shapes.rounding(1, r) == Approx(0.002));
  CHECK(shapes.radius_of_equal_sphere(1, r) == Approx(std::cbrt(0.0012 * 3 / (4 * pi))));
  // Cylinder and ball.
  CHECK(shapes.volume(2, shapes[2].form.radius) == Approx(pi * 0.0025 * 0.3 + pi / 6 * 0.001));
}

TEST_CASE("shapes: the text of a table gives the same table, to the last bit", "[convex]") {
  const ShapeTable<3> shapes = shapes_of<3>(two_shapes);
  const ShapeTable<3> again = shapes_of_text<3>(text_of(shapes));
  REQUIRE(again.size() == shapes.size());
  for (std::int32_t i = 0; i < shapes.size(); ++i) {
    CHECK(again[i].name == shapes[i].name);
    CHECK(again[i].form == shapes[i].form);
  }
  std::string damaged = text_of(shapes);
  damaged.resize(damaged.size() / 2);
  CHECK_THROWS(shapes_of_text<3>(damaged));
  CHECK_THROWS(shapes_of_text<3>("brick 999999999999 1\n"));
}

TEST_CASE("shapes: a mixture has its shares, sizes and orientations, whatever source places it", "[convex]") {
  const std::string group = R"(
[particles.bed]
shapes = ["brick", "rod"]
shape_shares = [3, 1]
orientation = "random"
source = { type = "random", count = 800, region = { lower = [0, 0, 0], upper = [4, 4, 4] } }
)";
  const ShapeTable<3> shapes = shapes_of<3>(two_shapes);
  const Start<3> start =
      make_bodies(Comm(MPI_COMM_SELF), room(), two_shapes + group, 7, FieldSet::with_inertia);
  REQUIRE(start.size() == 800);
  std::map<std::int32_t, int> count;
  Vec<3> mean;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::int32_t shape = start.bodies.shape()[i];
    REQUIRE((shape == 1 || shape == 2));
    ++count[shape];
    CHECK(start.bodies.radius()[i] == shapes[shape].form.radius);
    CHECK(norm(start.bodies.orientation()[i]) == Approx(1));
    mean += 1.0 / 800 * axes_of<3>(start.bodies.orientation()[i])[0];
  }
  // 200 of 800: 3.5 deviations of 12; a mean of 800 unit vectors: 3.5 of 0.02.
  CHECK(std::abs(count[2] - 200) < 43);
  CHECK(norm(mean) < 0.12);
}

TEST_CASE("shapes: radii scale them, and an angle turns them", "[convex]") {
  const Start<3> start = make_bodies(Comm(MPI_COMM_SELF), room(), two_shapes + R"(
[particles.bed]
shape = "brick"
angle = "90 deg"
axis = [0, 0, 2]
radius = { distribution = "constant", value = 0.05 }
source = { type = "lattice", spacing = 0.5 }
)",
                                     7, FieldSet::with_inertia);
  REQUIRE(start.size() > 100);
  const auto axes = axes_of<3>(start.bodies.orientation()[0]);
  CHECK(norm(axes[0] - Vec<3>{{0, 1, 0}}) < 1e-12);
  CHECK(norm(axes[1] - Vec<3>{{-1, 0, 0}}) < 1e-12);
  CHECK(start.bodies.radius()[0] == 0.05);
}

TEST_CASE("shapes: orientations of a file turn the frame of the shape, not principal axes", "[convex]") {
  // A wedge whose principal axes are not those of its table.
  const ShapeTable<2> shapes =
      shapes_of<2>("[shapes.wedge]\ntype = 'polygon'\npoints = [[0, 0], [0.4, 0], [0, 0.1]]\n");
  const BodyShape<2>& wedge = shapes[1];
  const Orientation<2> described{{0.3}}, body = combined<2>(described, wedge.to_body_axes);
  // The corner (0.4, 0) of the table, from the centre of mass, turned by 0.3.
  const Vec<2> centre = wedge.form.described_centre;
  CHECK(norm(centre - Vec<2>{{0.4 / 3, 0.1 / 3}}) < 1e-12);
  const Vec<2> corner = Vec<2>{{0.4, 0}} - centre;
  const Vec<2> expected{{std::cos(0.3) * corner[0] - std::sin(0.3) * corner[1],
                         std::sin(0.3) * corner[0] + std::cos(0.3) * corner[1]}};
  const BodyPose<2> pose{{}, axes_of<2>(body), wedge.form.radius};
  Real nearest = HUGE_VAL;
  for (const Vec<2>& vertex : wedge.core.vertices())
    nearest = std::min(nearest, norm(pose.place(vertex) - expected));
  CHECK(nearest < 20 * usual_rounding * 0.1);  // the core is smaller than the body at a sharp corner
}

TEST_CASE("orientations: axes and quaternions belong together", "[convex]") {
  RandomStream stream(3, 0, 1);
  for (int i = 0; i < 1000; ++i) {
    const Orientation<3> q = random_orientation<3>(stream), p = random_orientation<3>(stream);
    const auto axes = axes_of<3>(q);
    CHECK(norm(cross(axes[0], axes[1]) - axes[2]) < 1e-14);
    const Orientation<3> back = orientation_of<3>(axes);
    CHECK(std::abs(std::abs(dot(back, q)) - 1) < 1e-14);
    CHECK(norm(combined<3>(combined<3>(q, p), reversed<3>(p)) - q) < 1e-14);
  }
}

}  // namespace scree
