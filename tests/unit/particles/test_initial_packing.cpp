#include "unit/particles/make_bodies.hpp"

using namespace scree;

namespace {

const Box<2> box{{}, filled<2>(1.0), {true, false}};

std::string error_of(const std::string& toml) {
  return message_of([&] { make_bodies<2>(Comm(MPI_COMM_SELF), box, toml); });
}

}  // namespace

TEST_CASE("create_bodies: ids run on from group to group, with the group's number and mobility",
          "[particles]") {
  const Start<2> start = make_bodies<2>(Comm(MPI_COMM_SELF), box, R"(
[particles.posts]
mobility = 0
radius = { distribution = "constant", value = "10 mm" }
source = { type = "lattice", count = 4 }
[particles.bed]
radius = { distribution = "constant", value = "20 mm" }
source = { type = "random", count = 6 })");
  REQUIRE(start.size() == 10);
  CHECK(start.next_id == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    const bool is_post = start.bodies.id()[i] < 4;
    CHECK(start.bodies.type()[i] == (is_post ? 0 : 1));
    CHECK(start.bodies.mobility()[i] == (is_post ? 0 : 1));
    CHECK(start.bodies.radius()[i] == (is_post ? 0.01 : 0.02));
    CHECK(start.bodies.velocity()[i] == Vec<2>{});
  }
}

TEST_CASE("create_bodies: another seed moves the bodies", "[particles]") {
  const std::string toml =
      "[particles.bed]\nradius = { distribution = 'constant', value = 0.01 }\nsource = { type = 'random', "
      "count = 5 }";
  const Start<2> one = make_bodies<2>(Comm(MPI_COMM_SELF), box, toml, 1);
  const Start<2> same = make_bodies<2>(Comm(MPI_COMM_SELF), box, toml, 1);
  const Start<2> other = make_bodies<2>(Comm(MPI_COMM_SELF), box, toml, 2);
  CHECK(one.bodies.position()[0] == same.bodies.position()[0]);
  CHECK(one.bodies.position()[0] != other.bodies.position()[0]);
}

TEST_CASE("particle groups: what is missing or out of range is an error at its place", "[particles]") {
  CHECK_THAT(error_of("[particles.bed]\nsource = { type = 'random', count = 3 }"),
             Catch::StartsWith("test.toml:1:") && Catch::Contains("[particles.bed] needs a radius"));
  CHECK_THAT(error_of("[particles.bed]\nradius = { distribution = 'constant', value = 1 }"),
             Catch::Contains("source"));
  CHECK_THAT(error_of("[particles.bed]\nmobility = -1\nradius = { distribution = 'constant', value = 1 }\n"
                      "source = { type = 'random', count = 3 }"),
             Catch::StartsWith("test.toml:2:"));
}
