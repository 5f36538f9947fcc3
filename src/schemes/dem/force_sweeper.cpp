#include "schemes/dem/force_sweeper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/memory.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

/// Numbers of a body that change from step to step, and of a force with its torque.
template <int D>
constexpr int motion_width = 2 * D + n_spins<D>;
template <int D>
constexpr int force_width = D + n_spins<D>;
/// In plane motion the spin is about the third axis.
template <int D>
constexpr int first_spin = 3 - n_spins<D>;

}  // namespace

template <int D>
void ForceSweeper<D>::prepare(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_held());
  places_.assign(n + 2, SweepRecord{});
  places_[n + 1].x[0] = 1;  // the dummies are points one metre apart: they never touch
  motions_.assign(n, MotionRecord{});
  forces_.assign(n, ForceRecord{});
  for (std::size_t i = 0; i < n; ++i) {
    places_[i].radius = bodies.radius()[i];
    motions_[i].inverse_mass = bodies.mobility()[i] == 0 ? 0 : 1 / bodies.mass()[i];
    motions_[i].material = state.group_material[static_cast<std::size_t>(bodies.group()[i])];
  }
  if (!rolls_) {
    history_.recall(state, neighborhood_);
  } else {
    ContactField<Memory> both;
    both.recall(state, neighborhood_);
    history_.fit(neighborhood_);
    rolling_.fit(neighborhood_);
    std::ranges::transform(both.pairs(), history_.pairs().begin(), &Memory::history);
    std::ranges::transform(both.walls(), history_.walls().begin(), &Memory::history);
    std::ranges::transform(both.pairs(), rolling_.pairs().begin(), &Memory::rolling);
    std::ranges::transform(both.walls(), rolling_.walls().begin(), &Memory::rolling);
  }
  const auto remembers = [](const ContactHistory& h) {
    const bool any = h.spring[0] != 0 || h.spring[1] != 0 || h.spring[2] != 0 || h.stiffness != 0;
    return any ? std::uint8_t{1} : std::uint8_t{0};
  };
  touching_.resize(history_.pairs().size());
  wall_touching_.resize(history_.walls().size());
  std::ranges::transform(history_.pairs(), touching_.begin(), remembers);
  std::ranges::transform(history_.walls(), wall_touching_.begin(), remembers);
  const auto add_rolling = [](std::uint8_t& touching, const RollingHistory& h) {
    if (h.angle[0] != 0 || h.angle[1] != 0 || h.angle[2] != 0) touching = 1;
  };
  for (std::size_t k = 0; k < rolling_.pairs().size(); ++k) add_rolling(touching_[k], rolling_.pairs()[k]);
  for (std::size_t k = 0; k < rolling_.walls().size(); ++k)
    add_rolling(wall_touching_[k], rolling_.walls()[k]);
  reach_ = laws_.reach(settings_.law, state.lattice.largest_radius);
  watch_.prepare(state, neighborhood_.schedule());
  Index longest = 0;
  for (const auto& block : neighborhood_.schedule().all_blocks())
    longest = std::max(longest, block.last_batch - block.first_batch);
  list_.resize(static_cast<std::size_t>(3 * longest * batch_size));
  const TouchedBodies<D> touched(neighborhood_.schedule(), n);
  turns_.plan(neighborhood_.schedule(), neighborhood_.ghosts(), touched);
  sums_.plan(neighborhood_.schedule(), neighborhood_.ghosts(), touched, turns_);
  std::size_t most_chunks = 0;
  for (std::size_t turn = 0; turn < turns_.order().size(); ++turn)
    most_chunks = std::max(most_chunks, turns_.done_after(turn).size() + turns_.begun_by(turn).size());
  constexpr std::size_t most_arrays = 10;
  coming_.reserve(2 * most_arrays * most_chunks);
}

template <int D>
ContactMemory ForceSweeper<D>::remember(const State<D>& state) {
  forget_left_overs();
  if (!rolls_) return history_.remember(state, neighborhood_);
  ContactField<Memory> both;
  both.fit(neighborhood_);
  const auto join = [](auto to, auto history, auto rolling) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = {history[k], rolling[k]};
  };
  join(both.pairs(), history_.pairs(), rolling_.pairs());
  join(both.walls(), history_.walls(), rolling_.walls());
  return both.remember(state, neighborhood_);
}

