#include "neighbors/neighbor_list.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/log.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

bool all_zero(std::span<const Real> numbers) {
  return std::ranges::all_of(numbers, [](Real number) { return number == 0; });
}

}  // namespace

/// The domain and a cell more: where surfaces of obstacles matter.
template <int D>
Box<D> NeighborList<D>::reached_box(const State<D>& state) {
  return state.box.grown(state.lattice.cell_edge);
}

template <int D>
Real NeighborList<D>::used_skin(const State<D>& state, Real moved_squared, Real dt, Real* extra_max) {
  const Real travel =
      state.obstacles.travel(state.clock.reference_time, state.clock.time + dt, reached_box(state)) +
      drift_of_pairs(state, state.deformation.strain_since_reference(state.box, dt));
  std::array<Real, 2> max{moved_squared, extra_max ? *extra_max : 0};
  comm_.max(max);
  if (extra_max) *extra_max = max[1];
  return std::sqrt(max[0]) + travel;
}

/// What a strain of the domain adds to the displacement of each of two neighbours [m].
template <int D>
Real NeighborList<D>::drift_of_pairs(const State<D>& state, Real strain) {
  return 0.5 * strain * Lattice<D>::reach(state.lattice.largest_radius, state.lattice.skin);
}

template <int D>
Real NeighborList<D>::widest_skin(const State<D>& state) const {
  const Lattice<D>& lattice = state.lattice;
  return std::max(lattice.usual_skin, std::min(Lattice<D>::widest_in_diameters * 2 * lattice.largest_radius,
                                               Lattice<D>::widest_skin(state.box, lattice.largest_radius)));
}

template <int D>
StepPlan NeighborList<D>::plan_step(const State<D>& state, Real dt, Real share,
                                    const FreeDisplacement<D>& displacement) {
  constexpr int max_halvings = 20;
  const std::size_t n = state.bodies.n_owned();
  const Real widest = widest_skin(state);
  StepPlan plan{dt, 0};
  bool is_deformation_fastest = false;
  for (int halvings = 0; halvings <= max_halvings; ++halvings, plan.dt *= 0.5) {
    Real max = 0;
    for (std::size_t i = 0; i < n; ++i) max = farther(max, displacement(i, plan.dt));
    max = comm_.max(max);
    if (std::isinf(max)) break;
    const Real of_deformation = drift_of_pairs(state, plan.dt * state.deformation.fastest());
    const Real others = std::sqrt(max) + state.obstacles.travel(state.clock.time, state.clock.time + plan.dt,
                                                                reached_box(state));
    plan.skin = (others + of_deformation) / share;
    is_deformation_fastest = of_deformation > others;
    if (plan.skin > widest) continue;
    if (plan.skin > state.lattice.skin) plan.skin = std::min(2 * plan.skin, widest);  // for steps to come
    if (halvings > 0)
      record_cut_step(state, dt, plan.dt,
                      is_deformation_fastest ? "the cell might outrun the neighbour list at its rates or its "
                                               "max_rate"
                                             : "bodies or obstacles would outrun the neighbour list");
    return plan;
  }
  refuse_displacement(state, dt, displacement);
}

/// Names the body that goes farthest.
template <int D>
void NeighborList<D>::refuse_displacement(const State<D>& state, Real dt,
                                          const FreeDisplacement<D>& displacement) const {
  Real max = 0;
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string who;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const Vec<D> moved = displacement(i, dt);
    const Real length = norm(moved) >= 0 ? norm(moved) : HUGE_VAL;
    const GlobalId id = state.bodies.id()[i];
    if (length < max || (length == max && id > key)) continue;
    max = length;
    key = id;
    who = fmt::format("body {} at ({:g}) {}", id, fmt::join(state.bodies.position()[i].component, ", "),
                      std::isinf(length) ? std::string("has a velocity or acceleration that is not finite")
                                         : fmt::format("would move by {:.3g} m", length));
  }
  const Real farthest = comm_.max(max);
  if (max < farthest) {
    key = std::numeric_limits<GlobalId>::max();
    who.clear();
  }
  who = message_of_smallest(comm_, key, who);
  refuse_step(
      state.clock,
      fmt::format(
          "{} in a step of {:.3g} s. Look at velocities, forces and motions of obstacles, or reduce [time] "
          "step",
          who, dt),
      ExitCode::runtime_failure);
}

