#pragma once
#include <string>

#include "core/parallel.hpp"

namespace scree {

/// A new folder that goes away, with all that it holds, with this object. Collective.
class ScratchFolder {
 public:
  /// Below `parent`, or below the system's folder of temporary files if that is empty. Throws InputError if
  /// it cannot be made.
  ScratchFolder(const Comm& comm, const std::string& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes of all files below it.
  std::int64_t bytes() const;

 private:
  Comm comm_;
  std::string path_;
};

}  // namespace scree
