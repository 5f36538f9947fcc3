#include "schemes/dem/contact_energies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/timing.hpp"
#include "schemes/dem/pair_forces.hpp"

namespace scree {

namespace {

Vec<3> three_of(const Real* v) {
  return {{v[0], v[1], v[2]}};
}
Vec<3> along_surface(const Vec<3>& v, const Vec<3>& normal) {
  return v - dot(v, normal) * normal;
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

/// How the bodies of a contact move.
struct Ends {
  const MotionRecord &a, &b;

  /// Of b against a at the contact.
  Vec<3> slip(const SoftContact& c) const {
    const Vec<3> turning = c.lever_a * three_of(a.spin) + c.lever_b * three_of(b.spin);
    return three_of(b.velocity) - three_of(a.velocity) - cross(turning, c.normal);
  }
  Vec<3> turning() const { return three_of(b.spin) - three_of(a.spin); }
};

/// A contact at the end of a step.
struct EndedContact {
  SoftContact contact;
  Ends of_force;  // by which its force was made
  Ends now;
  ContactSprings before;  // the step
  bool is_wall = false;   // b
  Vec<3> of_flow{};       // how much faster the flow of a deforming domain is at b than at a
};

/// k_T of now and the elastic force of a contact at an overlap.
struct Elastic {
  Real tangential = 0;  // [N/m]
  Real force = 0;       // [N]
  Real energy = 0;      // [J]
  Real rolling = 0;     // [N m]

  Elastic(NormalLaw law, const SoftLaw& pair, Real effective_radius, Real overlap) {
    const bool is_linear = law == NormalLaw::linear;
    const Real root = is_linear ? 1 : std::sqrt(effective_radius * std::max(overlap, 0.0));
    if (overlap > 0) {
      tangential = pair.tangential * root;
      force = (is_linear ? 1 : 2.0 / 3) * pair.stiffness * root * overlap;
      energy = (is_linear ? 0.5 : 0.4) * force * overlap;
    }
    if (pair.attraction && !is_linear) {
      const Real modulus = 0.5 * pair.stiffness;
      const AttractedForce attracted =
          pair.attraction->force({overlap, effective_radius, modulus, force, root});
      tangential = pair.tangential * attracted.contact_radius;
    }
    if (pair.tangential > 0)
      rolling = pair.rolling_stiffness * pair.stiffness * (tangential / pair.tangential) * effective_radius *
                effective_radius;
  }
};

/// What a contact stores, and its powers with the velocities of now. `after`: its springs.
ContactEnergy powers_of(const EndedContact& c, const SoftForce& f, const Elastic& elastic,
                        const ContactSprings& after) {
  const Vec<3> slip = c.now.slip(c.contact), turning = c.now.turning();
  const Vec<3> spring = three_of(after.history.spring), angle = three_of(after.rolling.angle);
  const Real opening = dot(slip, c.contact.normal);
  const Vec<3> tangential_force = along_surface(f.force, c.contact.normal);
  ContactEnergy energy;
  energy.normal = elastic.energy;
  energy.springs = 0.5 * elastic.tangential * dot(spring, spring);
  energy.springs += 0.5 * elastic.rolling * dot(angle, angle);
  energy.impact = -(dot(f.force, c.contact.normal) + f.pull - elastic.force) * opening;
  energy.cohesion = -f.pull * opening;
  energy.friction = -dot(tangential_force + elastic.tangential * spring, slip);
  energy.rolling = -dot(f.rolling + elastic.rolling * angle, turning);
  energy.stretching = elastic.tangential * dot(spring, slip) + elastic.rolling * dot(angle, turning);
  energy.wall_work = -dot(f.force, c.is_wall ? three_of(c.now.b.velocity) : c.of_flow);
  if (c.is_wall) energy.wall_work -= dot(f.rolling, three_of(c.now.b.spin));
  return energy;
}

/// What its springs lost in the step by sliding and rolling.
void add_losses(const EndedContact& c, const SpringSettings& settings, const SoftLaw& pair, Real dt,
                const Elastic& elastic, const ContactSprings& after, ContactEnergy& energy) {
  const Vec<3> normal = c.contact.normal;
  const Vec<3> spring = three_of(after.history.spring), angle = three_of(after.rolling.angle);
  // The spring before, in the tangent plane of now, and its force then.
  const Vec<3> slip = c.of_force.slip(c.contact);
  const Vec<3> displacement = dt * along_surface(slip, normal);
  const Vec<3> spring_before = along_surface(three_of(c.before.history.spring), normal);
  const Vec<3> angle_before = three_of(c.before.rolling.angle);
  const Real overlap_before = c.contact.overlap + dt * dot(slip, normal);
  const Elastic elastic_before(settings.law, pair, c.contact.effective_radius, overlap_before);
  const Real remembered = c.before.history.stiffness;
  const Real stiffness_before = remembered > 0 ? remembered : elastic_before.tangential;
  const Vec<3> mean_force = 0.5 * (stiffness_before * spring_before + elastic.tangential * spring);
  Real kept = 1;  // as in force_law.hpp
  if (remembered > 0 && elastic.tangential > 0) kept = remembered / elastic.tangential;
  if (settings.tangential == TangentialLaw::rescaled) kept = std::min(kept, 1.0);
  energy.slid = dot(mean_force, kept * spring_before + displacement - spring);
  const Vec<3> turned = dt * c.of_force.turning();
  const Vec<3> mean_torque = 0.5 * (elastic_before.rolling * angle_before + elastic.rolling * angle);
  energy.rolled = dot(mean_torque, angle_before + turned - angle);
}

template <int D>
ContactEnergy energy_of(const StepContext<D>& step, const EndedContact& c) {
  const SpringSettings& settings = step.law.settings;
  const SoftLaw& pair = step.law.of(c.now.a, c.now.b);
  ContactSprings springs = c.before;
  const SoftForce f = step.law.kernels.contact(step.batches, c.contact, c.of_force.a, c.of_force.b,
                                               springs.history, &springs.rolling);
  const Elastic elastic(settings.law, pair, c.contact.effective_radius, c.contact.overlap);
  ContactEnergy energy = powers_of(c, f, elastic, springs);
  add_losses(c, settings, pair, step.batches.dt, elastic, springs, energy);
  return energy;
}

/// Histories say which pairs touched only where springs are stretched.
template <int D>
void find_contact_pairs(StepContext<D>& step) {
  for (const auto& block : step.schedule.all_blocks())
    for_each_pair(step, block,
                  [&](std::size_t place, std::size_t a, std::size_t b, const Vec<3>& branch, Index) {
                    const Real reach = step.records.positions[a].radius + step.records.positions[b].radius;
                    if (dot(branch, branch) < reach * reach && !step.histories.pair_touches(place))
                      step.histories.begin_pair(place);
                  });
}

}  // namespace

template <int D>
ContactEnergy ContactEnergies<D>::find(StepContext<D>& step, GhostExchange<D>& ghosts) {
  Scope timer("energy");
  force_motions_.assign(step.records.motions.begin(), step.records.motions.end());
  step.records.load(step.state.bodies);
  step.records.copy_to_ghosts(ghosts);
  // The contacts of a block add up in the order of a sweep, which does not depend on the ranks.
  energies_.clear();
  for (const auto& block : step.schedule.all_blocks())
    energies_.push_back(of_walls(step, block, of_pairs(step, block, {})));
  ContactEnergy::Numbers sums{};
  ReproducibleSum::sum(step.state.comm, energies_.size(), sums, [&](std::size_t k, std::span<Real> terms) {
    std::ranges::copy(energies_[k].numbers(), terms.begin());
  });
  return ContactEnergy::of(sums);
}

template <int D>
ContactEnergy ContactEnergies<D>::of_pairs(const StepContext<D>& step, const Block& block,
                                           ContactEnergy sum) const {
  const MotionRecords<D>& records = step.records;
  const Real* velocities = step.batches.shift_velocities;
  for_each_pair(
      step, block, [&](std::size_t place, std::size_t a, std::size_t b, const Vec<3>& branch, Index shift) {
        if (!step.histories.pair_touches(place)) return;
        if (force_motions_[a].inverse_mass + force_motions_[b].inverse_mass == 0) return;
        const Vec<3> of_flow =
            in_space(step.state.deformation.gradient_times(step.state.box, in_dimension<D>(branch)));
        const auto add = [&](const MotionRecord& force_a, const MotionRecord& now_a) {
          sum += energy_of(step,
                           {contact_of_pair(branch, records.positions[a].radius, records.positions[b].radius),
                            {force_a, force_motions_[b]},
                            {now_a, records.motions[b]},
                            step.histories.pair_before(place),
                            false,
                            of_flow});
        };
        if (shift < 0 || !velocities)
          add(force_motions_[a], records.motions[a]);
        else
          add(faster_by(velocities + 3 * shift, force_motions_[a]),
              faster_by(velocities + 3 * shift, records.motions[a]));
      });
  return sum;
}

template <int D>
ContactEnergy ContactEnergies<D>::of_walls(const StepContext<D>& step, const Block& block,
                                           ContactEnergy sum) {
  places_.resize(step.schedule.n_wall_places(block));
  std::iota(places_.begin(), places_.end(), step.schedule.first_wall_place(block));
  walls_.look(step, block, places_);
  walls_.for_each(step, [&](const auto& detected) {
    const bool is_bonded_now = step.law.reach > 0 && step.histories.wall_touches(detected.place);
    if (!(detected.overlaps() || is_bonded_now) ||
        !WallVisitor<D>::feels(step, detected.constraint, detected.body) ||
        WallVisitor<D>::is_replaced(step, detected))
      return;
    const TouchedWall<D> at = WallVisitor<D>::contact(step, detected);
    sum += energy_of(step, {at.contact,
                            {force_motions_[detected.body], at.wall},
                            {step.records.motions[detected.body], at.wall},
                            step.histories.wall_before(detected.place),
                            true});
  });
  return sum;
}

template <int D>
ContactEnergy ContactEnergies<D>::find_again(StepContext<D>& step, GhostExchange<D>& ghosts) {
  MotionRecords<D>& records = step.records;
  step.histories.begin_step();
  // The forces of the last step had the velocities of its middle.
  records.load(step.state.bodies);
  const BodyStore<D>& bodies = step.state.bodies;
  const Real back = -0.5 * step.state.clock.last_dt;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    MotionRecord& motion = records.motions[i];
    if (motion.inverse_mass == 0) continue;
    for (int k = 0; k < D; ++k) motion.velocity[k] += back * bodies.acceleration()[i][k];
    for (int k = 0; k < n_spins<D>; ++k)
      motion.spin[first_spin<D> + k] += back * bodies.angular_acceleration()[i][k];
  }
  records.copy_to_ghosts(ghosts);
  find_contact_pairs(step);
  return find(step, ghosts);
}

template class ContactEnergies<2>;
template class ContactEnergies<3>;

}  // namespace scree
