#include "neighbors/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "comm/migration.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/timing.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

bool all_zero(std::span<const Real> numbers) {
  return std::ranges::all_of(numbers, [](Real number) { return number == 0; });
}

}  // namespace

void NeighborhoodSettings::describe(Section& root) {
  root.table("neighbors", {.doc = "Finding of candidate contacts"}, [&](Section& section) {
    std::string word = "auto";
    section.real_or_word(
        "skin", skin, word, {"auto"},
        {.unit = Unit::length,
         .range = positive,
         .doc =
             "The neighbour list holds pairs with a gap below the skin; it is rebuilt when bodies have used "
             "the skin up. \"auto\" takes 0.1 to 1 (3D: 0.4) mean diameters, more if bodies move fast. A "
             "step that "
             "needs more gets more, by itself"});
    if (word == "auto") skin = 0;
  });
  root.table(
      "decomposition",
      {.doc = "Sharing of the bodies between ranks; never changes results, except for "
              "block_cells"},
      [&](Section& section) {
        std::string word = "auto";
        section.integer_or_word(
            "block_cells", block_cells, word, {"auto"},
            {.range = {.least = 1, .most = 32},
             .doc = "Cells along the edge of a block, at most 10 in 3D. Part of the "
                    "definition of the sweep: results depend on it. \"auto\" takes 2 to 16 by "
                    "the scheme and the number of bodies"});
        if (word == "auto") block_cells = 0;
        section.boolean("rebalance", rebalance, {.doc = "Whether blocks move between ranks during the run"});
        section.real(
            "rebalance_threshold", rebalance_threshold,
            {.range = {.least = 1},
             .doc = "Load is rebalanced when the fullest rank has this many times the mean weight and "
                    "moving blocks costs less than it saves"});
        section.real("rebalance_cost", rebalance_cost,
                     {.range = non_negative,
                      .doc = "Steps that it takes to move all bodies of a rank to another one: load is "
                             "rebalanced once imbalance has cost more than that; 0: at once"});
        std::string weights_word = "auto";
        section.choice("weights", weights_word, {"auto", "measured", "counts"},
                       {.doc = "What a block weighs: what its bodies, candidates and contacts are measured "
                               "to cost, or the number of its bodies and candidate pairs. Measuring makes "
                               "the owners of blocks differ from run to run; \"auto\" measures where that "
                               "cannot change results: not with solvers whose last bits depend on ranks"});
        weights = weights_word == "measured" ? Weights::measured
                  : weights_word == "counts" ? Weights::counts
                                             : Weights::automatic;
      });
}

template <int D>
Neighborhood<D>::Neighborhood(const Comm& comm, const NeighborhoodSettings& settings, Outside outside)
    : comm_(comm), settings_(settings), outside_(outside), domain_(comm), ghosts_(comm), costs_(comm) {
  step_seconds_.reserve(most_timed_steps);
}

template <int D>
void Neighborhood<D>::make_lattice(State<D>& state, Real travel_per_step, const BodiesToCome& to_come,
                                   Real needed_skin) const {
  Real largest = to_come.largest;
  Real smallest = to_come.smallest;
  for (const Real radius : state.bodies.radius().first(static_cast<std::size_t>(state.bodies.n_owned()))) {
    largest = std::max(largest, radius);
    smallest = std::min(smallest, radius);
  }
  largest = comm_.max(largest);
  smallest = comm_.min(smallest);
  const std::int64_t n_bodies = comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned())) + to_come.count;
  // The skin that balances rebuilds against candidates that do not touch grows as the root of the travel per
  // step (docs/performance.md, "Skin"); for diameters that a body crosses in a few steps the law is cut off.
  const Real diameter = smallest + largest;
  const Real best = (D == 2 ? 10.0 : 5.7) * std::sqrt(comm_.max(travel_per_step) * diameter);
  Real skin =
      settings_.skin > 0 ? settings_.skin : std::clamp(best, 0.1 * diameter, (D == 2 ? 1.0 : 0.4) * diameter);
  // Schemes that find contacts where a step starts need all that it can close (see stale).
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
  constexpr Real least_share = 0.02;  // of the diameter: with less, lists would last for a step or two
  const Real least = std::max(needed_skin, 2 * least_share * largest);
  for (int k = 0; k < D; ++k)
    if (room < least && state.box.is_periodic(k) &&
        Lattice<D>::reach(largest, least) > state.box.length(k) * (1 - 1e-9))
      throw InputError(fmt::format(
          "the domain is {:g} m long along periodic axis {}, but bodies of radius {:g} m need at least "
          "{:.6g} m "
          "there, their diameter and {:.3g} m for {}; enlarge [domain], make the axis open or reduce {}",
          state.box.length(k), "xyz"[k], largest, Lattice<D>::reach(largest, least) * (1 + 1e-8), least,
          state.bodies.walks() ? "how far people look" : "the neighbour list",
          state.bodies.walks() ? "how far people look ahead: headway_time and speed of [agents.NAME]"
                               : "the radii"));
  if (skin > room && settings_.skin > 0)
    log::info("[neighbors] skin = {:g} m is too wide for the shortest periodic axis: it is {:.4g} m", skin,
              room);
  skin = std::min(skin, room);
  auto cells = static_cast<int>(settings_.block_cells);
  // Larger blocks fill the batches of a sweep better; smaller ones are shared out better, colour by colour
  // (docs/performance.md, docs/scaling.md).
  if (cells == 0)
    cells = D == 2 ? (n_bodies < 2'000    ? 4
                      : n_bodies < 10'000 ? 8
                                          : 16)
                   : (n_bodies < 2'000             ? 4
                      : state.bodies.has_inertia() ? 8
                                                   : 6);
  // People look far ahead, so their cells are large.
  if (settings_.block_cells == 0 && state.bodies.walks()) cells = 2;
  if (D == 3) cells = std::min(cells, 10);
  state.lattice = Lattice<D>::make(state.box, largest, skin, cells);
}

