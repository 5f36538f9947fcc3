// What contacts store and lose, for the energy balance. A pass of its own after a step, so that runs that do
// not ask for it pay nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/timing.hpp"
#include "neighbors/flush_walls.hpp"
#include "schemes/dem/force_sweeper.hpp"

namespace scree {

namespace {

Vec<3> three_of(const Real* v) {
  return {{v[0], v[1], v[2]}};
}
Vec<3> along_surface(const Vec<3>& v, const Vec<3>& normal) {
  return v - dot(v, normal) * normal;
}
/// Of b against a at the contact.
Vec<3> slip_of(const SoftContact& c, const MotionRecord& a, const MotionRecord& b) {
  const Vec<3> turning = c.lever_a * three_of(a.spin) + c.lever_b * three_of(b.spin);
  return three_of(b.velocity) - three_of(a.velocity) - cross(turning, c.normal);
}

/// The motion of an image.
MotionRecord faster_by(const Real* velocity, MotionRecord motion) {
  for (int k = 0; k < 3; ++k) motion.velocity[k] += velocity[k];
  return motion;
}

SoftContact contact_of_pair(const Vec<3>& branch, Real radius_a, Real radius_b) {
  const Real distance = norm(branch);
  SoftContact contact;
  contact.normal = distance > 0 ? branch * (1 / distance) : Vec<3>{{1, 0, 0}};
  contact.overlap = radius_a + radius_b - distance;
  contact.effective_radius = effective_radius(radius_a, radius_b);
  contact.lever_a = radius_a - 0.5 * contact.overlap;
  contact.lever_b = radius_b - 0.5 * contact.overlap;
  return contact;
}

/// k_T of now and the elastic force of a contact at an overlap.
struct Elastic {
  Real tangential = 0;  // [N/m]
  Real force = 0;       // [N]
  Real energy = 0;      // [J]

  Elastic(NormalLaw law, const SoftLaw& pair, Real effective_radius, Real overlap) {
    find_without_attraction(law, pair, effective_radius, overlap);
    if (!pair.attraction || law == NormalLaw::linear) return;
    const Real root = std::sqrt(effective_radius * std::max(overlap, 0.0));
    tangential =
        pair.tangential *
        pair.attraction->force({overlap, effective_radius, 0.5 * pair.stiffness, force, root}).contact_radius;
  }

