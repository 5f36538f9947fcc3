// A listed problem shared between ranks: halo, hand-overs and bits, on any number of ranks.
#include <catch2/catch.hpp>
#include <cmath>

#include "comm/split_problem.hpp"
#include "core/random.hpp"
#include "solvers/friction_solver.hpp"

using namespace scree;

namespace {

/// A lattice of n^D unit bodies that touch their neighbours, twice along the first axis, on a floor; a few
/// long-range contacts make bodies travel far.
template <int D>
ListedProblem<D> lattice(int n) {
  ListedProblem<D> whole;
  constexpr std::size_t n_rotations = n_velocities<D> - D;
  std::vector<Real> inertia(n_rotations * n_rotations, 0.0);
  for (std::size_t k = 0; k < n_rotations; ++k) inertia[k * n_rotations + k] = 0.1;
  RandomStream random(7, 1, purpose::position);
  const int n_bodies = static_cast<int>(std::lround(std::pow(n, D)));
  for (int i = 0; i < n_bodies; ++i) {
    Vec<D> at;
    for (int k = 0, rest = i; k < D; ++k, rest /= n) at[k] = rest % n;
    std::vector<Real> velocity(n_velocities<D>);
    for (Real& v : velocity) v = random.uniform(-0.2, 0.2);
    velocity[D - 1] -= 0.1;
    whole.add_body(at, random.uniform(0.5, 2), inertia, velocity);
  }
  int stride = 1;
  for (int k = 0; k < D; ++k, stride *= n)
    for (int i = 0; i < n_bodies; ++i) {
      const Vec<D>& at = whole.position[static_cast<std::size_t>(i)];
      const Vec<D> normal = unit_vector<D>(k);
      if (i / stride % n + 1 < n) {
        for (int twice = 0; twice < (k == 0 ? 2 : 1); ++twice)
          whole.add_contact(i, i + stride, at + 0.5 * normal + unit_vector<D>(D - 1, 0.1 * twice), normal,
                            0.4);
      } else if (i % 7 == 0) {
        whole.add_contact(i, i / 2, at + 0.5 * normal, normal, 0.2);
      }
      if (k == D - 1 && i / stride == 0) whole.add_contact(-1, i, at - 0.5 * normal, normal, 0.6);
    }
  whole.time_step = 0.01;
  whole.velocity_floor = 0.1;
  return whole;
}

/// One number per bit: what does not depend on ranks here depends on them nowhere.
std::int64_t digest(std::span<const Real> values) {
  std::uint64_t hash = 1469598103934665603U;
  for (const Real value : values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return static_cast<std::int64_t>(hash);
}

/// The communicator of this rank alone.
Comm alone() {
  return Comm(MPI_COMM_SELF);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("split problem: each body and contact is on one rank, ghosts follow their owners",
                       "[solvers]", ((int D), D), 2, 3) {
  const Comm world;
  const ListedProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  SplitProblem<D> split(world, whole);
  const FrictionProblem<D>& problem = split.problem();
  CHECK_NOTHROW(problem.validate());
  CHECK(world.sum(std::int64_t{problem.n_owned()}) == whole.n_bodies());
  CHECK(world.sum(std::int64_t{problem.n_contacts()}) == whole.n_contacts());
  // Shares of about equal work: ranks have 24 bodies or less, none of which counts for more than 10.
  const std::int64_t work = problem.n_owned() + problem.n_contacts();
  CHECK(static_cast<Real>(world.max(work)) <= 1.15 * static_cast<Real>(world.sum(work)) / world.size() + 5);

  BodyHalo& halo = *problem.halo;
  std::vector<Real> values(static_cast<std::size_t>(halo.n_held()) * 3, -1.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()) * 3; ++i)
    values[i] = static_cast<Real>(problem.body_id[i / 3]) + 0.25 * static_cast<Real>(i % 3);
  halo.copy_to_ghosts(values, 3);
  bool are_copies = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    are_copies = are_copies &&
                 values[i] == static_cast<Real>(problem.body_id[i / 3]) + 0.25 * static_cast<Real>(i % 3);
  CHECK(are_copies);

  // Every rank adds 1 for each body it holds: the owners get the number of holders.
  std::vector<Real> ones(static_cast<std::size_t>(halo.n_held()) * 3, 1.0);
  halo.add_to_owners(ones, 3);
  Real holders = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()); ++i) holders += ones[3 * i + 1];
  CHECK(world.sum(static_cast<std::int64_t>(holders)) == world.sum(std::int64_t{halo.n_held()}));
}

