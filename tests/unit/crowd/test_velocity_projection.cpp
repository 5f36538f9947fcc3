#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "crowd/velocity_projection.hpp"
#include "friction/friction_solver.hpp"

namespace scree {
namespace {

/// Contacts between people in a row along x, numbered from left to right, all in one colour.
struct Row {
  NearContacts contacts;
  std::vector<Vec<2>> velocity;
  std::vector<Real> multiplier;

  explicit Row(std::size_t n) : velocity(n) {}
  void add(Index a, Index b, Real gap, const Vec<2>& normal) {
    contacts.a.push_back(a);
    contacts.b.push_back(b);
    contacts.gap.push_back(gap);
    contacts.normal.push_back(normal);
    contacts.wall_speed.push_back(0);
    contacts.place.push_back(static_cast<Index>(contacts.size()) - 1);
    multiplier.push_back(0);
  }
  void close() {
    const auto n = static_cast<Index>(contacts.size());
    contacts.colour_first = {0, n};
    contacts.interior_first = {0};
  }
  VelocityProjection::Report solve(const VelocityProjection::Settings& settings, Real dt = 0.05) {
    close();
    SerialHalo halo(Comm(), static_cast<Index>(velocity.size()));
    return VelocityProjection().solve(halo, contacts, dt, settings, velocity, multiplier);
  }
  VelocityProjection::Report solve_with(const std::string& solver,
                                        const VelocityProjection::Settings& settings, Real dt = 0.05) {
    close();
    SerialHalo halo(Comm(), static_cast<Index>(velocity.size()));
    std::vector<GlobalId> ids(velocity.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<GlobalId>(i);
    const auto method = make_solver<2>(solver);
    return VelocityProjection().solve(halo, contacts, dt, settings, ids, *method, {.tolerance = 1e-12},
                                      velocity, multiplier);
  }
};

const Vec<2> rightward{{1, 0}};

/// n people who push to the right at speed 1 against a wall, all touching.
Row column(Index n) {
  Row row(static_cast<std::size_t>(n));
  for (Vec<2>& v : row.velocity) v = rightward;
  for (Index i = 0; i + 1 < n; ++i) row.add(i, i + 1, 0, rightward);
  row.add(n - 1, -1, 0, rightward);
  return row;
}

}  // namespace

TEST_CASE("two people head-on stop where they touch, each with its own speed as multiplier") {
  // S1: they close a gap of 0.13 at 2 * 1.3 m/s; in the step in which they meet the gap becomes 0.
  Row row(2);
  row.velocity = {{{1.3, 0}}, {{-1.3, 0}}};
  row.add(0, 1, 0.1, rightward);
  const auto report = row.solve({.tolerance = 1e-14});
  CHECK(report.converged);
  CHECK(report.min_gap == Approx(0).margin(1e-12));
  CHECK(row.velocity[0][0] == Approx(1.0).margin(1e-12));  // half of the gap in a step of 0.05 s
  Row touching(2);
  touching.velocity = {{{1.3, 0}}, {{-1.3, 0}}};
  touching.add(0, 1, 0, rightward);
  touching.solve({.tolerance = 1e-14});
  CHECK(touching.multiplier[0] == Approx(1.3).margin(1e-12));
  CHECK(touching.velocity[0][0] == Approx(0).margin(1e-12));
}

TEST_CASE("in a column that pushes against a wall, pair k carries k desired speeds") {
  // S2, exact: nobody moves, so the multipliers add up from the back.
  for (const Real relaxation : {1.0, 1.5}) {
    Row row = column(12);
    const auto report = row.solve({.tolerance = 1e-14, .max_sweeps = 100'000, .relaxation = relaxation});
    CHECK(report.converged);
    for (std::size_t k = 0; k < row.multiplier.size(); ++k)
      CHECK(row.multiplier[k] == Approx(static_cast<Real>(k + 1)).margin(1e-10));
  }
}

TEST_CASE("contacts that nobody presses have no multiplier, and gaps may close but not more") {
  Row row(3);
  row.velocity = {{{1, 0}}, {{0, 0}}, {{1, 0}}};
  row.add(0, 1, 0.02, rightward);
  row.add(1, 2, 0, rightward);
  const auto report = row.solve({.tolerance = 1e-14}, 0.1);
  // 0 would close 0.1 m; it pushes 1, which gets out of the way at half the excess speed.
  CHECK(report.min_gap == Approx(0).margin(1e-12));
  CHECK(row.multiplier[0] == Approx(0.4).margin(1e-12));
  CHECK(row.velocity[1][0] == Approx(0.4).margin(1e-12));
  CHECK(row.multiplier[1] == 0);
}

TEST_CASE("the friction solvers find the same velocities and multipliers") {
  for (const std::string solver : {"nsgs", "admm", "ipm"}) {
    Row row = column(6);
    const auto report = row.solve_with(solver, {.tolerance = 1e-7});
    INFO(solver);
    CHECK(report.converged);
    for (std::size_t k = 0; k < row.multiplier.size(); ++k)
      CHECK(row.multiplier[k] == Approx(static_cast<Real>(k + 1)).margin(1e-5));
  }
}

TEST_CASE("the projection of a random crowd is the nearest feasible one") {
  // Multipliers may not be unique, velocities are: a wrong order or relaxation must not change them.
  RandomStream stream(7, 0, purpose::position);
  const int n = 8;
  const Real spacing = 0.4;
  const auto make = [&](RandomStream draw) {
    Row row(n * n);
    for (Vec<2>& v : row.velocity) v = {{draw.uniform(-1, 1), draw.uniform(-1, 1)}};
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        if (i + 1 < n) row.add(i * n + j, (i + 1) * n + j, spacing - 0.39, rightward);
        if (j + 1 < n) row.add(i * n + j, i * n + j + 1, spacing - 0.39, {{0, 1}});
      }
    return row;
  };
  Row plain = make(stream);
  Row relaxed = make(stream);
  const std::vector<Vec<2>> desired = plain.velocity;
  CHECK(plain.solve({.tolerance = 1e-13, .relaxation = 1}).converged);
  const auto report = relaxed.solve({.tolerance = 1e-13, .relaxation = 1.7});
  CHECK(report.converged);
  Real pushed = 0;
  Real duality = 0;
  for (std::size_t i = 0; i < desired.size(); ++i) {
    CHECK(norm(plain.velocity[i] - relaxed.velocity[i]) < 1e-9);
    // S4: strong duality. |V - U|^2 = -sum over contacts of l_c times what V - U does to its gap.
    pushed += dot(relaxed.velocity[i] - desired[i], relaxed.velocity[i] - desired[i]);
    duality += dot(relaxed.velocity[i] - desired[i], relaxed.velocity[i]);
  }
  Real bias = 0;
  for (std::size_t c = 0; c < relaxed.multiplier.size(); ++c)
    bias += relaxed.multiplier[c] * relaxed.contacts.gap[c] / 0.05;
  CHECK(pushed > 1e-3);
  CHECK(duality == Approx(-bias).margin(1e-9));
}

TEST_CASE("a wall that moves pushes people along") {
  Row row(1);
  row.velocity = {{{0, 0}}};
  row.add(0, -1, 0, rightward);
  row.contacts.wall_speed[0] = -0.5;  // towards the person
  row.solve({.tolerance = 1e-14});
  CHECK(row.velocity[0][0] == Approx(-0.5).margin(1e-12));
  CHECK(row.multiplier[0] == Approx(0.5).margin(1e-12));
}

TEST_CASE("a projection that may not sweep enough says so") {
  Row row = column(100);
  const auto report = row.solve({.tolerance = 1e-9, .max_sweeps = 3});
  CHECK_FALSE(report.converged);
  CHECK(report.residual > 1e-9);
}

}  // namespace scree
