#include "dynamics/dem/force_sweeper.hpp"

#include <algorithm>
#include <limits>

#include "core/timing.hpp"

namespace scree {

namespace {

constexpr int motion_width = sizeof(MotionRecord) / sizeof(Real);
constexpr int force_width = sizeof(ForceRecord) / sizeof(Real);
constexpr int history_width = sizeof(ContactHistory) / sizeof(Real);

template <class Record>
std::span<Real> numbers(std::vector<Record>& records) {
  return {reinterpret_cast<Real*>(records.data()), records.size() * sizeof(Record) / sizeof(Real)};
}

template <int N>
Vec<3> in_space(const Vec<N>& v) {
  Vec<3> w;
  for (int k = 0; k < N; ++k) w[k] = v[k];
  return w;
}
template <int D>
Vec<D> in_dimension(const Vec<3>& v) {
  Vec<D> w;
  for (int k = 0; k < D; ++k) w[k] = v[k];
  return w;
}

}  // namespace

template <int D>
void ForceSweeper<D>::use(NormalLaw law, bool attraction) {
  law_ = law;
  attraction_ = attraction;
}

template <int D>
void ForceSweeper<D>::prepare(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_held());
  places_.assign(n + 2, SweepRecord{});
  places_[n + 1].x[0] = 1;  // the dummies are points one metre apart: they never touch
  motions_.assign(n, MotionRecord{});
  forces_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    places_[i].radius = bodies.radius()[i];
    motions_[i].inverse_mass = bodies.mobility()[i] == 0 ? 0 : 1 / bodies.mass()[i];
    motions_[i].material = state.group_material[static_cast<std::size_t>(bodies.group()[i])];
  }
  const auto n_places = static_cast<std::size_t>(neighborhood_.schedule().n_batches() * batch_size);
  const std::size_t n_walls = neighborhood_.schedule().wall_bodies().size();
  history_.resize(n_places);
  wall_history_.resize(n_walls);
  neighborhood_.recall(state, numbers(history_), numbers(wall_history_), history_width);
  const auto remembers = [](const ContactHistory& h) {
    return h.spring[0] != 0 || h.spring[1] != 0 || h.spring[2] != 0 ? std::uint8_t{1} : std::uint8_t{0};
  };
  touching_.resize(n_places);
  wall_touching_.resize(n_walls);
  std::ranges::transform(history_, touching_.begin(), remembers);
  std::ranges::transform(wall_history_, wall_touching_.begin(), remembers);
  Index longest = 0;
  for (const auto& block : neighborhood_.schedule().all_blocks())
    longest = std::max(longest, block.last_batch - block.first_batch);
  list_.resize(static_cast<std::size_t>(longest * batch_size));
}

template <int D>
ContactMemory ForceSweeper<D>::remember(const State<D>& state) {
  // Where nothing touches, histories are left-overs.
  for (std::size_t k = 0; k < history_.size(); ++k)
    if (touching_[k] == 0) history_[k] = {};
  for (std::size_t k = 0; k < wall_history_.size(); ++k)
    if (wall_touching_[k] == 0) wall_history_[k] = {};
  return neighborhood_.remember(state, numbers(history_), numbers(wall_history_), history_width);
}

/// Brings places and motions of all held bodies up to date.
template <int D>
void ForceSweeper<D>::load(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const auto position = bodies.position();
  const auto velocity = bodies.velocity();
  const auto spin = bodies.angular_velocity();
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    for (int k = 0; k < D; ++k) places_[i].x[k] = position[i][k];
    MotionRecord& motion = motions_[i];
    if (motion.inverse_mass == 0) continue;
    for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[i][k];
    for (int k = 0; k < n_spins<D>; ++k) motion.spin[3 - n_spins<D> + k] = spin[i][k];
  }
  GhostExchange<D>& ghosts = neighborhood_.ghosts();
  ghosts.copy_to_ghosts(numbers(places_), sizeof(SweepRecord) / sizeof(Real));
  ghosts.copy_to_ghosts(numbers(motions_), motion_width);
}

template <int D>
ForceBatches ForceSweeper<D>::operands(Real dt) const {
  ForceBatches batches;
  batches.places = places_.data();
  batches.motions = motions_.data();
  batches.shift_table = neighborhood_.shift_table().data();
  batches.laws = laws_.laws().data();
  batches.n_materials = laws_.n_materials();
  batches.dt = dt;
  batches.least_force = attraction_ ? -std::numeric_limits<Real>::infinity() : 0;
  return batches;
}

template <int D>
void ForceSweeper<D>::evaluate(const State<D>& state, Real time, Real dt) {
  Scope timer("forces");
  time_ = time;
  counts_ = {};
  {
    Scope part("exchange");
    load(state);
  }
  ForceBatches batches = operands(dt);
  batches.forces = forces_.data();
  batches.list = list_.data();
  // All live copies start at zero, so they need not be handed to their first ranks.
  std::ranges::fill(numbers(forces_), 0.0);
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  GhostExchange<D>& ghosts = neighborhood_.ghosts();
  for (int phase = 0; phase < Lattice<D>::n_phases; ++phase) {
    for (const auto& block : schedule.rim_blocks(phase)) run_block(state, block, batches);
    {
      Scope part("exchange");
      ghosts.begin_hand_over(phase + 1, numbers(forces_), force_width);
    }
    for (const auto& block : schedule.interior_blocks(phase)) run_block(state, block, batches);
    {
      Scope part("exchange");
      ghosts.end_hand_over(phase + 1, numbers(forces_), force_width);
    }
  }
}