TEMPLATE_TEST_CASE_SIG(
    "split problem: a phase has no body in two pairs, and its live copies are where they "
    "are touched",
    "[solvers]", ((int D), D), 2, 3) {
  const Comm world;
  const ListedProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  SplitProblem<D> split(world, whole);
  const FrictionProblem<D>& problem = split.problem();
  BodyHalo& halo = *problem.halo;
  // Colours near the most partners of a body, 2 D + 1 and the long-range ones.
  CHECK(halo.n_phases() >= 2 * D);
  CHECK(halo.n_phases() <= 4 * D);

  // Each visit writes down itself; the next visit of the same body must see it.
  const auto n_bodies = static_cast<std::size_t>(whole.n_bodies());
  std::vector<Real> visits(static_cast<std::size_t>(halo.n_held()), 0.0);
  std::vector<std::int64_t> pairs_of_body;
  for (int stage = 0; stage <= halo.n_phases(); ++stage) {
    halo.begin_hand_over(stage, visits, 1);
    halo.end_hand_over(stage, visits, 1);
    if (stage == halo.n_phases()) break;
    const auto p = static_cast<std::size_t>(stage);
    pairs_of_body.assign(n_bodies, 0);
    std::pair<Index, Index> before{-2, -2};
    for (auto c = static_cast<std::size_t>(problem.phase_first[p]);
         c < static_cast<std::size_t>(problem.phase_first[p + 1]); ++c) {
      const std::pair<Index, Index> pair = std::minmax(problem.a[c], problem.b[c]);
      for (const Index body : {pair.first, pair.second}) {
        if (body < 0) continue;
        const auto i = static_cast<std::size_t>(body);
        visits[i] += 1;
        if (pair != before) ++pairs_of_body[static_cast<std::size_t>(problem.body_id[i])];
      }
      before = pair;
    }
    world.sum(pairs_of_body);
    CHECK(*std::max_element(pairs_of_body.begin(), pairs_of_body.end()) == 1);
  }
  std::vector<Real> expected(n_bodies, 0.0);
  for (std::size_t c = 0; c < whole.a.size(); ++c)
    for (const Index body : {whole.a[c], whole.b[c]})
      if (body >= 0) ++expected[static_cast<std::size_t>(body)];
  CHECK(split.gather_bodies(visits, 1) == expected);
}

TEMPLATE_TEST_CASE_SIG("split problem: Gauss-Seidel gives the same bits as on one rank", "[solvers]",
                       ((int D), D), 2, 3) {
  const Comm world;
  const ListedProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  const auto solve = [&](const Comm& comm) {
    SplitProblem<D> split(comm, whole);
    const auto solver = make_solver<D>("nsgs");
    std::vector<Real> r(static_cast<std::size_t>(split.problem().n_contacts()) * D, 0.0);
    std::vector<Real> v(static_cast<std::size_t>(split.problem().n_held()) * n_velocities<D>);
    const SolveReport report = solve_friction<D>(split.problem(), *solver, {.tolerance = 1e-6}, r, v);
    CHECK(report.converged);
    std::vector<Real> all = split.gather_contacts(r, D);
    const std::vector<Real> velocities = split.gather_bodies(v, n_velocities<D>);
    all.insert(all.end(), velocities.begin(), velocities.end());
    all.push_back(report.residual.natural);
    return digest(all);
  };
  CHECK(solve(world) == solve(alone()));
}

TEST_CASE("split problem: adding to owners and sweeping give the same velocities to round-off", "[solvers]") {
  const Comm world;
  const ListedProblem<3> whole = lattice<3>(4);
  SplitProblem<3> split(world, whole);
  ScaledProblem<3> scaled;
  scaled.rebuild(split.problem());
  std::vector<Real> r(scaled.impulse_size());
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = std::sin(static_cast<Real>(split.contact_number()[i / 3]) + static_cast<Real>(i % 3));
  std::vector<Real> swept(scaled.velocity_size());
  scaled.velocity_from_impulse(r, swept);
  std::vector<Real> added = scaled.free_velocity();
  scaled.add_impulse(r, added);
  Real worst = 0;
  for (std::size_t i = 0; i < swept.size(); ++i) worst = std::max(worst, std::abs(swept[i] - added[i]));
  CHECK(world.max(worst) < 1e-12);
}
