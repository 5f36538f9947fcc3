// Bodies in messages: fields, and what they remember of contacts. tests/mpi/test_domain.cpp sends them.
#include "comm/migration.hpp"

#include <catch2/catch.hpp>

#include "unit/neighbors/random_state.hpp"

using namespace scree;

namespace {

constexpr int n = 6;

/// Bodies 0 to 5; body i remembers i contacts: with body 10 i + k the number i + k / 10.
State<2> bodies_with_memory() {
  const Box<2> box{{{0, 0}}, {{1, 1}}, {}};
  State<2> state = state_of<2>(Comm(MPI_COMM_SELF), box, random_bodies<2>(box, n, 0.1, 0.2, 3),
                               [](GlobalId) { return true; });
  state.memory = collect(n, 1, [](const auto& add) {
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < i; ++k) add(i, GlobalId{10 * i + k}, std::array<Real, 1>{i + 0.1 * k});
  });
  return state;
}

}  // namespace

TEST_CASE("migration: packed bodies come out with all fields and their memory, in the order asked for",
          "[comm]") {
  const State<2> from = bodies_with_memory();
  const std::vector<Index> which{4, 0, 2};
  std::vector<std::byte> bytes;
  Packer packer(bytes);
  pack_bodies<2>(from.bodies, from.memory, which, false, packer);

  State<2> to = bodies_with_memory();
  to.bodies.resize(n + 3, 0);
  Unpacker unpacker(bytes);
  unpack_bodies<2>(unpacker, n, 3, false, to.bodies, to.memory);
  CHECK(unpacker.empty());
  REQUIRE(to.memory.n_bodies() == n + 3);
  for (std::size_t k = 0; k < which.size(); ++k) {
    const std::size_t source = which[k];
    CHECK(to.bodies.id()[n + k] == from.bodies.id()[source]);
    CHECK(to.bodies.position()[n + k] == from.bodies.position()[source]);
    CHECK(to.bodies.radius()[n + k] == from.bodies.radius()[source]);
    for (Index partner = 0; partner < which[k]; ++partner) {
      Real value = 0;
      to.memory.restore(static_cast<Index>(n + k), GlobalId{10 * which[k] + partner}, {&value, 1});
      CHECK(value == which[k] + 0.1 * partner);
    }
  }
  CHECK(to.memory.other.size() == from.memory.other.size() + 4 + 0 + 2);
}

TEST_CASE("migration: bodies that stay are left as they are", "[comm]") {
  State<2> state = bodies_with_memory();
  const State<2> before = bodies_with_memory();
  ExchangeVolume volume;
  CHECK(migrate<2>(Comm(MPI_COMM_SELF), std::vector<int>(n, 0), state.bodies, state.memory, &volume) == 0);
  CHECK(state.bodies.n_owned() == n);
  CHECK(std::ranges::equal(state.bodies.id(), before.bodies.id()));
  CHECK(state.memory.value == before.memory.value);
  CHECK(volume == ExchangeVolume{});
}
