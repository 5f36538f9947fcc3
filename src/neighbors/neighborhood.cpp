#include "neighbors/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "comm/migration.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "neighbors/boundary_conditions.hpp"
#include "state/step_messages.hpp"

namespace scree {

template <int D>
Neighborhood<D>::Neighborhood(const Comm& comm, const NeighborhoodSettings& settings, Outside outside)
    : comm_(comm),
      settings_(settings),
      outside_(outside),
      domain_(comm),
      ghosts_(comm),
      list_(comm, settings),
      balancer_(comm, settings) {}

namespace {

/// Cells along the edge of a block for so many bodies in cells of `width` mean diameters. Larger blocks fill
/// the batches of a sweep better; smaller ones are shared out better, colour by colour: sweeps in 3D, and
/// contact problems, of which ranks wait for each other after each colour, get some 64 blocks unless they are
/// small (docs/performance.md, docs/scaling.md).
///
/// If some bodies are far larger than most, so are the cells: then every scheme gets some 64 blocks, down to
/// one cell each.
template <int D>
int cells_for(std::int64_t n_bodies, Real width, bool has_inertia, bool has_problems, bool far_larger) {
  constexpr std::int64_t few = 2'000;
  if (n_bodies < few && !far_larger) return 4;
  const int max = D == 2 ? (n_bodies < 10'000 ? 8 : 16) : has_inertia ? 8 : 6;
  const bool sweeps_in_space = D == 3 && !has_inertia;
  if (!has_problems && !sweeps_in_space && !far_larger) return max;
  constexpr Real n_blocks = 64, min_bodies = 64;
  constexpr Real dense = D == 2 ? 1.06 : 1.15;  // bodies in the square or cube of a diameter, at random
  const Real bodies = std::max(static_cast<Real>(n_bodies) / n_blocks, min_bodies);
  const auto cells = std::lround(std::pow(bodies / dense, 1.0 / D) / width);
  const long min = far_larger ? 1 : has_problems ? 2 : 4;
  return static_cast<int>(std::clamp(cells, min, static_cast<long>(max)));
}

/// What the radii say about the lattice; the same on all ranks.
struct SizeRange {
  Real largest = 0, second = 0, smallest = HUGE_VAL, mean = 0;

  /// Up to that ratio all bodies count as of one size.
  static constexpr Real one_size = 5;
  bool some_far_larger() const { return largest > one_size * smallest; }
  /// Of the bodies by which the length of the list goes.
  Real usual_diameter() const { return some_far_larger() ? 2 * mean : smallest + largest; }
};

template <int D>
SizeRange size_range(const State<D>& state, const BodiesToCome& to_come) {
  const auto radii = state.bodies.radius().first(state.bodies.n_owned());
  SizeRange sizes{to_come.largest, to_come.largest, to_come.smallest, 0};
  for (const Real radius : radii) {
    sizes.second = std::max(sizes.second, std::min(radius, sizes.largest));
    sizes.largest = std::max(sizes.largest, radius);
    sizes.smallest = std::min(sizes.smallest, radius);
  }
  const Comm& comm = state.comm;
  const Real largest = comm.max(sizes.largest);
  // Another rank may have the largest one, or one just as large.
  const bool has_largest = sizes.largest == largest;
  const std::int64_t n_with = comm.sum(std::int64_t{has_largest ? 1 : 0});
  sizes.second = comm.max(has_largest && n_with == 1 ? sizes.second : sizes.largest);
  sizes.largest = largest;
  sizes.smallest = comm.min(sizes.smallest);
  const std::int64_t n = comm.sum(static_cast<std::int64_t>(radii.size()));
  const Real sum = ReproducibleSum::sum(comm, radii);
  sizes.mean = n > 0 ? sum / static_cast<Real>(n) : sizes.smallest;
  // Lattices of ordinary mixtures do not hang on the largest two.
  constexpr Real alike = 0.5;
  if (sizes.second > alike * sizes.largest) sizes.second = sizes.largest;
  return sizes;
}

}  // namespace

template <int D>
void Neighborhood<D>::make_lattice(State<D>& state, Real travel_per_step, const BodiesToCome& to_come,
                                   Real needed_skin) const {
  const SizeRange sizes = size_range(state, to_come);
  const Real largest = sizes.largest;
  const std::int64_t n_bodies = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned())) + to_come.count;
  const bool far_larger = sizes.some_far_larger();
  // The skin that balances rebuilds against candidates that do not touch grows as the root of the travel per
  // step (docs/performance.md, "Skin"); for diameters that a body crosses in a few steps the law is cut off.
  const Real diameter = sizes.usual_diameter();
  const Real best = (D == 2 ? 10.0 : 5.7) * std::sqrt(comm_.max(travel_per_step) * diameter);
  Real skin =
      settings_.skin > 0 ? settings_.skin : std::clamp(best, 0.1 * diameter, (D == 2 ? 1.0 : 0.4) * diameter);
  // Schemes that find contacts where a step starts need all that it can close (see needs_rebuild).
  if (settings_.skin == 0 && state.bodies.has_inertia())
    skin = std::max(skin, std::min(2.3 * comm_.max(travel_per_step), diameter));
  if (skin < needed_skin && settings_.skin > 0)
    log::info(
        "[neighbors] skin = {:g} m is too small for what counts as a contact or is looked for: it is {:.4g} "
        "m",
        settings_.skin, needed_skin);
  skin = std::max(skin, needed_skin);
  // Along periodic axes that are short for it there is less.
  const Real room = Lattice<D>::widest_skin(state.box, largest);
  constexpr Real min_share = 0.02;  // of the diameter: with less, lists would last for a step or two
  const Real min = std::max(needed_skin, 2 * min_share * largest);
  for (int k = 0; k < D; ++k)
    if (room < min && state.box.is_periodic(k) &&
        Lattice<D>::reach(largest, min) > state.box.room(k) * (1 - 1e-9))
      throw InputError(fmt::format(
          "the domain is {:g} m long along periodic axis {}, but bodies of radius {:g} m need at least "
          "{:.6g} m "
          "there, their diameter and {:.3g} m for {}; enlarge [domain], make the axis open or reduce {}",
          state.box.length(k), "xyz"[k], largest, Lattice<D>::reach(largest, min) * (1 + 1e-8), min,
          settings_.purpose.what, settings_.purpose.set_by));
  if (skin > room && settings_.skin > 0)
    log::info("[neighbors] skin = {:g} m is too wide for the shortest periodic axis: it is {:.4g} m", skin,
              room);
  skin = std::min(skin, room);
  auto cells = static_cast<int>(settings_.block_cells);
  if (cells == 0)
    cells = cells_for<D>(n_bodies, (sizes.largest + sizes.second + skin) / diameter,
                         state.bodies.has_inertia(), settings_.has_problems, far_larger);
  if (settings_.block_cells == 0 && settings_.purpose.block_cells > 0)
    cells = static_cast<int>(settings_.purpose.block_cells);
  if (D == 3) cells = std::min(cells, 10);
  state.lattice = Lattice<D>::make(state.box, largest, skin, cells, sizes.second);
  if (const std::string complaint = complaint_about_room(state); !complaint.empty())
    throw InputError(fmt::format("{}: {}", state.deformation.where(), complaint));
}

