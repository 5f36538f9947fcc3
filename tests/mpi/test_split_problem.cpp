// A problem dealt out: halo, colours, transfers and bits, on any number of ranks.
#include "replay/split_problem.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "core/random.hpp"
#include "support/message_of.hpp"
#include "support/solve_serial.hpp"

using namespace scree;

namespace {

/// A lattice of n^D unit bodies that touch their neighbours, twice along the first axis, on a floor; a few
/// long-range contacts make bodies travel far.
template <int D>
SerialProblem<D> lattice(int n) {
  SerialProblem<D> whole;
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
      const Vec<D>& at = whole.position[i];
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

/// The colour of each contact of the list, on every rank.
template <int D>
std::vector<Real> colours_of(const Comm& comm, const SerialProblem<D>& whole) {
  const SplitProblem<D> split(comm, whole);
  const FrictionProblem<D>& problem = split.problem();
  std::vector<Real> colour;
  for (std::size_t p = 0; p + 1 < problem.colour_first.size(); ++p)
    colour.resize(problem.colour_first[p + 1], static_cast<Real>(p));
  return gather_contacts(split, colour, 1);
}

/// Bodies at rest on a line.
SerialProblem<2> line_of_bodies(int n) {
  SerialProblem<2> whole;
  for (int i = 0; i < n; ++i)
    whole.add_body({{static_cast<Real>(i), 1}}, 1, std::array{0.1}, std::array{0.0, -0.1, 0.0});
  whole.time_step = 0.01;
  whole.velocity_floor = 0.1;
  return whole;
}

void touch(SerialProblem<2>& whole, Index a, Index b) {
  whole.add_contact(a, b, {{static_cast<Real>(std::max(a, b)) - 0.5, 1}}, {{1, 0}}, 0.3);
}

/// A list in which bodies and contacts are dealt out without order: some ranks may have none.
template <int D, class RankOf>
ProblemShare<D> scattered(const Comm& comm, const SerialProblem<D>& whole, const RankOf& rank_of) {
  constexpr std::size_t q = n_velocities<D>;
  ProblemShare<D> share;
  share.time_step = whole.time_step;
  share.velocity_floor = whole.velocity_floor;
  const auto append = [](std::vector<Real>& to, const std::vector<Real>& from, Index i, std::size_t width) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(i) * static_cast<std::ptrdiff_t>(width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  for (Index i = whole.n_bodies() - 1; i >= 0; --i) {
    if (rank_of(i) != comm.rank()) continue;
    share.body.push_back(i);
    append(share.mass, whole.mass, i, q * q);
    append(share.free_velocity, whole.free_velocity, i, q);
    for (std::size_t k = 0; k < q; ++k) share.start_velocity.push_back(i + 0.1 * static_cast<Real>(k));
  }
  for (Index c = whole.n_contacts() - 1; c >= 0; --c) {
    if (rank_of(c) != comm.rank()) continue;
    share.contact.push_back(c);
    share.a.push_back(whole.a[c]);
    share.b.push_back(whole.b[c]);
    append(share.jacobian, whole.jacobian, c, 2 * D * q);
    append(share.bias, whole.bias, c, D);
    append(share.mu, whole.mu, c, 1);
  }
  return share;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("split problem: each body and contact is on one rank, ghosts follow their owners",
                       "[solvers]", ((int D), D), 2, 3) {
  const Comm world;
  const SerialProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  SplitProblem<D> split(world, whole);
  const FrictionProblem<D>& problem = split.problem();
  CHECK_NOTHROW(problem.validate());
  CHECK(world.sum(std::int64_t{problem.n_owned()}) == whole.n_bodies());
  CHECK(world.sum(std::int64_t{problem.n_contacts()}) == whole.n_contacts());
  // Shares of about equal work: ranks have 24 bodies or less, none of which counts for more than 10.
  const std::int64_t work = problem.n_owned() + problem.n_contacts();
  CHECK(static_cast<Real>(world.max(work)) <= 1.15 * static_cast<Real>(world.sum(work)) / world.size() + 5);

  BodyHalo& halo = *problem.halo;
  std::vector<Real> values(static_cast<std::size_t>(halo.n_local()) * 3, -1.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()) * 3; ++i)
    values[i] = static_cast<Real>(problem.body_id[i / 3]) + 0.25 * static_cast<Real>(i % 3);
  halo.copy_to_ghosts(values, 3);
  bool are_copies = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    are_copies = are_copies &&
                 values[i] == static_cast<Real>(problem.body_id[i / 3]) + 0.25 * static_cast<Real>(i % 3);
  CHECK(are_copies);

  // Every rank adds 1 for each body it holds: the owners get the number of holders.
  std::vector<Real> ones(static_cast<std::size_t>(halo.n_local()) * 3, 1.0);
  halo.add_to_owners(ones, 3);
  Real holders = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(halo.n_owned()); ++i) holders += ones[3 * i + 1];
  CHECK(world.sum(static_cast<std::int64_t>(holders)) == world.sum(std::int64_t{halo.n_local()}));
}

TEMPLATE_TEST_CASE_SIG(
    "split problem: a colour has no body in two pairs, and its active copies are where they "
    "are touched",
    "[solvers]", ((int D), D), 2, 3) {
  const Comm world;
  const SerialProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  SplitProblem<D> split(world, whole);
  const FrictionProblem<D>& problem = split.problem();
  BodyHalo& halo = *problem.halo;
  // Colours near the most partners of a body, 2 D + 1 and the long-range ones.
  CHECK(halo.n_colours() >= 2 * D);
  CHECK(halo.n_colours() <= 4 * D);

  // Each visit writes down itself; the next visit of the same body must see it.
  const std::size_t n_bodies = whole.n_bodies();
  std::vector<Real> visits(halo.n_local(), 0.0);
  std::vector<std::int64_t> pairs_of_body;
  for (int stage = 0; stage <= halo.n_colours(); ++stage) {
    halo.begin_transfer(stage, visits, 1);
    halo.end_transfer(stage, visits, 1);
    if (stage == halo.n_colours()) break;
    const std::size_t p = stage;
    pairs_of_body.assign(n_bodies, 0);
    std::pair<Index, Index> before{-2, -2};
    for (std::size_t c = problem.colour_first[p]; c < static_cast<std::size_t>(problem.colour_first[p + 1]);
         ++c) {
      const std::pair<Index, Index> pair = std::minmax(problem.a[c], problem.b[c]);
      for (const Index body : {pair.first, pair.second}) {
        if (body < 0) continue;
        const std::size_t i = body;
        visits[i] += 1;
        if (pair != before) ++pairs_of_body[problem.body_id[i]];
      }
      before = pair;
    }
    world.sum(pairs_of_body);
    CHECK(*std::max_element(pairs_of_body.begin(), pairs_of_body.end()) == 1);
  }
  std::vector<Real> expected(n_bodies, 0.0);
  for (std::size_t c = 0; c < whole.a.size(); ++c)
    for (const Index body : {whole.a[c], whole.b[c]})
      if (body >= 0) ++expected[body];
  CHECK(gather_bodies(split, visits, 1) == expected);
}

TEMPLATE_TEST_CASE_SIG("split problem: Gauss-Seidel gives the same bits as on one rank", "[solvers]",
                       ((int D), D), 2, 3) {
  const Comm world;
  const SerialProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  const auto solve = [&](const Comm& comm) {
    SplitProblem<D> split(comm, whole);
    const auto solver = make_solver<D>("nsgs");
    std::vector<Real> r(static_cast<std::size_t>(split.problem().n_contacts()) * D, 0.0);
    std::vector<Real> v(static_cast<std::size_t>(split.problem().n_local()) * n_velocities<D>);
    const SolveReport report = solve_friction<D>(split.problem(), *solver, {.tolerance = 1e-6}, r, v);
    CHECK(report.converged);
    std::vector<Real> all = gather_contacts(split, r, D);
    const std::vector<Real> velocities = gather_bodies(split, v, n_velocities<D>);
    all.insert(all.end(), velocities.begin(), velocities.end());
    all.push_back(report.residual.natural);
    return digest(all);
  };
  CHECK(solve(world) == solve(alone()));
}

TEST_CASE("split problem: adding to owners and sweeping give the same velocities to round-off", "[solvers]") {
  const Comm world;
  const SerialProblem<3> whole = lattice<3>(4);
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

TEST_CASE("split problem: colours are those of one rank, and none could be lower", "[solvers]") {
  const Comm world;
  std::vector<std::pair<std::string, SerialProblem<2>>> cases;
  cases.emplace_back("lattice", lattice<2>(9));
  SerialProblem<2> hub = line_of_bodies(80);
  for (Index i = 0; i + 1 < 80; ++i) touch(hub, i, 79);
  cases.emplace_back("a body that touches all others", hub);
  SerialProblem<2> chain = line_of_bodies(60);
  for (Index i = 0; i + 1 < 60; ++i) touch(chain, i, i + 1);
  cases.emplace_back("chain", chain);
  for (const auto& [name, whole] : cases) {
    INFO(name);
    const std::vector<Real> colour = colours_of(world, whole);
    CHECK(colour == colours_of(alone(), whole));
    std::vector<std::set<Real>> of_body(whole.n_bodies());
    for (std::size_t c = 0; c < colour.size(); ++c)
      for (const Index body : {whole.a[c], whole.b[c]})
        if (body >= 0) of_body[body].insert(colour[c]);
    bool is_min = true;
    for (std::size_t c = 0; c < colour.size(); ++c)
      for (Real lower = 0; lower < colour[c]; ++lower) {
        bool is_taken = false;
        for (const Index body : {whole.a[c], whole.b[c]})
          is_taken = is_taken || (body >= 0 && of_body[body].contains(lower));
        is_min = is_min && is_taken;
      }
    CHECK(is_min);
  }
  // A pair for each of the others, one after the other.
  const std::vector<Real> of_hub = colours_of(world, hub);
  CHECK(std::set<Real>(of_hub.begin(), of_hub.end()).size() == 79);
}

TEST_CASE("split problem: all contacts on one pair, bodies without contacts, nothing at all", "[solvers]") {
  const Comm world;
  for (const int n_bodies : {0, 1, 2, 3, 50}) {
    for (const bool has_contacts : {false, true}) {
      INFO(n_bodies << " bodies, contacts " << has_contacts);
      SerialProblem<2> whole = line_of_bodies(n_bodies);
      for (int i = 0; i < 20 && has_contacts && n_bodies > 0; ++i)
        touch(whole, n_bodies == 1 ? -1 : 0, n_bodies - 1);
      const int n_colours = SplitProblem<2>(world, whole).problem().halo->n_colours();
      CHECK(n_colours == (whole.n_contacts() > 0 ? 1 : 0));
      const auto solve = [&](const Comm& comm) {
        const Solution<2> solution = solve_serial(comm, whole, *make_solver<2>("nsgs"), 1e-6);
        CHECK(solution.report.converged);
        return solution.v;
      };
      CHECK(solve(world) == solve(alone()));
    }
  }
  // Bodies that touch nothing are shared as well.
  const SplitProblem<2> idle(world, line_of_bodies(100));
  CHECK(world.max(std::int64_t{idle.problem().n_owned()}) <= 100 / world.size() + 10);
}

TEMPLATE_TEST_CASE_SIG("split problem: rows from anywhere make the same problem", "[solvers]", ((int D), D),
                       2, 3) {
  const Comm world;
  const SerialProblem<D> whole = lattice<D>(D == 2 ? 7 : 4);
  const auto check = [&](const auto& rank_of) {
    const SplitProblem<D> split(world, scattered(world, whole, rank_of));
    const FrictionProblem<D>& problem = split.problem();
    CHECK_NOTHROW(problem.validate());
    CHECK(gather_contacts(split, problem.jacobian, 2 * D * n_velocities<D>) == whole.jacobian);
    CHECK(gather_contacts(split, problem.bias, D) == whole.bias);
    CHECK(gather_contacts(split, problem.mu, 1) == whole.mu);
    CHECK(gather_bodies(split, problem.mass, n_velocities<D> * n_velocities<D>) == whole.mass);
    CHECK(gather_bodies(split, problem.free_velocity, n_velocities<D>) == whole.free_velocity);
    bool has_start = true;
    for (std::size_t i = 0; i < problem.start_velocity.size(); ++i)
      has_start = has_start && problem.start_velocity[i] ==
                                   static_cast<Real>(split.problem().body_id[i / n_velocities<D>]) +
                                       0.1 * static_cast<Real>(i % n_velocities<D>);
    CHECK((has_start && problem.start_velocity.size() == problem.free_velocity.size()));
    bool are_ends = true;
    for (std::size_t c = 0; c < problem.a.size(); ++c) {
      const auto number = [&](Index body) { return body < 0 ? -1 : split.problem().body_id[body]; };
      const std::size_t listed = split.contact_number()[c];
      are_ends =
          are_ends && number(problem.a[c]) == whole.a[listed] && number(problem.b[c]) == whole.b[listed];
    }
    CHECK(are_ends);
  };
  check([&](Index) { return world.size() - 1; });
  check([&](Index i) { return (i * 7919 % 11) % world.size(); });
}

TEST_CASE("split problem: numbers that are missing, double or too large are refused on all ranks",
          "[solvers]") {
  const Comm world;
  const SerialProblem<2> whole = lattice<2>(4);
  const auto refusal = [&](const std::function<void(ProblemShare<2>&)>& spoil) {
    ProblemShare<2> share = scattered(world, whole, [&](Index i) { return i % world.size(); });
    // The rank of body 3.
    if (world.rank() == 3 % world.size()) spoil(share);
    return message_of<InputError>([&] { SplitProblem<2>(world, share); });
  };
  const auto renumber = [](Index from, Index to) {
    return [=](ProblemShare<2>& share) { std::replace(share.body.begin(), share.body.end(), from, to); };
  };
  CHECK(refusal([](ProblemShare<2>&) {}).empty());
  CHECK(refusal(renumber(3, 2)) == "friction problem: body 2 is given 2 times; each must be given once");
  CHECK(refusal(renumber(3, 7)) == "friction problem: body 3 is given 0 times; each must be given once");
  CHECK(refusal(renumber(3, 16)) == "friction problem: a body has the number 16; valid are 0 to 15");
  CHECK_THAT(refusal([](ProblemShare<2>& share) { share.contact.at(0) = -1; }),
             Catch::Contains("has the number -1"));
  CHECK_THAT(refusal([](ProblemShare<2>& share) { share.a.at(0) = 16; }),
             Catch::Contains("between bodies 16"));
  CHECK_THAT(refusal([](ProblemShare<2>& share) { share.mu.push_back(0); }), Catch::Contains("arrays"));
}
