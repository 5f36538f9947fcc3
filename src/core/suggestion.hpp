#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace scree {

/// `; did you mean "x"?` for the word nearest to `word`, if a third of its letters or fewer differ; else
/// nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& words);

}  // namespace scree
