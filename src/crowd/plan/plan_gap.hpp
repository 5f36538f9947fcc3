#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crowd/plan/building_plan.hpp"

namespace scree {

/// From where in a building people of one radius can get into one of some regions. After
/// BuildingPlan::join(); local.
class RouteCheck {
 public:
  /// A region on a level.
  using Region = std::pair<int, Ring>;
  /// `regions` must not be empty.
  RouteCheck(const BuildingPlan& building, const std::vector<Region>& regions, Real radius);

  /// Whether there is room at x, but no route that is wide enough.
  bool has_no_route(const Vec<2>& x, int level) const;
  /// Whether a route leads from some place of the level.
  bool reaches(int level) const;
  /// If the plan of the level is in pieces and x and a region lie in two of them: how far these are apart and
  /// where, as the end of a message; else empty. A point outside of the area counts to the nearest piece.
  /// O(corners).
  std::string gap_text(const Vec<2>& x, int level) const;

 private:
  using Part = std::pair<int, int>;  // level, connected part of its plan
  Part part_of(const Vec<2>& x, int level) const {
    return {level, building_.plan(level).part_of(x, radius_)};
  }

  const BuildingPlan& building_;
  Real radius_;
  std::set<Part> parts_;  // in which regions lie, and from which lines lead there
  int target_level_ = 0;
  Vec<2> target_{};  // a point of a region
};

}  // namespace scree
