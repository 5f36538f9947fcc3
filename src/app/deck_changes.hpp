#pragma once
#include <string>

#include "core/deck.hpp"

namespace scree {

/// Throws InputError unless a run of the deck `before` may go on with `now`: what made its state must be the
/// same. The message names each key that differs, with its place and both values, and what may change. Both
/// decks have been described. `whose` says where `before` comes from ("in results/a/..."). Local, the same on
/// all ranks.
void require_same_run(const Deck& now, const Deck& before, const std::string& whose);

}  // namespace scree
