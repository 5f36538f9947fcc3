// Measures of bodies with inertia, against numbers worked out by hand.
#include <numbers>

#include "core/error.hpp"
#include "unit/analysis/scene.hpp"

using namespace scree;

namespace {

const std::string floor_2d = "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n";
const std::string floor_3d = "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n";

std::string unit_of(const MeasuredRow& columns, const std::string& name) {
  for (const MeasuredValue& column : columns)
    if (column.name == name) return column.unit;
  FAIL("no column " << name);
  return {};
}

}  // namespace

TEST_CASE("energy: 2 kg at speed 5 with spin 2 and 3 kg at speed 1 have 28.5 J, 80 J above the origin",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}, {{5, 2}}});
  scene.add_inertia({2, 3});
  scene.state.gravity = {{0, -10}};
  scene.state.bodies.velocity()[0] = {{3, 4}};
  scene.state.bodies.velocity()[1] = {{0, 1}};
  scene.state.bodies.angular_velocity()[0] = {{2}};
  scene.state.energy_balance.start = 100;
  scene.state.energy_balance.impact = 7;
  scene.state.energy_balance.inflow = 15;
  const std::string lines = "type = 'energy'";
  CHECK(scene.value(lines, "kinetic") == Approx(28.5));
  CHECK(scene.value(lines, "potential") == Approx(80));
  CHECK(scene.value(lines, "start") == 100);
  CHECK(scene.value(lines, "impact") == 7);
  CHECK(scene.value(lines, "inflow") == 15);
  CHECK(scene.value(lines, "imbalance") == Approx(28.5 + 80 - (100 + 15 - 7)));
  std::size_t n_entries = 0;
  EnergyBalance::for_each(scene.state.energy_balance, [&](const char*, Real) { ++n_entries; });
  CHECK(scene.row(lines).size() == n_entries + 3);
  // Contacts that store energy.
  scene.state.energy_balance.stored = true;
  scene.state.energy_balance.elastic = 5;
  scene.state.energy_balance.stiffening = 2;
  CHECK(scene.value(lines, "elastic") == 5);
  CHECK(scene.value(lines, "stiffening") == 2);
  CHECK(scene.value(lines, "imbalance") == Approx(28.5 + 80 - (100 + 15 - 7 + 2 - 5)));
  CHECK(scene.row(lines).size() == n_entries + 5);
}

TEST_CASE("measures of inertia refuse a scheme without it, naming the place in the deck", "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}});
  for (const std::string kind : {"energy", "stress", "contact_status", "rotation"}) {
    CAPTURE(kind);
    CHECK_THROWS_WITH(scene.row("type = '" + kind + "'"),
                      Catch::StartsWith("test.toml:1:") && Catch::Contains("\"" + kind + "\""));
  }
}

TEST_CASE("rotation: spins 3 and -1 have mean 1 and root mean square sqrt 5", "[analysis]") {
  Scene<2> disks(Places<2>{{{1, 1}}, {{5, 2}}});
  disks.add_inertia({1, 9});
  disks.state.bodies.angular_velocity()[0] = {{3}};
  disks.state.bodies.angular_velocity()[1] = {{-1}};
  CHECK(disks.value("type = 'rotation'", "mean") == 1);
  CHECK(disks.value("type = 'rotation'", "rms") == Approx(std::sqrt(5)));

  Scene<3> spheres(Places<3>{{{1, 1, 1}}, {{5, 2, 1}}});
  spheres.add_inertia({1, 1});
  spheres.state.bodies.angular_velocity()[0] = {{3, 0, -4}};
  CHECK(spheres.value("type = 'rotation'", "mean_x") == 1.5);
  CHECK(spheres.value("type = 'rotation'", "mean_z") == -2);
  CHECK(spheres.value("type = 'rotation'", "rms") == Approx(std::sqrt(12.5)));
}

