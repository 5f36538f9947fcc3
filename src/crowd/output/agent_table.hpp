#pragma once
#include <functional>
#include <string>
#include <vector>

#include "crowd/crowd_environment.hpp"
#include "crowd/departure.hpp"

namespace scree {

/// A column of NAME.agents.csv.
struct AgentColumn {
  int place;  ///< columns stand in this order
  std::string name;
  std::string unit;
  std::function<std::string(const Departure&)> cell;
};

/// The columns of a run: fields of people as agent_fields.def has them, and what the table says besides. They
/// are valid while the environment and the state are. Local.
std::vector<AgentColumn> agent_columns(const CrowdEnvironment& environment, const State<2>& state);

/// Whether frames and tables of a run have fields with this condition.
bool holds(agent::OnlyIf condition, const CrowdEnvironment& environment);

}  // namespace scree
