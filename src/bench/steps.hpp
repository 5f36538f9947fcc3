#pragma once
#include <string>

#include "core/json.hpp"
#include "run/simulation.hpp"

namespace scree {

/// How steps of a run are measured.
struct StepTiming {
  int repetitions = 5;
  int steps = 20;         ///< of a repetition
  Real seconds = 0;       ///< least time of a repetition, in place of a number of steps; 0: that number
  int warm_up = 50;       ///< steps before the first repetition
  Real warm_up_time = 0;  ///< the same until this time of the run [s]; 0: that number
};

/// Takes the steps of a plan and reports what they took and what they counted; names for it are made by
/// Python (postprocess/scree/bench/steps.py). `deck` is its name in messages, `memory_before` what
/// live_memory() was before the simulation was made. Throws InputError if the run ends before, or has no
/// bodies. Collective.
template <int D>
Json measure_steps(const Comm& comm, Simulation<D>& simulation, std::int64_t memory_before,
                   const StepTiming& plan, const std::string& deck);

}  // namespace scree