TEST_CASE(
    "stress: a force of 3 N over a branch of 2 m in 1000 m3 is 6 mPa, friction of 1.5 N adds 3 mPa of shear",
    "[analysis]") {
  Scene<3> scene(Places<3>{{{4, 5, 5}}, {{6, 5, 5}}});
  scene.add_inertia({1, 1});
  scene.push(0, 1, -1, {{2, 0, 0}}, 3, {{0, 0, 1.5}});
  const std::string lines = "type = 'stress'";
  CHECK(scene.row(lines).size() == 9 + 6 + 1);
  CHECK(scene.value(lines, "contact_xx") == Approx(0.006));
  CHECK(scene.value(lines, "contact_zx") == Approx(0.003));
  CHECK(scene.value(lines, "contact_xz") == 0);
  CHECK(scene.value(lines, "pressure") == Approx(0.002));
}

TEST_CASE("stress: masses 2 and 1 at speeds 3 and -3 carry 24 J about their mean of 1", "[analysis]") {
  Scene<2> scene(Places<2>{{{4, 5}}, {{6, 5}}, {{1, 9}}});
  scene.add_inertia({2, 1, 1000});
  scene.state.bodies.velocity()[0] = {{3, 0}};
  scene.state.bodies.velocity()[1] = {{-3, 1.5}};
  scene.state.bodies.velocity()[2] = {{70, 80}};
  // In the region the mean is (1, 1/2): v' is (2, -1/2) and (-4, 1). The third body is beside it.
  const std::string lines = "type = 'stress'\nregion = { lower = [2, 0], upper = [10, 10] }";
  CHECK(scene.value(lines, "kinetic_xx") == Approx(24. / 80));
  CHECK(scene.value(lines, "kinetic_xy") == Approx(-6. / 80));
  CHECK(scene.value(lines, "kinetic_yy") == Approx(1.5 / 80));
  CHECK(scene.value(lines, "pressure") == Approx(25.5 / 160));
}

TEST_CASE("stress: a contact counts by the share of its branch in the region, also through a periodic face",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{4, 5}}, {{6, 5}}, {{9.5, 5}}, {{0.5, 5}}});
  scene.add_inertia({1, 1, 1, 1});
  const auto total = [&](const std::string& from, const std::string& to, Real width) {
    return 10 * width *
           scene.value("type = 'stress'\nregion = { lower = [" + from + ", 0], upper = [" + to + ", 10] }",
                       "contact_xx");
  };
  scene.push(0, 1, -1, {{2, 0}}, 3);
  CHECK(total("3", "7", 4) == Approx(6));
  CHECK(total("5.5", "7", 1.5) == Approx(1.5));
  CHECK(total("4.5", "5", 0.5) == Approx(1.5));
  CHECK(total("7", "8", 1) == 0);
  scene.state.box.periodic = {true, false};
  scene.push(2, 3, -1, {{1, 0}}, 8);
  CHECK(total("9.75", "10", 0.25) == Approx(2));
  CHECK(total("0", "0.25", 0.25) == Approx(2));
  CHECK(total("0", "10", 10) == Approx(14));
  CHECK(100 * scene.value("type = 'stress'", "contact_xx") == Approx(14));
}

TEST_CASE("stress: two disks on each other on a floor carry in each half what rests on it", "[analysis]") {
  // Weights of 10 N each: the lower contact carries 20 N, the upper one 10 N.
  Scene<2> scene(Places<2>{{{5, 1}}, {{5, 3}}}, floor_2d);
  scene.add_inertia({1, 1});
  scene.push(0, 1, -1, {{0, 2}}, 10);
  scene.push(0, -1, 0, {{0, -1}}, 20);
  CHECK(10 * scene.value("type = 'stress'\nregion = { lower = [0, 0], upper = [10, 1] }", "contact_yy") ==
        Approx(20));
  CHECK(20 * scene.value("type = 'stress'\nregion = { lower = [0, 1], upper = [10, 3] }", "contact_yy") ==
        Approx(20));
}

