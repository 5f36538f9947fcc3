#include "core/input_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace scree {

namespace {

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a pipe, not a file";
  if (S_ISSOCK(mode)) return "it is a socket, not a file";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "it is a device, not a file";
  return "";
}

/// An open file, known to be a regular one.
class RegularFile {
 public:
  explicit RegularFile(const std::string& path) {
    // Opening is an act for some devices, so the kind is asked before; and after, since a name can change
    // hands.
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      obstacle_ = system_reason(errno);
      return;
    }
    obstacle_ = kind_of(status.st_mode);
    if (!obstacle_.empty()) return;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
      obstacle_ = system_reason(errno);
    else
      obstacle_ = kind_of(status.st_mode);
    size_ = status.st_size;
  }
  ~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  const std::string& obstacle() const { return obstacle_; }
  std::int64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::string obstacle_;
};

}  // namespace

std::string obstacle_to_read(const std::string& path) {
  return RegularFile(path).obstacle();
}

std::string read_input(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("cannot read {}: {}", path, reason));
  };
  const RegularFile file(path);
  if (!file.obstacle().empty()) refuse(file.obstacle());
  require_memory(static_cast<Real>(file.size()), path);
  std::string content;
  content.reserve(file.size());
  std::string block(1 << 16, '\0');
  while (true) {
    const ssize_t n = ::read(file.descriptor(), block.data(), block.size());
    if (n == 0) return content;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(system_reason(errno));
    content.append(block, 0, static_cast<std::size_t>(n));
  }
}

std::size_t bracket_depth(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

std::string with_plain_line_ends(std::string text) {
  std::size_t n = 0;
  char before = 0;
  for (const char c : text) {
    const bool ends_pair = c == '\n' && before == '\r';
    if (!ends_pair) text[n++] = c == '\r' ? '\n' : c;
    before = c;
  }
  text.resize(n);
  return text;
}

}  // namespace scree
