#include "io/appended_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/files.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

constexpr std::chrono::seconds between_looks{1};

using files::fail;

}  // namespace

AppendedFile::AppendedFile(const std::string& path) : path_(path) {
  open();
}

AppendedFile::~AppendedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

AppendedFile::AppendedFile(AppendedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      length_(other.length_),
      last_look_(other.last_look_) {}

void AppendedFile::open() {
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) fail("open", path_);
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("ask the length of", path_);
  length_ = status.st_size;
}

void AppendedFile::add(std::string_view content) {
  files::write_all(descriptor_, content, path_);
  length_ += static_cast<std::int64_t>(content.size());
  if (WallClock::now() - last_look_ >= between_looks) keep_in_place();
}

void AppendedFile::keep_in_place() {
  last_look_ = WallClock::now();
  struct stat opened {
  }, named{};
  if (::fstat(descriptor_, &opened) != 0) fail("ask the length of", path_);
  if (opened.st_size < length_) {
    log::warn("{} was cut short by another program during the run: {} of {} bytes are left", path_,
              opened.st_size, length_);
  }
  length_ = opened.st_size;
  const bool there = ::stat(path_.c_str(), &named) == 0;
  if (!there && errno != ENOENT) return;  // a server that does not answer now
  if (there && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) return;
  const std::string all = content();
  const std::string other = path_ + ".other";
  if (there && ::rename(path_.c_str(), other.c_str()) != 0) fail("rename " + path_ + " to", other);
  files::write_atomically(path_, all, true);
  open();
  log::warn("{} was {} during the run; it has been written again, with all that it held", path_,
            there ? "replaced by another file, which is now " + other + "," : "removed");
}

std::string AppendedFile::content() const {
  std::string text(static_cast<std::size_t>(length_), '\0');
  std::size_t n_read = 0;
  while (n_read < text.size()) {
    const ssize_t n =
        ::pread(descriptor_, text.data() + n_read, text.size() - n_read, static_cast<off_t>(n_read));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read what is left of", path_);
    if (n == 0) break;
    n_read += static_cast<std::size_t>(n);
  }
  text.resize(n_read);
  return text;
}

}  // namespace scree
