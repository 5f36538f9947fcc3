#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/section.hpp"
#include "crowd/journeys.hpp"
#include "crowd/people/mixture.hpp"
#include "crowd/plan/floor_plan.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

/// People: kinds, who is there at first ([populations.NAME]) and who comes ([sources.NAME]). What a person is
/// like and where it starts depends on seed and id only, not on ranks. Groups of bodies count populations,
/// then sources.
class People {
 public:
  People();
  ~People();
  People(const People&) = delete;
  People& operator=(const People&) = delete;

  /// Declares and reads [agents.NAME], [populations.NAME], [sources.NAME]; names of journeys are those of
  /// `journeys`.
  void describe(Section& root, const Journeys& journeys);
  std::span<const AgentType> types() const;
  /// Names of the groups, populations first.
  std::vector<std::string> group_names() const;
  Real largest_radius() const;   ///< no person is larger [m]
  Real fastest() const;          ///< no desired speed is higher [m/s]
  Real longest_headway() const;  ///< of all kinds [s]

  /// Of sources until `end_time`.
  BodiesToCome to_come(Real end_time) const;
  /// Makes state.inlets fit the sources (entries after those there).
  void prepare(State<2>& state);
  /// Records in state.inlets how many of each source should have come by now. Local.
  void note_due(State<2>& state) const;
  /// Makes the populations: people at least touching nobody and no wall, in the region and in the plan.
  /// Counts on state.next_id. Throws InputError, on all ranks, with place, wanted and possible numbers if
  /// they do not fit. Collective.
  void populate(State<2>& state, const FloorPlan& plan, std::uint64_t seed) const;
  /// Adds who is due from sources and has a free place: true on all ranks if anybody came; `before_change`
  /// was called before. New people are entries of this rank's owned bodies, with state.memory in step.
  /// Collective.
  bool feed(State<2>& state, const FloorPlan& plan, std::uint64_t seed,
            const std::function<void()>& before_change) const;
  /// Whether every source has sent all of its people by now.
  bool exhausted(const State<2>& state) const;

  /// For `scree check`: populations that fill more than they can, and the like; `is_led`: people without a
  /// journey are told where to walk. Local.
  std::vector<std::string> diagnostics(const FloorPlan& plan, const Journeys& journeys, bool is_led) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace scree
