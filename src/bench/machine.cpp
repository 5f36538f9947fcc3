#include "bench/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure_time.hpp"
#include "run/version.hpp"
#include "schemes/pbd/pair_kernels.hpp"

namespace scree {

namespace {

/// Wall seconds of `work` on the slowest rank: the least mean of several batches, which shows the machine and
/// not what else runs on it.
Real min_seconds(const Comm& comm, const std::function<void()>& work) {
  Real min = HUGE_VAL;
  for (int batch = 0; batch < 9; ++batch)
    min = std::min(min, measure_time(comm, 1, 0.005, work, TimeKind::wall).median);
  return min;
}

/// Half a round trip of a message between ranks 0 and 1; the others look on.
Real message_seconds(const Comm& comm, std::size_t bytes) {
  std::vector<char> message(bytes);
  const int count = static_cast<int>(bytes);
  const MPI_Comm handle = comm.handle();
  return 0.5 * min_seconds(comm, [&] {
           if (comm.rank() == 0) {
             MPI_Send(message.data(), count, MPI_BYTE, 1, 0, handle);
             MPI_Recv(message.data(), count, MPI_BYTE, 1, 0, handle, MPI_STATUS_IGNORE);
           } else if (comm.rank() == 1) {
             MPI_Recv(message.data(), count, MPI_BYTE, 0, 0, handle, MPI_STATUS_IGNORE);
             MPI_Send(message.data(), count, MPI_BYTE, 0, 0, handle);
           }
         });
}

/// Speed of memory and messages on the ranks of `comm`, wall time; a second or two. Collective.
Json measure_machine(const Comm& comm) {
  Json measured{{"ranks", comm.size()}};
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  measured["mpi"] = mpi.substr(0, mpi.find(','));
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) == 0)
    measured["processors_of_rank_0"] = CPU_COUNT(&usable);
  const char* yields = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  measured["waiting_ranks_yield"] = yields && std::string_view(yields) != "0";
  Real alone = 0;
  if (comm.is_root()) alone = triad_rate(Comm(MPI_COMM_SELF));
  measured["triad_one_rank"] = comm.max(alone);
  measured["triad_each_rank"] = triad_rate(comm);
  if (comm.size() > 1) {
    constexpr std::size_t large = std::size_t{1} << 20;
    measured["latency_8_B"] = message_seconds(comm, 8);
    const Real seconds = message_seconds(comm, large);
    measured["latency_1_MiB"] = seconds;
    measured["bandwidth_1_MiB"] = static_cast<Real>(large) / seconds;
    measured["allreduce_8_B"] = min_seconds(comm, [&] { comm.max(Real{1}); });
    measured["barrier"] = min_seconds(comm, [&] { comm.barrier(); });
  }
  return measured;
}

}  // namespace

Json describe_program(const Comm* measured_on) {
  Json program{{"version", version::number},
               {"commit", version::commit},
               {"compiler", version::compiler},
               {"build_type", version::build_type},
               {"instruction_set", pair_kernels<3>().instruction_set}};
  if (measured_on) {
    program["measured"] = Json::array();
    program["measured"].push_back(measure_machine(*measured_on));
  }
  return program;
}

}  // namespace scree
