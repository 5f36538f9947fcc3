#pragma once
#include <span>
#include <string>
#include <string_view>

namespace scree::detail {

/// Gives old names among the names in a file those of now, unless the file has these as well; the log has a
/// line for each. `place`: as in postprocess/scree/results/renamed_results.def. Local, alike on all ranks.
void use_new_names(const std::string& file, std::string_view place, std::span<std::string* const> names);

}  // namespace scree::detail
