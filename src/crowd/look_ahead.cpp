#include "crowd/look_ahead.hpp"

#include <algorithm>
#include <cmath>

#include "core/memory.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {
/// Others count as oncoming if they walk against one's own way by this share of their speed.
constexpr Real against = 0.3;
/// A free way to a wall counts that many times: walls stay where they are, so people walk up to them within
/// this part of the headway time.
constexpr Real trust_in_walls = 3.1;
/// Whoever had less than this share of the free speed in the last step stands, whoever had more walks; in
/// between the width changes linearly.
constexpr Real standing = 0.37, walking = 0.9;

/// How much of the way of somebody behind counts as taken, as a share of that in which disks would touch.
Real width_behind(const LookAhead::Walk& other, const LookAhead::Perception& perception) {
  const Real pace = other.speed > 0 ? other.last_speed / other.speed : 0;
  const Real share = std::clamp((pace - standing) / (walking - standing), 0.0, 1.0);
  return perception.headway_width + (perception.moving_width - perception.headway_width) * share;
}

/// Whether the other one, on the way to the same place, comes after. So nobody waits for somebody who waits
/// for him, directly or around a ring of people.
bool gives_way(const LookAhead::Walk& other, const LookAhead::Walk& own) {
  return own.destination >= 0 && own.destination == other.destination && other.time_to_go > own.time_to_go;
}
}  // namespace

