#include "crowd/group_walk.hpp"

#include <algorithm>
#include <cmath>

#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "crowd/micro_seconds.hpp"
#include "crowd/people/people.hpp"
#include "crowd/person.hpp"

namespace scree {

namespace {

/// Who waits with less than this to go to an exit stands in the way of others [s at 1 m/s].
constexpr Real near_exit = 2;

/// How many steps of the journey a is ahead of b; of one that repeats, the shorter number around.
int steps_ahead(int a, int b, int n_steps, bool repeats) {
  int ahead = a - b;
  if (!repeats) return ahead;
  ahead = (ahead % n_steps + n_steps) % n_steps;
  return 2 * ahead >= n_steps ? ahead - n_steps : ahead;
}

}  // namespace

bool GroupWalk::is_used() const {
  return std::ranges::any_of(people_.populations(), [](const Population& p) { return p.groups.has_value(); });
}

void GroupWalk::start() {
  waited_.assign(is_used() ? 2 + journey_plan_.exits().size() : 0, 0);
}

const GroupRule* GroupWalk::rule_of(const BodyStore<2>& bodies, std::size_t i) const {
  const std::size_t type = bodies.type()[i];
  const auto populations = people_.populations();
  return type < populations.size() && populations[type].groups ? &*populations[type].groups : nullptr;
}

void GroupWalk::prepare(const State<2>& state) {
  if (!is_used()) return;
  const BodyStore<2>& bodies = state.bodies;
  members_.clear();
  for (const std::size_t i : owned(bodies))
    if (agent::group(bodies)[i] >= 0 && rule_of(bodies, i))
      members_.push_back({agent::group(bodies)[i], bodies.id()[i], state.comm.rank(), static_cast<Index>(i)});
  if (state.comm.size() > 1) find_remote_members(state.comm);
  std::ranges::sort(members_, {}, [](const Member& m) { return std::pair(m.group, m.id); });
  groups_.clear();
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (k == 0 || members_[k].group != members_[k - 1].group) groups_.push_back({k, k});
    groups_.back().last = k + 1;
  }
  states_.assign(members_.size(), {});
  waits_.assign(members_.size(), 0);
  plan_exchange(state.comm);
}

/// Adds the members on other ranks of groups with members here: each group has a rank that knows all of it.
void GroupWalk::find_remote_members(const Comm& comm) {
  Outgoing to_homes;
  for (const Member& m : members_) to_homes.to(static_cast<int>(m.group % comm.size())).put(m);
  std::vector<Member> all = exchange_values<Member>(comm, to_homes);
  std::ranges::sort(all, {}, [](const Member& m) { return std::pair(m.group, m.rank); });
  Outgoing to_members;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].group == all[first].group) ++last;
    for (std::size_t k = first; k < last; ++k) {
      if (k > first && all[k].rank == all[k - 1].rank) continue;
      for (std::size_t other = first; other < last; ++other)
        if (all[other].rank != all[k].rank) to_members.to(all[k].rank).put(all[other]);
    }
  }
  for (Member m : exchange_values<Member>(comm, to_members)) {
    m.body = -1;
    members_.push_back(m);
  }
}

void GroupWalk::plan_exchange(const Comm& comm) {
  if (!exchange_) exchange_ = std::make_unique<RecordExchange>(comm);
  exchange_->clear();
  std::vector<std::pair<int, Index>> sent, received;
  for (const Span& group : groups_)
    for (std::size_t k = group.first; k < group.last; ++k) {
      if (members_[k].body >= 0) continue;
      received.emplace_back(members_[k].rank, static_cast<Index>(k));
      for (std::size_t mine = group.first; mine < group.last; ++mine)
        if (members_[mine].body >= 0) sent.emplace_back(members_[k].rank, static_cast<Index>(mine));
    }
  std::ranges::sort(received);
  std::ranges::sort(sent);
  sent.erase(std::unique(sent.begin(), sent.end()), sent.end());
  for (const auto& [rank, place] : sent) exchange_->send(rank, place);
  for (const auto& [rank, place] : received) exchange_->receive(rank, place);
}