template <int D>
bool Neighborhood<D>::stale(const State<D>& state, Real fraction, std::span<const Vec<D>> displacement,
                            Real dt) {
  Real most = 0;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  const auto position = state.bodies.position();
  const auto listed = state.bodies.listed();
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D> moved = position[i] - listed[i];
    if (!displacement.empty()) moved += displacement[i];
    const Real squared = dot(moved, moved);
    most = squared >= 0 ? std::max(most, squared) : HUGE_VAL;  // not a number: rebuild() says whose
  }
  return stale_after(state, fraction, most, dt);
}

/// The domain and a cell more: where surfaces of obstacles matter.
template <int D>
Box<D> Neighborhood<D>::reached_box(const State<D>& state) {
  Box<D> reached = state.box;
  for (int k = 0; k < D; ++k) {
    reached.lower[k] -= state.lattice.cell_edge[k];
    reached.upper[k] += state.lattice.cell_edge[k];
  }
  return reached;
}

template <int D>
Real Neighborhood<D>::used_skin(const State<D>& state, Real moved_squared, Real dt, Real* rider) {
  follow_step(state);
  const Real travel =
      state.obstacles.travel(state.clock.listed_time, state.clock.time + dt, reached_box(state));
  std::array<Real, 2> most{moved_squared, rider ? *rider : 0};
  comm_.max(most);
  if (rider) *rider = most[1];
  return std::sqrt(most[0]) + travel;
}

template <int D>
Real Neighborhood<D>::widest_skin(const State<D>& state) const {
  const Lattice<D>& lattice = state.lattice;
  return std::max(lattice.usual_skin, std::min(Lattice<D>::widest_in_diameters * 2 * lattice.largest_radius,
                                               Lattice<D>::widest_skin(state.box, lattice.largest_radius)));
}

template <int D>
typename Neighborhood<D>::StepPlan Neighborhood<D>::plan_step(const State<D>& state, Real dt, Real share,
                                                              const FreeWay& way) {
  constexpr int most_halvings = 20;
  const auto n = static_cast<std::size_t>(state.bodies.n_owned());
  const Real widest = widest_skin(state);
  StepPlan plan{dt, 0};
  for (int halvings = 0; halvings <= most_halvings; ++halvings, plan.dt *= 0.5) {
    Real most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec<D> moved = way(i, plan.dt);
      const Real squared = dot(moved, moved);
      most = squared >= 0 ? std::max(most, squared) : HUGE_VAL;
    }
    most = comm_.max(most);
    if (std::isinf(most)) break;
    const Real surfaces =
        state.obstacles.travel(state.clock.time, state.clock.time + plan.dt, reached_box(state));
    plan.skin = (std::sqrt(most) + surfaces) / share;
    if (plan.skin > widest) continue;
    if (plan.skin > state.lattice.skin) plan.skin = std::min(2 * plan.skin, widest);  // for steps to come
    if (halvings > 0)
      note_cut_step(state, dt, plan.dt, "bodies or obstacles would outrun the neighbour list");
    return plan;
  }
  refuse_way(state, dt, way);
}

