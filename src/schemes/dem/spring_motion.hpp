#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/timing.hpp"
#include "schemes/dem/block_pipeline.hpp"
#include "schemes/dem/dem_motion.hpp"
#include "schemes/dem/domain_stress.hpp"
#include "schemes/dem/driven_walls.hpp"
#include "schemes/dem/force_export.hpp"
#include "schemes/dem/pair_forces.hpp"
#include "schemes/dem/spring_balance.hpp"
#include "schemes/dem/wall_forces.hpp"
#include "schemes/dem/wall_reactions.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Soft contact with friction by tangential springs, or without friction, in time by velocity Verlet
/// (docs/method.md, eq. H.6):
///     v(t + dt/2) = v(t) + dt/2 a(t),   x(t + dt) = x(t) + dt v(t + dt/2),
///     a(t + dt) = g + F(x(t + dt), v(t + dt/2)) / m,   v(t + dt) = v(t + dt/2) + dt/2 a(t + dt)
/// and spins likewise. The same bits on any number of ranks.
template <int D>
class SpringMotion final : public DemMotion<D> {
 public:
  /// Both must outlive this. Throws InputError naming the pair for a law that the deck does not determine.
  SpringMotion(State<D>& state, Neighborhood<D>& neighborhood, const SpringSettings& settings)
      : state_(state),
        neighborhood_(neighborhood),
        law_(state, settings),
        histories_(law_.has_rolling_springs),
        balance_(state) {}

  const SoftLaws<D>& laws() const override { return law_.pairs; }
  void prepare() override {
    const BodyStore<D>& bodies = state_.bodies;
    const SweepSchedule<D>& schedule = neighborhood_.schedule();
    const std::size_t n_owned = bodies.n_owned();
    constexpr std::size_t size = BlockPipeline<D>::chunk_size;
    farthest_ = {};
    is_free_.assign((n_owned + size - 1) / size, 1);
    for (std::size_t i = 0; i < n_owned; ++i)
      if (bodies.mobility()[i] == 0 || !state_.type_rotates[bodies.type()[i]]) is_free_[i / size] = 0;
    field_force_.resize(n_owned);
    law_.find_reach(state_);
    records_.prepare(state_);
    histories_.restore(state_, neighborhood_);
    pairs_.prepare(schedule);
    walls_.prepare(state_, schedule);
    pipeline_.prepare(schedule, neighborhood_.ghosts());
  }
  void start(Real /*dt*/) override {
    if (balance_.is_kept()) histories_.keep_before();
    if (state_.clock.step == 0) {  // a restart knows its accelerations
      begin_deformation(0);
      StepContext<D> at_rest = begin_step(state_.clock.time, 0);
      run(at_rest);
      reactions_.sum(state_);
      share_result(at_rest);
    }
    if (!balance_.is_kept() || balance_.is_current()) return;
    StepContext<D> step = begin_step(state_.clock.time, 0);
    balance_.begin(step, neighborhood_.ghosts());
  }
  void set_free(std::size_t body) override { state_.bodies.acceleration()[body] = state_.gravity; }
  ContactMemory remember() override { return histories_.remember(state_, neighborhood_); }
  void step(Real dt) override {
    const Real end = state_.clock.time + dt;
    const Real driven_work = choose_wall_speeds(state_, dt) + begin_deformation(dt);  // H.17-H.18
    state_.obstacles.place(end);
    StepContext<D> step = begin_step(end, dt);
    run(step);               // H.1-H.6
    reactions_.sum(state_);  // of walls that a load moves
    state_.obstacles.finish_driven_step(end);
    const std::int64_t n_bodies = share_result(step);
    // In a deforming domain displacements count against the flow.
    if (!state_.deformation.is_given()) farthest_ = {state_.clock.step + 1, dt, step.farthest};
    if (state_.deformation.is_stress_driven())
      stress_.respond(state_, law_, records_, this->result_.n_contacts, n_bodies);
    if (balance_.is_kept()) balance_.update(step, neighborhood_.ghosts(), driven_work);  // H.9-H.11
  }
  Real farthest_after(Real dt) const override {
    const bool is_known = farthest_.step == state_.clock.step && farthest_.dt == dt;
    return is_known ? farthest_.squared : find_farthest(state_, dt);
  }
  Real reach() const override { return law_.reach; }
  void contacts_changed() override {
    if (!balance_.is_kept()) return;
    StepContext<D> step = begin_step(state_.clock.time, 0);
    balance_.flow_out(step, neighborhood_.ghosts());
  }
  ContactRules<D> contact_rules(Real tolerance) override {
    ContactRules<D> rules{.tolerance = tolerance};
    if (law_.reach > 0) {
      histories_.clear_open_contacts();
      rules = histories_.rules(tolerance);
    }
    rules.includes_fixed = true;
    return rules;
  }
  void export_forces(ContactGraph<D>& contacts) override {
    StepContext<D> step = begin_step(state_.clock.time, 0);
    ForceExport<D>::write(step, neighborhood_.ghosts(), contacts);
  }
  const PassedThrough& passed_through() const override { return passed_; }

