#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "comm/id_order.hpp"
#include "core/error.hpp"
#include "core/even_share.hpp"

using namespace scree;

namespace {

/// Deals `all` to the ranks with `owner` and checks that each gets its equal share back, sorted, with all
/// data.
void check_order(const std::vector<GlobalId>& all, const std::function<int(std::size_t)>& owner) {
  const Comm comm;
  std::vector<GlobalId> mine;
  std::vector<std::array<double, 3>> triples;
  std::vector<std::int32_t> pairs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (owner(i) != comm.rank()) continue;
    mine.push_back(all[i]);
    const auto low = static_cast<std::int32_t>(all[i] & 0xffff);
    triples.push_back({static_cast<double>(low), 0.5 * low, -1});
    pairs.insert(pairs.end(), {low, -low});
  }
  std::vector<GlobalId> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<std::int64_t>(all.size());
  const auto [first, end] = EvenShare(comm, n);

  const IdOrder order(comm, mine);
  CHECK(order.n_total() == n);
  CHECK(order.first() == first);
  REQUIRE(order.count() == static_cast<std::size_t>(end - first));
  std::vector<GlobalId> ids;
  std::vector<std::array<double, 3>> out_triples;
  std::vector<std::int32_t> out_pairs;
  order.apply(std::span<const GlobalId>(mine), ids);
  order.apply(std::span<const std::array<double, 3>>(triples), out_triples);
  order.apply(std::span<const std::int32_t>(pairs), out_pairs, 2);
  CHECK(ids == std::vector<GlobalId>(sorted.begin() + first, sorted.begin() + end));
  REQUIRE(out_triples.size() == ids.size());
  REQUIRE(out_pairs.size() == 2 * ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto low = static_cast<std::int32_t>(ids[i] & 0xffff);
    CHECK(out_triples[i] == std::array<double, 3>{static_cast<double>(low), 0.5 * low, -1});
    CHECK(out_pairs[2 * i] == low);
    CHECK(out_pairs[2 * i + 1] == -low);
  }
}

/// Ids with gaps, in no order, up to 2^63 - 1.
std::vector<GlobalId> scattered(std::size_t n) {
  std::vector<GlobalId> ids;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    ids.push_back(static_cast<GlobalId>(state >> (1 + i % 40)));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.push_back(std::numeric_limits<GlobalId>::max());
  std::rotate(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n / 3), ids.end());
  return ids;
}

}  // namespace

TEST_CASE("id order: 1000 scattered ids up to 2^63 - 1 come back sorted in equal shares", "[comm]") {
  const int size = Comm().size();
  check_order(scattered(1000), [&](std::size_t i) { return static_cast<int>((i * 7919) % 11) % size; });
}

TEST_CASE("id order: ids without gaps, and with a few, in no order", "[comm]") {
  const int size = Comm().size();
  for (const GlobalId first : {GlobalId{0}, GlobalId{-20}, std::numeric_limits<GlobalId>::max() - 4000}) {
    std::vector<GlobalId> ids;
    for (GlobalId i = 0; i < 500; ++i) ids.push_back(first + i * 7919 % 500 * (first == 0 ? 1 : 7));
    check_order(ids, [&](std::size_t i) { return static_cast<int>(i * 31 % 17) % size; });
  }
}

TEST_CASE("id order: all bodies on the last rank, none, one, and fewer than ranks", "[comm]") {
  const int size = Comm().size();
  check_order(scattered(100), [&](std::size_t) { return size - 1; });
  for (const std::size_t n : {0, 1, 2, 3}) {
    const std::vector<GlobalId> few{77, 5, std::int64_t{1} << 53};
    check_order({few.begin(), few.begin() + static_cast<std::ptrdiff_t>(n)},
                [&](std::size_t i) { return static_cast<int>(i + 1) % size; });
  }
}

TEST_CASE("id order: an id that occurs twice is an error on all ranks", "[comm]") {
  const Comm comm;
  for (const GlobalId twice : {0, 3, 7}) {
    std::vector<GlobalId> mine;
    if (comm.is_root()) mine = {0, 1, 2, 3, 4, 5, 6, 7};
    if (comm.rank() == comm.size() - 1) mine.push_back(twice);
    CHECK_THROWS_AS(IdOrder(comm, mine), RunError);
  }
}

TEST_CASE("id order: shares of 10 rows for 4 parts start at 0, 2, 5, 7", "[comm]") {
  CHECK(EvenShare::start(10, 0, 4) == 0);
  CHECK(EvenShare::start(10, 1, 4) == 2);
  CHECK(EvenShare::start(10, 2, 4) == 5);
  CHECK(EvenShare::start(10, 3, 4) == 7);
  CHECK(EvenShare::start(10, 4, 4) == 10);
}

TEST_CASE("id order: every row is in the share of its owner", "[comm]") {
  for (const std::int64_t n : {1, 2, 3, 10, 101})
    for (const int parts : {1, 2, 3, 4, 7, 200})
      for (std::int64_t row = 0; row < n; ++row) {
        const int part = EvenShare::owner(n, row, parts);
        const bool is_inside =
            EvenShare::start(n, part, parts) <= row && row < EvenShare::start(n, part + 1, parts);
        REQUIRE(is_inside);
      }
}
