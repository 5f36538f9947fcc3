#include "core/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/input_file.hpp"

namespace scree::files {

namespace {

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool valid() const { return value_ >= 0; }
  int get() const { return value_; }
  /// Network file systems report a full disk or quota here.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

void sync(const std::string& path, int flags) {
  Descriptor descriptor(path, flags);
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) fail("sync", path);
}

}  // namespace

std::string reason(int error_number, const std::string& path) {
  std::string text = std::generic_category().message(error_number);
  if (error_number == ENOSPC) {
    std::error_code ignored;
    const std::filesystem::space_info space = std::filesystem::space(folder_of(path), ignored);
    if (!ignored) text += fmt::format(" ({} bytes free)", space.available);
  }
  return text;
}

void fail(const std::string& operation, const std::string& path) {
  const int error_number = errno;
  throw RunError(fmt::format("cannot {} {}: {}", operation, path, reason(error_number, path)));
}

void on_root(const Comm& comm, const std::function<void()>& work) {
  share_errors(comm, [&] {
    if (comm.is_root()) work();
  });
}

namespace {
std::atomic<std::int64_t> n_bytes_written = 0;
}

std::int64_t bytes_written() {
  return n_bytes_written;
}

void count_written(std::int64_t bytes) {
  n_bytes_written += bytes;
}

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(fmt::format("write {} bytes to", content.size()), path);
    content.remove_prefix(static_cast<std::size_t>(written));
    count_written(written);
  }
}

void write_atomically(const std::string& path, std::string_view content, bool durable) {
  const std::string temporary = path + ".part";
  try {
    // What has this name is outdated, or a link that would lead the content elsewhere.
    ::unlink(temporary.c_str());
    Descriptor descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!descriptor.valid()) fail("create", temporary);
    write_all(descriptor.get(), content, temporary);
    if (!descriptor.close()) fail("close", temporary);
    if (durable)
      rename_durably(temporary, path);
    else if (::rename(temporary.c_str(), path.c_str()) != 0)
      fail("rename " + temporary + " to", path);
  } catch (const RunError&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_on_root(const Comm& comm, const std::string& path, std::string_view content) {
  if (!path.empty()) on_root(comm, [&] { write_atomically(path, content); });
}

std::string read_on_all(const Comm& comm, const std::string& path) {
  std::string content;
  on_root(comm, [&] { content = read_input(path); });
  comm.broadcast(content);
  return content;
}

void make_directory(const Comm& comm, const std::string& path) {
  on_root(comm, [&] {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) throw RunError(fmt::format("cannot create the folder {}: {}", path, error.message()));
  });
}

void copy(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy_file(from, to, error);
  if (!error) return;
  ::unlink(to.c_str());
  throw RunError(fmt::format("cannot copy {} to {}: {}", from, to, reason(error.value(), to)));
}

void rename_durably(const std::string& from, const std::string& to) {
  sync(from, O_WRONLY);
  if (::rename(from.c_str(), to.c_str()) != 0) fail("rename " + from + " to", to);
  sync(folder_of(to), O_RDONLY | O_DIRECTORY);
}

void reserve(const std::string& path, std::int64_t from, std::int64_t bytes, const std::string& purpose) {
  Descriptor descriptor(path, O_WRONLY);
  const off_t length = descriptor.valid() ? ::lseek(descriptor.get(), 0, SEEK_END) : -1;
  if (length < 0) fail("open", path);
  int result = 0;
  do {
    result = ::fallocate(descriptor.get(), 0, from, bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
    std::error_code unknown;
    const std::filesystem::space_info space = std::filesystem::space(path, unknown);
    const std::int64_t wanted = from + bytes - length;
    if (unknown || wanted <= 0 || static_cast<std::uintmax_t>(wanted) <= space.available) return;
    errno = ENOSPC;
  }
  if (result == 0) return;
  const int error_number = errno;
  // A failed reservation may leave part of the blocks; giving back nothing is no reason to hide the failure.
  static_cast<void>(::ftruncate(descriptor.get(), length) == 0);
  errno = error_number;
  fail(fmt::format("write {} bytes for {} to", bytes, purpose), path);
}

}  // namespace scree::files
