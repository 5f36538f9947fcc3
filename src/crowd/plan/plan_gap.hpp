#pragma once
#include <set>
#include <span>
#include <string>

#include "crowd/plan/floor_plan.hpp"

namespace scree {

/// From where in a plan people of one radius can get into one of some regions. Local.
class WayCheck {
 public:
  /// `regions` must not be empty.
  WayCheck(const FloorPlan& plan, std::span<const Ring> regions, Real radius);

  /// Whether there is room at x, but no way that is wide enough.
  bool has_no_way(const Vec<2>& x) const;
  /// If the plan is in pieces and x and a region lie in two of them: how far these are apart and where, as
  /// the end of a message; else empty. A point outside of the area counts to the nearest piece. O(corners).
  std::string gap_text(const Vec<2>& x) const;

 private:
  const FloorPlan& plan_;
  Real radius_;
  std::set<int> parts_;  // of the plan, in which regions lie
  Vec<2> target_{};      // a point of a region
};

}  // namespace scree
