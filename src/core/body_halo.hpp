#pragma once
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
///   travels to each rank right before the first of its phases that touches the body, and is back with the
///   owner after the last stage. Stage 0 comes before phase 0, stage p + 1 after phase p.
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
  virtual void begin_hand_over(int stage, std::span<Real> values, int width) = 0;
  virtual void end_hand_over(int stage, std::span<Real> values, int width) = 0;
};

/// Runs visit(first, last) over the contacts of each phase in sweep order, with hand-overs of the live copies
/// `values` between phases: phase p has the contacts [phase_first[p], phase_first[p + 1]), and those before
/// interior_first[p] touch bodies that travel. Collective.
template <class Visit>
void run_sweep_phases(BodyHalo& halo, std::span<const Index> phase_first,
                      std::span<const Index> interior_first, std::span<Real> values, int width,
                      Visit&& visit) {
  halo.begin_hand_over(0, values, width);
  halo.end_hand_over(0, values, width);
  for (int phase = 0; phase < halo.n_phases(); ++phase) {
    const auto p = static_cast<std::size_t>(phase);
    visit(phase_first[p], interior_first[p]);
    halo.begin_hand_over(phase + 1, values, width);
    visit(interior_first[p], phase_first[p + 1]);
    halo.end_hand_over(phase + 1, values, width);
  }
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
  void begin_hand_over(int, std::span<Real>, int) override {}
  void end_hand_over(int, std::span<Real>, int) override {}

 private:
  Comm comm_;
  Index n_bodies_;
  int n_phases_;
};

}  // namespace scree
