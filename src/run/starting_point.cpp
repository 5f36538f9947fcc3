#include "run/starting_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "geometry/driven_motion.hpp"
#include "neighbors/boundary_conditions.hpp"
#include "run/deck_changes.hpp"

namespace scree {

namespace {

/// Whether a setting says where bodies come from and how they move at first: of no effect with --from.
bool is_of_source(const Deck::Setting& setting) {
  const std::string start = "particles.";
  if (!setting.table.starts_with(start)) return false;
  const std::string_view rest = std::string_view(setting.table).substr(start.size());
  return rest.find(".source") != rest.npos || rest.find(".radius") != rest.npos;
}

template <int D>
bool same_pose(const Pose<D>& a, const Pose<D>& b) {
  return a.rotation == b.rotation && a.translation == b.translation;
}

/// Whether the same positions along its axes are the same places of an obstacle.
template <int D>
bool same_paths(const Obstacle<D>& a, const Obstacle<D>& b, const Box<D>& box) {
  const Pose<D> none;
  return a.shape->outline(box).points == b.shape->outline(box).points &&
         same_pose(a.placement.value_or(none), b.placement.value_or(none)) &&
         std::ranges::equal(a.driven_motions, b.driven_motions, [](const auto& one, const auto& other) {
           return one->turns() == other->turns() && same_pose(one->pose(1), other->pose(1));
         });
}

/// What a run does not take of the motion of bodies, or does not do with it.
template <int D>
void log_changes(const State<D>& old, const State<D>& state, const RunDeck<D>& deck, bool same_periods,
                 std::int64_t n_stopped, std::int64_t n_unturned) {
  if (state.bodies.has_inertia() && !old.bodies.has_inertia())
    log::info("the scheme of the checkpoint knows no inertia: velocities are those of [particles.NAME]");
  if (old.bodies.has_inertia() && !state.bodies.has_inertia())
    log::info(
        "the scheme knows no inertia: velocities, spins and orientations of the checkpoint are not taken");
  if (!same_periods)
    log::info("the periodic axes differ: how often bodies have passed through them is forgotten");
  if (n_stopped = state.comm.sum(n_stopped); n_stopped > 0)
    log::info("{} bodies that were moving stand still: their group has mobility 0", n_stopped);
  if (n_unturned = state.comm.sum(n_unturned); n_unturned > 0)
    log::warn("{} bodies that were spinning do not: their group has rotates = false", n_unturned);
  if (!old.bodies.has_inertia() || !state.bodies.has_inertia()) return;
  for (const ParticleGroup<D>& group : deck.groups)
    if (group.mobility != 0 &&
        (group.velocity != Vec<D>{} || group.random_speed > 0 || group.angular_velocity != Spin<D>{}))
      log::info("[particles.{}]: its velocities at first have no effect: the checkpoint brings them",
                group.name);
}

}  // namespace

template <int D>
StartingPoint<D>::StartingPoint(const Comm& comm, const std::string& checkpoint)
    : path_(checkpoint),
      head_(read_checkpoint_head(comm, checkpoint)),
      deck_(Deck::from_text(
          head_.deck,
          (std::filesystem::path(head_.deck_folder) / (head_.run_name + ".resolved.toml")).string())) {
  if (head_.dimension != D)
    throw InputError(fmt::format("{}: its bodies are {}, those of the deck {}", path_,
                                 head_.dimension == 2 ? "disks in the plane" : "spheres",
                                 D == 2 ? "disks in the plane" : "spheres"));
  content_.describe(deck_.root());
  if (const Environment<D>* environment = content_.stepper->environment())
    throw InputError(fmt::format("{0}: holds {1}; --from is for bodies ({1} start from {2})", path_,
                                 environment->messages().bodies, environment->messages().start_from));
}

template <int D>
std::string StartingPoint<D>::text() const {
  return fmt::format("{} (run {}, step {}, t = {:g} s)", path_, head_.run_name, head_.step, head_.time);
}

template <int D>
std::vector<std::string> StartingPoint<D>::differences(const Deck& deck) const {
  const std::vector<Deck::Setting> settings = deck.settings(), before_settings = deck_.settings();
  std::vector<std::string> lines;
  for (const auto& [now, before, whole_table] : changes_between(settings, before_settings, is_of_source))
    lines.push_back(
        now && before        ? fmt::format("{} = {}, before {}", full_name(*now), now->value, before->value)
        : now && whole_table ? fmt::format("[{}] is new", now->table)
        : now                ? fmt::format("{} = {}, not given before", full_name(*now), now->value)
        : whole_table        ? fmt::format("[{}] is gone", before->table)
                             : fmt::format("{} is not given, before {}", full_name(*before), before->value));
  return lines;
}

template <int D>
void StartingPoint<D>::take(State<D>& state, const RunDeck<D>& deck) const {
  Scope timer("start from checkpoint");
  if (const Environment<D>* environment = deck.stepper->environment())
    throw InputError(
        fmt::format("--from: {} do not start from a checkpoint; --resume goes on with a run of them",
                    environment->messages().bodies));
  State<D> old{.comm = state.comm, .box = content_.box, .deformation = content_.deformation};
  old.bodies.carry(content_.stepper->traits().field_set);
  old.bodies.carry_path(false);
  old.bodies.carry_shapes(content_.has_shapes());
  old.type_rotates.resize(content_.all_groups().size());
  old.shapes = content_.shapes;
  old.obstacles = content_.obstacles;
  read_checkpoint<D>(old, path_);
  state.bodies.carry_shapes(state.bodies.carries_shapes() || old.bodies.carries_shapes());
  take_deformation(old, state, deck);
  take_bodies(old, match_groups(old, deck), state, deck);
  take_memory(old, state, deck);
  take_walls(old, state);
  state.next_id = old.next_id;
}

/// A domain that was deformed goes on as it was left: [domain] of the deck does not say how.
template <int D>
void StartingPoint<D>::take_deformation(const State<D>& old, State<D>& state, const RunDeck<D>& deck) const {
  if (!old.deformation.is_given()) return;
  if (old.box.periodic != state.box.periodic)
    throw InputError(fmt::format(
        "{}: is of a deformed domain, periodic along all axes; the domain of the deck is not", path_));
  const bool is_tilted = old.box.offset != 0;
  if (is_tilted && deck.deformation.is_given() &&
      (state.box.flow != old.box.flow || state.box.gradient != old.box.gradient))
    throw InputError(
        fmt::format("{}: its domain is tilted along {} across {}; flow and gradient of [domain.deformation] "
                    "must be the same",
                    path_, "xyz"[old.box.flow], "xyz"[old.box.gradient]));
  const Box<D> before = state.box;
  state.box = old.box;
  if (!is_tilted) {
    state.box.flow = before.flow;
    state.box.gradient = before.gradient;
  }
  log::info("the domain is that of the checkpoint: ({:g}) to ({:g}) m{}",
            fmt::join(state.box.lower.component, ", "), fmt::join(state.box.upper.component, ", "),
            is_tilted ? fmt::format(", tilted by {:g} m", state.box.offset) : "");
}

/// The type in `deck` of each type of body in the checkpoint; -1: it has no bodies. Throws InputError if
/// there is none.
template <int D>
std::vector<std::int32_t> StartingPoint<D>::match_groups(const State<D>& old, const RunDeck<D>& deck) const {
  const auto there = content_.all_groups(), here = deck.all_groups();
  std::vector<std::int64_t> n_bodies(there.size(), 0);
  share_errors(old.comm, [&] {
    for (std::size_t i = 0; i < static_cast<std::size_t>(old.bodies.n_owned()); ++i) {
      const std::int32_t type = old.bodies.type()[i];
      if (type < 0 || static_cast<std::size_t>(type) >= n_bodies.size())
        throw InputError(fmt::format("{}: body {} is of type {}, but its deck has {} (damaged?)", path_,
                                     old.bodies.id()[i], type, n_bodies.size()));
      ++n_bodies[type];
    }
  });
  old.comm.sum(n_bodies);
  std::vector<std::int32_t> matched(there.size(), -1);
  std::vector<std::string> known, missing;
  for (const ParticleGroup<D>* group : here) known.push_back(group->name);
  for (std::size_t g = 0; g < there.size(); ++g) {
    const auto found = std::ranges::find(known, there[g]->name);
    if (found != known.end())
      matched[g] = static_cast<std::int32_t>(found - known.begin());
    else if (n_bodies[g] > 0)
      missing.push_back(fmt::format("{} of \"{}\"", n_bodies[g], there[g]->name));
  }
  if (!missing.empty())
    throw InputError(fmt::format(
        "{}: has bodies of groups that the deck does not have: {}; the deck has: {}. Give the deck tables "
        "[particles.NAME] of these names; with --from they need neither source nor radius",
        path_, fmt::join(missing, ", "), known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  for (const ParticleGroup<D>& group : deck.groups) {
    const bool is_there =
        std::ranges::any_of(there, [&](const ParticleGroup<D>* other) { return other->name == group.name; });
    if (!is_there)
      throw InputError(
          fmt::format("{}: [particles.{}] is no group of {}; with --from the checkpoint brings all "
                      "bodies of [particles], and only inlets make more",
                      group.where, group.name, path_));
  }
  return matched;
}

/// The numbers here of the shapes of the checkpoint; those that the deck does not have are added.
template <int D>
std::vector<std::int32_t> StartingPoint<D>::match_shapes(const State<D>& old, State<D>& state) {
  std::vector<std::int32_t> number{0};
  for (std::int32_t i = 1; i < old.shapes.size(); ++i) {
    std::int32_t here = 1;
    while (here < state.shapes.size() && !(state.shapes[here].form == old.shapes[i].form)) ++here;
    if (here == state.shapes.size()) state.shapes.add(old.shapes[i]);
    number.push_back(here);
  }
  return number;
}

template <int D>
void StartingPoint<D>::take_bodies(const State<D>& old, const std::vector<std::int32_t>& type_of,
                                   State<D>& state, const RunDeck<D>& deck) const {
  BodyStore<D>& bodies = state.bodies;
  const auto groups = deck.all_groups();
  const bool takes_motion = old.bodies.has_inertia() && bodies.has_inertia();
  bodies.resize(old.bodies.n_owned(), 0);
  bool same_periods = old.box.periodic == state.box.periodic;
  for (int k = 0; k < D; ++k)
    same_periods = same_periods && (!state.box.is_periodic(k) || old.box.length(k) == state.box.length(k));
  std::int64_t n_stopped = 0, n_unturned = 0;
  const std::vector<std::int32_t> shape_number = match_shapes(old, state);
  const auto shape_of = [&](std::size_t i) {
    return old.bodies.carries_shapes() ? shape_number[old.bodies.shape()[i]] : 0;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const std::int32_t type = type_of[old.bodies.type()[i]];
    const ParticleGroup<D>& group = *groups[type];
    const auto seed = static_cast<std::uint64_t>(deck.seed);
    const GlobalId id = old.bodies.id()[i];
    put_body(bodies, static_cast<Index>(i),
             {id, old.bodies.position()[i], old.bodies.radius()[i], shape_of(i),
              group.turn.of(id, state.shapes[shape_of(i)], seed)},
             type, group, state.shapes, seed);
    if (same_periods) bodies.image()[i] = old.bodies.image()[i];
    for (const int k : axes_to_wrap(state.box)) {
      const Real periods = periods_beyond(state.box, bodies.position()[i], k);
      bodies.position()[i] -= periods * state.box.period(k);
      bodies.image()[i][k] += static_cast<std::int32_t>(periods);
    }
    if (bodies.carries_shapes() && old.bodies.carries_shapes())
      bodies.orientation()[i] = old.bodies.orientation()[i];
    if (!takes_motion) continue;
    bodies.orientation()[i] = old.bodies.orientation()[i];
    const bool moves = old.bodies.velocity()[i] != Vec<D>{} || old.bodies.angular_velocity()[i] != Spin<D>{};
    if (group.mobility == 0) {
      n_stopped += moves ? 1 : 0;
      continue;
    }
    bodies.velocity()[i] = velocity_about_flow(old, i);
    if (group.rotates)
      bodies.angular_velocity()[i] = old.bodies.angular_velocity()[i];
    else
      n_unturned += old.bodies.angular_velocity()[i] != Spin<D>{} ? 1 : 0;
  }
  log::info("{} bodies from {}", state.comm.sum(static_cast<std::int64_t>(bodies.n_owned())), text());
  log_changes(old, state, deck, same_periods, n_stopped, n_unturned);
}

template <int D>
void StartingPoint<D>::take_memory(const State<D>& old, State<D>& state, const RunDeck<D>& deck) const {
  const auto n_bodies = state.bodies.n_owned();
  state.memory.clear(n_bodies);
  const std::int64_t n_remembered = state.comm.sum(static_cast<std::int64_t>(old.memory.other.size()));
  const std::string_view kept = content_.stepper->traits().memory, wanted = deck.stepper->traits().memory;
  if (n_remembered == 0) return;
  if (kept != wanted) {
    log::info("what {} contacts remember ({}) is not taken: contacts of this run remember {}", n_remembered,
              kept, wanted.empty() ? "nothing" : wanted);
    return;
  }
  // Constraints are known by the name of the obstacle and the number of the part.
  std::map<std::pair<std::string, int>, int> constraint_of;
  for (int c = 0; c < state.obstacles.n_constraints(); ++c)
    constraint_of.emplace(
        std::pair(state.obstacles.list()[state.obstacles.obstacle_of(c)].name, state.obstacles.part_of(c)),
        c);
  const ObstacleSet<D>& before = content_.obstacles;
  std::vector<GlobalId> name_of(before.n_constraints(),
                                0);  // 0: not there any more
  for (int c = 0; c < before.n_constraints(); ++c) {
    const auto found = constraint_of.find({before.list()[before.obstacle_of(c)].name, before.part_of(c)});
    if (found != constraint_of.end()) name_of[c] = -1 - GlobalId{found->second};
  }
  ContactMemory& memory = state.memory;
  memory.width = old.memory.width;
  memory.start.assign(1, 0);
  std::int64_t n_dropped = 0;
  const std::size_t width = memory.width;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_bodies); ++i) {
    for (std::size_t e = old.memory.start[i]; e < static_cast<std::size_t>(old.memory.start[i + 1]); ++e) {
      GlobalId other = old.memory.other[e];
      if (other < 0) {
        const GlobalId name = -1 - other;
        const std::size_t constraint = id_of_partner(name);
        other = constraint < name_of.size() ? name_of[constraint] : 0;
        if (other != 0) other -= name - id_of_partner(name);  // the same image
        if (other == 0) {
          ++n_dropped;
          continue;
        }
      }
      memory.other.push_back(other);
      const auto first = old.memory.value.begin() + static_cast<std::ptrdiff_t>(e * width);
      memory.value.insert(memory.value.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
    memory.start.push_back(static_cast<Index>(memory.other.size()));
  }
  // Impulses and multipliers belong to a step of that length.
  state.clock.last_dt = old.clock.last_dt;
  n_dropped = state.comm.sum(n_dropped);
  log::info("{} contacts with what they remember ({})", n_remembered - n_dropped, kept);
  if (n_dropped > 0)
    log::info("{} contacts with obstacles that this run does not have are forgotten", n_dropped);
}

/// A packing made under a piston goes on under the piston. Other motions begin at their start: the deck says
/// where walls are at t = 0.
template <int D>
void StartingPoint<D>::take_walls(const State<D>& old, State<D>& state) const {
  const auto list = state.obstacles.list();
  for (const DrivenState& before : old.obstacles.driven()) {
    const Obstacle<D>& there = old.obstacles.list()[before.obstacle];
    const auto here = std::ranges::find(list, there.name, &Obstacle<D>::name);
    if (here == list.end() || before.position == 0) continue;
    const char* unit = old.obstacles.driven_motion_of(before).turns() ? "rad" : "m";
    const std::string name = old.obstacles.name_of(before);
    if (!here->is_driven() || !same_paths(there, *here, state.box)) {
      log::warn(fmt::format(
          "obstacle '{}' stands where the deck has it, not at {:g} {} along its axis as in {}: {}", name,
          before.position, unit, path_,
          here->is_driven() ? "it has another shape, place or axis there"
                            : "here its motion is not \"driven\""));
      continue;
    }
    DrivenState& wall = state.obstacles.driven()[static_cast<std::size_t>(here->driven + before.direction)];
    const DrivenState as_deck = wall;
    wall = before;
    wall.obstacle = as_deck.obstacle;
    wall.order = as_deck.order;
    wall.time = 0;
    wall.reference_position = wall.stage_position = wall.position;
    log::info("obstacle '{}' stands at {:g} {} along its axis, as in {}", name, wall.position, unit, path_);
  }
  for (const Obstacle<D>& there : old.obstacles.list()) {
    const auto here = std::ranges::find(list, there.name, &Obstacle<D>::name);
    if (here == list.end() || there.is_driven() || here->is_driven()) continue;
    const Pose<D> none;
    const Pose<D> left = there.motion ? there.motion->pose(head_.time) : none;
    const Pose<D> start = here->motion ? here->motion->pose(0) : none;
    if (!same_pose(left, start))
      log::warn(
          fmt::format("obstacle '{}' stands where the deck has it at t = 0, not where it was at t = {:g} s "
                      "in {}: bodies may lie in its way",
                      there.name, head_.time, path_));
  }
  state.obstacles.place(0);
}

template class StartingPoint<2>;
template class StartingPoint<3>;

}  // namespace scree