/// Names the body that goes farthest.
template <int D>
void Neighborhood<D>::refuse_way(const State<D>& state, Real dt, const FreeWay& way) const {
  Real most = 0;
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string who;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const Vec<D> moved = way(i, dt);
    const Real length = norm(moved) >= 0 ? norm(moved) : HUGE_VAL;
    const GlobalId id = state.bodies.id()[i];
    if (length < most || (length == most && id > key)) continue;
    most = length;
    key = id;
    who = fmt::format("body {} at ({:g}) {}", id, fmt::join(state.bodies.position()[i].component, ", "),
                      std::isinf(length) ? std::string("has a velocity or acceleration that is not finite")
                                         : fmt::format("would move by {:.3g} m", length));
  }
  const Real farthest = comm_.max(most);
  if (most < farthest) {
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
void Neighborhood<D>::note_cut_step(const State<D>& state, Real asked, Real taken, std::string_view why) {
  if (n_cut_steps_++ > 0) return;
  log::info(
      "{}: in a step of {:.3g} s {}; it is cut to {:.3g} s. Further steps like this are counted: steps_cut "
      "in "
      "summary.json",
      step_label(state.clock), asked, why, taken);
}

template <int D>
void Neighborhood<D>::note_step_beyond_list(const State<D>& state, Real needed_skin) {
  if (n_steps_beyond_list_++ > 0) return;
  log::warn(
      "{}: contacts move bodies further than the widest neighbour list reaches (its skin is {:.3g} m, {:.3g} "
      "m would do): the step may miss contacts, which the next one finds. Further steps like this are "
      "counted: steps_beyond_list in summary.json",
      step_label(state.clock), state.lattice.skin, needed_skin);
}

/// All that decides is in the state, so restarts choose the same.
template <int D>
void Neighborhood<D>::fit_skin(State<D>& state, Real needed_skin) {
  const Lattice<D>& lattice = state.lattice;
  constexpr Real far_more = 4;
  Real skin = lattice.skin;
  if (needed_skin > skin)
    skin = std::min(needed_skin, widest_skin(state));
  else if (far_more * needed_skin < skin && skin > lattice.usual_skin)
    skin = needed_skin > 0 ? std::max(0.5 * skin, lattice.usual_skin) : lattice.usual_skin;
  if (skin == lattice.skin) return;
  if (skin > lattice.skin && n_widened_++ == 0)
    log::info(
        "{}: the neighbour list takes a skin of {:.3g} m instead of {:.3g} m for as long as bodies or "
        "obstacles move that far. Further lists like this are counted: skin_widened in summary.json",
        step_label(state.clock), skin, lattice.skin);
  const Real usual = lattice.usual_skin;
  state.lattice = Lattice<D>::make(state.box, lattice.largest_radius, skin, lattice.cells_per_block);
  state.lattice.usual_skin = usual;
  has_bodies_placed_ = false;  // blocks are others now
}

template <int D>
void Neighborhood<D>::apply_boundary_conditions(State<D>& state) {
  BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  std::vector<Index> leaving;
  GlobalId first_offender = std::numeric_limits<GlobalId>::max();
  std::string complaint;
  constexpr Real most_periods = 1e9;  // images are counted in 32 bits; beyond, a position has lost its digits
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D>& x = bodies.position()[i];
    int open_axis_outside = -1;
    bool finite = true;
    for (int k = 0; k < D; ++k) {
      if (!std::isfinite(x[k])) finite = false;
      if (!state.box.is_periodic(k)) {
        if (x[k] < state.box.lower[k] || x[k] > state.box.upper[k]) open_axis_outside = k;
        continue;
      }
      if (!finite) continue;
      const Real lower = state.box.lower[k], length = state.box.length(k);
      Real periods = std::floor((x[k] - lower) / length);
      if (periods == 0) continue;
      if (std::abs(periods) > most_periods) {
        finite = false;
        continue;
      }
      x[k] -= periods * length;
      if (std::floor((x[k] - lower) / length) != 0) {
        // Rounding put it on or beyond a face, and there it would be wrapped once more by the next list.
        periods += std::round((x[k] - lower) / length);
        x[k] = lower;
      }
      if (bodies.carries_path()) bodies.previous()[i][k] -= periods * length;
      bodies.image()[i][static_cast<std::size_t>(k)] += static_cast<std::int32_t>(periods);
    }
    const bool offends = !finite || (open_axis_outside >= 0 && outside_ == Outside::error);
    if (offends && bodies.id()[i] < first_offender) {
      first_offender = bodies.id()[i];
      std::string path;
      if (bodies.carries_path())
        path = fmt::format("; it was at ({:g}) one step before",
                           fmt::join(bodies.previous()[i].component, ", "));
      complaint = fmt::format(
          "{}: body {} {} at ({:g}){}. {}", step_label(state.clock), bodies.id()[i],
          finite ? "left the domain" : "has no finite position", fmt::join(x.component, ", "), path,
          finite ? "Enlarge [domain], add a wall, or set domain.outside to \"delete\" or \"keep\""
                 : "Reduce [time] step");
    }
    if (open_axis_outside >= 0 && outside_ == Outside::remove) leaving.push_back(static_cast<Index>(i));
  }
  complaint = message_of_smallest(comm_, first_offender, complaint);
  if (!complaint.empty()) throw RunError(complaint);
  if (!leaving.empty()) {
    std::vector<Index> all(n), staying(n - leaving.size());
    std::iota(all.begin(), all.end(), Index{0});
    std::set_difference(all.begin(), all.end(), leaving.begin(), leaving.end(), staying.begin());
    state.memory = state.memory.of(staying);
    bodies.reorder(staying);
  }
  n_removed_ += comm_.sum(static_cast<std::int64_t>(n) - bodies.n_owned());
}

