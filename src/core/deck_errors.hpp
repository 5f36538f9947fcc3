#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/section.hpp"

namespace scree {

/// All that is wrong with the keys, types, units and ranges of a deck that some reading has refused, as the
/// message of one error: one line for each, with its place, up to 20 of them. `describe` reads the deck once
/// more; from the first mistake on its sections say that they are not `reading()`, so that nothing is
/// computed from values; what is wrong with these is told only if it comes first, and what is missing only if
/// nothing before it is wrong. `first`: the error of the first reading, for a deck that cannot be parsed or
/// shows no error now. Local.
std::string errors_of_deck(const std::string& text, const std::string& name,
                           const std::vector<std::string>& overrides, const std::string& first,
                           const std::function<void(Section&)>& describe);

}  // namespace scree