/// Brings the domain within half a period of tilt, and the lattice with it; true if that changed the blocks.
/// All that decides is in the state, so restarts choose the same.
template <int D>
bool Neighborhood<D>::fit_to_deformation(State<D>& state) const {
  if (const std::int64_t periods = state.deformation.flip(state.box); periods != 0) {
    const std::size_t flow = state.box.flow;
    const std::size_t gradient = state.box.gradient;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      state.bodies.image()[i][flow] += static_cast<std::int32_t>(periods) * state.bodies.image()[i][gradient];
  }
  if (state.lattice.follow(state.box)) return false;
  const Lattice<D> before = state.lattice;
  if (const std::string complaint = complaint_about_room(state); !complaint.empty())
    throw RunError(fmt::format("{}: {}; end the deformation earlier", step_label(state.clock), complaint));
  state.lattice = Lattice<D>::make(state.box, before.largest_radius, before.skin, before.cells_per_block,
                                   before.second_radius);
  state.lattice.usual_skin = before.usual_skin;
  return true;
}

/// Along axes that change, bodies of a deforming domain meet one image of another body only.
template <int D>
std::string Neighborhood<D>::complaint_about_room(const State<D>& state) {
  if (!state.deformation.is_given()) return {};
  const Lattice<D>& lattice = state.lattice;
  const Real needed = 2 * Lattice<D>::reach(lattice.largest_radius, lattice.skin);
  for (int k = 0; k < D; ++k)
    if (state.box.room(k) < needed * (1 + 1e-9))
      return fmt::format(
          "the domain is {:.6g} m long along axis {}{}, but bodies of radius {:.4g} m with a skin of {:.3g} "
          "m "
          "need {:.6g} m there; take a larger domain",
          state.box.length(k), "xyz"[k], k == state.box.flow ? ", along which it will lean" : "",
          lattice.largest_radius, lattice.skin, needed * state.box.length(k) / state.box.room(k));
  return {};
}