template <int D>
void Neighborhood<D>::RunningImbalance::add(Real steps) {
  sum_of_most += steps * most;
  sum_of_means += steps * mean;
  worst = std::max(worst, now());
}

/// Called at one place of every step: takes the time of a few of them, from here to here.
template <int D>
void Neighborhood<D>::follow_step(const State<D>& state) {
  if (state.clock.step == last_step_ || comm_.size() == 1) return;
  last_step_ = state.clock.step;
  if (work_) step_seconds_.push_back(work_->seconds());
  work_.reset();
  const std::int64_t age = state.clock.step - list_step_;
  constexpr std::int64_t early = 8, rarely = 32;  // the first step is timed as well: rebuild() starts that
  if ((age == early || age % rarely == 0) && step_seconds_.size() < most_timed_steps) work_.emplace();
}

/// The list has had its time: what it cost, and how evenly that was spread.
template <int D>
void Neighborhood<D>::end_of_list(const State<D>& state) {
  work_.reset();
  const std::int64_t n_steps = state.clock.step - list_step_;
  if (comm_.size() == 1 || !has_bodies_placed_ || n_steps <= 0) return;
  for (std::size_t k = 0; k < computing; ++k) imbalances_[k].add(static_cast<Real>(n_steps));
  // The same on all ranks: steps are timed by their number.
  if (step_seconds_.empty()) return;
  const auto middle = step_seconds_.begin() + static_cast<std::ptrdiff_t>(step_seconds_.size() / 2);
  std::nth_element(step_seconds_.begin(), middle, step_seconds_.end());
  const Real seconds = *middle + list_seconds_ / static_cast<Real>(n_steps);
  LoadCounts counts{};
  counts[0] = state.bodies.n_owned();
  for (const auto& block : schedule_.all_blocks()) {
    const LoadCounts more = counts_of(block);
    for (std::size_t k = 1; k < n_loads; ++k) counts[k] += more[k];
  }
  costs_.observe(counts, seconds);
  RunningImbalance& spread = imbalances_[computing];
  spread.most = comm_.max(seconds);
  spread.mean = static_cast<Real>(comm_.sum(std::llround(1e9 * seconds))) / 1e9 / comm_.size();
  spread.add(static_cast<Real>(n_steps));
  step_seconds_.clear();
}

/// How evenly the present list is spread.
template <int D>
void Neighborhood<D>::measure_list(const State<D>& state) {
  if (comm_.size() == 1) return;
  constexpr int n_colours = Lattice<D>::n_colours;
  std::array<std::int64_t, std::size_t{3} + n_colours> counts{};
  const std::int64_t n_bodies = state.bodies.n_owned();
  counts[spread_bodies] = n_bodies;
  counts[spread_pairs] = schedule_.n_pairs();
  counts[bodies_and_pairs] = n_bodies + schedule_.n_pairs();
  for (int colour = 0; colour < n_colours; ++colour)
    for (const auto& block : schedule_.blocks(colour))
      counts[static_cast<std::size_t>(3 + colour)] += block.n_pairs;
  std::array<std::int64_t, std::size_t{3} + n_colours> sums = counts;
  std::array<Real, std::size_t{3} + n_colours> most;
  std::copy(counts.begin(), counts.end(), most.begin());
  comm_.sum(sums);
  comm_.max(most);
  for (std::size_t k = 0; k < 3; ++k) {
    imbalances_[k].most = most[k];
    imbalances_[k].mean = static_cast<Real>(sums[k]) / comm_.size();
  }
  imbalances_[pairs_by_colour].most = std::accumulate(most.begin() + 3, most.end(), Real{0});
  imbalances_[pairs_by_colour].mean = imbalances_[spread_pairs].mean;
}

