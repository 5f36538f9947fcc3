// The order of ids on one rank; tests/mpi/test_id_order.cpp deals bodies to several.
#include "comm/id_order.hpp"

#include <catch2/catch.hpp>

#include "support/message_of.hpp"

using namespace scree;

TEST_CASE("id order: rows are sorted by id, all components of a row together", "[comm]") {
  const std::vector<GlobalId> ids{(GlobalId{1} << 53) + 1, 3, GlobalId{1} << 53, 0};
  const std::vector<double> values{4, 40, 2, 20, 3, 30, 1, 10};
  const IdOrder order(Comm(MPI_COMM_SELF), ids);
  CHECK(order.n_total() == 4);
  CHECK(order.first() == 0);
  REQUIRE(order.count() == 4);
  std::vector<double> sorted;
  order.apply(std::span(values), sorted, 2);
  CHECK(sorted == std::vector<double>{1, 10, 2, 20, 3, 30, 4, 40});
}

TEST_CASE("id order: an id that occurs twice is refused, none at all is not", "[comm]") {
  const Comm alone(MPI_COMM_SELF);
  const auto refusal = [&](const std::vector<GlobalId>& ids) {
    return message_of<RunError>([&] { IdOrder(alone, ids); });
  };
  CHECK_THAT(refusal({5, 7, 5}), Catch::Contains("5"));
  CHECK(refusal({5, 7}).empty());
  CHECK(refusal({}).empty());
}
