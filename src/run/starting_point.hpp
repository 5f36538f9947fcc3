#pragma once
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "run/checkpoint.hpp"
#include "run/run_deck.hpp"
#include "state/state.hpp"

namespace scree {

/// A checkpoint that another run starts from (`scree run DECK --from CHECKPOINT`): it brings the bodies with
/// their velocities, spins and orientations, what contacts remember, and where driven walls have gone.
/// All else is as the deck of the new run says, and its clock, stages, inlets and measures start again.
template <int D>
class StartingPoint {
 public:
  /// Reads all but the bodies. Throws InputError on all ranks. Collective.
  StartingPoint(const Comm& comm, const std::string& checkpoint);

  /// Which checkpoint it is, in words.
  std::string text() const;
  /// How `deck`, which has been described, differs from the deck of the checkpoint: a line per key.
  std::vector<std::string> differences(const Deck& deck) const;

  /// Fills bodies, contact memory and next_id of `state`, which takes part in a run of `deck` and has no
  /// bodies yet; every rank takes an equal share. Groups and obstacles are known by their names. Says in the
  /// log what the run cannot take. Throws InputError on all ranks if bodies belong to a group that the deck
  /// does not have, or the deck has a group of its own. Collective.
  void take(State<D>& state, const RunDeck<D>& deck) const;

 private:
  std::vector<std::int32_t> match_groups(const State<D>& old, const RunDeck<D>& deck) const;
  static std::vector<std::int32_t> match_shapes(const State<D>& old, State<D>& state);
  void take_deformation(const State<D>& old, State<D>& state, const RunDeck<D>& deck) const;
  void take_bodies(const State<D>& old, const std::vector<std::int32_t>& type_of, State<D>& state,
                   const RunDeck<D>& deck) const;
  void take_memory(const State<D>& old, State<D>& state, const RunDeck<D>& deck) const;
  void take_walls(const State<D>& old, State<D>& state) const;

  std::string path_;
  CheckpointHead head_;
  Deck deck_;
  RunDeck<D> content_;  // of the checkpoint's deck
};

}  // namespace scree
