#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace scree {

/// A file that grows while a run lasts, kept under its name: if somebody removes it meanwhile, or puts
/// another in its place, it is written again with all that it held, and a warning says so. Local; throws
/// RunError.
class AppendedFile {
 public:
  /// Opens a file that exists, to add to its end.
  explicit AppendedFile(const std::string& path);
  ~AppendedFile();
  AppendedFile(AppendedFile&& other) noexcept;
  AppendedFile& operator=(AppendedFile&&) = delete;

  /// Adds to the end; the content reaches the system before this returns. Calls keep_in_place() at most once
  /// a second, since each look may cost a message to a file server.
  void add(std::string_view content);
  /// Looks whether the name still leads to this file, and puts it back if not; what has taken its name
  /// becomes NAME.other. Warns if the file got shorter: what is missing is lost.
  void keep_in_place();

 private:
  using WallClock = std::chrono::steady_clock;
  void open();
  std::string content() const;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t length_ = 0;  ///< [bytes] as it should be
  WallClock::time_point last_look_ = WallClock::now();
};

}  // namespace scree
