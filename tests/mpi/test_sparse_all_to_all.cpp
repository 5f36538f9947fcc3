#include <catch2/catch.hpp>

#include "core/sparse_all_to_all.hpp"

using namespace scree;

TEST_CASE("sparse all-to-all: values arrive by ascending sender, in the order they were put in", "[mpi]") {
  const Comm world;
  Outgoing outgoing;
  // To every second rank, this one included; the last ones first.
  for (int to = world.size() - 1; to >= 0; --to)
    if ((to + world.rank()) % 2 == 0)
      for (int k = 0; k <= to; ++k) outgoing.to(to).put(100 * world.rank() + k);
  std::vector<int> expected;
  for (int from = 0; from < world.size(); ++from)
    if ((from + world.rank()) % 2 == 0)
      for (int k = 0; k <= world.rank(); ++k) expected.push_back(100 * from + k);
  CHECK(exchange_values<int>(world, outgoing) == expected);
  CHECK(exchange_values<int>(world, outgoing).empty());
}
