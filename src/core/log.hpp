#pragma once
#include <fmt/core.h>

#include <string>

namespace scree::log {

enum class Level { quiet, normal, verbose };

/// Messages go to stderr on rank 0 only, and to a file as well if one is open. `quiet` leaves only warnings
/// on stderr; the file gets everything but details that were not asked for. Before start() nothing is
/// printed.
void start(bool is_root, Level level);
/// What was said since the last file was closed (since start()) comes first in it. Does nothing on ranks
/// other than 0. Throws on rank 0 alone if the file cannot be opened: call within share_errors().
void open_file(const std::string& path, bool append);
void close_file();

void info(const std::string& message);
void warn(const std::string& message);
void detail(const std::string& message);  ///< only with -v
void record(const std::string& message);  ///< to the file; on stderr only with -v

template <class... Args>
void info(fmt::format_string<Args...> form, Args&&... args) {
  info(fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> form, Args&&... args) {
  warn(fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void record(fmt::format_string<Args...> form, Args&&... args) {
  record(fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void detail(fmt::format_string<Args...> form, Args&&... args) {
  detail(fmt::format(form, std::forward<Args>(args)...));
}

}  // namespace scree::log