/// Where nothing touches, histories are left-overs.
template <int D>
void ForceSweeper<D>::forget_left_overs() {
  const auto pairs = history_.pairs(), walls = history_.walls();
  for (std::size_t k = 0; k < pairs.size(); ++k)
    if (touching_[k] == 0) pairs[k] = {};
  for (std::size_t k = 0; k < walls.size(); ++k)
    if ((wall_touching_[k] & touches) == 0) walls[k] = {};
  for (std::size_t k = 0; k < rolling_.pairs().size(); ++k)
    if (touching_[k] == 0) rolling_.pairs()[k] = {};
  for (std::size_t k = 0; k < rolling_.walls().size(); ++k)
    if ((wall_touching_[k] & touches) == 0) rolling_.walls()[k] = {};
}

template <int D>
ContactRules<D> ForceSweeper<D>::contact_rules(Real tolerance) {
  if (reach_ == 0) return {.tolerance = tolerance, .takes_held = true};
  forget_left_overs();
  ContactRules<D> rules = history_.template rules<D>(tolerance);
  rules.takes_held = true;
  return rules;
}

template <int D>
void ForceSweeper<D>::load(const State<D>& state, std::size_t first, std::size_t last) {
  const BodyStore<D>& bodies = state.bodies;
  const auto position = bodies.position();
  const auto velocity = bodies.velocity();
  const auto spin = bodies.angular_velocity();
  for (std::size_t i = first; i < last; ++i) {
    for (int k = 0; k < D; ++k) places_[i].x[k] = position[i][k];
    forces_[i] = {};
    MotionRecord& motion = motions_[i];
    if (motion.inverse_mass == 0) continue;
    for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[i][k];
    for (int k = 0; k < n_spins<D>; ++k) motion.spin[first_spin<D> + k] = spin[i][k];
  }
}

template <int D>
void ForceSweeper<D>::send_motions() {
  neighborhood_.ghosts().begin_copy_to_ghosts(motion_width<D>, [&](Index body, Real* out) {
    const auto i = static_cast<std::size_t>(body);
    out = std::copy_n(places_[i].x, D, out);
    out = std::copy_n(motions_[i].velocity, D, out);
    std::copy_n(motions_[i].spin + first_spin<D>, n_spins<D>, out);
  });
}

template <int D>
void ForceSweeper<D>::receive_motions() {
  neighborhood_.ghosts().end_copy_to_ghosts(motion_width<D>, [&](Index body, const Real* in) {
    const auto i = static_cast<std::size_t>(body);
    std::copy_n(in, D, places_[i].x);
    std::copy_n(in + D, D, motions_[i].velocity);
    std::copy_n(in + 2 * D, n_spins<D>, motions_[i].spin + first_spin<D>);
  });
}

template <int D>
ForceBatches ForceSweeper<D>::operands(Real dt) const {
  ForceBatches batches;
  batches.places = places_.data();
  batches.motions = motions_.data();
  batches.shift_table = neighborhood_.list().shift_table().data();
  if (const auto velocities = neighborhood_.list().shift_velocity_table(); !velocities.empty())
    batches.shift_velocities = velocities.data();
  batches.laws = laws_.laws().data();
  batches.n_materials = laws_.n_materials();
  batches.dt = dt;
  batches.rolling_springs = rolls_;
  batches.reach = reach_;
  batches.overlap_limit = settings_.overlap_limit;
  batches.law = settings_.law;
  batches.least_force = settings_.attraction ? -std::numeric_limits<Real>::infinity() : 0;
  return batches;
}

/// Calls pass(first body, last body) for some chunks.
template <int D>
void ForceSweeper<D>::run_pass(std::span<const Index> chunks, const BodyPass& pass) const {
  if (chunks.empty()) return;
  Scope timer("move");
  constexpr std::size_t size = BlockTurns<D>::chunk_size;
  const auto n_owned = static_cast<std::size_t>(neighborhood_.ghosts().n_owned());
  for (const Index chunk : chunks) {
    const std::size_t first = static_cast<std::size_t>(chunk) * size;
    pass(first, std::min(first + size, n_owned));
  }
}

template <int D>
void ForceSweeper<D>::finish_chunks(std::span<const Index> chunks, const BodyPass& finish) {
  for (const Index chunk : chunks) sums_.add_up(static_cast<std::size_t>(chunk), forces_);
  run_pass(chunks, finish);
}

