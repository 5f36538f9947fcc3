#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/timing.hpp"

using scree::Comm;
using scree::Real;

namespace {

/// The share of this rank in n numbers, dealt out in turn.
std::vector<Real> share_of(const Comm& comm, int n) {
  std::vector<Real> values;
  for (int id = comm.rank(); id < n; id += comm.size()) {
    scree::RandomStream stream(5, id, 1);
    const Real sign_and_digits = stream.uniform(-1, 1);
    values.push_back(sign_and_digits * std::pow(10, stream.uniform(-10, 10)));
  }
  return values;
}

}  // namespace

TEST_CASE("reproducible sum: 1000 numbers dealt to the ranks sum to the bits they have on one rank",
          "[mpi]") {
  const Comm world;
  const Comm self(MPI_COMM_SELF);
  const Real alone = scree::ReproducibleSum::sum(self, share_of(self, 1000));
  const Real together = scree::ReproducibleSum::sum(world, share_of(world, 1000));
  CHECK(std::bit_cast<std::uint64_t>(alone) == std::bit_cast<std::uint64_t>(together));
}

TEST_CASE("reproducible sum: NaN on the last rank alone is NaN on all ranks", "[mpi]") {
  const Comm world;
  std::vector<Real> values{1.0};
  if (world.rank() == world.size() - 1) values.push_back(NAN);
  CHECK(std::isnan(scree::ReproducibleSum::sum(world, values)));
}

TEST_CASE("comm: sums, extremes and prefix sums over ranks", "[mpi]") {
  const Comm world;
  const std::int64_t n = world.size();
  const std::int64_t rank = world.rank();
  CHECK(world.sum(rank) == n * (n - 1) / 2);
  CHECK(world.max(rank) == n - 1);
  CHECK(world.min(Real(rank) + 0.5) == 0.5);
  CHECK(world.sum_before(rank + 1) == rank * (rank + 1) / 2);
  CHECK(world.any(rank == n - 1));
  CHECK(world.all(rank == n - 1) == (n == 1));
  std::string text = rank == n - 1 ? "from the last rank" : "longer than that text and different from it";
  world.broadcast(text, static_cast<int>(n - 1));
  CHECK(text == "from the last rank");
}

TEST_CASE("agree: the error of the lowest failing rank reaches all ranks with its kind", "[mpi]") {
  const Comm world;
  const auto fail_on = [&](int first) {
    return [&world, first] {
      if (world.rank() >= first) throw scree::InputError("rank " + std::to_string(world.rank()));
    };
  };
  const int last = world.size() - 1;
  CHECK_NOTHROW(scree::share_errors(world, fail_on(world.size())));
  CHECK_THROWS_AS(scree::share_errors(world, fail_on(last)), scree::InputError);
  CHECK_THROWS_WITH(scree::share_errors(world, fail_on(0)), "rank 0");
  CHECK_THROWS_AS(scree::share_errors(world, [] { throw std::runtime_error("x"); }), scree::RunError);
}

TEST_CASE("deck: a file that is missing is an InputError on all ranks", "[mpi]") {
  CHECK_THROWS_AS(scree::Deck::read(Comm(), "no/such.toml", {}), scree::InputError);
}

TEST_CASE("timers: a timer that only the last rank ran is in every rank's table", "[mpi]") {
  const Comm world;
  scree::reset_timers();
  {
    const scree::Scope common("common");
    if (world.rank() == world.size() - 1) const scree::Scope alone("alone");
    const scree::Scope behind("behind");
  }
  const scree::Scope end("end");
  const std::vector<scree::TimerRow> rows = scree::timer_table(world);
  REQUIRE(rows.size() == 4);
  std::vector<std::string> names;
  for (const scree::TimerRow& row : rows) names.push_back(row.name);
  CHECK(names.front() == "common");
  CHECK(names.back() == "end");
  CHECK(std::find(names.begin(), names.end(), "alone") != names.end());
}
