// Main of the test programs; compiled without optimisation, since Catch2's runner is slow to compile.
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "core/parallel.hpp"

namespace {

/// Ends the whole job when an assertion that stops its test fails on one of several ranks: the others would
/// wait for it in their next collective call until the time limit.
struct MpiGuard : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (result.isOk()) return false;
    const scree::Comm world;
    if (world.size() == 1) return false;
    std::ostringstream line;  // one write, so that the lines of several ranks do not mix
    line << "[rank " << world.rank() << "] " << result.getSourceInfo() << ": "
         << result.getExpressionInMacro() << " with " << result.getExpandedExpression() << " "
         << result.getMessage() << "\n";
    std::cerr << line.str() << std::flush;
    if (!Catch::shouldContinueOnFailure(static_cast<int>(result.m_info.resultDisposition)))
      MPI_Abort(world.handle(), EXIT_FAILURE);
    return false;
  }
};
CATCH_REGISTER_LISTENER(MpiGuard)

}  // namespace

int main(int argc, char** argv) {
  const scree::Parallel parallel(argc, argv);
  const scree::Comm& world = parallel.world();

  if (!world.is_root() && std::freopen("/dev/null", "w", stdout) == nullptr) return EXIT_FAILURE;

  Catch::Session session;
  const int wrong_arguments = session.applyCommandLine(argc, argv);
  const int result = wrong_arguments != 0 ? wrong_arguments : session.run();
  return static_cast<int>(world.max(static_cast<std::int64_t>(result)));
}