TEST_CASE("fabric: normals along x, x and y have components 2/3 and 1/3 and anisotropy 1/3, in any frame",
          "[analysis]") {
  Scene<2> scene(Places<2>{{{5, 5}}, {{6, 5}}});
  const std::string lines = "type = 'fabric'";
  CHECK(std::isnan(scene.value(lines, "anisotropy")));
  scene.push(0, 1, -1, {{2, 0}}, 1);
  scene.push(0, 1, -1, {{-2, 0}}, 5);
  scene.push(0, 1, -1, {{0, 2}}, 1);
  scene.push(0, 1, -1, {{0, 2}}, 0);
  CHECK(scene.value(lines, "contacts") == 3);
  CHECK(scene.value(lines, "xx") == Approx(2. / 3));
  CHECK(scene.value(lines, "xy") == 0);
  CHECK(scene.value(lines, "yy") == Approx(1. / 3));
  CHECK(scene.value(lines, "anisotropy") == Approx(1. / 3));
  CHECK(scene.value("type = 'fabric'\nloaded = false", "contacts") == 4);

  Scene<2> turned(Places<2>{{{5, 5}}, {{6, 5}}});
  turned.push(0, 1, -1, {{1, 1}}, 1);
  turned.push(0, 1, -1, {{1, 1}}, 1);
  turned.push(0, 1, -1, {{1, -1}}, 1);
  CHECK(turned.value(lines, "xy") == Approx(1. / 6));
  CHECK(turned.value(lines, "anisotropy") == Approx(1. / 3));
}

TEST_CASE(
    "fabric: in space anisotropy is 0 for the three axes and 1 for one line; midpoints decide the region",
    "[analysis]") {
  Scene<3> scene(Places<3>{{{5, 5, 5}}});
  const std::string high = "type = 'fabric'\nregion = { lower = [0, 0, 5.5], upper = [10, 10, 10] }";
  for (int k = 0; k < 3; ++k) scene.push(0, -1, 0, unit_vector<3>(k, 2), 1);
  CHECK(scene.value("type = 'fabric'", "anisotropy") == Approx(0).margin(1e-12));
  CHECK(scene.value("type = 'fabric'", "zz") == Approx(1. / 3));
  CHECK(scene.value(high, "contacts") == 1);
  CHECK(scene.value(high, "zz") == 1);
  CHECK(scene.value(high, "anisotropy") == Approx(1));
}

TEST_CASE("wall_force: with inertia friction counts, in N, and torques about a point, in N m", "[analysis]") {
  Scene<2> disks(Places<2>{{{3, 1}}}, floor_2d);
  disks.add_inertia({1});
  disks.push(0, -1, 0, {{0, -1}}, 2, {{0.5, 0}});
  const std::string lines = "type = 'wall_force'";
  CHECK(disks.value(lines, "force_floor_x") == 0.5);
  CHECK(disks.value(lines, "force_floor_y") == -2);
  CHECK(disks.value(lines, "torque_floor") == -6);
  CHECK(disks.value(lines + "\npoint = [1, 1]", "torque_floor") == -3.5);
  CHECK(unit_of(columns_of(*disks.measure_of(lines), disks.state), "force_floor_x") == "N");
  CHECK(unit_of(columns_of(*disks.measure_of(lines), disks.state), "torque_floor") == "N m");

  Scene<3> spheres(Places<3>{{{3, 4, 1}}}, floor_3d);
  spheres.add_inertia({1});
  spheres.push(0, -1, 0, {{0, 0, -1}}, 2, {{0.5, 0, 0}});
  CHECK(spheres.value(lines, "force_floor_z") == -2);
  CHECK(spheres.value(lines, "torque_floor_x") == -8);
  CHECK(spheres.value(lines, "torque_floor_y") == 6);
  CHECK(spheres.value(lines, "torque_floor_z") == -2);
}

