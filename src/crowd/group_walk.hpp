#pragma once
#include <memory>
#include <span>
#include <vector>

#include "comm/record_exchange.hpp"
#include "crowd/departure.hpp"
#include "crowd/journey_plan.hpp"
#include "crowd/look_ahead.hpp"
#include "crowd/people/group_rule.hpp"

namespace scree {

class FloorField;
class People;

/// What one member of a group sends to the others.
struct GroupMember {
  Vec<2> at;            ///< [m]
  Real speed = 0;       ///< wanted on free ground [m/s]
  Real carried = 0;     ///< part of it at which the steps of an escalator go [m/s]
  Real time_to_go = 0;  ///< to its destination [s at 1 m/s]
  std::int32_t destination = -1;
  std::int32_t journey_step = 0;
  std::int32_t level = 0;  ///< of the building
  bool has_goal = false;   ///< it has a destination, or a direction to walk in
  bool walks = false;      ///< it has started, and waits nowhere
};

/// What a group asks of a member.
struct GroupPace {
  Real speed = 0;  ///< on free ground [m/s]
  bool waits = false;
};

/// People who walk in groups ([populations.NAME.groups]; docs/method.md, "Groups"). Only the speeds that they
/// want change:
///
///     v   = least speed of the members within reach, its own among them                 stay = "slowest"
///     v <- v wait_factor       if it is ahead of another member by more than reach               wait
///     v <- v max(wait_factor, min(1, 1 - (T_c - T) / 1 s))    otherwise                 side_by_side
///
/// On an escalator of what is more than the speed of the steps, which carry everybody alike.
///
/// with the travel time T at 1 m/s to the destination and T_c the mean of members with the same destination,
/// a sum of integers (1e-6 s). On two levels of a building the distance is that along the route. Who is at a
/// later step of the journey and farther away than reach is ahead, too.
///
/// A group is known by the least id of its members at the start (agent::group; -1: alone).
/// Members on several ranks exchange by a plan that is made with each list. The bits depend on no
/// rank. Cost a step: O(members^2) of each group with members here, one message per pair of ranks that share
/// groups; no allocation.
class GroupWalk {
 public:
  /// References must stay valid.
  GroupWalk(const People& people, const JourneyPlan& journey_plan, const FloorField& floor_field,
            const BuildingPlan& building)
      : people_(people), journey_plan_(journey_plan), floor_field_(floor_field), building_(building) {}

  /// Whether the deck has groups.
  bool is_used() const;
  /// With nothing done: see memory(). Local.
  void start();
  /// Finds who is with whom; after each list build. Collective, two sparse all-to-all exchanges on several
  /// ranks.
  void prepare(const State<2>& state);
  /// Changes speeds of the owned people (entries of `walk`), whose walks are known otherwise. `direction`: of
  /// people without a destination. Collective.
  void adjust(const State<2>& state, const Vec<2>& direction, std::span<WalkingIntent> walk);
  /// What the group of rule asks of members[i]; `n_steps` of their journey, 0 without one. Local.
  static GroupPace pace(const GroupRule& rule, std::span<const GroupMember> members, std::size_t i,
                        int n_steps, bool repeats, const Box<2>& box);

  /// After a step, before bodies come or go: counts the time for which people waited, and lets those who are
  /// at the same step of their journey follow the member with the least id to its exit, as adjust() saw it.
  /// Local.
  void after_step(State<2>& state);
  /// Counts what those waited who have left since the last call. Collective, one reduction.
  void count_departures(const Comm& comm, std::size_t first_outlet, std::span<const Departure> departed);

  /// For checkpoints, of those who have left [1e-6 s]: waiting in all, the longest, and at each exit.
  std::span<Real> memory() { return waited_; }
  /// Of those who left and those inside, for the summary: waiting in all, the longest, and at each exit [s].
  /// Collective.
  std::vector<Real> waited(const State<2>& state) const;

 private:
  struct Member {
    GlobalId group, id;
    std::int32_t rank;
    Index body;  // -1: of another rank
  };
  struct Span {
    std::size_t first, last;  // of members_
  };
  const GroupRule* rule_of(const BodyStore<2>& bodies, std::size_t i) const;
  void find_remote_members(const Comm& comm);
  void plan_exchange(const Comm& comm);
  GroupMember state_of_member(const State<2>& state, std::size_t i, const Vec<2>& direction,
                              const WalkingIntent& walk) const;
  void unwrap_periodic(const Box<2>& box, const Vec<2>& direction, const Span& group);
  bool is_near_exit(const GroupMember& member) const;

  const People& people_;
  const JourneyPlan& journey_plan_;
  const FloorField& floor_field_;
  const BuildingPlan& building_;
  std::vector<Member> members_;  // with members on this rank, by group, then id
  std::vector<Span> groups_;
  std::vector<GroupMember> states_;  // as members_
  std::vector<char> waits_;          // the same
  std::unique_ptr<RecordExchange> exchange_;
  std::vector<Real> waited_;
};

}  // namespace scree