template <int D>
LoadReport Neighborhood<D>::load_report(const State<D>& state) {
  end_of_list(state);
  list_step_ = state.clock.step;
  LoadReport report;
  report.measured = settings_.weights == NeighborhoodSettings::Weights::measured;
  report.bodies = imbalances_[spread_bodies].over_run();
  report.pairs = imbalances_[spread_pairs].over_run();
  report.bodies_and_pairs = imbalances_[bodies_and_pairs].over_run();
  report.pairs_by_colour = imbalances_[pairs_by_colour].over_run();
  report.computing = imbalances_[computing].over_run();
  report.least_blocks = comm_.min(static_cast<std::int64_t>(schedule_.all_blocks().size()));
  report.seconds = costs_.seconds();
  return report;
}

template <int D>
LoadCounts Neighborhood<D>::counts_of(const typename SweepSchedule<D>::Block& block) const {
  const auto walls = schedule_.walls(block);
  const auto number = static_cast<std::size_t>(&block - schedule_.all_blocks().data());
  return {0, block.n_pairs, walls.empty() ? 0 : walls.back().last - walls.front().first,
          block_contacts_[number]};
}

/// Sorted by key. Bodies count where they are now; candidates and contacts are those of the list that is
/// about to go, so a block that changed hands meanwhile counts by its bodies alone.
template <int D>
void Neighborhood<D>::find_block_loads(std::span<const Place> places) {
  block_loads_.clear();
  for (const Place place : places) {
    const BlockKey key = block_key(place);
    if (block_loads_.empty() || block_loads_.back().key != key) block_loads_.push_back({key, {}});
    ++block_loads_.back().counts[0];
  }
  if (has_bodies_placed_)
    for (const auto& block : schedule_.all_blocks()) block_loads_.push_back({block.key, counts_of(block)});
  std::sort(block_loads_.begin(), block_loads_.end(),
            [](const BlockLoad& a, const BlockLoad& b) { return a.key < b.key; });
  std::size_t n = 0;
  for (const BlockLoad& load : block_loads_) {
    if (n == 0 || block_loads_[n - 1].key != load.key) {
      block_loads_[n++] = load;
      continue;
    }
    for (std::size_t k = 0; k < n_loads; ++k) block_loads_[n - 1].counts[k] += load.counts[k];
  }
  block_loads_.resize(n);
}

template <int D>
void Neighborhood<D>::rebalance(const State<D>& state, std::span<const Place> places, std::int64_t n_steps) {
  const bool first_time = !has_bodies_placed_;
  if (!first_time && !settings_.rebalance) return;
  find_block_loads(places);
  const bool measured = settings_.weights == NeighborhoodSettings::Weights::measured;
  const LoadCounts weight_of = measured ? costs_.weights() : LoadCounts{1, 1, 0, 0};
  std::int64_t local = 0;
  block_keys_.clear();
  block_weights_.clear();
  for (const BlockLoad& load : block_loads_) {
    block_keys_.push_back(load.key);
    block_weights_.push_back(
        std::inner_product(weight_of.begin(), weight_of.end(), load.counts.begin(), std::int64_t{0}));
    local += block_weights_.back();
  }
  const int key_bits = D * state.lattice.curve_bits();
  if (first_time) {
    domain_.adopt(domain_.propose(block_keys_, block_weights_, key_bits));
    if (settings_.rebalance && n_rebuilds_ > 0) ++n_rebalances_;  // other blocks, of a skin that changed
    return;
  }
  const std::int64_t most = comm_.max(local);
  const Real mean = static_cast<Real>(comm_.sum(local)) / comm_.size();
  if (static_cast<Real>(most) <= settings_.rebalance_threshold * mean) return;
  const Domain::Shares shares = domain_.propose(block_keys_, block_weights_, key_bits);
  if (shares.most >= most) return;
  // Pay once the loss has reached the price: never more than twice what foresight would pay.
  std::int64_t n_leaving = 0;
  for (const BlockLoad& load : block_loads_)
    if (shares.owner_of(load.key) != comm_.rank()) n_leaving += load.counts[0];
  const auto n_bodies = comm_.sum(static_cast<std::int64_t>(places.size()));
  const Real price = settings_.rebalance_cost * static_cast<Real>(comm_.max(n_leaving)) * comm_.size() /
                     static_cast<Real>(std::max<std::int64_t>(n_bodies, 1));
  lost_steps_ += static_cast<Real>(most - shares.most) / mean * static_cast<Real>(n_steps);
  if (lost_steps_ < price) return;
  domain_.adopt(shares);
  lost_steps_ = 0;
  ++n_rebalances_;
}