GroupMember GroupWalk::state_of_member(const State<2>& state, std::size_t i, const Vec<2>& direction,
                                       const WalkingIntent& walk) const {
  const BodyStore<2>& bodies = state.bodies;
  GroupMember member{.at = bodies.position()[i],
                     .speed = walk.speed,
                     .destination = agent::destination(bodies)[i],
                     .journey_step = agent::journey_step(bodies)[i],
                     .level = level_of(bodies, i),
                     .walks = walk.speed > 0 || walk.destination >= 0};
  // Who stands in a queue keeps nobody slow, and is neither ahead nor behind along the route.
  const bool is_in_queue = agent::queue_place(bodies)[i] > 0;
  member.walks = member.walks && !is_in_queue;
  member.has_goal = member.destination >= 0 || norm(direction) > 0;
  if (const auto& incline = building_.level(member.level).incline; incline && incline->belt_speed > 0)
    member.carried = std::min(walk.speed, incline->belt_speed / incline->stretch(walk.direction));
  if (is_in_queue)
    member.time_to_go = HUGE_VAL;
  else if (member.destination < 0)
    member.time_to_go = -dot(followed_position(state, i), direction);
  else if (walk.destination >= 0)
    member.time_to_go = walk.time_to_go;
  else
    member.time_to_go = travel_time(floor_field_, member.destination, standpoint_of(state, i));
  return member;
}

GroupPace GroupWalk::pace(const GroupRule& rule, std::span<const GroupMember> members, std::size_t i,
                          int n_steps, bool repeats, const Box<2>& box) {
  const GroupMember& me = members[i];
  GroupPace pace{me.speed, false};
  std::int64_t sum = 0, n = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const GroupMember& other = members[k];
    if (!other.has_goal) continue;
    const bool has_same_goal = other.journey_step == me.journey_step && other.destination == me.destination &&
                               std::isfinite(other.time_to_go) && std::isfinite(me.time_to_go);
    if (has_same_goal && other.walks) {
      sum += in_micro(other.time_to_go);
      ++n;
    }
    if (k == i) continue;
    // On two levels, along the route.
    const Real distance = me.level == other.level ? norm(box.shortest(me.at - other.at))
                          : has_same_goal         ? std::abs(other.time_to_go - me.time_to_go)
                                                  : HUGE_VAL;
    if (rule.keeps_to_slowest && other.walks && distance <= rule.reach)
      pace.speed = std::min(pace.speed, other.speed);
    const int ahead = n_steps > 0 ? steps_ahead(me.journey_step, other.journey_step, n_steps, repeats) : 0;
    const bool is_ahead =
        ahead > 0 ? distance > rule.reach : has_same_goal && other.time_to_go - me.time_to_go > rule.reach;
    pace.waits = pace.waits || (rule.waits && is_ahead);
  }
  Real factor = 1;
  if (pace.waits) {
    factor = rule.wait_factor;
  } else if (rule.side_by_side && n > 1) {
    const Real centre = micro * (static_cast<Real>(sum) / static_cast<Real>(n));
    factor = std::clamp(1 - (centre - me.time_to_go), rule.wait_factor, 1.0);
  }
  // The steps of an escalator wait for nobody.
  pace.speed = me.carried + factor * std::max(pace.speed - me.carried, 0.0);
  return pace;
}

void GroupWalk::adjust(const State<2>& state, const Vec<2>& direction, std::span<WalkingIntent> walk) {
  if (!is_used()) return;
  Scope timer("groups");
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (members_[k].body < 0) continue;
    const std::size_t i = members_[k].body;
    states_[k] = state_of_member(state, i, direction, walk[i]);
  }
  exchange_->begin<GroupMember>(states_, 1);
  exchange_->end<GroupMember>(states_, 1);
  for (const Span& group : groups_) unwrap_periodic(state.box, direction, group);
  const BodyStore<2>& bodies = state.bodies;
  for (const Span& group : groups_)
    for (std::size_t k = group.first; k < group.last; ++k) {
      waits_[k] = 0;
      if (members_[k].body < 0 || !states_[k].walks) continue;
      const std::size_t i = members_[k].body;
      const JourneyPlan::Journey* journey = journey_plan_.journey_of(bodies, i);
      const GroupPace asked =
          pace(*rule_of(bodies, i), std::span(states_).subspan(group.first, group.last - group.first),
               k - group.first, journey ? static_cast<int>(journey->steps.size()) : 0,
               journey && journey->repeats, state.box);
      walk[i].speed = asked.speed;
      waits_[k] = asked.waits ? 1 : 0;
    }
}