template <int D>
void NeighborList<D>::record_cut_step(const State<D>& state, Real asked, Real taken, std::string_view why) {
  if (n_cut_steps_++ > 0) return;
  log::info(
      "{}: in a step of {:.3g} s {}; it is cut to {:.3g} s. Further steps like this are counted: steps_cut "
      "in summary.json",
      step_label(state.clock), asked, why, taken);
}

template <int D>
void NeighborList<D>::record_step_beyond_list(const State<D>& state, Real needed_skin) {
  if (n_steps_beyond_list_++ > 0) return;
  log::warn(
      "{}: contacts move bodies further than the widest neighbour list reaches (its skin is {:.3g} m, {:.3g} "
      "m would do): the step may miss contacts, which the next one finds. Further steps like this are "
      "counted: steps_beyond_list in summary.json",
      step_label(state.clock), state.lattice.skin, needed_skin);
}

/// All that decides is in the state, so restarts choose the same.
template <int D>
bool NeighborList<D>::fit_skin(State<D>& state, Real needed_skin) {
  const Lattice<D>& lattice = state.lattice;
  constexpr Real far_more = 4;
  Real skin = lattice.skin;
  if (needed_skin > skin)
    skin = std::min(needed_skin, widest_skin(state));
  else if (far_more * needed_skin < skin && skin > lattice.usual_skin)
    skin = needed_skin > 0 ? std::max(0.5 * skin, lattice.usual_skin) : lattice.usual_skin;
  if (skin == lattice.skin) return false;
  if (skin > lattice.skin && n_widened_++ == 0)
    log::info(
        "{}: the neighbour list takes a skin of {:.3g} m instead of {:.3g} m for as long as bodies or "
        "obstacles move that far. Further lists like this are counted: skin_widened in summary.json",
        step_label(state.clock), skin, lattice.skin);
  const Real usual = lattice.usual_skin;
  state.lattice = Lattice<D>::make(state.box, lattice.largest_radius, skin, lattice.cells_per_block,
                                   lattice.second_radius);
  state.lattice.usual_skin = usual;
  return true;
}

template <int D>
void NeighborList<D>::set_reference_positions(State<D>& state, Real time) {
  BodyStore<D>& bodies = state.bodies;
  std::copy(bodies.position().begin(), bodies.position().end(), bodies.reference_position().begin());
  state.clock.reference_time = time;
  state.deformation.set_reference(state.box);
  state.obstacles.set_reference(time);
}

/// Of each body the levels of the building on which it may meet others; empty if there is one.
template <int D>
std::vector<LevelMap::Levels> NeighborList<D>::levels_in_reach(const State<D>& state) {
  std::vector<LevelMap::Levels> levels;
  if constexpr (D == 2)
    if (state.levels) {
      const Real reach = Lattice<D>::reach(state.lattice.largest_radius, state.lattice.skin);
      for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_local()); ++i)
        levels.push_back(
            state.levels->within_reach(state.bodies.position()[i], state.bodies.level()[i], reach));
    }
  return levels;
}

template <int D>
void NeighborList<D>::make_schedule(const State<D>& state, const BlockTable<D>& table, const Domain& domain,
                                    std::span<const std::uint8_t> shared) {
  schedule_.rebuild(state.lattice, state.box, table, state.bodies, state.obstacles,
                    {.size_classes = size_classes_,
                     .in_classes = in_classes_,
                     .pair_skin = share_of_pairs_ * state.lattice.skin + gap_of_pairs_},
                    owned_by(domain), shared, levels_in_reach(state));
  place_images(state);
  if (schedule_.has_wall_neighbours())
    touched_.resize(schedule_.wall_bodies().size());  // steps ask for no memory
}

template <int D>
void NeighborList<D>::rebuild(const State<D>& state, BlockTable<D> table, const Domain& domain,
                              std::span<const std::uint8_t> shared) {
  ++n_builds_;
  make_schedule(state, table, domain, shared);
  if (keeps_table_) table_ = std::move(table);
}

template <int D>
void NeighborList<D>::relist(const State<D>& state, const Domain& domain,
                             std::span<const std::uint8_t> shared) {
  SCREE_ASSERT(!in_classes_ && keeps_table_);
  make_schedule(state, table_, domain, shared);
}

