// Stored problems of rigid bodies: back from a file as they were, and distinguished from others.
#include "replay/fclib_rigid.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "core/even_share.hpp"
#include "io/fclib.hpp"
#include "support/generated.hpp"
#include "support/solve_serial.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

/// Contacts of a list in the order of a file in which they have the keys (a, b, their number).
template <int D>
std::vector<std::size_t> order_in_file(const SerialProblem<D>& whole) {
  std::vector<std::size_t> order(whole.a.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t c, std::size_t d) {
    const auto key = [&](std::size_t i) {
      return std::array<std::size_t, 4>{static_cast<std::size_t>(whole.a[i] < 0 ? whole.b[i] : whole.a[i]),
                                        static_cast<std::size_t>(whole.a[i] + 1),
                                        static_cast<std::size_t>(whole.b[i] + 1), i};
    };
    return key(c) < key(d);
  });
  return order;
}

std::vector<Real> in_order(const std::vector<Real>& values, std::span<const std::size_t> order,
                           std::size_t width) {
  std::vector<Real> sorted;
  for (const std::size_t i : order)
    for (std::size_t k = 0; k < width; ++k) sorted.push_back(values[i * width + k]);
  return sorted;
}

Real start_velocity(std::int64_t body, std::size_t k) {
  return static_cast<Real>(body) / 3 + static_cast<Real>(k);
}

