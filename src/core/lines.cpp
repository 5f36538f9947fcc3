#include "core/lines.hpp"

#include <algorithm>

namespace scree {

std::string in_lines(std::string_view start, const std::vector<std::string>& parts) {
  constexpr std::size_t longest = 100;
  const std::string indent(std::min(start.find_first_not_of(' '), start.size()) + 2, ' ');
  std::string text(start);
  std::size_t line_start = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool is_last = k + 1 == parts.size();
    if (k > 0 && text.size() - line_start + 1 + parts[k].size() + (is_last ? 0 : 1) > longest) {
      text += '\n';
      line_start = text.size();
      text += indent;
    } else if (k > 0) {
      text += ' ';
    }
    text += parts[k];
    if (!is_last) text += ',';
  }
  return text;
}

}  // namespace scree
