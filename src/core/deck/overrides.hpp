#pragma once
#include <string>

#include "core/deck/source.hpp"

namespace scree {

/// Sets what "a.b=value" says in the deck. Throws InputError.
void apply_override(DeckSource& source, const std::string& text);

/// Refuses a text whose tables and arrays are nested so deep that the parser would use up the stack.
void require_shallow(std::string_view text, const std::string& what);

}  // namespace scree
