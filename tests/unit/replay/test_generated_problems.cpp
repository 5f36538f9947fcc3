#include "replay/generated_problems.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/random.hpp"
#include "friction/cone.hpp"
#include "support/solve_listed.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

constexpr Real gravity_step = 9.81 * 0.01;

bool made_from_solution(std::string_view name) {
  return name == "manufactured" || name == "ill_conditioned";
}

bool stands(std::string_view name) {
  return !made_from_solution(name) && name != "sliding" && name != "jammed" && name != "pile";
}

template <int D>
bool are_equal(const ListedProblem<D>& one, const ListedProblem<D>& other) {
  return one.position == other.position && one.mass == other.mass &&
         one.free_velocity == other.free_velocity && one.a == other.a && one.b == other.b &&
         one.jacobian == other.jacobian && one.bias == other.bias && one.mu == other.mu;
}

/// Adds H v to u, contact by contact, or H^T r to p, body by body.
template <int D>
void add_relative_velocity(const ListedProblem<D>& whole, const std::vector<Real>& v, std::vector<Real>& u) {
  constexpr std::size_t q = n_velocities<D>;
  for (std::size_t i = 0; i < whole.jacobian.size(); ++i) {
    const std::size_t c = i / (2 * D * q);
    const Index body = i / (D * q) % 2 == 0 ? whole.a[c] : whole.b[c];
    if (body >= 0) u[c * D + i / q % D] += whole.jacobian[i] * v[static_cast<std::size_t>(body) * q + i % q];
  }
}
template <int D>
void add_impulse(const ListedProblem<D>& whole, const std::vector<Real>& r, std::vector<Real>& p) {
  constexpr std::size_t q = n_velocities<D>;
  for (std::size_t i = 0; i < whole.jacobian.size(); ++i) {
    const std::size_t c = i / (2 * D * q);
    const Index body = i / (D * q) % 2 == 0 ? whole.a[c] : whole.b[c];
    if (body >= 0) p[static_cast<std::size_t>(body) * q + i % q] += whole.jacobian[i] * r[c * D + i / q % D];
  }
}

/// Condition number of W = H M^-1 H^T for diagonal masses, by power iterations.
template <int D>
Real condition_number(const ListedProblem<D>& whole) {
  constexpr std::size_t q = n_velocities<D>;
  const auto largest = [&](Real shift) {  // eigenvalue of W - shift I, in absolute terms
    std::vector<Real> x(whole.bias.size());
    RandomStream random(1, 1, 1);
    for (Real& each : x) each = random.normal();
    Real length = 0;
    for (int i = 0; i < 3000; ++i) {
      std::vector<Real> p(whole.free_velocity.size()), y(x.size());
      add_impulse(whole, x, p);
      for (std::size_t k = 0; k < p.size(); ++k) p[k] /= whole.mass[k * q + k % q];
      add_relative_velocity(whole, p, y);
      for (std::size_t k = 0; k < x.size(); ++k) y[k] -= shift * x[k];
      length = 0;
      for (const Real each : y) length += each * each;
      length = std::sqrt(length);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = y[k] / length;
    }
    return length;
  };
  const Real most = largest(0);
  return most / (most - largest(most));
}

template <int D>
SolvedProblem<D> made(std::string_view name, int size, std::uint64_t seed) {
  return name == "manufactured" ? manufactured_problem<D>(size, seed)
                                : ill_conditioned_problem<D>(size, seed);
}

