#pragma once
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/deck/reading_section.hpp"

namespace scree {

struct Deck::Impl {
  DeckSource source;
  std::string text;
  std::vector<std::string> overrides;
  std::list<Declaration> declared;
  DeckErrors errors;
  std::optional<ReadingSection> root;
};

}  // namespace scree
