#pragma once
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/deck/deck_table.hpp"

namespace scree {

struct Deck::Impl {
  DeckSource source;
  std::string text;
  std::vector<std::string> overrides;
  std::list<Declaration> declared;
  DeckErrors errors;
  std::optional<Section> root;
};

}  // namespace scree
