#pragma once
#include <any>
#include <memory>

#include "crowd/plan/building_plan.hpp"
#include "state/state.hpp"

namespace scree {

class CrowdEnvironment;

/// What a crowd shows to measures and tests: State::world in its runs.
struct CrowdWorld {
  std::shared_ptr<const BuildingPlan> building;
  CrowdEnvironment* environment = nullptr;
};

/// Null in other runs.
inline const CrowdWorld* crowd_world(const State<2>& state) {
  return std::any_cast<CrowdWorld>(&state.world);
}

}  // namespace scree
