// What every registered source of bodies promises (particles/initial_packing.hpp, InitialPacking).
#include <algorithm>
#include <map>

#include "unit/particles/make_bodies.hpp"
#include "unit/particles/scratch_file.hpp"

using namespace scree;

namespace {

template <int D>
void check_promises() {
  const ScratchFile csv("contract.csv", "x,y,z,radius\n0.5,0.5,0.5,0.1\n0.2,0.2,0.2,0.05\n");
  const std::string post =
      D == 2 ? "[obstacles.post]\ntype = 'disk'\ncenter = [0.5, 0.2]\nradius = 0.1\n"
             : "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0, 0.1]\nnormal = [0, 0, 1]\n";
  const std::string radius = "radius = { distribution = 'uniform', min = 0.01, max = 0.02 }\n";
  // One table per registered kind; a kind without one fails below.
  const std::map<std::string_view, std::string> tables{
      {"lattice", radius + "source = { type = 'lattice', count = 60, jitter = 0.1 }"},
      {"random", radius + "source = { type = 'random', count = 60 }"},
      {"packed", radius + "source = { type = 'packed', solid_fraction = 0.55, region = { " +
                     (D == 2 ? "lower = [0.6, 0.6], upper = [0.9, 0.9]"
                             : "lower = [0.6, 0.6, 0.6], upper = [0.8, 0.8, 0.8]") +
                     " } }"},
      {"file", "source = { type = 'file', path = '" + csv.path() + "' }"}};
  const Box<D> box{{}, filled<D>(1.0), {true, false}};

  for (const Entry<InitialPacking<D>>& entry : registry<InitialPacking<D>>()) {
    INFO(entry.name << " in " << D << "D");
    REQUIRE(tables.contains(entry.name));
    const std::string toml = post + "[particles.first]\n" + radius +
                             "source = { type = 'lattice', count = 3 }\n" + "[particles.second]\n" +
                             tables.at(entry.name);
    const Start<D> start = make_bodies<D>(Comm(MPI_COMM_SELF), box, toml);
    const Start<D> again = make_bodies<D>(Comm(MPI_COMM_SELF), box, toml);

    std::vector<GlobalId> ids(start.bodies.id().begin(), start.bodies.id().end());
    std::ranges::sort(ids);
    REQUIRE(ids.size() > 4);
    for (std::size_t i = 0; i < ids.size(); ++i) CHECK(ids[i] == static_cast<GlobalId>(i));
    CHECK(start.next_id == static_cast<GlobalId>(ids.size()));
    CHECK(smallest_obstacle_gap(start) >= -1e-9);
    REQUIRE(again.size() == start.size());
    for (std::size_t i = 0; i < start.size(); ++i) {
      CHECK(box.contains(start.bodies.position()[i]));
      CHECK(start.bodies.radius()[i] > 0);
      CHECK(again.bodies.id()[i] == start.bodies.id()[i]);
      CHECK(again.bodies.position()[i] == start.bodies.position()[i]);
      CHECK(again.bodies.radius()[i] == start.bodies.radius()[i]);
    }
  }
}

}  // namespace

TEST_CASE(
    "initial packings: ids without gaps, bodies in the domain and off obstacles, the same ones again (2D)",
    "[particles]") {
  check_promises<2>();
}
TEST_CASE(
    "initial packings: ids without gaps, bodies in the domain and off obstacles, the same ones again (3D)",
    "[particles]") {
  check_promises<3>();
}