template <int D>
Solution<D> solve(const ListedProblem<D>& whole, Real tolerance, const std::vector<Real>& start = {}) {
  return solve_listed<D>(Comm(), whole, *make_solver<D>("auto"), tolerance, start);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("generated problems: each is valid, and standing still closes no gap", "[solvers]",
                       ((int D), D), 2, 3) {
  std::set<std::string_view> names;
  for (const GeneratedProblem<D>& generated : generated_problems<D>()) {
    CHECK(names.insert(generated.name).second);
    for (const int size : {generated.least_size, generated.least_size + 1, 9}) {
      INFO(generated.name << " of size " << size);
      const ListedProblem<D> whole = generated.make(size, 4);
      const SplitProblem<D> split(Comm(), whole);
      CHECK_NOTHROW(split.problem().validate());
      CHECK(whole.n_bodies() > 0);
      CHECK(whole.n_contacts() > 0);
      CHECK((made_from_solution(generated.name) ||
             *std::min_element(whole.bias.begin(), whole.bias.end()) >= 0));
      // Few colours, but where a body has many partners.
      CHECK(split.problem().halo->n_colours() <= 16);
    }
    CHECK_THROWS_AS(generate_problem<D>(generated.name, generated.least_size - 1), InputError);
    for (const int size : {generated.largest_size + 1, 1'000'000'000})
      CHECK_THROWS_WITH(generate_problem<D>(generated.name, size),
                        Contains("above " + std::to_string(generated.largest_size)) &&
                            Contains("sizes go from " + std::to_string(generated.least_size)));
    // Contacts of the largest, from how they grow; some numbers are drawn.
    const auto n_contacts = [&](int size) { return static_cast<Real>(generated.make(size, 4).n_contacts()); };
    const Real power = std::round(std::log2(n_contacts(20) / n_contacts(10)));
    INFO("growth with size to the " << power);
    CHECK(n_contacts(20) * std::pow(generated.largest_size / 20.0, power) < 3e6);
  }
  CHECK_THROWS_WITH(generate_problem<D>("heap", 3), Contains("stack") && Contains("pile"));
  CHECK(are_equal(generate_problem<D>("ill-conditioned", 3), generate_problem<D>("ill_conditioned", 3)));
}

TEST_CASE("generated problems: their sizes are what they say", "[solvers]") {
  const auto sizes = [](std::string_view name, int size) {
    const ListedProblem<3> whole = generate_problem<3>(name, size);
    return std::pair<Index, Index>(whole.n_bodies(), whole.n_contacts());
  };
  using Sizes = std::pair<Index, Index>;
  CHECK(sizes("stack", 10) == Sizes(10, 40));
  CHECK(sizes("redundant", 10) == Sizes(1, 100));
  CHECK(sizes("arch", 10) == Sizes(10, 44));
  // Courses of 2 and 3 bricks: 1 and 2 upright joints, 2 on the ground, 4 overlaps; 4 contacts each.
  CHECK(sizes("wall", 2).first == 2 + 3);
  CHECK(sizes("wall", 2).second == 4 * (1 + 2 + 2 + 4));
  CHECK(sizes("kapla", 3) == Sizes(6, 4 * (2 + 4 + 4)));
  CHECK(sizes("tower", 3) == Sizes(36, 36 * 12));
  // 14 sites; a site has 12 neighbours: 36 pairs; 6 faces of 5.
  CHECK(sizes("jammed", 1) == Sizes(14, 36 + 30));
  CHECK(sizes("pile", 50).first == 50);
  CHECK(sizes("manufactured", 50).first == 50);
  CHECK(sizes("ill_conditioned", 10) == Sizes(10, 90));
}

TEMPLATE_TEST_CASE_SIG("generated problems: the same seed gives the same problem, another one another",
                       "[solvers]", ((int D), D), 2, 3) {
  for (const GeneratedProblem<D>& generated : generated_problems<D>())
    for (const int size : {generated.least_size, 6}) {
      INFO(generated.name << " of size " << size);
      const ListedProblem<D> whole = generated.make(size, 1);
      CHECK(are_equal(whole, generated.make(size, 1)));
      CHECK_FALSE(are_equal(whole, generated.make(size, 2)));
    }
}

TEMPLATE_TEST_CASE_SIG("generated problems: each has a solution, and what stands, stands", "[solvers]",
                       ((int D), D), 2, 3) {
  for (const GeneratedProblem<D>& generated : generated_problems<D>())
    for (const int size : {generated.least_size, generated.name == "jammed" ? 2 : 6})
      for (const std::uint64_t seed : {1, 2}) {
        INFO(generated.name << " of size " << size << ", seed " << seed);
        // Made to be hard: its solution is known, not found.
        const Real tolerance = generated.name == "ill_conditioned" ? 1e-4 : 1e-8;
        const Solution<D> solution = solve(generated.make(size, seed), tolerance);
        CHECK(solution.report.residual.natural <= tolerance);
        if (!stands(generated.name)) continue;
        for (const Real v : solution.v) CHECK(std::abs(v) < 1e-5 * gravity_step);
      }
}

TEMPLATE_TEST_CASE_SIG("generated problems: known solutions obey all equations to round-off", "[solvers]",
                       ((int D), D), 2, 3) {
  constexpr std::size_t q = n_velocities<D>;
  for (const std::string_view name : {"manufactured", "ill_conditioned"})
    for (const int size : {2, 30}) {
      INFO(name << " of size " << size);
      const SolvedProblem<D> solved = made<D>(name, size, 3);
      const ListedProblem<D>& whole = solved.problem;
      CHECK(are_equal(whole, generate_problem<D>(name, size, 3)));

      // M (v - v_free) - H^T r against the largest impulse of the body.
      std::vector<Real> rest(solved.v.size());
      std::vector<Real> reversed(solved.r);
      for (Real& x : reversed) x = -x;
      add_impulse(whole, reversed, rest);
      for (std::size_t k = 0; k < rest.size(); ++k)
        for (std::size_t j = 0; j < q; ++j)
          rest[k] += whole.mass[k * q + j] * (solved.v[k / q * q + j] - whole.free_velocity[k / q * q + j]);
      std::vector<Real> largest(solved.v.size() / q);
      for (std::size_t c = 0; c < whole.mu.size(); ++c)
        for (const Index body : {whole.a[c], whole.b[c]})
          if (body >= 0)
            largest[static_cast<std::size_t>(body)] =
                std::max(largest[static_cast<std::size_t>(body)], solved.r[c * D]);
      for (std::size_t k = 0; k < rest.size(); ++k) CHECK(std::abs(rest[k]) <= 1e-13 * largest[k / q]);

      std::vector<Real> u(whole.bias);
      add_relative_velocity(whole, solved.v, u);
      std::array<int, 3> n_of_kind{};  // open, stick, slip
      for (std::size_t c = 0; c < whole.mu.size(); ++c) {
        for (std::size_t k = 0; k < D; ++k) CHECK(std::abs(u[c * D + k] - solved.u[c * D + k]) < 1e-14);
        const Real* r = solved.r.data() + c * D;
        const Vec<D> error = natural_map<D>(r, solved.u.data() + c * D, whole.mu[c]);
        CHECK(norm(error) <= 1e-15 * (1 + r[0]));
        const bool slips = tangential_norm<D>(solved.u.data() + c * D) > 0;
        ++n_of_kind[r[0] == 0 ? 0 : slips ? 2 : 1];
        if (r[0] == 0)
          CHECK(solved.u[c * D] > 0.1 * gravity_step);
        else if (!slips && whole.mu[c] > 0)
          CHECK(tangential_norm<D>(r) < 0.95 * whole.mu[c] * r[0]);
      }
      for (const int n : n_of_kind) CHECK((size == 2 || n > static_cast<int>(whole.mu.size()) / 10));

      // The judge of all solvers says so too, and none of them needs to do anything.
      const Solution<D> solution = solve(whole, 1e-9, solved.r);
      CHECK(solution.report.residual.natural < 1e-9);
      CHECK(solution.report.sweeps + solution.report.iterations + solution.report.newton_steps == 0);
    }
}

TEMPLATE_TEST_CASE_SIG("generated problems: without friction the velocity known is the one found",
                       "[solvers]", ((int D), D), 2, 3) {
  // Unique, since W is semidefinite, whatever contacts are redundant.
  ListedProblem<D> frictionless = generate_problem<D>("wall", 3);
  std::fill(frictionless.mu.begin(), frictionless.mu.end(), 0.0);
  const SolvedProblem<D> solved = manufacture(std::move(frictionless), 5);
  const Solution<D> solution = solve(solved.problem, 1e-10);
  CHECK(solution.report.converged);
  CHECK(kinetic_difference(solved.problem, solution.v, solved.v) < 1e-7);
}

TEMPLATE_TEST_CASE_SIG("generated problems: with little friction the velocity known is the one found",
                       "[solvers]", ((int D), D), 2, 3) {
  ListedProblem<D> chain;
  std::array<Real, 9> inertia{};
  for (int i = 0; i < 5; ++i) {
    const Real mass = 5 - i;
    for (const std::size_t k : {0, 4, 8}) inertia[k] = 0.4 * mass;
    const std::array<Real, n_velocities<D>> rest{};
    chain.add_body(unit_vector<D>(D - 1, 2.0 * i + 1), mass, inertia, rest);
    const Vec<D> leaning = unit_vector<D>(D - 1, 0.8) + unit_vector<D>(i % (D - 1), i % 2 == 0 ? 0.6 : -0.6);
    chain.add_contact(i - 1, i, unit_vector<D>(D - 1, 2.0 * i) + 0.3 * leaning, leaning, 0);
  }
  chain.time_step = 0.01;
  chain.velocity_floor = gravity_step;
  // Two solutions would differ by x = W^(1/2) (r - r') with |x|^2 <= mu cond(W)^(1/2) |x|^2: none if below 1.
  const Real condition = condition_number(chain);
  CHECK(condition < 1000);
  std::fill(chain.mu.begin(), chain.mu.end(), 0.95 / std::sqrt(condition));
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const SolvedProblem<D> solved = manufacture(chain, seed);
    const Solution<D> solution = solve(solved.problem, 1e-10);
    INFO("seed " << seed << ", condition number " << condition);
    CHECK(solution.report.converged);
    CHECK(kinetic_difference(solved.problem, solution.v, solved.v) < 1e-7);
  }
}

TEST_CASE("generated problems: ill-conditioned in masses and impulses, but with modest velocities",
          "[solvers]") {
  for (const int size : {2, 8, 20}) {
    const SolvedProblem<3> solved = ill_conditioned_problem<3>(size, 1);
    std::vector<Real> masses;
    for (std::size_t i = 0; i < solved.problem.mass.size(); i += 36) masses.push_back(solved.problem.mass[i]);
    const auto [least, most] = std::minmax_element(masses.begin(), masses.end());
    CHECK(*most / *least == Approx(std::pow(10, std::min(size / 2, 6))));
    CHECK_FALSE(std::is_sorted(masses.begin(), masses.end()) == (size > 2));
    for (std::size_t i = 0; i < solved.problem.free_velocity.size(); ++i)
      if (i % 6 < 3) CHECK(std::abs(solved.problem.free_velocity[i]) < 10 * gravity_step);
  }
}