TEST_CASE("contact_status: with mu = 0.5, friction 1 of 2 N slides and 1 of 4 N uses half", "[analysis]") {
  const std::string glass =
      "[materials.glass]\ndensity = 1\n[pairs]\n'glass-glass' = { friction = 0.5, restitution = 0 }\n";
  Scene<2> scene(Places<2>{{{3, 1}}, {{5, 1}}}, floor_2d);
  scene.add_inertia({1, 1}, glass);
  const std::string lines = "type = 'contact_status'";
  CHECK(std::isnan(scene.value(lines, "sliding")));
  CHECK(std::isnan(scene.value(lines, "mean_force")));
  scene.push(0, 1, -1, {{2, 0}}, 2, {{0, -1}});
  scene.push(0, -1, 0, {{0, -1}}, 4, {{1, 0}});
  scene.push(1, -1, 0, {{0, -1}}, 0, {{0, 0}});
  CHECK(scene.value(lines, "contacts") == 2);
  CHECK(scene.value(lines, "mean_force") == 3);
  CHECK(scene.value(lines, "sliding") == 0.5);
  CHECK(scene.value(lines, "mobilised") == Approx(0.75));

  Scene<2> smooth(Places<2>{{{3, 1}}, {{5, 1}}});
  smooth.add_inertia(
      {1, 1}, "[materials.ice]\ndensity = 1\n[pairs]\n'ice-ice' = { friction = 0, restitution = 0 }\n");
  smooth.push(0, 1, -1, {{2, 0}}, 2);
  CHECK(smooth.value(lines, "contacts") == 1);
  CHECK(std::isnan(smooth.value(lines, "sliding")));
}

TEST_CASE("profile: two bodies at speeds 1 and 3 below, one above", "[analysis]") {
  Scene<2> scene(Places<2>{{{5, 2}}, {{2, 3}}, {{5, 7.25}}, {{20, 2}}});
  scene.state.bodies.velocity()[0] = {{1, 0}};
  scene.state.bodies.velocity()[1] = {{3, 0}};
  scene.state.bodies.velocity()[2] = {{0, -1}};
  scene.state.bodies.velocity()[3] = {{99, 99}};
  const std::string lines = "type = 'profile'\nbins = 2\n";
  CHECK(scene.row(lines).size() == 10);
  CHECK(scene.value(lines, "v_x_0") == 2);
  CHECK(scene.value(lines, "v_y_0") == 0);
  CHECK(scene.value(lines, "temperature_0") == 0.5);
  CHECK(scene.value(lines, "n_bodies_0") == 2);
  CHECK(scene.value(lines, "solid_0") == Approx(2 * std::numbers::pi / 50));
  CHECK(scene.value(lines, "v_y_1") == -1);
  CHECK(scene.value(lines, "temperature_1") == 0);
  CHECK(scene.value(lines, "solid_1") == Approx(std::numbers::pi / 50));
  const std::string columns =
      "type = 'profile'\nbins = 5\naxis = 'x'\nregion = { lower = [0, 0], upper = [10, 5] }";
  CHECK(scene.value(columns, "v_x_2") == 1);
  CHECK(scene.value(columns, "v_x_1") == 3);
  CHECK(std::isnan(scene.value(columns, "v_x_0")));
  CHECK(scene.value(columns, "solid_0") == Approx(std::numbers::pi / 20));  // half the body at x = 2
  CHECK(scene.value(columns, "n_bodies_0") == 0);
}

TEST_CASE("profile: a body across a periodic face fills the first and the last bin", "[analysis]") {
  Scene<3> scene(Places<3>{{{5, 5, 10}}});
  scene.state.box.periodic = {false, false, true};
  const std::string lines = "type = 'profile'\nbins = 4\n";
  CHECK(scene.value(lines, "solid_0") == Approx(2. / 3 * std::numbers::pi / 250));
  CHECK(scene.value(lines, "solid_3") == Approx(2. / 3 * std::numbers::pi / 250));
  CHECK(scene.value(lines, "solid_1") == Approx(0).margin(1e-15));
  CHECK(scene.value(lines, "n_bodies_0") == 1);  // z = 10 is z = 0
}
