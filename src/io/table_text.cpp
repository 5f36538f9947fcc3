#include "io/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scree {

std::string format_seconds(Real seconds) {
  if (seconds == 0) return "0";
  return seconds < 0.1 ? fmt::format("{:.4f}", seconds)
                       : fmt::format("{:.{}f}", seconds,
                                     seconds < 10     ? 2
                                     : seconds < 1000 ? 1
                                                      : 0);
}

std::string wrap_words(std::string_view text, std::string_view margin, std::size_t most) {
  std::string lines;
  while (!text.empty()) {
    std::size_t end = text.size() > most ? text.rfind(' ', most) : text.size();
    if (end == std::string_view::npos || end == 0) end = std::min(text.find(' ', most), text.size());
    lines += fmt::format("{}{}\n", margin, text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

}  // namespace scree