template <int D>
void Neighborhood<D>::rebuild(State<D>& state, std::optional<Real> needed_skin) {
  Scope timer("neighbours");
  BodyStore<D>& bodies = state.bodies;
  const std::int64_t n_steps = state.clock.step - list_step_;
  end_of_list(state);
  if (needed_skin) fit_skin(state, *needed_skin);
  const Lattice<D>& lattice = state.lattice;
  if (comm_.size() > 1) work_.emplace();
  // All that only a list build needs goes with it: steps hold the list alone.
  std::vector<Place> places;
  {
    Scope part("migrate");
    bodies.resize(bodies.n_owned(), 0);
    apply_boundary_conditions(state);
    find_places<D>(lattice, std::as_const(bodies).position(), places);
    if (comm_.size() > 1) {
      rebalance(state, places, n_steps);
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
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = places[static_cast<std::size_t>(order[i])];
    places.swap(sorted);
  }
  std::copy(bodies.position().begin(), bodies.position().end(), bodies.listed().begin());
  state.clock.listed_time = state.clock.time;
  BlockTable<D> table;
  {
    Scope part("ghosts");
    table.add(lattice, std::as_const(bodies).position(), places, 0, true);
    ghosts_.rebuild(domain_, lattice, table, places, bodies, state.memory);
  }
  {
    Scope part("pairs");
    schedule_.rebuild(
        lattice, state.box, table, bodies, state.obstacles, lattice.skin,
        [&](BlockKey key) { return domain_.owner_of(key) == comm_.rank(); }, ghosts_.shared());
  }
  shift_table_.assign(std::size_t{3} * (D == 2 ? 9 : 27), 0);
  for (std::size_t code = 0; code < shift_table_.size() / 3; ++code) {
    std::size_t digits = code;
    for (int k = 0; k < D; ++k) {
      shift_table_[3 * code + static_cast<std::size_t>(k)] =
          (static_cast<int>(digits % 3) - 1) * state.box.length(k);
      digits /= 3;
    }
  }
  if (schedule_.has_wall_neighbours())
    touched_.resize(schedule_.wall_bodies().size());  // steps ask for no memory
  has_bodies_placed_ = true;
  ++n_rebuilds_;
  block_contacts_.assign(schedule_.all_blocks().size(), 0);
  measure_list(state);
  list_step_ = last_step_ = state.clock.step;
  step_seconds_.clear();
  if (work_) {
    list_seconds_ = work_->seconds();
    work_.emplace();
  }
}

/// What a contact memory calls the larger id of a pair. Along short periodic axes several images of it may
/// touch: they are told apart by how many periods lie between the bodies as followed through periodic faces,
/// which does not change when one of them is wrapped. Any three in a row differ modulo 3.
template <int D>
GlobalId Neighborhood<D>::name_of_high(const State<D>& state, Index low, Index high, Index shift) const {
  const GlobalId id = state.bodies.id()[static_cast<std::size_t>(high)];
  const auto& image_low = state.bodies.image()[static_cast<std::size_t>(low)];
  const auto& image_high = state.bodies.image()[static_cast<std::size_t>(high)];
  int name = 0, weight = 1;
  for (int k = 0; k < D; ++k, weight *= 3) {
    if (!state.lattice.may_be_thin(k)) continue;
    const auto axis = static_cast<std::size_t>(k);
    const int step = shift < 0 ? 0 : static_cast<int>(shift) / weight % 3 - 1;
    const std::int64_t periods = std::int64_t{step} - image_low[axis] + image_high[axis];
    name += weight * static_cast<int>((periods % 3 + 3) % 3);
  }
  return name_of_partner(id, name);
}

template <int D>
void Neighborhood<D>::recall(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
                             int width) const {
  const auto w = static_cast<std::size_t>(width);
  std::fill(pair_values.begin(), pair_values.end(), 0);
  std::fill(wall_values.begin(), wall_values.end(), 0);
  if (state.memory.other.empty()) return;
  schedule_.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
    state.memory.recall(low, name_of_high(state, low, high, shift), pair_values.subspan(place * w, w));
  });
  for (const auto& wall : schedule_.walls())
    for (Index k = wall.first; k < wall.last; ++k) {
      const auto slot = static_cast<std::size_t>(k);
      state.memory.recall(schedule_.wall_bodies()[slot], -1 - GlobalId{wall.constraint},
                          wall_values.subspan(slot * w, w));
    }
}

