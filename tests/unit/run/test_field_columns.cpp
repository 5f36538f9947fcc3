#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "run/field_columns.hpp"

namespace scree {

namespace {

/// One body at (1, 2), or (1, 2, 0), that moves and has turned.
template <int D>
State<D> one_body() {
  State<D> state;
  state.comm = Comm(MPI_COMM_SELF);
  state.bodies.carry(FieldSet::with_inertia);
  state.bodies.resize(1, 0);
  state.bodies.position()[0] = unit_vector<D>(0) + 2.0 * unit_vector<D>(1);
  state.bodies.velocity()[0] = 3.0 * unit_vector<D>(1);
  state.bodies.radius()[0] = 0.5;
  state.bodies.mass()[0] = 7;
  return state;
}

std::string names_of(const std::vector<Column>& columns) {
  std::string names;
  for (const Column& column : columns)
    names += column.name + "[" + column.unit + "]" + std::to_string(column.components) + " ";
  return names;
}

std::vector<double> values_of(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns)
    if (column.name == name) {
      const auto values = std::get<std::span<const double>>(column.values);
      return {values.begin(), values.end()};
    }
  return {};
}

}  // namespace

TEST_CASE("field columns: frames have vectors in space, rotations about z and quaternions", "[run]") {
  State<2> state = one_body<2>();
  state.bodies.angular_velocity()[0] = {{4}};
  state.bodies.orientation()[0] = {{M_PI}};
  FieldColumns<2> fields(state, FieldFile::frames);
  const std::vector<std::int32_t> rank{6};
  fields.add(5, {"rank", "-", 1, std::span<const std::int32_t>(rank)});
  const std::vector<Column> columns = fields.columns();
  CHECK(names_of(columns) ==
        "id[-]1 radius[m]1 velocity[m/s]3 type[-]1 rank[-]1 mass[kg]1 angular_velocity[rad/s]3 "
        "orientation[-]4 ");
  CHECK(values_of(columns, "velocity") == std::vector<double>{0, 3, 0});
  CHECK(values_of(columns, "angular_velocity") == std::vector<double>{0, 0, 4});
  CHECK(values_of(columns, "orientation") ==
        std::vector<double>{std::cos(M_PI / 2), 0, 0, std::sin(M_PI / 2)});
  CHECK(values_of(columns, "mass") == std::vector<double>{7});
}

TEST_CASE("field columns: H5MD files have as many components as the run", "[run]") {
  State<2> state = one_body<2>();
  state.bodies.orientation()[0] = {{0.25}};
  FieldColumns<2> in_2d(state, FieldFile::h5md);
  const std::vector<Column> columns = in_2d.columns();
  CHECK(names_of(columns) ==
        "position[m]2 image[-]2 velocity[m/s]2 radius[m]1 type[-]1 mass[kg]1 angular_velocity[rad/s]1 "
        "orientation[-]1 ");
  CHECK(values_of(columns, "position") == std::vector<double>{1, 2});
  CHECK(values_of(columns, "orientation") == std::vector<double>{0.25});

  State<3> spheres = one_body<3>();
  spheres.bodies.orientation()[0] = upright<3>();
  FieldColumns<3> in_3d(spheres, FieldFile::h5md);
  const std::vector<Column> of_3d = in_3d.columns();
  CHECK(names_of(of_3d) ==
        "position[m]3 image[-]3 velocity[m/s]3 radius[m]1 type[-]1 mass[kg]1 angular_velocity[rad/s]3 "
        "orientation[-]4 ");
  CHECK(values_of(of_3d, "orientation") == std::vector<double>{1, 0, 0, 0});
}

}  // namespace scree
