#pragma once
#include <algorithm>
#include <span>

#include "core/timing.hpp"
#include "schemes/dem/block_schedule.hpp"
#include "schemes/dem/force_sums.hpp"
#include "schemes/dem/step_context.hpp"

namespace scree {

/// Takes a step through the blocks of this rank: the one place that knows messages and chunks. The contacts
/// of a block add up in the order of a sweep (docs/method.md, "Sweeps"), and the sums of the blocks that
/// touch a body in the order of their colours: the same bits on any number of ranks, and ranks need not wait
/// for each other's colours.
template <int D>
class BlockPipeline {
 public:
  static constexpr std::size_t chunk_size = BlockSchedule<D>::chunk_size;

  /// After a list build. Local.
  void prepare(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts) {
    const TouchedBodies<D> touched(schedule, static_cast<std::size_t>(ghosts.n_local()));
    schedule_.plan(schedule, ghosts, touched);
    sums_.plan(schedule, ghosts, touched, schedule_);
    std::size_t max_chunks = 0;
    for (std::size_t turn = 0; turn < schedule_.order().size(); ++turn)
      max_chunks = std::max(max_chunks, schedule_.ends_at(turn).size() + schedule_.starts_at(turn).size());
    constexpr std::size_t max_arrays = 10;
    prefetch_.reserve(2 * max_arrays * max_chunks);
  }

  /// Every owned body is in one call of move(first body, last body), which brings its records up to date,
  /// without forces, and in one of finish(first body, last body), when its forces are complete: a chunk of
  /// BlockSchedule at a time. Between them add_forces(block) adds those of each block that touches it.
  /// Collective, two messages per pair of neighbouring ranks and direction: motions of the bodies that others
  /// hold, and sums of the forces on them. Interior blocks run meanwhile. No allocation.
  template <class Move, class AddForces, class Finish>
  void run(StepContext<D>& step, GhostExchange<D>& ghosts, const Move& move, const AddForces& add_forces,
           const Finish& finish) {
    step.batches.prefetch = &prefetch_;
    const auto finish_chunks = [&](std::span<const Index> chunks) {
      for (const Index chunk : chunks) sums_.add_up(static_cast<std::size_t>(chunk), step.records.forces);
      for_chunks(step, chunks, finish);
    };
    const auto run_turns = [&](std::size_t first, std::size_t last) {
      for (std::size_t turn = first; turn < last; ++turn) {
        const std::size_t block = schedule_.order()[turn];
        for_chunks(step, schedule_.starts_at(turn), move);
        prefetch_next(step, turn);
        add_forces(step.schedule.all_blocks()[block]);
        sums_.collect(block, step.records.forces);
        finish_chunks(schedule_.ends_at(turn));
      }
    };
    for_chunks(step, schedule_.starts_first(), move);
    send_motions(step, ghosts);
    run_turns(0, schedule_.n_early());
    receive_motions(step, ghosts);
    run_turns(schedule_.n_early(), schedule_.n_before_late());
    send_sums(ghosts);
    run_turns(schedule_.n_before_late(), schedule_.order().size());
    receive_sums(ghosts);
    finish_chunks(schedule_.ends_last());
  }

 private:
  template <class Pass>
  static void for_chunks(const StepContext<D>& step, std::span<const Index> chunks, const Pass& pass) {
    if (chunks.empty()) return;
    Scope timer("move");
    const std::size_t n_owned = step.state.bodies.n_owned();
    for (const Index chunk : chunks) {
      const std::size_t first = static_cast<std::size_t>(chunk) * chunk_size;
      pass(first, std::min(first + chunk_size, n_owned));
    }
  }
  /// Notes what passes read after the block of this turn: chunks lie apart, so the processor does not see
  /// what comes.
  void prefetch_next(const StepContext<D>& step, std::size_t turn) {
    prefetch_.clear();
    const auto add = [&](std::span<const Index> chunks, const auto&... arrays) {
      for (std::size_t k = 0; k < chunks.size();) {
        const std::size_t first = static_cast<std::size_t>(chunks[k]) * chunk_size;
        std::size_t last = first;
        for (; k < chunks.size() && static_cast<std::size_t>(chunks[k]) * chunk_size == last; ++k)
          last += chunk_size;
        const auto add_one = [&](const auto& array) {
          const std::size_t end = std::min(last, array.size());
          prefetch_.add(array.data() + first, (end - first) * sizeof(array[0]));
        };
        (add_one(arrays), ...);
      }
    };
    const BodyStore<D>& bodies = step.state.bodies;
    const MotionRecords<D>& records = step.records;
    add(schedule_.ends_at(turn), bodies.position(), bodies.reference_position(), bodies.velocity(),
        bodies.acceleration(), bodies.angular_velocity(), bodies.angular_acceleration(), bodies.mass(),
        bodies.radius(), records.forces);
    if (turn + 1 < schedule_.order().size())
      add(schedule_.starts_at(turn + 1), bodies.position(), bodies.previous(), bodies.velocity(),
          bodies.acceleration(), bodies.angular_velocity(), bodies.angular_acceleration(),
          bodies.orientation(), records.positions, records.motions, records.forces);
  }
  static void send_motions(const StepContext<D>& step, GhostExchange<D>& ghosts) {
    Scope timer("exchange");
    step.records.begin_copy_to_ghosts(ghosts);
  }
  static void receive_motions(StepContext<D>& step, GhostExchange<D>& ghosts) {
    Scope timer("exchange");
    step.records.end_copy_to_ghosts(ghosts);
  }
  void send_sums(GhostExchange<D>& ghosts) const {
    Scope timer("exchange");
    ghosts.begin_partial_sums(force_width, [this](Index sum, Real* out) {
      const ForceRecord& of_body = sums_.leaving(static_cast<std::size_t>(sum));
      out = std::copy_n(of_body.force, D, out);
      std::copy_n(of_body.torque + first_spin<D>, n_spins<D>, out);
    });
  }
  void receive_sums(GhostExchange<D>& ghosts) {
    Scope timer("exchange");
    ghosts.end_partial_sums(force_width, [this](Index sum, const Real* in) {
      ForceRecord& of_body = sums_.arriving(static_cast<std::size_t>(sum));
      std::copy_n(in, D, of_body.force);
      std::copy_n(in + D, n_spins<D>, of_body.torque + first_spin<D>);
    });
  }

  static constexpr int force_width = D + n_spins<D>;  // numbers of a force with its torque

  BlockSchedule<D> schedule_;
  ForceSums<D> sums_;
  PrefetchQueue prefetch_;  // what the next passes over bodies read
};

}  // namespace scree