std::span<LookAhead::Walk> LookAhead::walks(const State<2>& state) {
  walks_.resize(static_cast<std::size_t>(state.bodies.n_held()));
  return std::span(walks_).first(static_cast<std::size_t>(state.bodies.n_owned()));
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

template <bool record>
void LookAhead::look(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception, Real dt) {
  constexpr int n_seen = sizeof(Seen) / sizeof(Real);
  constexpr int n_walk = sizeof(Walk) / sizeof(Real);
  static_assert(sizeof(Walk) == n_walk * sizeof(Real) && sizeof(Seen) == n_seen * sizeof(Real));
  const auto n_held = static_cast<std::size_t>(state.bodies.n_held());
  walks_.resize(n_held);
  neighborhood.ghosts().copy_to_ghosts({reinterpret_cast<Real*>(walks_.data()), n_held * n_walk}, n_walk);
  Seen nothing{.free_way = perception.range,
               .left = HUGE_VAL,
               .right = HUGE_VAL,
               .room_left = perception.side_range,
               .room_right = perception.side_range,
               .wall_left = HUGE_VAL,
               .wall_right = HUGE_VAL,
               .turned = {}};
  std::fill_n(nothing.turned, n_turns, perception.range);
  seen_.assign(n_held, nothing);
  const bool turns = perception.turning_angle > 0;
  for (int k = 0; k < n_turns; ++k) {
    const Real angle = turn_angle(k, perception.turning_angle);
    turns_[static_cast<std::size_t>(k)] = {std::cos(angle), std::sin(angle)};
  }
  if (record) near_.clear();

  const BodyStore<2>& bodies = state.bodies;
  const auto position = bodies.position();
  const auto radius = bodies.radius();
  const auto shifts = neighborhood.list().shift_table();
  const SweepSchedule<2>& schedule = neighborhood.schedule();
  const Real farthest = perception.range + perception.lateral_clearance;
  const bool sides = perception.side_range > 0;
  // What the person i sees of another one that is d away; `other` is how that one walks.
  const auto see = [&](std::size_t i, const Walk& other, const Vec<2>& d, Real distance_squared,
                       Real sum_of_radii) {
    const Walk& own = walks_[i];
    const Real along = d[0] * own.direction[0] + d[1] * own.direction[1];
    const Real leftward = own.direction[0] * d[1] - own.direction[1] * d[0];
    const Real squared = sum_of_radii * sum_of_radii;
    Seen& seen = seen_[i];
    if (sides && along * along < squared) {
      Real& room = leftward > 0 ? seen.room_left : seen.room_right;
      room = std::min(room, std::max(std::abs(leftward) - std::sqrt(squared - along * along), 0.0));
    }
    const bool counts = !gives_way(other, own);
    const Real width = width_behind(other, perception);
    const Real taken_squared = width * width * squared;
    if (turns && counts && (along > 0 || -along < std::abs(leftward))) {
      for (int k = 0; k < n_turns; ++k) {
        const Turn& turn = turns_[static_cast<std::size_t>(k)];
        const Real ahead = turn.cosine * along + turn.sine * leftward;
        const Real aside = turn.cosine * leftward - turn.sine * along;
        if (!(ahead > 0) || aside * aside >= taken_squared) continue;
        seen.turned[k] = std::min(seen.turned[k], std::max(ahead - std::sqrt(squared - aside * aside), 0.0));
      }
    }
    if (!(along > 0)) return;
    const Real across_squared = std::max(distance_squared - along * along, 0.0);
    if (counts && across_squared < taken_squared) {
      const Real way = along - std::sqrt(squared - across_squared);
      seen.free_way = std::min(seen.free_way, std::max(way, 0.0));
    }
    if (!perception.oncoming) return;
    const Real with_own = own.direction[0] * other.direction[0] + own.direction[1] * other.direction[1];
    const Real corridor = sum_of_radii + perception.lateral_clearance;
    if (with_own > -against || across_squared >= corridor * corridor) return;
    const Real closing = own.speed - other.speed * with_own;
    if (!(closing > 0)) return;
    const Real time = std::max(along - sum_of_radii, 0.0) / closing;
    // Somebody straight ahead, to within a third of the radii, is passed on the right like one on the left.
    Real& side = leftward > -sum_of_radii / 3 ? seen.left : seen.right;
    side = std::min(side, time);
  };
  const auto look_at_pair = [&](std::size_t place, Index low, Index high, Index shift) {
    const auto i = static_cast<std::size_t>(low);
    const auto j = static_cast<std::size_t>(high);
    Vec<2> d = position[j] - position[i];
    if (shift >= 0)
      for (int k = 0; k < 2; ++k) d[k] -= shifts[static_cast<std::size_t>(3 * shift + k)];
    const Real squared = dot(d, d);
    const Real sum_of_radii = radius[i] + radius[j];
    const Real seen_from = sum_of_radii + farthest;
    if (squared > seen_from * seen_from) return;
    see(i, walks_[j], d, squared, sum_of_radii);
    see(j, walks_[i], -d, squared, sum_of_radii);
    const Real touching_soon = sum_of_radii + perception.reach;
    if (!record || squared > touching_soon * touching_soon) return;
    const Real distance = std::sqrt(squared);
    near_.add(low, high, distance - sum_of_radii, distance > 0 ? d * (1 / distance) : unit_vector<2>(0),
              place);
    near_.wall_speed.push_back(0);
  };
  const auto look_at_blocks = [&](std::span<const SweepSchedule<2>::Block> blocks) {
    for (const auto& block : blocks) {
      schedule.for_each_pair(block, look_at_pair);
      if (record || turns || sides) look_at_walls<record>(state, block, schedule, perception, dt);
    }
    return static_cast<Index>(near_.size());
  };
  if (record) near_.colour_first.push_back(0);
  for (int colour = 0; colour < Lattice<2>::n_colours; ++colour) {
    const Index interior = look_at_blocks(schedule.boundary_blocks(colour));
    const Index last = look_at_blocks(schedule.interior_blocks(colour));
    if (!record) continue;
    near_.interior_first.push_back(interior);
    near_.colour_first.push_back(last);
  }
  neighborhood.ghosts().min_to_owners({reinterpret_cast<Real*>(seen_.data()), n_held * n_seen}, n_seen);
}

/// `normal` points to the wall.
void LookAhead::see_wall(std::size_t i, const Vec<2>& normal, Real gap) {
  const Walk& own = walks_[i];
  const Real towards = normal[0] * own.direction[0] + normal[1] * own.direction[1];
  const Real leftward = own.direction[0] * normal[1] - own.direction[1] * normal[0];
  Seen& seen = seen_[i];
  if (leftward != 0) {
    Real& side = leftward > 0 ? seen.wall_left : seen.wall_right;
    side = std::min(side, std::max(gap, 0.0) / std::abs(leftward));
  }
  for (int k = 0; k < n_turns; ++k) {
    const Turn& turn = turns_[static_cast<std::size_t>(k)];
    const Real closing = turn.cosine * towards + turn.sine * leftward;
    if (!(closing > 0)) continue;
    Real& way = seen.turned[k];
    way = std::min(way, trust_in_walls * std::max(gap, 0.0) / closing);
  }
}

template <bool record>
void LookAhead::look_at_walls(const State<2>& state, const SweepSchedule<2>::Block& block,
                              const SweepSchedule<2>& schedule, const Perception& perception, Real dt) {
  const BodyStore<2>& bodies = state.bodies;
  for (const auto& wall : schedule.walls(block)) {
    const auto which = schedule.wall_bodies(wall);
    at_.clear();
    for (const Index i : which) at_.push_back(bodies.position()[static_cast<std::size_t>(i)]);
    surface_.resize(at_.size());
    state.obstacles.nearest(wall.constraint, at_, surface_);
    const Motion<2>* motion =
        state.obstacles.list()[static_cast<std::size_t>(state.obstacles.obstacle_of(wall.constraint))]
            .motion.get();
    for (std::size_t k = 0; k < at_.size(); ++k) {
      if (!surface_[k].in_reach()) continue;
      const Real gap = surface_[k].distance - bodies.radius()[static_cast<std::size_t>(which[k])];
      const Vec<2> normal = -surface_[k].normal;
      see_wall(static_cast<std::size_t>(which[k]), normal, gap);
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

std::size_t LookAhead::bytes() const {
  return held_bytes(walks_, seen_, near_.a, near_.b, near_.place, near_.gap, near_.normal, near_.wall_speed,
                    at_, surface_);
}

}  // namespace scree
