#include "crowd/locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/gathered.hpp"
#include "core/log.hpp"
#include "core/output_interval.hpp"
#include "core/timing.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/micro_seconds.hpp"
#include "crowd/person.hpp"
#include "crowd/walking_model.hpp"

namespace scree {

namespace {

constexpr Real between_looks = 5;      // [s]
constexpr Real near_by = 0.1;          // gap up to which somebody blocks somebody [m]
constexpr Real slow_speed = 0.02;      // who gets on with less stands [m/s]
constexpr Real share_of_speed = 0.25;  // or, of slow people, with less than this share of their speed
constexpr Real pushed_back = 0.5;      // who is farther from its destination by more has moved [s at 1 m/s]
constexpr std::size_t max_listed = 8;
constexpr std::size_t n_numbers = 13;  // of a listed lock, in memory

/// Calls f(member, number, base) for all that is kept of a lock, as number = member + base.
template <class Lock, class F>
void exchange(Lock& lock, Real* numbers, const F& f) {
  f(lock.since, *numbers++, 0);
  f(lock.until, *numbers++, 0);
  f(lock.people, *numbers++, 0);
  for (int c = 0; c < 2; ++c) f(lock.at.component[c], *numbers++, 0);
  f(lock.level, *numbers++, 0);
  for (auto& [destination, n] : lock.bound_for) {
    f(destination, *numbers++, 1);
    f(n, *numbers++, 0);
  }
}

/// Lowers numbers of local people by `pass` until none on any rank changes any. Collective.
template <class Pass>
void settle(const Comm& comm, Neighborhood<2>& neighborhood, std::vector<Real>& numbers, const Pass& pass) {
  std::vector<Real> before;
  do {
    before = numbers;
    while (pass()) {
    }
    neighborhood.ghosts().min_to_owners(numbers, 1);
    neighborhood.ghosts().copy_to_ghosts(numbers, 1);
  } while (comm.any(numbers != before));
}

}  // namespace

void Locks::describe(Section& crowd) {
  bool stops = false;
  crowd.table(
      "lock", {.doc = "People who want to move and do not, for good: looked for every 5 s."},
      [&](Section& section) {
        section.real("after", after_,
                     {.unit = Unit::time,
                      .range = non_negative,
                      .doc = "Who has got on by less than 0.02 m/s for so long stands: 5 s or more; "
                             "0: locks are not looked for"});
        section.choice("then", stops, {{"warn", false}, {"stop", true}},
                       {.doc = "\"warn\": say who and where; \"stop\": end the run, too, with exit "
                               "code 5"});
        if (section.reading() && after_ > 0 && after_ < between_looks)
          section.fail("after", fmt::format("after = {:g} s: people are looked at every 5 s, take that or "
                                            "more, or 0 not to look",
                                            after_));
        if (section.reading() && stops && after_ == 0)
          section.fail("then", "then = \"stop\" has no effect with after = 0, which looks for no locks");
      });
  ends_run_ = stops;
}

bool Locks::is_due(const Clock& clock) const {
  return after_ > 0 && clock.step > 0 && interval_ends_in_step(clock.time, clock.last_dt, between_looks);
}

/// Whether a person is on its way and waits neither for a door, a lift, a service nor its group.
bool Locks::wants_to_move(const State<2>& state, std::size_t i, const WalkingIntent& walk,
                          const WalkingModel& walking, Vec<2>& direction) const {
  const BodyStore<2>& bodies = state.bodies;
  const int destination = agent::destination(bodies)[i], level = level_of(bodies, i);
  if (!(walk.speed > 0) || destination < 0 || agent::queue_place(bodies)[i] > 0 ||
      environment_.building().level(level).lift)
    return false;
  const auto exits = environment_.journey_plan().exits();
  if (environment_.journey_plan().is_exit(destination) && !exits[destination].is_open(state.clock.time))
    return false;
  direction = course_of(environment_.floor_field(), destination, standpoint_of(state, i)).direction;
  constexpr Real slowed = 0.5;  // by its group or before a lift
  return direction != Vec<2>{} && walk.speed >= slowed * walking.speed_on_free_ground(state, i, direction);
}

/// Brings up to date since when people stand; true if anybody of this rank has stood for long.
bool Locks::find_standing(State<2>& state, std::span<const WalkingIntent> walks,
                          const WalkingModel& walking) {
  BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  stands_.assign(bodies.n_local(), 0);
  direction_.assign(stands_.size(), {});
  bool any = false;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    Real& since = agent::stood_since(bodies)[i];
    Real& to_go = agent::stood_at(bodies)[i];
    const Real now = walks[i].time_to_go;
    const Real got_on = std::min(slow_speed, share_of_speed * walks[i].speed) * after_;
    const bool is_new = to_go == 0;  // nobody has looked at it yet
    const bool has_moved = is_new || to_go - now >= got_on || now - to_go > pushed_back;
    if (has_moved || !wants_to_move(state, i, walks[i], walking, direction_[i])) {
      since = time;
      to_go = now;
      continue;
    }
    // What counts is the progress in `after`, not that of all the time since: who creeps stands as well.
    const auto n_spans = [&](Real at) { return std::floor((at - since) / after_ + 1e-9); };
    if (n_spans(time) > n_spans(time - between_looks)) to_go = now;
    if (n_spans(time) < 1) continue;
    stands_[i] = 1;
    any = true;
  }
  return any;
}