/// Notes what passes read after the block of this turn: chunks lie apart, so the processor does not see what
/// comes.
template <int D>
void ForceSweeper<D>::note_coming(const State<D>& state, std::size_t turn) {
  coming_.clear();
  const BodyStore<D>& bodies = state.bodies;
  const auto add = [&](std::span<const Index> chunks, const auto&... arrays) {
    constexpr std::size_t size = BlockTurns<D>::chunk_size;
    for (std::size_t k = 0; k < chunks.size();) {
      const std::size_t first = static_cast<std::size_t>(chunks[k]) * size;
      std::size_t last = first;
      for (; k < chunks.size() && static_cast<std::size_t>(chunks[k]) * size == last; ++k) last += size;
      const auto add_one = [&](auto array) {
        const std::size_t end = std::min(last, array.size());
        coming_.add(array.data() + first, (end - first) * sizeof(array[0]));
      };
      (add_one(arrays), ...);
    }
  };
  add(turns_.done_after(turn), bodies.position(), bodies.listed(), bodies.velocity(), bodies.acceleration(),
      bodies.angular_velocity(), bodies.angular_acceleration(), bodies.mass(), bodies.radius(),
      std::span<const ForceRecord>(forces_));
  if (turn + 1 < turns_.order().size())
    add(turns_.begun_by(turn + 1), bodies.position(), bodies.previous(), bodies.velocity(),
        bodies.acceleration(), bodies.angular_velocity(), bodies.angular_acceleration(), bodies.orientation(),
        std::span<const SweepRecord>(places_), std::span<const MotionRecord>(motions_),
        std::span<const ForceRecord>(forces_));
}

template <int D>
void ForceSweeper<D>::evaluate(const State<D>& state, Real time, Real dt, const BodyPass& move,
                               const BodyPass& finish) {
  Scope timer("forces");
  time_ = time;
  counts_ = {};
  passed_ = {};
  reactions_.clear();
  watch_.begin(state.obstacles);
  face_virials_.clear();
  if (keeps_histories_) note_histories();
  ForceBatches batches = operands(dt);
  batches.forces = forces_.data();
  batches.list = list_.data();
  batches.coming = &coming_;
  const auto blocks = neighborhood_.schedule().all_blocks();
  const auto run_turns = [&](std::size_t first, std::size_t last) {
    for (std::size_t turn = first; turn < last; ++turn) {
      const auto block = static_cast<std::size_t>(turns_.order()[turn]);
      run_pass(turns_.begun_by(turn), move);
      note_coming(state, turn);
      run_block(state, blocks[block], batches);
      sums_.collect(block, forces_);
      finish_chunks(turns_.done_after(turn), finish);
    }
  };
  GhostExchange<D>& ghosts = neighborhood_.ghosts();
  run_pass(turns_.begun_at_once(), move);
  {
    Scope part("exchange");
    send_motions();
  }
  run_turns(0, turns_.n_early());
  {
    Scope part("exchange");
    receive_motions();
  }
  run_turns(turns_.n_early(), turns_.n_before_late());
  {
    Scope part("exchange");
    ghosts.begin_partial_sums(force_width<D>, [&](Index sum, Real* out) {
      const ForceRecord& part_of_body = sums_.leaving(static_cast<std::size_t>(sum));
      out = std::copy_n(part_of_body.force, D, out);
      std::copy_n(part_of_body.torque + first_spin<D>, n_spins<D>, out);
    });
  }
  run_turns(turns_.n_before_late(), blocks.size());
  {
    Scope part("exchange");
    ghosts.end_partial_sums(force_width<D>, [&](Index sum, const Real* in) {
      ForceRecord& part_of_body = sums_.arriving(static_cast<std::size_t>(sum));
      std::copy_n(in, D, part_of_body.force);
      std::copy_n(in + D, n_spins<D>, part_of_body.torque + first_spin<D>);
    });
  }
  finish_chunks(turns_.done_at_last(), finish);
}

