#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace scree {

/// `start` and `parts`, which commas part, in lines of at most 100 characters where the parts allow it. Lines
/// after the first are indented by two blanks more than `start`.
std::string in_lines(std::string_view start, const std::vector<std::string>& parts);

}  // namespace scree
