#include "friction/linear/schur_system.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"
#include "support/petsc_options.hpp"
#include "support/schur_case.hpp"

using namespace scree;

namespace {

template <int D>
struct Case {
  Comm comm;
  SplitProblem<D> split;
  ScaledProblem<D> problem;
  SolveReport report;
  std::vector<Real> b, x;

  explicit Case(const SerialProblem<D>& serial) : split(comm, serial) {
    problem.rebuild(split.problem());
    b = some_right_side(problem);
    x.resize(problem.velocity_size());
  }
};

template <int D>
void check_all_methods() {
  Case<D> given(lattice_problem<D>(D == 2 ? 8 : 4, 0.5, true));
  for (const bool symmetric : {true, false})
    for (const char* linear : {"direct", "iterative", "matrix_free"})
      for (const char* options : {"", "-scree_mat_type aij", "-scree_mat_type baij"}) {
        CAPTURE(D, symmetric, linear, options);
        const PetscOptionsScope scope(options);
        SchurSystem<D> system({.linear = linear, .relative_tolerance = 1e-12},
                              symmetric ? SchurSystem<D>::Kind::symmetric : SchurSystem<D>::Kind::general);
        system.set_pattern(given.problem, given.report);
        for (const Real shift : {1.0, 0.5}) {
          const std::vector<Real> K = some_blocks<D>(given.problem.n_contacts(), symmetric, 10 * shift);
          system.assemble(K, shift, given.report);
          const bool direct_blocks =
              std::string(linear) == "direct" && std::string(options).ends_with("baij");
          const bool solved = system.solve(given.b, given.x, given.report);
          INFO(system.failure());
          if (direct_blocks && !solved) {  // not every package takes blocks
            CHECK_THAT(system.failure(), Catch::Contains("baij"));
            continue;
          }
          REQUIRE(solved);
          CHECK(defect<D>(given.problem, K, shift, given.x, given.b) < 1e-10);
          for (std::size_t i = 0; i < given.x.size(); ++i)
            if (i % ScaledProblem<D>::width >= ScaledProblem<D>::q) REQUIRE(given.x[i] == 0);
        }
        CHECK(scope.n_left() == 0);
      }
}

}  // namespace

TEST_CASE("Schur system: solves s x + J^T K J x = b to 1e-10 with factors and Krylov methods, AIJ and BAIJ",
          "[solvers]") {
  check_all_methods<2>();
  check_all_methods<3>();
}
