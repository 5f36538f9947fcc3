#pragma once
#include <cstdint>
#include <string>

namespace scree {

/// A process as a lock names it. A number alone says little: machines are started again, process numbers are
/// used again, containers count their own.
struct LockHolder {
  std::string host;
  std::string machine;    ///< id of the machine; "": not known
  std::string boot;       ///< id of the start of the machine
  std::string processes;  ///< the name space that the process number belongs to
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< of the process, in ticks since the machine started
  std::string since;       ///< date and time of the lock
  std::string command;

  static LockHolder this_process(const std::string& command = "");
  std::string text() const;
  /// Throws InputError if `text` is none of text().
  static LockHolder read(const std::string& text);
  /// "process 123 on host a since 2026-01-31 12:00:00 (scree run deck.toml)"
  std::string words() const;
};

enum class Holder {
  alive,
  gone,    ///< of this machine, and not there any more
  unknown  ///< on another machine or in another container: this process cannot know
};
Holder state_of(const LockHolder& holder);

/// The right to write to a folder, as a file FOLDER/.scree-lock that names who has it. The file appears in
/// one step, on network file systems, too. A process that was killed leaves it behind: whoever comes next on
/// that machine takes it over, with a warning. All members local; of several ranks one takes the lock.
class FolderLock {
 public:
  /// Throws InputError if somebody else has the lock, or may have it, and RunError if it cannot be written.
  FolderLock(const std::string& folder, const std::string& command);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  bool try_to_take();
  void refuse_or_clear();

  std::string folder_, path_, text_;
  bool warned_ = false;
};

}  // namespace scree
