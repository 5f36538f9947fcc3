// Parcels on one rank; tests/mpi/test_parcels.cpp sends them to others.
#include "comm/parcels.hpp"

#include <catch2/catch.hpp>

using namespace scree;

TEST_CASE("parcels: values of any type come out as they went in, to the last bit", "[comm]") {
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

TEST_CASE("parcels: what goes to the own rank stays there, and the box is empty afterwards", "[comm]") {
  const Comm alone(MPI_COMM_SELF);
  Outbox outbox;
  outbox.to(0).put(7);
  outbox.to(0).put(5);
  CHECK(deliver_values<int>(alone, outbox) == std::vector<int>{7, 5});
  CHECK(deliver_values<int>(alone, outbox).empty());
}

TEST_CASE("parcels: eight bytes announce each one", "[comm]") {
  const std::vector<Parcel> outgoing{{1, std::vector<std::byte>(5)}, {4, std::vector<std::byte>(20)}};
  CHECK(volume_of(outgoing).bytes == 5 + 20 + 2 * 8);
  CHECK(volume_of(outgoing).messages == 4);
}