template <int D>
void NeighborList<D>::renumber(const State<D>& state, std::span<const Index> numbers,
                               std::vector<Index>& kept_walls) {
  schedule_.renumber(numbers, state.bodies.n_local(), state.obstacles, kept_walls);
  kept_before_.assign(1, 0);
  for (const Index number : numbers) kept_before_.push_back(kept_before_.back() + (number >= 0 ? 1 : 0));
  table_.renumber(kept_before_);
  if (schedule_.has_wall_neighbours()) touched_.resize(schedule_.wall_bodies().size());
  ++n_placements_;  // what others keep of pairs is out of date
}

template <int D>
void NeighborList<D>::place_images(const State<D>& state) {
  ++n_placements_;
  constexpr std::size_t n_codes = D == 2 ? 9 : 27;
  shift_table_.assign(3 * n_codes, 0);
  shift_velocity_table_.assign(state.deformation.moves() ? 3 * n_codes : 0, 0);
  for (std::size_t code = 0; code < n_codes; ++code) {
    Vec<D> displacement{}, velocity{};
    std::size_t digits = code;
    for (int k = 0; k < D; ++k, digits /= 3) {
      const Real periods = static_cast<int>(digits % 3) - 1;
      displacement += periods * state.box.period(k);
      velocity += periods * state.deformation.period_velocity(state.box, k);
    }
    for (int k = 0; k < D; ++k) {
      shift_table_[3 * code + static_cast<std::size_t>(k)] = displacement[k];
      if (state.deformation.moves())
        shift_velocity_table_[3 * code + static_cast<std::size_t>(k)] = velocity[k];
    }
  }
}

/// What a contact memory calls the larger id of a pair. Along short periodic axes several images of it may
/// touch: they are distinguished by how many periods lie between the bodies as followed through periodic
/// faces, which does not change when one of them is wrapped. Any three in a row differ modulo 3.
template <int D>
GlobalId NeighborList<D>::name_of_high(const State<D>& state, Index low, Index high, Index shift) const {
  const GlobalId id = state.bodies.id()[high];
  const auto& image_low = state.bodies.image()[low];
  const auto& image_high = state.bodies.image()[high];
  int name = 0, weight = 1;
  for (int k = 0; k < D; ++k, weight *= 3) {
    if (!state.lattice.may_be_thin(k)) continue;
    const int step = shift < 0 ? 0 : static_cast<int>(shift) / weight % 3 - 1;
    const std::int64_t periods = std::int64_t{step} - image_low[k] + image_high[k];
    name += weight * static_cast<int>((periods % 3 + 3) % 3);
  }
  return name_of_partner(id, name);
}

/// What a contact memory calls an obstacle: its images are distinguished in the same way.
template <int D>
GlobalId NeighborList<D>::name_of_wall(const State<D>& state, Index body, int constraint) {
  const ObstacleSet<D>& obstacles = state.obstacles;
  const int obstacle = obstacles.obstacle_of(constraint), image = obstacles.image_of(constraint);
  const int first = obstacles.first_constraint(obstacle, 0);
  int name = 0, weight = 1;
  for (int k = 0; k < D; ++k, weight *= 3) {
    if (!obstacles.has_images_along(obstacle, k)) continue;
    const std::int64_t periods = image / weight % 3 + state.bodies.image()[body][k];
    name += weight * static_cast<int>((periods % 3 + 3) % 3);
  }
  return -1 - name_of_partner(first + obstacles.part_of(constraint), name);
}

template <int D>
void NeighborList<D>::restore(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
                              int width) const {
  const std::size_t w = width;
  std::fill(pair_values.begin(), pair_values.end(), 0);
  std::fill(wall_values.begin(), wall_values.end(), 0);
  if (state.memory.other.empty()) return;
  const ContactMemory& memory = state.memory;
  const auto ids = state.bodies.id();
  schedule_.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
    const GlobalId id = ids[high];
    const bool knows = memory.any_of(low, [id](GlobalId partner) { return id_of_partner(partner) == id; });
    if (knows) memory.restore(low, name_of_high(state, low, high, shift), pair_values.subspan(place * w, w));
  });
  for (const auto& wall : schedule_.walls())
    for (Index k = wall.first; k < wall.last; ++k) {
      const std::size_t slot = k;
      const Index body = schedule_.wall_bodies()[slot];
      memory.restore(body, name_of_wall(state, body, wall.constraint), wall_values.subspan(slot * w, w));
    }
}