 private:
  /// What one evaluation of forces at this time needs: all that lasts longer is in records and histories.
  StepContext<D> begin_step(Real time, Real dt) {
    StepContext<D> step{state_, neighborhood_.schedule(), law_, records_, histories_, time};
    step.batches.dt = dt;
    step.batches.places = records_.positions.data();
    step.batches.motions = records_.motions.data();
    const NeighborList<D>& list = neighborhood_.list();
    step.batches.shift_table = list.shift_table().data();
    if (const auto velocities = list.shift_velocity_table(); !velocities.empty())
      step.batches.shift_velocities = velocities.data();
    law_.fill(step.batches);
    return step;
  }
  void run(StepContext<D>& step) {
    const bool has_fields = !state_.forces.empty();
    const auto move = [&](std::size_t first, std::size_t last) { drift(first, last, step.batches.dt); };
    const auto add_forces = [&](const typename StepContext<D>::Block& block) {
      pairs_.add(step, block, stress_);
      walls_.add(step, block, reactions_);
    };
    const auto finish = [&](std::size_t first, std::size_t last) {
      if (!has_fields) kick(step, first, last);
    };
    {
      Scope timer("forces");
      reactions_.begin_step();
      stress_.begin_step();
      walls_.begin_step(state_.obstacles);
      histories_.begin_step();
      pipeline_.run(step, neighborhood_.ghosts(), move, add_forces, finish);
    }
    if (has_fields) kick_with_fields(step);
  }
  /// The flow of a deforming domain for the step of dt that begins, and the domain at its end. Returns the
  /// work [J] by which the trapezoidal rule misses that of a flow that changes at the start of the step.
  Real begin_deformation(Real dt) {
    DomainDeformation<D>& deformation = state_.deformation;
    if (!deformation.is_given()) return 0;
    const bool moved = deformation.moves();
    Vec<D> before;
    for (int k = 0; k < D; ++k) before[k] = deformation.strain_rate(state_.box, k);
    const Real shear_before = deformation.shear_rate(state_.box);
    Real work = 0;
    deformation.begin_step(state_.box, dt, [this](const auto& kick_at) {
      BodyStore<D>& bodies = state_.bodies;
      for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
        if (bodies.mobility()[i] != 0) bodies.velocity()[i] += kick_at(bodies.position()[i]);
    });
    for (int k = 0; k < D; ++k)
      work -= 0.5 * dt * state_.box.volume() * deformation.response().stress[k] *
              (deformation.strain_rate(state_.box, k) - before[k]);
    work += 0.5 * dt * state_.box.volume() * deformation.response().shear_stress *
            (deformation.shear_rate(state_.box) - shear_before);
    constexpr Real slowness = 4;  // residuals that springs relax are not to swing
    const Real share = dt > 0 ? dt / (slowness * deformation.response_time(dt)) : 0;
    deformation.advance(state_.box, dt, std::min(share, 1.0));
    if (moved || deformation.moves()) neighborhood_.list().place_images(state_);
    return work;
  }
  /// Velocities for half of dt, positions for dt, and what kernels know of them.
  void drift(std::size_t first, std::size_t last, Real dt) {
    std::size_t i = first;
    if constexpr (D == 3)
      if (const std::size_t n = n_in_kernel(first, last); n > 0 && dt > 0) {
        force_kernels().drift(arrays(first), n, dt);
        i += n;
      }
    if (i == last) return;
    const std::size_t rest = i;
    if (dt > 0)
      for (; i < last; ++i) drift_body(state_.bodies, i, dt);
    records_.load(state_.bodies, rest, last);
  }
  /// Accelerations from the forces of the records, and velocities for the other half.
  void kick(StepContext<D>& step, std::size_t first, std::size_t last) {
    const Real dt = step.batches.dt;
    const bool has_fields = !state_.forces.empty();
    std::size_t i = first;
    if constexpr (D == 3)
      if (const std::size_t n = has_fields ? 0 : n_in_kernel(first, last); n > 0) {
        step.farthest = std::max(step.farthest, force_kernels().kick(arrays(first), n, dt, state_.gravity));
        i += n;
      }
    for (; i < last; ++i) {
      const bool rotates = state_.type_rotates[state_.bodies.type()[i]];
      step.farthest =
          std::max(step.farthest, kick_body(state_.bodies, i, dt, state_.gravity, records_.forces[i],
                                            has_fields ? &field_force_[i] : nullptr, rotates));
    }
  }
  /// Fields act on all bodies at once, and may depend on velocities.
  void kick_with_fields(StepContext<D>& step) {
    Scope timer("move");
    std::ranges::fill(field_force_, Vec<D>{});
    for (const auto& field : state_.forces) field->add(state_, step.time, field_force_);
    if (balance_.is_kept()) balance_.find_other_force(step.time);
    kick(step, 0, field_force_.size());
  }
  /// What a step met, of all ranks; returns the number of bodies. Collective.
  std::int64_t share_result(const StepContext<D>& step) {
    passed_ = step.passed;
    std::array<Real, 2> max{step.counts.deepest, step.counts.beyond};
    state_.comm.max(max);
    std::array<std::int64_t, 3> counts{step.counts.n_contacts, step.passed.count, state_.bodies.n_owned()};
    state_.comm.sum(counts);
    this->result_ = {counts[0], max[0], max[1], counts[1]};
    return counts[2];
  }
  /// How many of the bodies of a chunk, from the first on, kernels may treat: they can move and turn.
  std::size_t n_in_kernel(std::size_t first, std::size_t last) const {
    return is_free_[first / BlockPipeline<D>::chunk_size] != 0 ? (last - first) / batch_size * batch_size : 0;
  }
  BodyArrays arrays(std::size_t first) {
    BodyStore<D>& bodies = state_.bodies;
    return {bodies.position().data() + first,
            bodies.previous().data() + first,
            bodies.velocity().data() + first,
            bodies.acceleration().data() + first,
            bodies.angular_velocity().data() + first,
            bodies.angular_acceleration().data() + first,
            bodies.orientation().data() + first,
            bodies.reference_position().data() + first,
            bodies.mass().data() + first,
            bodies.radius().data() + first,
            records_.positions.data() + first,
            records_.motions.data() + first,
            records_.forces.data() + first};
  }

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  SpringLaw<D> law_;
  MotionRecords<D> records_;
  ContactHistories<D> histories_;
  PairForces<D> pairs_;
  WallForces<D> walls_;
  BlockPipeline<D> pipeline_;
  WallReactions<D> reactions_;
  DomainStress<D> stress_;
  SpringBalance<D> balance_;
  std::vector<Vec<D>> field_force_;    // n_owned
  std::vector<std::uint8_t> is_free_;  // of each chunk of the pipeline: all its bodies can move and turn
  PassedThrough passed_;               // of the last step
  // farthest_after() of the end of a step, found on the way.
  struct Farthest {
    std::int64_t step = -1;
    Real dt = 0;
    Real squared = 0;
  } farthest_;
};

}  // namespace scree
