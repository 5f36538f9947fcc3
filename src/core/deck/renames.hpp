#pragma once
#include <string>
#include <vector>

#include "core/deck/source.hpp"

namespace scree {

/// Gives keys and words of the deck that have old names their new ones, and warns of each. Throws InputError
/// where both names of a key are given.
void rename_old_keys(DeckSource& source);

/// The same for the path of an override, "table", "key".
void rename_old_keys(DeckSource& source, std::vector<std::string>& path);

}  // namespace scree
