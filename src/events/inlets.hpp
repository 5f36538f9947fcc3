#pragma once
#include <memory>
#include <string>
#include <vector>

#include "events/inlet.hpp"
#include "neighbors/neighborhood.hpp"
#include "particles/initial_packing.hpp"
#include "state/state.hpp"

namespace scree {

/// One [inlets.NAME] table: bodies that come one after the other, number k = 0, 1, ... at start + (k + 1) /
/// rate, or later if there is no place for it.
template <int D>
struct InletTable {
  ParticleGroup<D> bodies;
  std::unique_ptr<Inlet<D>> places;
  Real rate = 0;           ///< [1/s]
  Real mass_rate = 0;      ///< [kg/s]; 0: rate is given
  std::int64_t count = 0;  ///< 0: any number
  Real start = 0;          ///< [s]
  Real until = HUGE_VAL;   ///< [s]
  Real max_delay = 1;      ///< [s]

  std::string where_mass_rate;  ///< its place in the deck

  void describe(const std::string& name, const ShapeTable<D>& shapes, Section& section);
  /// Bodies per second: the rate, or the mass rate over the mean mass of a body. Needs bodies.density.
  Real bodies_per_second() const;
  /// How many bodies should have come by `time`; the inlet may have ended by then.
  std::int64_t n_due(Real time) const;
  /// Bodies per second that came by `time`, while the inlet was on; 0 before it starts.
  Real achieved_rate(std::int64_t n_made, Real time) const;
};

/// A body that an inlet is about to add.
template <int D>
struct InletBody {
  std::size_t inlet;
  NewBody<D> body;
};

/// All [inlets.NAME] tables. Radius and places of a body are drawn from streams named by seed, inlet, its
/// number in the inlet and the try; how far each inlet is stands in the State. So a restart and any number
/// of ranks make the same bodies.
template <int D>
class Inlets {
 public:
  /// Declares and reads [inlets.NAME]. `shapes`: those of the deck.
  void describe(Section& root, const ShapeTable<D>& shapes);
  /// Throws InputError if an inlet has no place for its largest body. Local, alike on all ranks.
  void fit(const Box<D>& domain);

  std::span<InletTable<D>> list() { return inlets_; }
  std::span<const InletTable<D>> list() const { return inlets_; }
  /// Makes state.inlets, with nothing fed.
  void prepare(State<D>& state) const;
  /// Records how many bodies of each inlet should have come by now, in state.inlets. Local.
  void record_due(State<D>& state) const;
  /// What inlet f did not deliver by now and why, in a sentence; empty if nothing is missing. `is_over`: the
  /// run has ended, so that bodies that are not due yet will never come. Local.
  std::string shortfall(std::size_t f, const State<D>& state, bool is_over) const;
  /// Of all inlets until `end_time`.
  BodiesToCome to_come(Real end_time) const;
  /// Fastest start of a body, without random parts [m/s].
  Real fastest() const;

  /// Finds places for the bodies that are due, so that they overlap no body, obstacle, image or each other,
  /// and records them in state.inlets and state.next_id; the same list on all ranks. A body without a place
  /// waits, and those behind it with it. Throws RunError, on all ranks, if one waits for longer than
  /// max_delay. Cost per step with bodies due: O(owned bodies), one reduction per batch of places.
  /// Collective.
  std::vector<InletBody<D>> find_places(State<D>& state, std::uint64_t seed) const;

 private:
  void feed(std::size_t inlet, State<D>& state, std::uint64_t seed, std::vector<InletBody<D>>& fed) const;
  [[noreturn]] void give_up(std::size_t inlet, const State<D>& state, Real behind) const;

  std::vector<InletTable<D>> inlets_;
};

}  // namespace scree