/// Whoever stands because somebody before it does not is in a queue.
void Locks::exclude_queues(State<2>& state, Neighborhood<2>& neighborhood) {
  const auto position = state.bodies.position();
  const auto radius = state.bodies.radius();
  const auto shifts = neighborhood.list().shift_table();
  neighborhood.ghosts().copy_to_ghosts(stands_, 1);
  neighborhood.ghosts().copy_to_ghosts(std::span<Vec<2>>(direction_));
  pairs_.clear();
  ahead_.clear();
  neighborhood.search_pairs(state, near_by, [&](Index low, Index high, Index shift) {
    const auto a = static_cast<std::size_t>(low), b = static_cast<std::size_t>(high);
    if ((stands_[a] == 0 && stands_[b] == 0) || !may_meet(state, a, b)) return;
    Vec<2> d = position[b] - position[a];
    for (int c = 0; shift >= 0 && c < 2; ++c) d[c] -= shifts[3 * shift + c];
    if (norm(d) > radius[a] + radius[b] + near_by) return;
    if (stands_[a] != 0 && dot(direction_[a], d) >= 0) ahead_.push_back({low, high});
    if (stands_[b] != 0 && dot(direction_[b], d) <= 0) ahead_.push_back({high, low});
    if (stands_[a] != 0 && stands_[b] != 0) pairs_.push_back({low, high});
  });
  const auto mobility = state.bodies.mobility();
  settle(state.comm, neighborhood, stands_, [&] {
    bool is_changed = false;
    for (const StandingPair& pair : ahead_) {
      const auto by = static_cast<std::size_t>(pair.by), whom = static_cast<std::size_t>(pair.whom);
      if (stands_[by] == 0 || stands_[whom] != 0 || mobility[whom] == 0)
        continue;  // incapacitated: goes nowhere
      stands_[by] = 0;
      is_changed = true;
    }
    return is_changed;
  });
}

/// Gives all people of a lock its least id.
void Locks::join(State<2>& state, Neighborhood<2>& neighborhood) {
  label_.assign(stands_.size(), HUGE_VAL);
  for (const std::size_t i : owned(state.bodies))
    if (stands_[i] != 0) label_[i] = static_cast<Real>(state.bodies.id()[i]);
  neighborhood.ghosts().copy_to_ghosts(label_, 1);
  settle(state.comm, neighborhood, label_, [&] {
    bool is_changed = false;
    for (const StandingPair& pair : pairs_) {
      const auto a = static_cast<std::size_t>(pair.by), b = static_cast<std::size_t>(pair.whom);
      if (stands_[a] == 0 || stands_[b] == 0 || label_[a] == label_[b]) continue;
      label_[a] = label_[b] = std::min(label_[a], label_[b]);
      is_changed = true;
    }
    return is_changed;
  });
}

