#pragma once
#include "run/simulation.hpp"

namespace scree {

/// What a run will take at most on its fullest rank [bytes], estimated before its first step: what this
/// process has taken so far (libraries, the bodies and candidates of the start), and what is still to come:
/// bodies of inlets and sources, the candidates and contacts of a settled bed of all bodies, and the buffers
/// of output. Collective.
template <int D>
Real memory_of_run(Simulation<D>& simulation);

}  // namespace scree
