#pragma once
#include <list>
#include <string>
#include <vector>

#include "core/deck/declaration.hpp"
#include "core/deck/source.hpp"

namespace scree {

/// A message for each entry within `table` that `members` do not declare, in the order of the deck.
std::vector<std::string> unknown_keys(const DeckSource& source, const toml::table& table,
                                      const std::list<Declaration>& members, const std::string& path);

/// The message about one entry that is none of `declared`.
std::string unknown_key(const DeckSource& source, const toml::key& key, const toml::node& node,
                        const std::string& path, const std::vector<const Declaration*>& declared);

}  // namespace scree
