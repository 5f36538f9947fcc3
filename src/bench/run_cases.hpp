#pragma once
#include <span>

#include "bench/case.hpp"

namespace scree {

/// Cases whose unit of work is a step of a whole run: their options are here; their decks, and the names of
/// what is found, are in postprocess/scree/bench (decks.py, steps.py).
std::span<const BenchEntry> run_cases();

}  // namespace scree
