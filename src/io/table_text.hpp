#pragma once
#include <string>
#include <string_view>

#include "core/types.hpp"

/// What tables for the terminal share.
namespace scree {

/// At most six characters below 10^6 s.
std::string format_seconds(Real seconds);

/// Lines of at most `most` characters where words allow it, each after `margin`.
std::string wrap_words(std::string_view text, std::string_view margin, std::size_t most);

}  // namespace scree
