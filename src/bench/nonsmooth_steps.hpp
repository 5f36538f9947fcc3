#pragma once
#include "bench/row.hpp"
#include "core/parallel.hpp"
#include "run/simulation.hpp"

namespace scree {

/// Times `steps` steps of a run with the scheme nonsmooth, `repetitions` times, and adds to `row` the number
/// of bodies, the time per step, its phases, and what the solver did. Collective.
BenchRow measure_nonsmooth_steps(const Comm& comm, Simulation<3>& simulation, int repetitions, int steps,
                                 BenchRow row);

}  // namespace scree
