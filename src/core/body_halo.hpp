#pragma once
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// How per-body values reach the ranks that need them. A rank holds n_owned() bodies of its own and, after
/// them, copies ("ghosts") of bodies of other ranks; arrays have n_held() entries of `width` numbers.
///
/// Two kinds of exchange:
/// - owners to ghosts and back: `copy_to_ghosts`, `add_to_owners`;
/// - *hand-overs* during a sweep, in which every body has exactly one live copy: it starts with the owner,
///   travels to each rank before the first of its phases that touches the body, and is back with the owner
///   after the last stage. Stage 0 comes before phase 0, stage p + 1 after phase p. Sweeps in a row save the
///   way home and back: stage n_phases() + p + 1 comes after phase p of a sweep that another one follows, and
///   takes copies to where that one needs them first; it has no stage 0.
///
/// Lets a solver exchange velocities without knowing who decided on the decomposition.
class BodyHalo {
 public:
  virtual ~BodyHalo() = default;
  virtual const Comm& comm() const = 0;
  virtual Index n_owned() const = 0;
  virtual Index n_held() const = 0;
  /// Phases of a sweep: those of one phase that belong to different ranks share no body.
  virtual int n_phases() const = 0;

  /// Overwrites all ghosts with their owners' values. Collective.
  virtual void copy_to_ghosts(std::span<Real> values, int width) = 0;
  /// Adds what ranks hold for their ghosts to the owners' values; the order of addition is not fixed, so the
  /// last bits depend on the ranks. Ghost entries keep their values. Collective.
  virtual void add_to_owners(std::span<Real> values, int width) = 0;
  /// Moves live copies. The array must not be touched at bodies that travel in between. Collective.
  virtual void begin_hand_over(int stage, std::span<const Real> values, int width) = 0;
  virtual void end_hand_over(int stage, std::span<Real> values, int width) = 0;
};

/// Where a sweep stands among sweeps in a row over the same values.
struct SweepTurn {
  bool first = true;  ///< owners have the live copies before it, or all holders have the same values
  /// Owners have them after it; else the next one must not be a first one, unless the values are given up.
  /// What owners hold then is old; with SCREE_ASSERTS it is no number.
  bool last = true;

  static SweepTurn of(std::int64_t sweep, std::int64_t n_sweeps) {
    return {.first = sweep == 0, .last = sweep + 1 == n_sweeps};
  }
};

/// The order of all sweeps: rim(p), what touches bodies that travel, and interior(p) of each phase, with
/// hand-overs begin(stage), end(stage) between them, each rim before the messages that interiors hide.
template <class Rim, class Interior, class Begin, class End>
void run_phases_in_order(int n_phases, SweepTurn turn, Rim&& rim, Interior&& interior, Begin&& begin,
                         End&& end) {
  if (turn.first) {
    begin(0);
    end(0);
  }
  const int first_stage = turn.last ? 1 : 1 + n_phases;
  for (int phase = 0; phase < n_phases; ++phase) {
    rim(phase);
    begin(first_stage + phase);
    interior(phase);
    end(first_stage + phase);
  }
}

/// Runs visit(first, last) over the contacts of each phase in sweep order, with hand-overs of the live copies
/// `values` between phases: phase p has the contacts [phase_first[p], phase_first[p + 1]), and those before
/// interior_first[p] touch bodies that travel. Collective, up to n_phases + 1 messages each way between
/// neighbouring ranks.
template <class Visit>
void run_sweep_phases(BodyHalo& halo, std::span<const Index> phase_first,
                      std::span<const Index> interior_first, std::span<Real> values, int width, Visit&& visit,
                      SweepTurn turn = {}) {
  const auto at = [](int phase) { return static_cast<std::size_t>(phase); };
  run_phases_in_order(
      halo.n_phases(), turn, [&](int p) { visit(phase_first[at(p)], interior_first[at(p)]); },
      [&](int p) { visit(interior_first[at(p)], phase_first[at(p + 1)]); },
      [&](int stage) { halo.begin_hand_over(stage, values, width); },
      [&](int stage) { halo.end_hand_over(stage, values, width); });
}

/// Calls f(first, last) for the stretches of contacts that run_sweep_phases() visits, in its order. Local.
template <class F>
void for_each_stretch(std::span<const Index> phase_first, std::span<const Index> interior_first, F&& f) {
  const auto at = [](int phase) { return static_cast<std::size_t>(phase); };
  const auto nothing = [](int) {};
  run_phases_in_order(
      static_cast<int>(interior_first.size()), {},
      [&](int p) { f(phase_first[at(p)], interior_first[at(p)]); },
      [&](int p) { f(interior_first[at(p)], phase_first[at(p + 1)]); }, nothing, nothing);
}

/// Everything on one rank: nothing travels.
class SerialHalo final : public BodyHalo {
 public:
  SerialHalo(const Comm& comm, Index n_bodies, int n_phases = 1)
      : comm_(comm), n_bodies_(n_bodies), n_phases_(n_phases) {}
  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_bodies_; }
  Index n_held() const override { return n_bodies_; }
  int n_phases() const override { return n_phases_; }
  void copy_to_ghosts(std::span<Real>, int) override {}
  void add_to_owners(std::span<Real>, int) override {}
  void begin_hand_over(int, std::span<const Real>, int) override {}
  void end_hand_over(int, std::span<Real>, int) override {}

 private:
  Comm comm_;
  Index n_bodies_;
  int n_phases_;
};

}  // namespace scree
