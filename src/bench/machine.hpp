#pragma once
#include "core/json.hpp"
#include "core/parallel.hpp"

namespace scree {

/// What this program says of the machine that it measures on: its version, compiler and instruction set, and
/// with `measured_on` one entry in "measured", the speed of memory and messages on these ranks, wall time:
///   ranks
///   triad_one_rank, triad_each_rank    [B/s] triad_rate() of rank 0 alone, and of each rank, all at once
///   latency_8_B, latency_1_MiB          [s] half a round trip between ranks 0 and 1
///   bandwidth_1_MiB                     [B/s]
///   allreduce_8_B, barrier             [s] over all ranks
/// Messages only with two ranks or more. What the system says is read by postprocess/scree/bench/machine.py.
/// Collective; a second or two if it measures.
Json describe_program(const Comm* measured_on);

}  // namespace scree
