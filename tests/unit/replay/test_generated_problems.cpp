// What C++ makes of generated problems; tests/postprocess/test_generated_problems.py has what the problems
// claim.
#include "replay/generated_problems.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>

#include "core/error.hpp"
#include "support/generated.hpp"
#include "support/solve_serial.hpp"

using namespace scree;
using Catch::Matchers::Contains;

namespace {

bool made_from_solution(std::string_view name) {
  return name == "manufactured" || name == "ill_conditioned";
}

template <int D>
bool are_equal(const SerialProblem<D>& one, const SerialProblem<D>& other) {
  return one.position == other.position && one.mass == other.mass &&
         one.free_velocity == other.free_velocity && one.a == other.a && one.b == other.b &&
         one.jacobian == other.jacobian && one.bias == other.bias && one.mu == other.mu;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("generated problems: each is valid, and standing still closes no gap", "[solvers]",
                       ((int D), D), 2, 3) {
  std::set<std::string_view> names;
  for (const GeneratedFamily& family : generated_families()) {
    if (D == 2 && family.largest_in_plane == 0) continue;
    INFO(family.name);
    CHECK(names.insert(family.name).second);
    const SerialProblem<D>& whole = generated<D>(std::string(family.name), 9, 4);
    const SplitProblem<D> split(Comm(), whole);
    CHECK_NOTHROW(split.problem().validate());
    CHECK(whole.n_bodies() > 0);
    CHECK(whole.n_contacts() > 0);
    CHECK((made_from_solution(family.name) || *std::min_element(whole.bias.begin(), whole.bias.end()) >= 0));
    // Few colours, but where a body has many partners.
    CHECK(split.problem().halo->n_colours() <= 16);
  }
}

TEST_CASE("generated problems: names and sizes that do not exist are refused", "[solvers]") {
  for (const int dimension : {2, 3})
    for (const GeneratedFamily& family : generated_families()) {
      const int largest = dimension == 2 ? family.largest_in_plane : family.largest_size;
      if (largest == 0) {
        CHECK_THROWS_WITH(require_family(dimension, family.name, 3), Contains("there is no generated"));
        continue;
      }
      CHECK(require_family(dimension, family.name, largest).name == family.name);
      CHECK_THROWS_AS(require_family(dimension, family.name, family.min_size - 1), InputError);
      for (const int size : {largest + 1, 1'000'000'000})
        CHECK_THROWS_WITH(require_family(dimension, family.name, size),
                          Contains("above " + std::to_string(largest)) &&
                              Contains("sizes go from " + std::to_string(family.min_size)));
    }
  CHECK_THROWS_WITH(generate_problem<3>("heap", 3), Contains("stack") && Contains("pile"));
  CHECK(require_family(3, "ill-conditioned", 3).name == "ill_conditioned");
}

TEST_CASE("generated problems: contacts come in the order in which they were added, sides as well",
          "[solvers]") {
  // Three stones between two abutments: joints from the first to the last, four contacts each.
  const SerialProblem<3>& arch = generated<3>("arch", 3);
  REQUIRE(arch.n_contacts() == 16);
  for (Index contact = 0; contact < 16; ++contact) {
    const std::size_t c = contact;
    CHECK(arch.a[c] == contact / 4 - 1);
    CHECK(arch.b[c] == (contact / 4 < 3 ? contact / 4 : -1));
    // The first row of b is the normal from a to b, that of a its opposite.
    const Real* rows = &arch.jacobian[c * 2 * 3 * 6];
    for (std::size_t k = 0; k < 3; ++k)
      if (arch.a[c] >= 0 && arch.b[c] >= 0) CHECK(rows[k] == -rows[18 + k]);
  }
}

TEMPLATE_TEST_CASE_SIG("generated problems: piles have the size and the seed that they say", "[solvers]",
                       ((int D), D), 2, 3) {
  const SerialProblem<D> whole = pile_problem<D>(50, 1);
  CHECK(whole.n_bodies() == 50);
  CHECK(are_equal(whole, pile_problem<D>(50, 1)));
  CHECK_FALSE(are_equal(whole, pile_problem<D>(50, 2)));
  const auto n_contacts = [](int size) { return static_cast<Real>(pile_problem<D>(size, 4).n_contacts()); };
  const Real power = std::round(std::log2(n_contacts(20) / n_contacts(10)));
  CHECK(n_contacts(20) * std::pow(100'000 / 20.0, power) < 3e6);
}

TEMPLATE_TEST_CASE_SIG("generated problems: piles have a solution", "[solvers]", ((int D), D), 2, 3) {
  for (const int size : {1, 6})
    for (const std::uint64_t seed : {1, 2}) {
      const Solution<D> solution =
          solve_serial<D>(Comm(), pile_problem<D>(size, seed), *make_solver<D>("auto"), 1e-8);
      CHECK(solution.report.residual.natural <= 1e-8);
    }
}