template <int D>
ContactMemory NeighborList<D>::remember(const State<D>& state, const GhostExchange<D>& ghosts,
                                        std::span<const Real> pair_values, std::span<const Real> wall_values,
                                        int width) const {
  const std::size_t w = width;
  const Index n_owned = state.bodies.n_owned();
  // Calls f(body, other, numbers) for every contact of this rank that has something to remember.
  const auto each = [&](const auto& f) {
    const auto export_contact = [&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (!all_zero(numbers)) f(body, other, numbers);
    };
    if (!pair_values.empty())
      schedule_.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
        export_contact(low, name_of_high(state, low, high, shift), pair_values.subspan(place * w, w));
      });
    for (const auto& wall : schedule_.walls())
      for (std::size_t slot = wall.first; slot < static_cast<std::size_t>(wall.last); ++slot) {
        const Index body = schedule_.wall_bodies()[slot];
        export_contact(body, name_of_wall(state, body, wall.constraint), wall_values.subspan(slot * w, w));
      }
  };
  std::vector<RememberedContact> away;
  if (comm_.size() > 1)
    each([&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (body >= n_owned)
        std::ranges::copy(numbers, away.emplace_back(RememberedContact{body, other, {}}).value.begin());
    });
  const std::vector<RememberedContact> arrived = ghosts.send_to_owners(n_owned, away);
  return collect(n_owned, width, [&](const auto& f) {
    each([&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (body < n_owned) f(body, other, numbers);
    });
    for (const RememberedContact& contact : arrived) f(contact.body, contact.other, contact.value);
  });
}

template <int D>
std::span<const typename NeighborList<D>::Inherited> NeighborList<D>::find_inherited(
    std::span<const Index> b, std::span<const Index> place, std::span<const Index> excluded,
    std::span<const Real> wall_values, int width) {
  inherited_.clear();
  if (!schedule_.has_wall_neighbours()) return inherited_;
  const std::size_t w = width;
  const auto is_empty = [&](Index at) {
    return all_zero(wall_values.subspan(static_cast<std::size_t>(at) * w, w));
  };
  constexpr std::uint8_t touches = 1, is_excluded = 2;
  touched_.assign(schedule_.wall_bodies().size(), 0);
  for (const Index other : excluded) touched_[other] = is_excluded;
  for (std::size_t c = 0; c < b.size(); ++c)
    if (b[c] < 0) touched_[place[c]] = touches;
  // Contacts are in the order of parts, so the smallest takes what there is.
  for (std::size_t c = 0; c < b.size(); ++c) {
    if (b[c] >= 0 || !is_empty(place[c]) || (c > 0 && b[c - 1] < 0 && place[c - 1] == place[c])) continue;
    const auto take = [&](const auto& others, std::uint8_t unless) {
      for (const auto& other : others) {
        std::uint8_t& state = touched_[other.place];
        if ((state | unless) != is_excluded || is_empty(other.place)) continue;
        inherited_.push_back({place[c], other.place});
        state = touches;
        return true;
      }
      return false;
    };
    // A part next to it has no contact any more; of other obstacles only those that this one stands for.
    const std::size_t at = place[c];
    if (!take(schedule_.wall_neighbours(at), is_excluded)) take(schedule_.walls_beside(at), 0);
  }
  return inherited_;
}

template <int D>
void NeighborList<D>::inherit(std::span<const Index> b, std::span<const Index> place,
                              std::span<const Index> excluded, std::span<Real> wall_values, int width) {
  const std::size_t w = width;
  const auto numbers_at = [&](Index at) { return wall_values.subspan(static_cast<std::size_t>(at) * w, w); };
  for (const auto& [to, from] : find_inherited(b, place, excluded, wall_values, width)) {
    std::ranges::copy(numbers_at(from), numbers_at(to).begin());
    std::ranges::fill(numbers_at(from), 0.0);
  }
}

template class NeighborList<2>;
template class NeighborList<3>;

}  // namespace scree