 private:
  void find_without_attraction(NormalLaw law, const SoftLaw& pair, Real effective_radius, Real overlap) {
    if (!(overlap > 0)) return;
    if (law == NormalLaw::linear) {
      tangential = pair.tangential;
      force = pair.stiffness * overlap;
      energy = 0.5 * force * overlap;
    } else {
      const Real root = std::sqrt(effective_radius * overlap);
      tangential = pair.tangential * root;
      force = 2.0 / 3 * pair.stiffness * root * overlap;
      energy = 0.4 * force * overlap;
    }
  }
};

}  // namespace

template <int D>
void ForceSweeper<D>::note_histories() {
  before_.pairs.assign(history_.pairs().begin(), history_.pairs().end());
  for (std::size_t k = 0; k < touching_.size(); ++k)
    if (touching_[k] == 0) before_.pairs[k] = {};
  before_.rolling_pairs.assign(rolling_.pairs().begin(), rolling_.pairs().end());
  before_.rolling_walls.assign(rolling_.walls().begin(), rolling_.walls().end());
  for (std::size_t k = 0; k < before_.rolling_pairs.size(); ++k)
    if (touching_[k] == 0) before_.rolling_pairs[k] = {};
  for (std::size_t k = 0; k < before_.rolling_walls.size(); ++k)
    if ((wall_touching_[k] & touches) == 0) before_.rolling_walls[k] = {};
  before_.walls.assign(history_.walls().begin(), history_.walls().end());
  for (std::size_t k = 0; k < wall_touching_.size(); ++k)
    if ((wall_touching_[k] & touches) == 0) before_.walls[k] = {};
}

/// One contact. `before`, `rolling`: its histories before the step.
template <int D>
void ForceSweeper<D>::add_energy(const ForceBatches& batches, const SoftContact& contact,
                                 const Ends& of_force, const Ends& now, const ContactHistory& before,
                                 RollingHistory rolling) {
  const SoftLaw& pair = laws_.of(static_cast<int>(now.a.material), static_cast<int>(now.b.material));
  ContactHistory history = before;
  const Vec<3> angle_before = three_of(rolling.angle);
  const SoftForce f = kernels_.contact(batches, contact, of_force.a, of_force.b, history, &rolling);
  const Elastic elastic(settings_.law, pair, contact.effective_radius, contact.overlap);
  const Vec<3> slip = slip_of(contact, now.a, now.b);
  const Real opening = dot(slip, contact.normal);
  const Real normal_force = dot(f.force, contact.normal);
  const Vec<3> tangential_force = along_surface(f.force, contact.normal);
  const Vec<3> spring = three_of(history.spring);

  ContactEnergy energy;
  energy.normal = elastic.energy;
  energy.springs = 0.5 * elastic.tangential * dot(spring, spring);
  energy.impact = -(normal_force + f.pull - elastic.force) * opening;
  energy.cohesion = -f.pull * opening;
  energy.friction = -dot(tangential_force + elastic.tangential * spring, slip);
  const Vec<3> turning = three_of(now.b.spin) - three_of(now.a.spin);
  const auto rolling_stiffness = [&](const Elastic& of) {
    const Real radius = contact.effective_radius;
    return pair.tangential > 0
               ? pair.rolling_stiffness * pair.stiffness * (of.tangential / pair.tangential) * radius * radius
               : 0;
  };
  const Real k_rolling = rolling_stiffness(elastic);
  const Vec<3> angle = three_of(rolling.angle);
  energy.rolling = -dot(f.rolling + k_rolling * angle, turning);
  energy.springs += 0.5 * k_rolling * dot(angle, angle);
  energy.stretching = elastic.tangential * dot(spring, slip) + k_rolling * dot(angle, turning);
  energy.wall_work = -dot(f.force, now.is_wall ? three_of(now.b.velocity) : now.of_flow);
  if (now.is_wall) energy.wall_work -= dot(f.rolling, three_of(now.b.spin));
  // The spring before, in the tangent plane of now, and its force then.
  const Vec<3> slip_of_step = slip_of(contact, of_force.a, of_force.b);
  const Vec<3> way = batches.dt * along_surface(slip_of_step, contact.normal);
  const Vec<3> spring_before = along_surface(three_of(before.spring), contact.normal);
  const Real overlap_before = contact.overlap + batches.dt * dot(slip_of_step, contact.normal);
  const Elastic elastic_before(settings_.law, pair, contact.effective_radius, overlap_before);
  const Real stiffness_before = before.stiffness > 0 ? before.stiffness : elastic_before.tangential;
  const Vec<3> mean_force = 0.5 * (stiffness_before * spring_before + elastic.tangential * spring);
  Real kept = 1;  // as in force_law.hpp
  if (before.stiffness > 0 && elastic.tangential > 0) kept = before.stiffness / elastic.tangential;
  if (settings_.tangential == TangentialLaw::rescaled) kept = std::min(kept, 1.0);
  energy.slid = dot(mean_force, kept * spring_before + way - spring);
  const Vec<3> turned = batches.dt * (three_of(of_force.b.spin) - three_of(of_force.a.spin));
  const Vec<3> mean_torque = 0.5 * (rolling_stiffness(elastic_before) * angle_before + k_rolling * angle);
  energy.rolled = dot(mean_torque, angle_before + turned - angle);
  ContactEnergy& sum = energies_.back();
  sum.normal += energy.normal;
  sum.springs += energy.springs;
  sum.impact += energy.impact;
  sum.friction += energy.friction;
  sum.rolling += energy.rolling;
  sum.wall_work += energy.wall_work;
  sum.cohesion += energy.cohesion;
  sum.stretching += energy.stretching;
  sum.slid += energy.slid;
  sum.rolled += energy.rolled;
}

template <int D>
ContactEnergy ForceSweeper<D>::find_energies(const State<D>& state, Real time, Real dt) {
  Scope timer("energy");
  time_ = time;
  force_motions_.assign(motions_.begin(), motions_.end());
  load(state);
  send_motions();
  receive_motions();
  const ForceBatches batches = operands(dt);
  // The contacts of a block add up in the order of a sweep, which does not depend on the ranks.
  energies_.clear();
  for (const auto& block : neighborhood_.schedule().all_blocks()) {
    energies_.emplace_back();
    find_pair_energies(state, block, batches);
    find_wall_energies(state, block, batches);
  }
  std::array<Real, n_contact_energies> sums{};
  ReproducibleSum::sum(state.comm, energies_.size(), sums, [&](std::size_t k, std::span<Real> terms) {
    std::ranges::copy(std::bit_cast<std::array<Real, n_contact_energies>>(energies_[k]), terms.begin());
  });
  return std::bit_cast<ContactEnergy>(sums);
}

template <int D>
void ForceSweeper<D>::find_pair_energies(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                         const ForceBatches& batches) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  neighborhood_.schedule().for_each_pair(block, [&](std::size_t place, Index low, Index high, Index shift) {
    if (touching_[place] == 0) return;
    const SweepRecord &a = places_[at(low)], &b = places_[at(high)];
    Vec<3> branch = three_of(b.x) - three_of(a.x);
    if (shift >= 0) branch -= three_of(batches.shift_table + 3 * shift);
    const Vec<3> of_flow = in_space(state.cell.gradient_times(state.box, in_dimension<D>(branch)));
    const auto add = [&](const MotionRecord& force_a, const MotionRecord& now_a) {
      const MotionRecord &force_b = force_motions_[at(high)], &now_b = motions_[at(high)];
      if (force_a.inverse_mass + force_b.inverse_mass == 0) return;
      add_energy(batches, contact_of_pair(branch, a.radius, b.radius), {force_a, force_b, false},
                 {now_a, now_b, false, of_flow}, before_.pairs[place],
                 rolls_ ? before_.rolling_pairs[place] : RollingHistory{});
    };
    if (shift < 0 || !batches.shift_velocities) {
      add(force_motions_[at(low)], motions_[at(low)]);
    } else {
      const Real* faster = batches.shift_velocities + 3 * shift;
      add(faster_by(faster, force_motions_[at(low)]), faster_by(faster, motions_[at(low)]));
    }
  });
}