template <int D>
bool Neighborhood<D>::needs_rebuild(const State<D>& state, Real fraction,
                                    std::span<const Vec<D>> displacement, Real dt) {
  Real max = 0;
  const std::size_t n = state.bodies.n_owned();
  const auto position = state.bodies.position();
  const auto reference = state.bodies.reference_position();
  const auto affine = state.deformation.affine_displacement(state.box, 0);
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D> moved = position[i] - reference[i];
    if (state.deformation.is_given()) moved -= affine(reference[i]);
    if (!displacement.empty()) moved += displacement[i];
    max = farther(max, moved);  // not a number: rebuild() says whose
  }
  return needs_rebuild_after(state, fraction, max, dt);
}

template <int D>
void Neighborhood<D>::rebuild(State<D>& state, std::optional<Real> needed_skin, std::optional<Real> time) {
  Scope timer("neighbours");
  BodyStore<D>& bodies = state.bodies;
  balancer_.end_list(state, list_.schedule());
  bool has_new_blocks = needed_skin && list_.fit_skin(state, *needed_skin);
  if (state.deformation.is_given()) has_new_blocks |= fit_to_deformation(state);
  if (has_new_blocks) balancer_.forget_owners();
  const Lattice<D>& lattice = state.lattice;
  balancer_.begin_rebuild();
  // Scratch of a rebuild is freed at its end: between rebuilds only the list is held.
  std::vector<Place> places;
  {
    Scope part("migrate");
    bodies.resize(bodies.n_owned(), 0);
    n_removed_ += apply_boundary_conditions(state, outside_);
    find_places<D>(lattice, std::as_const(bodies).position(), places);
    if (comm_.size() > 1) {
      balancer_.rebalance(state, places, list_.schedule(), domain_);
      std::vector<int> destination(places.size());
      for (std::size_t i = 0; i < places.size(); ++i) destination[i] = domain_.owner_of(block_key(places[i]));
      ExchangeVolume sent;
      const std::int64_t n_moved = migrate<D>(comm_, destination, bodies, state.memory, &sent);
      ghosts_.count(Traffic::migration, sent);
      n_migrated_ += n_moved;
      if (n_moved > 0) find_places<D>(lattice, std::as_const(bodies).position(), places);
    }
  }
  {
    Scope part("sort");
    std::vector<Index> order;
    sort_by_place(places, bodies.id(), order);
    bodies.reorder(order);
    state.memory = state.memory.of(order);
    std::vector<Place> sorted(places.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = places[order[i]];
    places.swap(sorted);
  }
  list_.set_reference_positions(state, time.value_or(state.clock.time));
  BlockTable<D> table;
  {
    Scope part("ghosts");
    table.add(lattice, std::as_const(bodies).position(), places, 0, true);
    ghosts_.rebuild(domain_, lattice, table, places, bodies, state.memory);
  }
  {
    Scope part("pairs");
    list_.rebuild(state, std::move(table), domain_, ghosts_.shared());
  }
  ++n_rebuilds_;
  balancer_.begin_list(state, list_.schedule());
}

template <int D>
void Neighborhood<D>::remove_bodies(State<D>& state, std::span<const Index> staying,
                                    std::vector<Index>& numbers, std::vector<Index>& kept_walls) {
  Scope timer("take out");
  const std::size_t n_local = state.bodies.n_local();
  const std::size_t n_owned = state.bodies.n_owned();
  // Numbers at the owners reach all who hold the body.
  at_owner_.assign(n_local, -1);
  for (std::size_t k = 0; k < staying.size(); ++k) at_owner_[staying[k]] = static_cast<Real>(k);
  ghosts_.copy_to_ghosts(at_owner_, 1);
  numbers.assign(n_local, -1);
  local_.clear();
  home_.clear();
  for (std::size_t i = 0; i < n_local; ++i) {
    if (i >= n_owned) home_.push_back(static_cast<Index>(at_owner_[i]));
    if (at_owner_[i] < 0) continue;
    numbers[i] = static_cast<Index>(local_.size());
    local_.push_back(static_cast<Index>(i));
  }
  numbers.push_back(static_cast<Index>(local_.size()));
  numbers.push_back(static_cast<Index>(local_.size()) + 1);
  state.bodies.keep(local_, static_cast<Index>(staying.size()));
  ghosts_.renumber(numbers, home_);
  list_.renumber(state, numbers, kept_walls);
}

template <int D>
void Neighborhood<D>::detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts) {
  ghosts_.copy_to_ghosts(state.bodies.position());
  if (state.bodies.carries_shapes()) ghosts_.copy_to_ghosts(state.bodies.orientation());
  detector_.detect(state, list_, rules, contacts, balancer_.block_contacts());
}

template <int D>
bool Neighborhood<D>::misses_contacts(const State<D>& state, const ContactRules<D>& rules) {
  return state.comm.any(detector_.misses(state, list_, rules));
}

template class Neighborhood<2>;
template class Neighborhood<3>;

}  // namespace scree
