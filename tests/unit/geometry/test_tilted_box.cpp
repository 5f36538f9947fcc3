#include <catch2/catch.hpp>

#include "geometry/lattice.hpp"

namespace scree {

namespace {

Box<3> tilted(Real offset) {
  return {.lower = {{0, 0, 0}},
          .upper = {{8, 4, 4}},
          .periodic = {true, true, true},
          .flow = 0,
          .gradient = 1,
          .offset = offset};
}

}  // namespace

TEST_CASE("tilted box: images lie at whole periods, and places upright in the cell") {
  const Box<3> box = tilted(1.5);
  CHECK(box.period(1) == Vec<3>{{1.5, 4, 0}});
  CHECK(box.shift(std::array{2, -1, 3}) == Vec<3>{{14.5, -4, 12}});
  const Vec<3> x{{1, 3, 2}};
  CHECK(box.upright(x)[0] == 1 - 1.5 / 4 * (3 - 2));
  // The image through a face across the gradient has the same upright place along the flow.
  CHECK(std::abs(box.upright(x + box.period(1))[0] - box.upright(x)[0]) < 1e-15);
  CHECK(box.room(1) == 4);
  CHECK(std::abs(box.room(0) - 8 / std::sqrt(2.0)) < 1e-15);
  CHECK(Box<3>{{{0, 0, 0}}, {{8, 4, 4}}, {true, true, true}}.room(0) == 8);
}

TEST_CASE("lattice of a tilted box: bodies that can touch lie in neighbouring cells at any tilt") {
  for (const Real offset : {-4.0, -1.3, 0.0, 2.2, 4.0}) {
    const Box<3> box = tilted(offset);
    const Lattice<3> lattice = Lattice<3>::make(box, 0.2, 0.05, 1);
    const Real reach = Lattice<3>::reach(0.2, 0.05);
    for (int k = 0; k < 500; ++k) {
      const auto share = [&](int digit) { return static_cast<Real>((k * digit) % 97) / 97; };
      const Vec<3> a = Vec<3>{{8 * share(17), 4 * share(31), 4 * share(7)}};
      const Real angle = 6.28 * share(57), height = 2 * share(29) - 1,
                 across = std::sqrt(1 - height * height);
      const Vec<3> b =
          a + 0.999 * reach * Vec<3>{{across * std::cos(angle), across * std::sin(angle), height}};
      const Cell<3> cell = lattice.cell_of(a), other = lattice.cell_of(b);
      for (int axis = 0; axis < 3; ++axis) {
        const Real apart = (box.upright(b) - box.upright(a))[axis] / lattice.cell_edge[axis];
        CHECK(std::abs(apart) <= 1);
        CHECK(std::abs(cell[axis] - other[axis]) <= 1);
      }
    }
  }
}

TEST_CASE("lattice of a deformed box: the same cells as long as they are wide enough") {
  Box<3> box = tilted(0);
  Lattice<3> lattice = Lattice<3>::make(box, 0.2, 0.05, 1);
  const auto cells = lattice.n_cells;
  box.offset = 3;
  box.upper[2] = 4.2;
  REQUIRE(lattice.follow(box));
  CHECK(lattice.n_cells == cells);
  CHECK(lattice.lean == 0.75);
  CHECK(lattice.cell_edge[2] == 4.2 / cells[2]);
  box.upper[2] = 0.9 * lattice.cell_width() * cells[2];
  CHECK_FALSE(lattice.follow(box));
  box.upper[2] = 9;
  CHECK_FALSE(lattice.follow(box));
}

}  // namespace scree