/// A list as a problem read from a file of others: entries of M and H in no order, all of them in two parts.
template <int D>
FclibProblem stored(const Comm& comm, const SerialProblem<D>& whole) {
  constexpr std::int64_t q = n_velocities<D>;
  FclibProblem problem;
  problem.is_global = true;
  problem.dimension = D;
  problem.n_contacts = whole.n_contacts();
  problem.n_velocities = whole.n_bodies() * q;
  problem.M.n_rows = problem.M.n_columns = problem.H.n_rows = problem.n_velocities;
  problem.H.n_columns = problem.n_contacts * D;
  std::int64_t n_entries = 0;
  const auto add = [&](SparseShare& matrix, std::int64_t row, std::int64_t column, Real value) {
    for (int part = 0; part < 2; ++part) {
      if (++n_entries * 7919 % 11 % comm.size() != comm.rank()) continue;
      matrix.row.push_back(row);
      matrix.column.push_back(column);
      matrix.value.push_back(value / 2);
    }
  };
  std::vector<Real> f;
  for (std::int64_t i = 0; i < whole.n_bodies(); ++i)
    for (std::int64_t j = 0; j < q; ++j) {
      f.push_back(0);
      for (std::int64_t k = 0; k < q; ++k) {
        const Real value = whole.mass[(i * q + j) * q + k];
        f.back() += value * whole.free_velocity[i * q + k];
        add(problem.M, i * q + j, i * q + k, value);
      }
    }
  for (std::int64_t c = 0; c < whole.n_contacts(); ++c)
    for (std::int64_t side = 0; side < 2; ++side) {
      const std::int64_t body = (side == 0 ? whole.a : whole.b)[c];
      for (std::int64_t k = 0; k < D * q && body >= 0; ++k)
        add(problem.H, body * q + k % q, c * D + k / q, whole.jacobian[(c * 2 + side) * D * q + k]);
    }
  const auto stretch = [&](const std::vector<Real>& values, std::int64_t n_items, std::int64_t width) {
    const auto [first, end] = EvenShare(comm, n_items, width);
    return VectorShare{first, {values.begin() + first, values.begin() + end}};
  };
  problem.f = stretch(f, problem.n_velocities, 1);
  problem.w = stretch(whole.bias, problem.n_contacts, D);
  problem.mu = stretch(whole.mu, problem.n_contacts, 1);
  return problem;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("fclib rigid: written, read and dealt out, a problem is the same to the bit", "[io]",
                       ((int D), D), 2, 3) {
  constexpr std::size_t q = n_velocities<D>;
  const Comm comm;
  const Scratch scratch;
  SerialProblem<D> whole = generated<D>("pile", 30, 5);
  make_compliant(whole, 1e-2);
  // Some contacts the other way round.
  for (std::size_t c = 0; c < whole.a.size(); c += 3) {
    std::swap(whole.a[c], whole.b[c]);
    const auto rows = whole.jacobian.begin() + static_cast<std::ptrdiff_t>(c * 2 * D * q);
    std::rotate(rows, rows + D * q, rows + 2 * D * q);
  }
  {
    SplitProblem<D> split(comm, whole);
    for (const std::int64_t body : split.problem().body_id)
      for (std::size_t k = 0; k < q; ++k) split.problem().start_velocity.push_back(start_velocity(body, k));
    std::vector<ContactKey> keys;
    for (const std::int64_t c : split.contact_number()) keys.push_back({whole.a[c], whole.b[c], c});
    write_fclib<D>(split.problem(), keys, {}, {}, scratch / "pile.hdf5");
  }

  std::string reason = "none";
  auto share = rigid_share<D>(comm, read_fclib(comm, scratch / "pile.hdf5"), &reason);
  REQUIRE(share.has_value());
  CHECK(reason == "none");
  const SplitProblem<D> split(comm, std::move(*share));
  const FrictionProblem<D>& problem = split.problem();
  CHECK_NOTHROW(problem.validate());
  CHECK(problem.time_step == whole.time_step);
  CHECK(problem.velocity_floor == whole.velocity_floor);
  CHECK(gather_bodies(split, problem.mass, q * q) == whole.mass);
  CHECK(gather_bodies(split, problem.free_velocity, q) == whole.free_velocity);
  bool has_start = problem.start_velocity.size() == problem.free_velocity.size();
  for (std::size_t i = 0; has_start && i < problem.start_velocity.size(); ++i)
    has_start = problem.start_velocity[i] == start_velocity(split.problem().body_id[i / q], i % q);
  CHECK(has_start);

  // The lower-numbered body comes first.
  const std::vector<std::size_t> order = order_in_file(whole);
  std::vector<Real> ends;
  std::vector<Real> low_first = whole.jacobian;
  for (std::size_t c = 0; c < whole.a.size(); ++c) {
    if (whole.a[c] < whole.b[c]) continue;
    const auto rows = low_first.begin() + static_cast<std::ptrdiff_t>(c * 2 * D * q);
    std::rotate(rows, rows + D * q, rows + 2 * D * q);
  }
  for (const std::size_t c : order)
    for (const Index body : {std::min(whole.a[c], whole.b[c]), std::max(whole.a[c], whole.b[c])})
      ends.push_back(body);
  std::vector<Real> found;
  for (std::size_t c = 0; c < problem.a.size(); ++c)
    for (const Index body : {problem.a[c], problem.b[c]})
      found.push_back(body < 0 ? -1 : static_cast<Real>(split.problem().body_id[body]));
  CHECK(gather_contacts(split, found, 2) == ends);
  CHECK(gather_contacts(split, problem.jacobian, 2 * D * q) == in_order(low_first, order, 2 * D * q));
  CHECK(gather_contacts(split, problem.bias, D) == in_order(whole.bias, order, D));
  CHECK(gather_contacts(split, problem.mu, 1) == in_order(whole.mu, order, 1));
  CHECK(gather_contacts(split, problem.compliance, 2) == in_order(whole.compliance, order, 2));
}

TEST_CASE("fclib rigid: unsymmetric masses, entries in parts, free velocities by elimination", "[io]") {
  const Comm comm;
  SerialProblem<3> whole = generated<3>("pile", 20, 2);
  for (std::size_t i = 0; i < whole.position.size(); ++i) {
    Real* block = whole.mass.data() + i * 36;
    for (std::size_t j = 3; j < 6; ++j) block[j * 6 + 3 + (j + 1) % 3] += 0.02 * block[j * 6 + j];
    // Couples the first velocity, to be eliminated first, with a larger number.
    block[3] = 3 * block[0];
    for (std::size_t k = 0; k < 6; ++k) whole.free_velocity[i * 6 + k] = 0.1 * static_cast<Real>(k) - 0.2;
  }
  FclibProblem problem = stored(comm, whole);
  const auto check = [&] {
    const auto share = rigid_share<3>(comm, problem);
    REQUIRE(share.has_value());
    const SplitProblem<3> split(comm, *share);
    CHECK(gather_bodies(split, split.problem().mass, 36) == whole.mass);
    CHECK(gather_contacts(split, split.problem().jacobian, 36) == whole.jacobian);
    const std::vector<Real> v = gather_bodies(split, split.problem().free_velocity, 6);
    Real worst = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
      worst = std::max(worst, std::abs(v[i] - whole.free_velocity[i]));
    CHECK(worst < 1e-14);
  };
  check();
  // Velocities that do not give f are not believed.
  problem.free_velocity = problem.f;
  check();
}

TEST_CASE("fclib rigid: problems of other bodies are refused, alike on all ranks", "[io]") {
  const Comm comm;
  const SerialProblem<3> whole = generated<3>("stack", 4);
  const auto reason_of = [&](const std::function<void(FclibProblem&)>& change) {
    FclibProblem problem = stored(comm, whole);
    change(problem);
    std::string reason;
    const bool is_rigid = rigid_share<3>(comm, problem, &reason).has_value();
    CHECK(is_rigid == reason.empty());
    std::string of_root = reason;
    comm.broadcast(of_root);
    CHECK(comm.all(of_root == reason));
    return reason;
  };
  // The last rank has one entry more.
  const auto entry = [&](SparseShare FclibProblem::*matrix, std::int64_t row, std::int64_t column,
                         Real value) {
    return [=](FclibProblem& problem) {
      if (comm.rank() != comm.size() - 1) return;
      (problem.*matrix).row.push_back(row);
      (problem.*matrix).column.push_back(column);
      (problem.*matrix).value.push_back(value);
    };
  };
  CHECK(reason_of([](FclibProblem&) {}).empty());
  CHECK(reason_of(entry(&FclibProblem::M, 6, 5, 0)).empty());
  CHECK(reason_of(entry(&FclibProblem::M, 6, 5, 1e-300)) ==
        "M couples velocities 6 and 5, of different bodies");
  // Contact 5 is between bodies 0 and 1.
  CHECK(reason_of(entry(&FclibProblem::H, 20, 15, 0)).empty());
  CHECK(reason_of(entry(&FclibProblem::H, 20, 15, 1)) == "contact 5 touches more than two bodies");
  CHECK(reason_of([](FclibProblem& problem) {
          for (std::size_t e = 0; e < problem.H.value.size(); ++e)
            if (problem.H.column[e] / 3 >= 6) problem.H.value[e] = 0;
        }) == "contact 6 touches no body");
  CHECK(reason_of([](FclibProblem& problem) { problem.n_velocities = 23; }) ==
        "23 velocities are not 6 for each body");
  CHECK(reason_of([](FclibProblem& problem) { problem.n_constraints = 1; }) ==
        "there are bilateral constraints");
  CHECK(reason_of([](FclibProblem& problem) { problem.is_global = false; }) ==
        "the problem is in local form");
  CHECK(reason_of([](FclibProblem& problem) { problem.dimension = 2; }) == "the problem has 2 dimensions");
}