/// Numbers the locks: one keeps the number that its people have, the smallest if several have come together.
void Locks::number_locks(State<2>& state, const WalkingModel& walking) {
  BodyStore<2>& bodies = state.bodies;
  std::vector<LockHead> heads;
  for (const std::size_t i : owned(bodies))
    if (stands_[i] != 0 && label_[i] == static_cast<Real>(bodies.id()[i]))
      heads.push_back({bodies.id()[i], wrapped(state.box, bodies.position()[i]), level_of(bodies, i)});
  heads = gathered_by_id(state.comm, heads);
  const std::size_t n_destinations = environment_.journey_plan().destinations().size(),
                    width = 3 + n_destinations;
  std::vector<std::int64_t> sums(width * heads.size(), 0);  // people, x, y [1e-6 m], bound for each
  std::vector<Real> min(2 * heads.size(), HUGE_VAL);        // since when, number
  const auto lock_of = [&](std::size_t i) {
    const auto found = std::ranges::lower_bound(heads, static_cast<GlobalId>(label_[i]), {}, &LockHead::id);
    return static_cast<std::size_t>(found - heads.begin());
  };
  for (const std::size_t i : owned(bodies)) {
    if (stands_[i] == 0) continue;
    const std::size_t k = lock_of(i);
    const Vec<2> away = state.box.shortest(wrapped(state.box, bodies.position()[i]) - heads[k].at);
    ++sums[width * k];
    for (std::size_t c = 0; c < 2; ++c) sums[width * k + 1 + c] += in_micro(away[static_cast<int>(c)]);
    ++sums[width * k + 3 + static_cast<std::size_t>(agent::destination(bodies)[i])];
    min[2 * k] = std::min(min[2 * k], agent::stood_since(bodies)[i]);
    if (const std::int32_t number = agent::lock(bodies)[i]; number > 0)
      min[2 * k + 1] = std::min(min[2 * k + 1], static_cast<Real>(number));
  }
  state.comm.sum(sums);
  state.comm.min(min);
  std::vector<std::int32_t> numbers;
  n_locked_ = 0;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const bool is_known = std::isfinite(min[2 * k + 1]) &&
                          std::ranges::count(numbers, static_cast<std::int32_t>(min[2 * k + 1])) == 0;
    numbers.push_back(static_cast<std::int32_t>(is_known ? min[2 * k + 1] : static_cast<Real>(++n_locks_)));
    const std::int64_t* of_lock = &sums[width * k];
    Lock lock{.since = min[2 * k], .people = of_lock[0], .at = heads[k].at, .level = heads[k].level};
    for (int c = 0; c < 2; ++c)
      lock.at[c] += micro * static_cast<Real>(of_lock[1 + c]) / static_cast<Real>(lock.people);
    std::vector<std::pair<int, std::int64_t>> bound_for;
    for (std::size_t d = 0; d < n_destinations; ++d)
      if (of_lock[3 + d] > 0) bound_for.emplace_back(static_cast<int>(d), of_lock[3 + d]);
    std::ranges::stable_sort(bound_for, std::greater<>(), &std::pair<int, std::int64_t>::second);
    bound_for.resize(std::min(bound_for.size(), lock.bound_for.size()));
    std::ranges::copy(bound_for, lock.bound_for.begin());
    n_locked_ += lock.people;
    const auto place = static_cast<std::size_t>(numbers.back()) - 1;
    if (!is_known) log::warn("{}", text(lock, walking));
    if (place >= max_listed) continue;
    list_.resize(std::max(list_.size(), place + 1));
    if (is_known) lock.since = list_[place].since;
    list_[place] = lock;
  }
  for (std::size_t place = 0; place < list_.size(); ++place)
    if (list_[place].until < 0 && std::ranges::count(numbers, static_cast<std::int32_t>(place) + 1) == 0)
      list_[place].until = state.clock.time;
  for (const std::size_t i : owned(bodies))
    agent::lock(bodies)[i] = stands_[i] == 0 ? 0 : numbers[lock_of(i)];
}

void Locks::detect(State<2>& state, Neighborhood<2>& neighborhood, std::span<const WalkingIntent> walks,
                   const WalkingModel& walking) {
  Scope timer("locks");
  const bool any = state.comm.any(find_standing(state, walks, walking));
  if (!any && n_locked_ == 0) return;
  if (any) {
    exclude_queues(state, neighborhood);
    join(state, neighborhood);
  }
  number_locks(state, walking);
}

std::string Locks::text(const Lock& lock, const WalkingModel& walking) const {
  std::string bound_for;
  int n_destinations = 0;
  for (const auto& [destination, n] : lock.bound_for) {
    if (destination < 0) continue;
    const std::string& name = environment_.journey_plan().destinations()[destination].name;
    bound_for += fmt::format(", {} bound for {}", n, name);
    ++n_destinations;
  }
  const std::string& level = environment_.building().level(lock.level).name;
  return fmt::format(
      "locked since {:.4g} s: {} {} around ({:.3g}, {:.3g}){}{}{}", lock.since, lock.people,
      lock.people == 1 ? "person" : "people", lock.at[0], lock.at[1],
      level.empty() ? "" : fmt::format(" on \"{}\"", level), bound_for,
      n_destinations > 1 && !walking.avoids() ? ": people who meet need [crowd.avoidance]" : "");
}

std::span<Real> Locks::memory() {
  if (after_ == 0) return {};
  memory_.assign(2 + n_numbers * max_listed, 0);
  memory_[0] = static_cast<Real>(n_locks_);
  memory_[1] = static_cast<Real>(n_locked_);
  for (std::size_t k = 0; k < list_.size(); ++k)
    exchange(list_[k], &memory_[2 + n_numbers * k],
             [](const auto& value, Real& number, int base) { number = static_cast<Real>(value + base); });
  return memory_;
}

void Locks::restore() {
  if (memory_.empty()) return;
  n_locks_ = std::llround(memory_[0]);
  n_locked_ = std::llround(memory_[1]);
  list_.resize(std::min(static_cast<std::size_t>(n_locks_), max_listed));
  for (std::size_t k = 0; k < list_.size(); ++k)
    exchange(list_[k], &memory_[2 + n_numbers * k], [](auto& value, Real number, int base) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(number) - base;
    });
}

}  // namespace scree
