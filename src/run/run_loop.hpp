#pragma once
#include <optional>
#include <string>

#include "io/run_files.hpp"
#include "run/commands.hpp"
#include "run/simulation.hpp"

namespace scree {

/// Takes a simulation through to its end with all its outputs, and reports to the log and to summary.json.
/// `resolved`: the resolved deck; `resumed`: where a checkpoint goes on. Collective.
template <int D>
ExitCode run_loop(const Comm& comm, Simulation<D>& simulation, const RunFiles& files,
                  const std::string& resolved, const files::Texts& provenance, const RunOptions& options,
                  const std::optional<ResumePoint>& resumed);

}  // namespace scree
