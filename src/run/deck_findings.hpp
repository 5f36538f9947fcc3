#pragma once
#include <string>
#include <vector>

#include "run/run_deck.hpp"
#include "state/state.hpp"

namespace scree {

/// What makes a run doubtful, so that it says so itself: what its environment, if it has one, finds, walls
/// that bodies with shapes do not detect, and driven walls that move in ways that the scheme gets wrong.
/// Throws one InputError with all findings if one of them is an error. Collective.
template <int D>
std::vector<std::string> grave_findings(const RunDeck<D>& deck, const State<D>& state);

/// What a deck that can run says but may not mean: faces of the domain through which bodies can leave,
/// obstacles that no body can meet, obstacles that periodic faces cut, and a run without results. One finding
/// with its place in the deck per entry, the same on all ranks. Looks at obstacles where they start, on a
/// grid of some ten thousand points: a gap narrower than a cell is not seen. Collective, O(points * parts of
/// obstacles).
template <int D>
std::vector<std::string> deck_findings(const RunDeck<D>& deck, const State<D>& state);

/// Tables of [output] that the deck asks for and this build cannot write.
template <int D>
std::vector<std::string> missing_outputs(const RunDeck<D>& deck);

/// What to do about them; empty if there are none.
template <int D>
std::string about_missing_outputs(const RunDeck<D>& deck);

}  // namespace scree
