#pragma once
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// How per-body values reach the ranks that need them. A rank holds n_owned() bodies of its own and, after
/// them, copies ("ghosts") of bodies of other ranks; arrays have n_local() entries of `width` numbers.
///
/// Two kinds of exchange:
/// - owners to ghosts and back: `copy_to_ghosts`, `add_to_owners`;
/// - *transfers* during a sweep, in which every body has exactly one active copy: it starts with the owner,
///   travels to each rank before the first of its colours that touches the body, and is back with the owner
///   after the last stage. Stage 0 comes before colour 0, stage p + 1 after colour p. Sweeps in a row save
///   the way home and back: stage n_colours() + p + 1 comes after colour p of a sweep that another one
///   follows, and takes copies to where that one needs them first; it has no stage 0.
///
/// Lets a solver exchange velocities without knowing who decided on the decomposition.
class BodyHalo {
 public:
  virtual ~BodyHalo() = default;
  virtual const Comm& comm() const = 0;
  virtual Index n_owned() const = 0;
  virtual Index n_local() const = 0;
  /// Colours of a sweep: those of one colour that belong to different ranks share no body.
  virtual int n_colours() const = 0;

  /// Overwrites all ghosts with their owners' values. Collective.
  virtual void copy_to_ghosts(std::span<Real> values, int width) = 0;
  /// Adds what ranks hold for their ghosts to the owners' values; the order of addition is not fixed, so the
  /// last bits depend on the ranks. Ghost entries keep their values. Collective.
  virtual void add_to_owners(std::span<Real> values, int width) = 0;
  /// Moves active copies. The array must not be touched at shared bodies in between. Collective.
  virtual void begin_transfer(int stage, std::span<const Real> values, int width) = 0;
  virtual void end_transfer(int stage, std::span<Real> values, int width) = 0;
};

/// Where a sweep stands among sweeps in a row over the same values.
struct SweepTurn {
  bool first = true;  ///< owners have the active copies before it, or all holders have the same values
  /// Owners have them after it; if false, the next sweep must have first = false (unless the values are
  /// discarded). What owners hold then is old; with SCREE_ASSERTS it is NaN.
  bool last = true;

  static SweepTurn of(std::int64_t sweep, std::int64_t n_sweeps) {
    return {.first = sweep == 0, .last = sweep + 1 == n_sweeps};
  }
};

/// The order of all sweeps: boundary(p), what touches bodies shared between ranks, and interior(p) of each
/// colour, with transfers begin(stage), end(stage) between them, each boundary before the messages that
/// interiors hide.
template <class Boundary, class Interior, class Begin, class End>
void run_colours_in_order(int n_colours, SweepTurn turn, Boundary&& boundary, Interior&& interior,
                          Begin&& begin, End&& end) {
  if (turn.first) {
    begin(0);
    end(0);
  }
  const int first_stage = turn.last ? 1 : 1 + n_colours;
  for (int colour = 0; colour < n_colours; ++colour) {
    boundary(colour);
    begin(first_stage + colour);
    interior(colour);
    end(first_stage + colour);
  }
}

/// Runs visit(first, last) over the contacts of each colour in sweep order, with transfers of the active
/// copies `values` between colours: colour p has the contacts [colour_first[p], colour_first[p + 1]), and
/// those before interior_first[p] touch bodies shared between ranks. Collective, up to n_colours + 1 messages
/// each way between neighbouring ranks.
template <class Visit>
void run_sweep_colours(BodyHalo& halo, std::span<const Index> colour_first,
                       std::span<const Index> interior_first, std::span<Real> values, int width,
                       Visit&& visit, SweepTurn turn = {}) {
  const auto at = [](int colour) { return static_cast<std::size_t>(colour); };
  run_colours_in_order(
      halo.n_colours(), turn, [&](int p) { visit(colour_first[at(p)], interior_first[at(p)]); },
      [&](int p) { visit(interior_first[at(p)], colour_first[at(p + 1)]); },
      [&](int stage) { halo.begin_transfer(stage, values, width); },
      [&](int stage) { halo.end_transfer(stage, values, width); });
}

/// Calls f(first, last) for the stretches of contacts that run_sweep_colours() visits, in its order. Local.
template <class F>
void for_each_stretch(std::span<const Index> colour_first, std::span<const Index> interior_first, F&& f) {
  const auto at = [](int colour) { return static_cast<std::size_t>(colour); };
  const auto nothing = [](int) {};
  run_colours_in_order(
      static_cast<int>(interior_first.size()), {},
      [&](int p) { f(colour_first[at(p)], interior_first[at(p)]); },
      [&](int p) { f(interior_first[at(p)], colour_first[at(p + 1)]); }, nothing, nothing);
}

/// Everything on one rank: nothing travels.
class SerialHalo final : public BodyHalo {
 public:
  SerialHalo(const Comm& comm, Index n_bodies, int n_colours = 1)
      : comm_(comm), n_bodies_(n_bodies), n_colours_(n_colours) {}
  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_bodies_; }
  Index n_local() const override { return n_bodies_; }
  int n_colours() const override { return n_colours_; }
  void copy_to_ghosts(std::span<Real>, int) override {}
  void add_to_owners(std::span<Real>, int) override {}
  void begin_transfer(int, std::span<const Real>, int) override {}
  void end_transfer(int, std::span<Real>, int) override {}

 private:
  Comm comm_;
  Index n_bodies_;
  int n_colours_;
};

}  // namespace scree
