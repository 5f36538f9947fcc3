#include "core/scratch_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "core/error.hpp"
#include "core/files.hpp"

namespace scree {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const Comm& comm, const std::string& parent) : comm_(comm) {
  files::on_root(comm, [&] {
    path_ = (parent.empty() ? fs::temp_directory_path() : fs::path(parent)) / "scree_XXXXXX";
    if (!mkdtemp(path_.data())) {
      const int error = errno;
      const std::string folder = fs::path(path_).parent_path().string();
      throw InputError(fmt::format("no folder can be made in {}: {}", folder, files::reason(error, folder)));
    }
  });
  comm.broadcast(path_);
}

ScratchFolder::~ScratchFolder() {
  // While an exception flies the other ranks may be elsewhere.
  if (std::uncaught_exceptions() == 0) comm_.barrier();
  std::error_code ignored;
  if (comm_.is_root()) fs::remove_all(path_, ignored);
}

std::int64_t ScratchFolder::bytes() const {
  std::int64_t sum = 0;
  files::on_root(comm_, [&] {
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      if (entry.is_regular_file()) sum += static_cast<std::int64_t>(entry.file_size());
  });
  return comm_.sum(sum);
}

}  // namespace scree