/// Along a direction a lap of a periodic axis ahead is beside: each member counts where its image nearest to
/// the first one is. Local.
void GroupWalk::unwrap_periodic(const Box<2>& box, const Vec<2>& direction, const Span& group) {
  const GroupMember& first = states_[group.first];
  for (std::size_t k = group.first; k < group.last; ++k) {
    GroupMember& member = states_[k];
    if (first.destination >= 0 || member.destination >= 0 || !std::isfinite(member.time_to_go)) continue;
    const Real time = first.time_to_go - dot(box.shortest(member.at - first.at), direction);
    constexpr Real rounding = 1e-6;
    if (std::abs(time - member.time_to_go) > rounding) member.time_to_go = time;
  }
}

bool GroupWalk::is_near_exit(const GroupMember& member) const {
  return journey_plan_.is_exit(member.destination) && member.time_to_go < near_exit;
}

void GroupWalk::after_step(State<2>& state) {
  if (!is_used()) return;
  BodyStore<2>& bodies = state.bodies;
  for (const Span& group : groups_)
    for (std::size_t k = group.first; k < group.last; ++k) {
      if (members_[k].body < 0) continue;
      const std::size_t i = members_[k].body;
      if (waits_[k] != 0) {
        agent::group_waited(bodies)[i] += state.clock.last_dt;
        if (is_near_exit(states_[k])) agent::group_waited_at_exit(bodies)[i] += state.clock.last_dt;
      }
      const GroupMember& leader = states_[group.first];
      const JourneyPlan::Step* step = journey_plan_.step_of(bodies, i);
      if (k == group.first || !step || !step->is_exit || leader.destination < 0) continue;
      std::int32_t& destination = agent::destination(bodies)[i];
      if (destination == leader.destination || leader.journey_step != agent::journey_step(bodies)[i])
        continue;
      if (std::isfinite(travel_time(floor_field_, leader.destination, standpoint_of(state, i))))
        destination = leader.destination;
    }
}

void GroupWalk::count_departures(const Comm& comm, std::size_t first_outlet,
                                 std::span<const Departure> departed) {
  if (!is_used()) return;
  std::vector<std::int64_t> sums(waited_.size(), 0);
  std::int64_t longest = 0;
  for (const Departure& d : departed) {
    const std::int64_t waited = in_micro(d.values[agent::place::group_waited]);
    sums[0] += waited;
    longest = std::max(longest, waited);
    if (d.exit >= 0)  // who fell and vanished waited at no exit in the end
      sums[2 + static_cast<std::size_t>(d.exit) - first_outlet] +=
          in_micro(d.values[agent::place::group_waited_at_exit]);
  }
  comm.sum(sums);
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (k != 1) waited_[k] += static_cast<Real>(sums[k]);
  waited_[1] = std::max(waited_[1], static_cast<Real>(comm.max(longest)));
}

std::vector<Real> GroupWalk::waited(const State<2>& state) const {
  const BodyStore<2>& bodies = state.bodies;
  std::vector<std::int64_t> sums(waited_.size(), 0);
  std::int64_t longest = 0;
  for (const std::size_t i : owned(bodies)) {
    const std::int64_t waited = in_micro(agent::group_waited(bodies)[i]);
    sums[0] += waited;
    longest = std::max(longest, waited);
    const int exit = agent::destination(bodies)[i];
    if (journey_plan_.is_exit(exit))
      sums[2 + static_cast<std::size_t>(exit)] += in_micro(agent::group_waited_at_exit(bodies)[i]);
  }
  state.comm.sum(sums);
  std::vector<Real> seconds(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k)
    seconds[k] = micro * (waited_[k] + static_cast<Real>(k == 1 ? 0 : sums[k]));
  seconds[1] = std::max(seconds[1], micro * static_cast<Real>(state.comm.max(longest)));
  return seconds;
}

}  // namespace scree