template <int D>
ContactMemory Neighborhood<D>::remember(const State<D>& state, std::span<const Real> pair_values,
                                        std::span<const Real> wall_values, int width) const {
  const auto w = static_cast<std::size_t>(width);
  const Index n_owned = state.bodies.n_owned();
  // Calls f(body, other, numbers) for every contact of this rank that has something to remember.
  const auto each = [&](const auto& f) {
    const auto tell = [&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (!all_zero(numbers)) f(body, other, numbers);
    };
    if (!pair_values.empty())
      schedule_.for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
        tell(low, name_of_high(state, low, high, shift), pair_values.subspan(place * w, w));
      });
    for (const auto& wall : schedule_.walls())
      for (auto slot = static_cast<std::size_t>(wall.first); slot < static_cast<std::size_t>(wall.last);
           ++slot)
        tell(schedule_.wall_bodies()[slot], -1 - GlobalId{wall.constraint}, wall_values.subspan(slot * w, w));
  };
  std::vector<RememberedContact> away;
  if (comm_.size() > 1)
    each([&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (body >= n_owned)
        std::ranges::copy(numbers, away.emplace_back(RememberedContact{body, other, {}}).value.begin());
    });
  const std::vector<RememberedContact> arrived = ghosts_.send_to_owners(n_owned, away);
  return collect(n_owned, width, [&](const auto& f) {
    each([&](Index body, GlobalId other, std::span<const Real> numbers) {
      if (body < n_owned) f(body, other, numbers);
    });
    for (const RememberedContact& contact : arrived) f(contact.body, contact.other, contact.value);
  });
}

template <int D>
void Neighborhood<D>::pass_on(std::span<const Index> b, std::span<const Index> place,
                              std::span<Real> wall_values, int width) {
  if (!schedule_.has_wall_neighbours()) return;
  const auto w = static_cast<std::size_t>(width);
  const auto numbers_at = [&](Index at) { return wall_values.subspan(static_cast<std::size_t>(at) * w, w); };
  touched_.assign(schedule_.wall_bodies().size(), 0);
  for (std::size_t c = 0; c < b.size(); ++c)
    if (b[c] < 0) touched_[static_cast<std::size_t>(place[c])] = 1;
  // Contacts are in the order of parts, so the smallest takes what there is.
  for (std::size_t c = 0; c < b.size(); ++c) {
    if (b[c] >= 0) continue;
    const auto own = numbers_at(place[c]);
    if (!all_zero(own)) continue;
    for (const auto& other : schedule_.wall_neighbours(static_cast<std::size_t>(place[c]))) {
      const auto passed = numbers_at(other.place);
      if (touched_[static_cast<std::size_t>(other.place)] != 0 || all_zero(passed)) continue;
      std::ranges::copy(passed, own.begin());
      std::ranges::fill(passed, 0.0);
      break;
    }
  }
}

