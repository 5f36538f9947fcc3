#pragma once
#include "bench/row.hpp"
#include "core/parallel.hpp"
#include "run/simulation.hpp"

namespace scree {

/// Times `steps` steps of a run with the scheme nonsmooth, `repetitions` times, and adds to `row` the number
/// of bodies, the time per step, its phases, what the solver did, and the memory that the run holds: what is
/// live now without `memory_before`, live_memory() of before it was made [bytes]. Collective.
BenchRow measure_nonsmooth_steps(const Comm& comm, Simulation<3>& simulation, std::int64_t memory_before,
                                 int repetitions, int steps, BenchRow row);

}  // namespace scree
