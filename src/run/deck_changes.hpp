#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/deck.hpp"

namespace scree {

/// table.key, or the key alone outside of all tables.
std::string full_name(const Deck::Setting& setting);

/// How one setting of two decks differs.
struct SettingChange {
  const Deck::Setting* now = nullptr;     ///< null: not given now
  const Deck::Setting* before = nullptr;  ///< null: not given before
  bool whole_table = false;  ///< the other deck has no such table: one entry stands for all its keys
};

/// The differences in the order of `now`, then those of `before` alone; settings with `skip` do not count,
/// but their tables are there. Entries point into the two lists. Local.
std::vector<SettingChange> changes_between(
    const std::vector<Deck::Setting>& now, const std::vector<Deck::Setting>& before,
    const std::function<bool(const Deck::Setting&)>& skip = [](const Deck::Setting&) { return false; });

/// Throws InputError unless a run of the deck `before` may go on with `now`: what made its state must be the
/// same. The message names each key that differs, with its place and both values, and what may change. Both
/// decks have been described. `whose` says where `before` comes from ("in results/a/..."). Local, the same on
/// all ranks.
void require_same_run(const Deck& now, const Deck& before, const std::string& whose);

}  // namespace scree