template <int D>
void ForceSweeper<D>::find_wall_energies(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                         const ForceBatches& batches) {
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  for (const auto& wall : schedule.walls(block)) {
    const auto which = schedule.wall_bodies(wall);
    at_.resize(which.size());
    from_.resize(which.size());
    wall_reach_.resize(which.size());
    clearance_.resize(which.size());
    surface_.resize(which.size());
    const auto is_held = [&](std::size_t k) {
      return reach_ > 0 && (wall_touching_[static_cast<std::size_t>(wall.first) + k] & touches) != 0;
    };
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<std::size_t>(which[k]);
      for (int c = 0; c < D; ++c) at_[k][c] = places_[i].x[c];
      from_[k] = state.bodies.step_start()[i];
      wall_reach_[k] = is_held(k) ? HUGE_VAL : places_[i].radius;
    }
    state.obstacles.nearest_within(wall.constraint, at_, from_, wall_reach_, surface_, clearance_);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<std::size_t>(which[k]);
      if (!feels(state, wall.constraint, i)) continue;
      const std::size_t place = static_cast<std::size_t>(wall.first) + k;
      if (!(surface_[k].distance < places_[i].radius) && !is_held(k)) continue;
      if (stands_another_for(state, schedule, place, i, wall.constraint, surface_[k], at_[k],
                             places_[i].radius))
        continue;
      const MotionRecord wall_motion = motion_of_wall(
          state, wall.constraint, at_[k] - surface_[k].distance * surface_[k].normal, surface_[k].normal);
      add_energy(batches, contact_with_wall(surface_[k], places_[i].radius),
                 {force_motions_[i], wall_motion, true}, {motions_[i], wall_motion, true},
                 before_.walls[place], rolls_ ? before_.rolling_walls[place] : RollingHistory{});
    }
  }
}

/// Histories say which pairs touched only where springs are stretched.
template <int D>
void ForceSweeper<D>::find_touching() {
  neighborhood_.schedule().for_each_pair([&](std::size_t place, Index low, Index high, Index shift) {
    const SweepRecord& a = places_[static_cast<std::size_t>(low)];
    const SweepRecord& b = places_[static_cast<std::size_t>(high)];
    Vec<3> branch = three_of(b.x) - three_of(a.x);
    if (shift >= 0) branch -= three_of(neighborhood_.list().shift_table().data() + 3 * shift);
    const Real reach = a.radius + b.radius;
    if (dot(branch, branch) < reach * reach && touching_[place] == 0) {
      touching_[place] = 1;
      history_.pairs()[place] = {};
      if (rolls_) rolling_.pairs()[place] = {};
    }
  });
}

template <int D>
ContactEnergy ForceSweeper<D>::find_energies_anew(const State<D>& state) {
  note_histories();
  // The forces of the last step had the velocities of its middle.
  load(state);
  const BodyStore<D>& bodies = state.bodies;
  const Real back = -0.5 * state.clock.last_dt;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (motions_[i].inverse_mass == 0) continue;
    for (int k = 0; k < D; ++k) motions_[i].velocity[k] += back * bodies.acceleration()[i][k];
    for (int k = 0; k < n_spins<D>; ++k)
      motions_[i].spin[3 - n_spins<D> + k] += back * bodies.angular_acceleration()[i][k];
  }
  send_motions();
  receive_motions();
  find_touching();
  return find_energies(state, state.clock.time, 0);
}

template void ForceSweeper<2>::note_histories();
template void ForceSweeper<3>::note_histories();
template ContactEnergy ForceSweeper<2>::find_energies(const State<2>&, Real, Real);
template ContactEnergy ForceSweeper<3>::find_energies(const State<3>&, Real, Real);
template ContactEnergy ForceSweeper<2>::find_energies_anew(const State<2>&);
template ContactEnergy ForceSweeper<3>::find_energies_anew(const State<3>&);

}  // namespace scree