template <int D>
void ForceSweeper<D>::run_block(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                ForceBatches& batches) {
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  const auto run = [&](Index first, Index last, bool shifted) {
    if (first == last) return;
    batches.ends = schedule.ends().data() + 2 * batch_size * first;
    batches.touching = touching_.data() + batch_size * first;
    batches.history = history_.data() + batch_size * first;
    batches.n_batches = last - first;
    const ForceCounts counts = kernels_->pairs[static_cast<int>(law_)][shifted ? 1 : 0](batches);
    counts_.n_touching += counts.n_touching;
    counts_.deepest = std::max(counts_.deepest, counts.deepest);
  };
  run(block.first_batch, block.first_shifted, false);
  if (block.last_batch > block.first_shifted) {
    batches.shifts = schedule.shifts().data() + schedule.first_shift(block);
    run(block.first_shifted, block.last_batch, true);
  }
  run_walls(state, block, batches);
}

/// The surface of an obstacle at a point, as a body that is held.
template <int D>
MotionRecord ForceSweeper<D>::motion_of_wall(const State<D>& state, Index constraint,
                                             const Vec<D>& point) const {
  const int number = state.obstacles.obstacle_of(constraint);
  MotionRecord motion{};
  motion.material = state.obstacle_material[static_cast<std::size_t>(number)];
  if (const Motion<D>* moves = state.obstacles.list()[static_cast<std::size_t>(number)].motion.get()) {
    const Vec<D> velocity = moves->velocity(point, time_);
    for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[k];
  }
  return motion;
}

template <int D>
void ForceSweeper<D>::run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                const ForceBatches& batches) {
  for (const auto& wall : neighborhood_.schedule().walls(block)) {
    const auto which = neighborhood_.schedule().wall_bodies(wall);
    at_.clear();
    for (const Index i : which) {
      Vec<D>& x = at_.emplace_back();
      for (int k = 0; k < D; ++k) x[k] = places_[static_cast<std::size_t>(i)].x[k];
    }
    surface_.resize(which.size());
    state.obstacles.nearest(wall.constraint, at_, surface_);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<std::size_t>(which[k]);
      const std::size_t slot = static_cast<std::size_t>(wall.first) + k;
      const Real radius = places_[i].radius;
      const Real distance = surface_[k].distance;
      const bool touched = wall_touching_[slot] != 0;
      wall_touching_[slot] = distance < radius && motions_[i].inverse_mass > 0 ? 1 : 0;
      if (wall_touching_[slot] == 0) continue;
      if (!touched) wall_history_[slot] = {};
      const SoftContact contact{
          in_space(-surface_[k].normal), distance, radius - distance, radius, distance, 0};
      const MotionRecord motion =
          motion_of_wall(state, wall.constraint, at_[k] - distance * surface_[k].normal);
      const SoftForce f = kernels_->contact[static_cast<int>(law_)](batches, contact, motions_[i], motion,
                                                                    wall_history_[slot]);
      ForceRecord& on = forces_[i];
      for (int c = 0; c < 3; ++c) {
        on.force[c] -= f.force[c];
        on.torque[c] -= contact.lever_a * f.torque[c] + f.rolling[c];
      }
      ++counts_.n_touching;
      counts_.deepest = std::max(counts_.deepest, contact.overlap);
    }
  }
}

template <int D>
void ForceSweeper<D>::tell_forces(const State<D>& state, Real time, ContactGraph<D>& contacts) {
  time_ = time;
  load(state);
  const ForceBatches batches = operands(0);
  contacts.force.assign(contacts.size(), 0);
  contacts.friction.assign(contacts.size(), Vec<D>{});
  const auto radius = state.bodies.radius();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (contacts.gap[c] >= 0) continue;
    const auto a = static_cast<std::size_t>(contacts.a[c]);
    const auto place = static_cast<std::size_t>(contacts.place[c]);
    SoftContact contact;
    contact.normal = in_space(contacts.normal[c]);
    contact.distance = norm(contacts.branch[c]);
    contact.overlap = -contacts.gap[c];
    ContactHistory history{};
    MotionRecord motion{};
    if (contacts.b[c] >= 0) {
      const auto b = static_cast<std::size_t>(contacts.b[c]);
      contact.effective_radius = effective_radius(radius[a], radius[b]);
      contact.lever_a = radius[a] - 0.5 * contact.overlap;
      contact.lever_b = radius[b] - 0.5 * contact.overlap;
      if (touching_[place] != 0) history = history_[place];
      motion = motions_[b];
    } else {
      contact.effective_radius = radius[a];
      contact.lever_a = contact.distance;
      if (wall_touching_[place] != 0) history = wall_history_[place];
      motion = motion_of_wall(state, contacts.wall[c], state.bodies.position()[a] + contacts.branch[c]);
    }
    if (motions_[a].inverse_mass + motion.inverse_mass == 0) continue;
    const SoftForce f =
        kernels_->contact[static_cast<int>(law_)](batches, contact, motions_[a], motion, history);
    const Vec<D> force = in_dimension<D>(f.force);
    contacts.force[c] = dot(force, contacts.normal[c]);
    contacts.friction[c] = force - contacts.force[c] * contacts.normal[c];
  }
}

template <int D>
std::size_t ForceSweeper<D>::bytes() const {
  const auto held = [](const auto&... vectors) { return ((vectors.capacity() * sizeof(vectors[0])) + ...); };
  return held(places_, motions_, forces_, touching_, wall_touching_, history_, wall_history_, list_, at_,
              surface_);
}

template class ForceSweeper<2>;
template class ForceSweeper<3>;

}  // namespace scree
