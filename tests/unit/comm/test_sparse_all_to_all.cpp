// Messages on one rank; tests/mpi/test_sparse_all_to_all.cpp sends them to others.
#include "comm/exchange_volume.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace scree;

TEST_CASE("sparse all-to-all: values of any type come out as they went in, to the last bit", "[comm]") {
  std::vector<std::byte> bytes;
  Packer packer(bytes);
  packer.put(std::int8_t{-3});
  packer.put(0.1);
  packer.put(std::span<const double>());
  packer.put(std::span<const std::int64_t>(std::vector<std::int64_t>{1, (std::int64_t{1} << 53) + 1}));
  CHECK(bytes.size() == 1 + 8 + 16);
  Unpacker unpacker(bytes);
  CHECK(unpacker.take<std::int8_t>() == -3);
  CHECK(unpacker.take<double>() == 0.1);
  std::vector<std::int64_t> numbers(2);
  CHECK_FALSE(unpacker.empty());
  unpacker.take(std::span(numbers));
  CHECK(numbers == std::vector<std::int64_t>{1, (std::int64_t{1} << 53) + 1});
  CHECK(unpacker.empty());
}

TEST_CASE("sparse all-to-all: what goes to the own rank stays there, and nothing is left afterwards",
          "[comm]") {
  const Comm alone(MPI_COMM_SELF);
  Outgoing outgoing;
  outgoing.to(0).put(7);
  outgoing.to(0).put(5);
  CHECK(exchange_values<int>(alone, outgoing) == std::vector<int>{7, 5});
  CHECK(exchange_values<int>(alone, outgoing).empty());
}

TEST_CASE("sparse all-to-all: eight bytes announce each one", "[comm]") {
  Outgoing outgoing;
  outgoing.to(1).put(std::array<std::byte, 5>{});
  outgoing.to(4).put(std::array<std::byte, 20>{});
  CHECK(volume_of(outgoing).bytes == 5 + 20 + 2 * 8);
  CHECK(volume_of(outgoing).messages == 4);
}