template <int D>
void ForceSweeper<D>::run_block(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                ForceBatches& batches) {
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  const auto run = [&](Index first, Index last, bool shifted) {
    if (first == last) return;
    batches.ends = schedule.ends().data() + 2 * batch_size * first;
    batches.touching = touching_.data() + batch_size * first;
    batches.history = history_.pairs().data() + batch_size * first;
    if (rolls_) batches.rolling = rolling_.pairs().data() + batch_size * first;
    batches.n_batches = last - first;
    counts_.add(kernels_.pairs[shifted ? 1 : 0](batches));
  };
  run(block.first_batch, block.first_shifted, false);
  if (block.last_batch > block.first_shifted) {
    batches.shifts = schedule.shifts().data() + schedule.first_shift(block);
    if (state.cell.is_given()) batches.face_virial = face_virials_.emplace_back().component.data();
    run(block.first_shifted, block.last_batch, true);
  }
  run_walls(state, block, batches);
}

template <int D>
void ForceSweeper<D>::tell_forces(const State<D>& state, Real time, ContactGraph<D>& contacts) {
  time_ = time;
  load(state);
  send_motions();
  receive_motions();
  const ForceBatches batches = operands(0);
  contacts.force.assign(contacts.size(), 0);
  contacts.load.assign(state.materials.has_cohesion() ? contacts.size() : 0, 0.0);
  contacts.friction.assign(contacts.size(), Vec<D>{});
  contacts.rolling.assign(feels_spin_ ? contacts.size() : 0, Spin<D>{});
  const auto radius = state.bodies.radius();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const auto a = static_cast<std::size_t>(contacts.a[c]);
    const auto place = static_cast<std::size_t>(contacts.place[c]);
    const bool is_held =
        reach_ > 0 && (contacts.b[c] >= 0 ? touching_[place] != 0 : (wall_touching_[place] & touches) != 0);
    if (contacts.gap[c] >= 0 && !is_held) continue;
    SoftContact contact;
    contact.normal = in_space(contacts.normal[c]);
    contact.overlap = -contacts.gap[c];
    ContactHistory history{};
    RollingHistory rolling{};
    MotionRecord motion{};
    if (contacts.b[c] >= 0) {
      const auto b = static_cast<std::size_t>(contacts.b[c]);
      contact.effective_radius = effective_radius(radius[a], radius[b]);
      contact.lever_a = radius[a] - 0.5 * contact.overlap;
      contact.lever_b = radius[b] - 0.5 * contact.overlap;
      if (touching_[place] != 0) {
        history = history_.pairs()[place];
        if (rolls_) rolling = rolling_.pairs()[place];
      }
      motion = motions_[b];
      if (state.cell.moves()) {
        const auto position = state.bodies.position();
        const Vec<D> shift = position[b] - position[a] - contacts.branch[c];
        const Vec<D> velocity = state.cell.gradient_times(state.box, shift);
        for (int k = 0; k < D; ++k) motion.velocity[k] -= velocity[k];
      }
    } else {
      contact.effective_radius = radius[a];
      contact.lever_a = norm(contacts.branch[c]);
      if ((wall_touching_[place] & touches) != 0) {
        history = history_.walls()[place];
        if (rolls_) rolling = rolling_.walls()[place];
      }
      motion = motion_of_wall(state, contacts.wall[c], state.bodies.position()[a] + contacts.branch[c],
                              contacts.normal[c]);
    }
    if (motions_[a].inverse_mass + motion.inverse_mass == 0 &&
        (contacts.b[c] >= 0 || !feels(state, contacts.wall[c], a)))
      continue;
    const SoftForce f = kernels_.contact(batches, contact, motions_[a], motion, history, &rolling);
    const Vec<D> force = in_dimension<D>(f.force);
    contacts.force[c] = dot(force, contacts.normal[c]);
    if (!contacts.load.empty()) contacts.load[c] = f.load;
    contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
    for (int k = 0; k < n_spins<D> && feels_spin_; ++k) contacts.rolling[c][k] = f.rolling[first_spin<D> + k];
  }
}

template <int D>
std::size_t ForceSweeper<D>::bytes() const {
  std::size_t bytes =
      history_.bytes() + rolling_.bytes() + turns_.bytes() + sums_.bytes() + coming_.bytes() + watch_.bytes();
  for (const std::vector<Real>& of_axis : stress_terms_) bytes += held_bytes(of_axis);
  return bytes + held_bytes(places_, motions_, forces_, touching_, wall_touching_, list_, at_, from_,
                            wall_reach_, clearance_, surface_, reactions_, reaction_sums_, face_virials_,
                            before_.pairs, before_.walls, before_.rolling_pairs, before_.rolling_walls,
                            force_motions_, energies_);
}

template class ForceSweeper<2>;
template class ForceSweeper<3>;

}  // namespace scree
