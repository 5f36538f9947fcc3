#include "core/error.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace scree {

void assertion_failed(const char* expression, const char* file, int line) {
  constexpr int aborted = 134;  // what a shell reports after SIGABRT
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  const bool parallel = started != 0 && ended == 0;
  int rank = 0;
  if (parallel) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "scree: rank %d: this must hold: %s (%s:%d)\n", rank, expression, file, line);
  std::fflush(stderr);
  if (parallel) MPI_Abort(MPI_COMM_WORLD, aborted);
  std::abort();
}

}  // namespace scree