template <int D>
void Neighborhood<D>::detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts) {
  BodyStore<D>& bodies = state.bodies;
  ghosts_.copy_to_ghosts(bodies.position());
  contacts.clear();
  const auto position = bodies.position();
  const auto radius = bodies.radius();
  const Real tolerance = rules.tolerance;
  const Real dt = rules.dt;
  const auto displacement = rules.displacement;
  const auto pair_values = rules.pair_values;
  const auto wall_values = rules.wall_values;
  const bool moving = !displacement.empty();
  const auto carries = [w = static_cast<std::size_t>(rules.width)](std::span<const Real> values,
                                                                   std::size_t place) {
    return !values.empty() && !all_zero(values.subspan(place * w, w));
  };
  const auto mobility = std::as_const(bodies).mobility();
  const auto add = [&](Index a, Index b, Index wall, Real gap, const Vec<D>& normal, const Vec<D>& branch,
                       std::size_t place) {
    contacts.a.push_back(a);
    contacts.b.push_back(b);
    contacts.wall.push_back(wall);
    contacts.gap.push_back(gap);
    contacts.normal.push_back(normal);
    contacts.branch.push_back(branch);
    contacts.place.push_back(static_cast<Index>(place));
  };
  const auto add_pair = [&](std::size_t place, Index low, Index high, Index shift) {
    const auto a = static_cast<std::size_t>(low);
    const auto b = static_cast<std::size_t>(high);
    if (mobility[a] == 0 && mobility[b] == 0) return;  // held in place: nothing passes between them
    Vec<D> d = position[a] - position[b];
    if (shift >= 0)
      for (int k = 0; k < D; ++k) d[k] += shift_table_[static_cast<std::size_t>(3 * shift + k)];
    const Real contact_distance = radius[a] + radius[b];
    const Real reach = tolerance * contact_distance;
    // Most candidates are too far; this finds out without a root and a division, but for rounding:
    // gap + n . (x_b - x_a) <= reach  <=>  d . (d - (x_b - x_a)) <= (R_a + R_b + reach) |d|
    constexpr Real rounding = 1e-9;
    const Real squared = dot(d, d);
    const Real near = (1 + rounding) * (contact_distance + reach);
    if (squared > near * near) {
      const Real after = moving ? squared - dot(d, displacement[b] - displacement[a]) : squared;
      if (after > 0 && after * after > near * near * squared && !carries(pair_values, place)) return;
    }
    const Real distance = std::sqrt(squared);
    const Real gap = distance - contact_distance;
    const Vec<D> normal = distance > 0 ? d * (-1 / distance) : unit_vector<D>(0);
    if (gap > reach && !(moving && gap + dot(normal, displacement[b] - displacement[a]) <= reach) &&
        !carries(pair_values, place))
      return;
    add(low, high, -1, gap, normal, -d, place);
  };
  // Where the numbers of a contact are: with a neighbouring part if the body has just come from there.
  const auto carrying_place = [&](std::size_t place, const Vec<D>& x) {
    if (wall_values.empty() || carries(wall_values, place)) return place;
    for (const auto& other : schedule_.wall_neighbours(place)) {
      if (!carries(wall_values, static_cast<std::size_t>(other.place))) continue;
      SurfacePoint<D> seen;
      state.obstacles.nearest(other.constraint, {&x, 1}, {&seen, 1});
      if (!seen.in_reach()) return static_cast<std::size_t>(other.place);
    }
    return place;
  };
  const auto add_wall = [&](const typename SweepSchedule<D>::WallBatch& wall) {
    const auto which = schedule_.wall_bodies(wall);
    at_.clear();
    for (const Index i : which) at_.push_back(position[static_cast<std::size_t>(i)]);
    surface_.resize(at_.size());
    if (rules.keeps_sides) {
      from_.clear();
      for (const Index i : which) from_.push_back(bodies.step_start()[static_cast<std::size_t>(i)]);
      state.obstacles.nearest(wall.constraint, at_, from_, surface_);
    } else {
      state.obstacles.nearest(wall.constraint, at_, surface_);
    }
    const Motion<D>* motion =
        moving
            ? state.obstacles.list()[static_cast<std::size_t>(state.obstacles.obstacle_of(wall.constraint))]
                  .motion.get()
            : nullptr;
    for (std::size_t k = 0; k < at_.size(); ++k) {
      if (mobility[static_cast<std::size_t>(which[k])] == 0) continue;
      if (!surface_[k].in_reach()) continue;
      const Real r = radius[static_cast<std::size_t>(which[k])];
      const Real gap = surface_[k].distance - r;
      const Vec<D> branch = surface_[k].normal * -surface_[k].distance;
      const std::size_t place = carrying_place(static_cast<std::size_t>(wall.first) + k, at_[k]);
      if (gap > tolerance * r && !carries(wall_values, place)) {
        if (!moving) continue;
        Vec<D> closing = -displacement[static_cast<std::size_t>(which[k])];
        if (motion) closing += dt * motion->velocity(at_[k] + branch, state.clock.time + dt / 2);
        if (gap - dot(surface_[k].normal, closing) > tolerance * r) continue;
      }
      add(which[k], -1, wall.constraint, gap, -surface_[k].normal, branch, place);
    }
  };
  Index n_before = 0;
  const auto add_blocks = [&](std::span<const typename SweepSchedule<D>::Block> blocks) {
    for (const auto& block : blocks) {
      schedule_.for_each_pair(block, add_pair);
      for (const auto& wall : schedule_.walls(block)) add_wall(wall);
      const auto n_contacts = static_cast<Index>(contacts.size());
      block_contacts_[static_cast<std::size_t>(&block - schedule_.all_blocks().data())] =
          n_contacts - n_before;
      n_before = n_contacts;
    }
    return static_cast<Index>(contacts.size());
  };
  contacts.colour_first.push_back(0);
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    contacts.interior_first.push_back(add_blocks(schedule_.boundary_blocks(colour)));
    contacts.colour_first.push_back(add_blocks(schedule_.interior_blocks(colour)));
  }
}

template <int D>
std::size_t Neighborhood<D>::bytes() const {
  return schedule_.bytes() + ghosts_.bytes() + block_loads_.capacity() * sizeof(BlockLoad) +
         block_contacts_.capacity() * sizeof(Index) +
         (block_keys_.capacity() + block_weights_.capacity()) * sizeof(BlockKey) +
         (at_.capacity() + from_.capacity()) * sizeof(Vec<D>) + touched_.capacity() +
         surface_.capacity() * sizeof(SurfacePoint<D>);
}

template class Neighborhood<2>;
template class Neighborhood<3>;

}  // namespace scree
