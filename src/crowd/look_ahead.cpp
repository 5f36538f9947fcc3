#include "crowd/look_ahead.hpp"

#include <algorithm>
#include <numeric>

#include "core/timing.hpp"

namespace scree {

namespace {
/// A free distance to a wall counts that many times: walls stay where they are, so people walk up to them
/// within this part of the headway time.
constexpr Real trust_in_walls = 3.1;
/// Whoever had less than this share of the free speed in the last step stands, whoever had more walks; in
/// between the width changes linearly.
constexpr Real standing = 0.37, walking = 0.9;

/// How much of the path of somebody behind counts as taken, as a share of that in which disks would touch.
Real width_behind(const WalkingIntent& other, const LookAhead::Perception& perception) {
  const Real pace = other.speed > 0 ? other.last_speed / other.speed : 0;
  const Real share = std::clamp((pace - standing) / (walking - standing), 0.0, 1.0);
  return perception.headway_width + (perception.moving_width - perception.headway_width) * share;
}

/// Room for n values, whatever they are, with a little to spare for lists to come: doubling would cost more
/// memory than all else that a crowd holds.
template <class T>
void reset_size(std::vector<T>& values, std::size_t n) {
  if (n > values.capacity()) {
    values.clear();  // not copied
    values.reserve(n + n / 16);
  }
  values.resize(n);
}
}  // namespace

std::span<WalkingIntent> LookAhead::walks(const State<2>& state) {
  return std::span(walks_).first(state.bodies.n_owned());
}

void LookAhead::find(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception, Real dt) {
  Scope timer("look ahead");
  neighborhood.ghosts().copy_to_ghosts(state.bodies.position());
  look<true>(state, neighborhood, perception, dt);
}

void LookAhead::find_again(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception) {
  Scope timer("look ahead");
  look<false>(state, neighborhood, perception, 0);
}

void LookAhead::prepare(const State<2>& state, Neighborhood<2>& neighborhood, Real skin,
                        std::span<const Real> sight, Real drift) {
  Scope timer("look ahead");
  const std::size_t n_local = neighborhood.ghosts().n_local();
  sight_.assign(n_local, skin);
  std::ranges::copy(sight, sight_.begin());
  neighborhood.ghosts().copy_to_ghosts(sight_, 1);
  const auto position = state.bodies.position();
  const auto radius = state.bodies.radius();
  const auto shifts = neighborhood.list().shift_table();
  // Counts by person, two places further, become the places where the others of each person begin, one place
  // further; filling them in moves these on to where they end.
  for (Candidates* list : {&within_box_, &through_faces_}) list->first.assign(n_local + 2, 0);
  std::vector<VisiblePair> pairs;
  pairs.reserve(n_pairs_ + n_pairs_ / 16);
  neighborhood.search_pairs(state, skin, [&](Index low, Index high, Index shift) {
    const auto a = static_cast<std::size_t>(low), b = static_cast<std::size_t>(high);
    Vec<2> d = position[b] - position[a];
    for (int c = 0; shift >= 0 && c < 2; ++c) d[c] -= shifts[3 * shift + c];
    const Real squared = dot(d, d), contact_distance = radius[a] + radius[b] + drift;
    const auto detects = [&](Real gap) {
      return squared <= (contact_distance + gap) * (contact_distance + gap);
    };
    const VisiblePair pair{low, high, static_cast<std::int16_t>(shift), detects(sight_[a]),
                           detects(sight_[b])};
    if (!pair.by_low && !pair.by_high) return;
    Candidates& list = candidates(shift);
    list.first[a + 2] += pair.by_low ? 1 : 0;
    list.first[b + 2] += pair.by_high ? 1 : 0;
    pairs.push_back(pair);
  });
  n_pairs_ = pairs.size();
  list_candidates(pairs);
  resize(n_local);
}

/// From the counts of prepare(), lists of whom each person may see, and room for what it sees.
void LookAhead::list_candidates(std::span<const VisiblePair> pairs) {
  for (Candidates* list : {&within_box_, &through_faces_}) {
    std::inclusive_scan(list->first.begin(), list->first.end(), list->first.begin());
    reset_size(list->others, static_cast<std::size_t>(list->first.back() + batch_size));
    std::fill_n(list->others.end() - batch_size, batch_size, 0);
  }
  reset_size(through_faces_.shifts, static_cast<std::size_t>(through_faces_.first.back()));
  for (const VisiblePair& pair : pairs) {
    Candidates& list = candidates(pair.shift);
    const auto put = [&](Index i, Index other, int code) {
      const std::size_t place = list.first[static_cast<std::size_t>(i) + 1]++;
      list.others[place] = other;
      if (pair.shift >= 0) list.shifts[place] = static_cast<std::uint8_t>(code);
    };
    constexpr int last_code = 8;
    if (pair.by_low) put(pair.low, pair.high, pair.shift);
    if (pair.by_high) put(pair.high, pair.low, last_code - pair.shift);  // as many periods the other way
  }
  std::size_t max = 0;
  for (std::size_t i = 0; i + 2 < within_box_.first.size(); ++i) {
    Index n = 0;
    for (const Candidates* list : {&within_box_, &through_faces_}) n += list->first[i + 1] - list->first[i];
    max = std::max(max, static_cast<std::size_t>(n));
  }
  who_.resize(max + 2 * batch_size);
  scratch_.resize(4 * who_.size());
}

/// Arrays by person.
void LookAhead::resize(std::size_t n_local) {
  walks_.resize(n_local);
  results_.resize(n_local);
  disks_.resize(n_local + 2);
  headings_.resize(n_local);
  goals_.resize(n_local);
}

void LookAhead::renumber(std::span<const Index> numbers) {
  for (Candidates* list : {&within_box_, &through_faces_}) renumber(*list, numbers);
  resize(within_box_.first.size() - 2);
}

void LookAhead::renumber(Candidates& list, std::span<const Index> numbers) {
  std::size_t n = 0, n_people = 0;
  Index first = 0;
  for (std::size_t i = 0; i + 2 < list.first.size(); ++i) {
    const Index last = list.first[i + 1];
    if (numbers[i] >= 0) {
      list.first[n_people++] = static_cast<Index>(n);
      for (std::size_t entry = first; entry < static_cast<std::size_t>(last); ++entry) {
        const Index other = numbers[list.others[entry]];
        if (other < 0) continue;
        list.others[n] = other;
        if (!list.shifts.empty()) list.shifts[n] = list.shifts[entry];
        ++n;
      }
    }
    first = last;
  }
  list.first.resize(n_people + 2);
  list.first[n_people] = list.first[n_people + 1] = static_cast<Index>(n);
  list.others.resize(n + batch_size);
  std::fill_n(list.others.end() - batch_size, batch_size, 0);
  if (!list.shifts.empty()) list.shifts.resize(n);
}

/// Fills in what kernels load.
void LookAhead::load(const State<2>& state, const Perception& perception) {
  const BodyStore<2>& bodies = state.bodies;
  const std::size_t n_local = walks_.size();
  for (std::size_t i = 0; i < n_local; ++i) {
    const WalkingIntent& walk = walks_[i];
    const Vec<2>& x = bodies.position()[i];
    const Real width = width_behind(walk, perception);
    disks_[i] = {{x[0], x[1], 0}, bodies.radius()[i]};
    headings_[i] = {{walk.direction[0], walk.direction[1], walk.speed},
                    std::min(walk.sight, perception.range) + perception.lateral_clearance};
    goals_[i] = {{walk.destination, walk.time_to_go, width * width}, 0};
  }
  disks_[n_local] = {};
  disks_[n_local + 1] = {{HUGE_VAL, 0, 0}, 0};
  for (int k = 0; k < n_turns; ++k) {
    const Real angle = turn_angle(k, perception.turning_angle);
    cosines_[k] = std::cos(angle);
    sines_[k] = std::sin(angle);
  }
}

void LookAhead::perceive_people(const State<2>& state, const Neighborhood<2>& neighborhood,
                                const Perception& perception) {
  const std::size_t max = who_.size();
  LookAheadView view{.n_local = static_cast<Index>(walks_.size()),
                     .disks = disks_.data(),
                     .headings = headings_.data(),
                     .goals = goals_.data(),
                     .within_box = {within_box_.first.data(), within_box_.others.data()},
                     .through_faces = {through_faces_.first.data(), through_faces_.others.data()},
                     .shift_table = neighborhood.list().shift_table().data(),
                     .range = perception.range,
                     .side_range = perception.side_range,
                     .lateral_clearance = perception.lateral_clearance,
                     .turns = perception.turning_angle > 0,
                     .sides = perception.side_range > 0,
                     .oncoming = perception.oncoming,
                     .along = scratch_.data(),
                     .leftward = scratch_.data() + max,
                     .squared = scratch_.data() + 2 * max,
                     .radii = scratch_.data() + 3 * max,
                     .who = who_.data(),
                     .results = results_.data()};
  if (state.levels) {
    view.levels = state.bodies.level().data();
    view.meeting = &state;
    view.may_meet = [](const void* meeting, Index i, Index j) {
      return may_meet(*static_cast<const State<2>*>(meeting), static_cast<std::size_t>(i),
                      static_cast<std::size_t>(j));
    };
  }
  if (!through_faces_.shifts.empty()) view.through_faces.shifts = through_faces_.shifts.data();
  std::copy_n(cosines_, n_turns, view.cosines);
  std::copy_n(sines_, n_turns, view.sines);
  kernels_->look(view);
}

/// Adds the pairs of a block with a gap up to `reach`, in the order of a sweep.
void LookAhead::find_near_pairs(const State<2>& state, const Neighborhood<2>& neighborhood,
                                const SweepSchedule<2>::Block& block, Real reach) {
  const SweepSchedule<2>& schedule = neighborhood.schedule();
  const auto shifts = neighborhood.list().shift_table();
  const auto position = state.bodies.position();
  const auto radius = state.bodies.radius();
  const auto find = [&](Index first, Index last, const std::uint8_t* codes) {
    const Index* ends = schedule.ends().data() + 2 * batch_size * first;
    const std::size_t max = (last - first + 1) * batch_size;
    if (near_places_.size() < max) near_places_.resize(max);
    const std::size_t n = kernels_->find_near({.disks = disks_.data(),
                                               .ends = ends,
                                               .n_batches = last - first,
                                               .shifts = codes,
                                               .shift_table = shifts.data(),
                                               .reach = reach},
                                              near_places_.data());
    for (std::size_t k = 0; k < n; ++k) {
      const Index place = near_places_[k];
      const Index* pair = ends + 2 * batch_size * (place / batch_size) + place % batch_size;
      const std::size_t low = pair[0];
      const std::size_t high = pair[batch_size];
      if (!may_meet(state, low, high)) continue;
      Vec<2> d = position[high] - position[low];
      if (codes)
        for (int c = 0; c < 2; ++c) d[c] -= shifts[3 * codes[place] + c];
      const Real distance = norm(d);
      near_.add(pair[0], pair[batch_size], distance - (radius[low] + radius[high]),
                distance > 0 ? d * (1 / distance) : unit_vector<2>(0),
                static_cast<std::size_t>(first * batch_size + place));
      near_.wall_speed.push_back(0);
    }
  };
  find(block.first_batch, block.first_shifted, nullptr);
  if (block.last_batch > block.first_shifted)
    find(block.first_shifted, block.last_batch, schedule.shifts().data() + schedule.first_shift(block));
}

template <bool record>
void LookAhead::look(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception, Real dt) {
  constexpr int n_numbers = sizeof(LookAheadResult) / sizeof(Real);
  constexpr int n_walk = sizeof(WalkingIntent) / sizeof(Real);
  static_assert(sizeof(WalkingIntent) == n_walk * sizeof(Real) &&
                sizeof(LookAheadResult) == n_numbers * sizeof(Real));
  const std::size_t n_local = walks_.size();
  neighborhood.ghosts().copy_to_ghosts({reinterpret_cast<Real*>(walks_.data()), n_local * n_walk}, n_walk);
  kernels_ = &look_ahead_kernels();
  load(state, perception);
  perceive_people(state, neighborhood, perception);

  if (record) near_.clear();
  const SweepSchedule<2>& schedule = neighborhood.schedule();
  const bool detects_walls = record || perception.turning_angle > 0 || perception.side_range > 0;
  const auto detect_in_blocks = [&](std::span<const SweepSchedule<2>::Block> blocks) {
    for (const auto& block : blocks) {
      if (record) find_near_pairs(state, neighborhood, block, perception.reach);
      if (detects_walls) detect_walls<record>(state, block, schedule, perception, dt);
    }
    return static_cast<Index>(near_.size());
  };
  if (record) near_.colour_first.push_back(0);
  for (int colour = 0; colour < Lattice<2>::n_colours; ++colour) {
    const Index interior = detect_in_blocks(schedule.boundary_blocks(colour));
    const Index last = detect_in_blocks(schedule.interior_blocks(colour));
    if (!record) continue;
    near_.interior_first.push_back(interior);
    near_.colour_first.push_back(last);
  }
  neighborhood.ghosts().min_to_owners({reinterpret_cast<Real*>(results_.data()), n_local * n_numbers},
                                      n_numbers);
}

/// `normal` points to the wall.
void LookAhead::detect_wall(std::size_t i, const Vec<2>& normal, Real gap) {
  const WalkingIntent& own = walks_[i];
  const Real towards = normal[0] * own.direction[0] + normal[1] * own.direction[1];
  const Real leftward = own.direction[0] * normal[1] - own.direction[1] * normal[0];
  LookAheadResult& result = results_[i];
  if (leftward != 0) {
    Real& side = leftward > 0 ? result.wall_left : result.wall_right;
    side = std::min(side, std::max(gap, 0.0) / std::abs(leftward));
  }
  for (int k = 0; k < n_turns; ++k) {
    const Real closing = cosines_[k] * towards + sines_[k] * leftward;
    if (!(closing > 0)) continue;
    Real& distance = result.turned[k];
    distance = std::min(distance, trust_in_walls * std::max(gap, 0.0) / closing);
  }
}

template <bool record>
void LookAhead::detect_walls(const State<2>& state, const SweepSchedule<2>::Block& block,
                             const SweepSchedule<2>& schedule, const Perception& perception, Real dt) {
  const BodyStore<2>& bodies = state.bodies;
  for (const auto& wall : schedule.walls(block)) {
    const auto which = schedule.wall_bodies(wall);
    at_.clear();
    for (const Index i : which) at_.push_back(bodies.position()[i]);
    surface_.resize(at_.size());
    state.obstacles.nearest(wall.constraint, at_, surface_);
    const Motion<2>* motion =
        state.obstacles.list()[state.obstacles.obstacle_of(wall.constraint)].motion.get();
    for (std::size_t k = 0; k < at_.size(); ++k) {
      if (!surface_[k].in_reach() ||
          !may_meet_obstacle(state, static_cast<std::size_t>(which[k]), wall.constraint))
        continue;
      const Real gap = surface_[k].distance - bodies.radius()[which[k]];
      const Vec<2> normal = -surface_[k].normal;
      detect_wall(static_cast<std::size_t>(which[k]), normal, gap);
      if (!record) continue;
      Real speed = 0;
      if (motion) {
        const Vec<2> foot = at_[k] + normal * surface_[k].distance;
        speed = dot(normal, motion->velocity(foot, state.clock.time + dt / 2));
      }
      if (gap + std::min(speed, 0.0) * dt > perception.reach) continue;
      near_.add(which[k], -1, gap, normal, static_cast<std::size_t>(wall.first) + k);
      near_.wall_speed.push_back(speed);
    }
  }
}

}  // namespace scree
