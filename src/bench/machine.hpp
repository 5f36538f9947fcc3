#pragma once
#include <string>

#include "core/json.hpp"
#include "core/parallel.hpp"

namespace scree {

/// What the numbers of a benchmark were measured on: processor (name, vendor, family and model, as virtual
/// machines may hide the name), cores and caches, memory, system, compiler, libraries, settings. Bytes and Hz
/// throughout; what the system does not tell is missing. Local.
Json describe_machine();

/// The processor in one line, of describe_machine(): "AMD EPYC (family 26, model 2), 2 cores, L1 48 KiB, ...,
/// avx512". Local.
std::string processor_text(const Json& machine);

/// Number of processors that this process may use. Local.
int n_processors();

/// Speed of memory and messages on the ranks of `comm`, wall time:
///   ranks
///   triad_one_rank, triad_each_rank    [B/s] triad_rate() of rank 0 alone, and of each rank, all at once
///   latency_8_B, latency_1_MiB          [s] half a round trip between ranks 0 and 1
///   bandwidth_1_MiB                     [B/s]
///   allreduce_8_B, barrier             [s] over all ranks
/// Messages only with two ranks or more. Collective; a second or two.
Json measure_machine(const Comm& comm);

/// Some lines for people, from both of these. Local.
std::string format_machine(const Json& machine);

}  // namespace scree
