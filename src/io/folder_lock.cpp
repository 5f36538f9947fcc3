#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"

namespace scree {

namespace {

const std::string lock_name = ".scree-lock";
const std::string first_line = "scree lock 1";

/// The first line of a file of the system, "" if there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// What /proc says of a process.
struct ProcessState {
  char state = '?';  ///< 'Z', 'X': it has ended
  std::int64_t start = 0;
};
std::optional<ProcessState> process_state(std::int64_t pid) {
  const std::string line = line_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t start_word = 19;  // field 22 of proc(5), the third is the first here
  if (words.size() <= start_word) return {};
  return ProcessState{words[0][0], std::stoll(words[start_word])};
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

/// Calls f(name, member) for each.
template <class H, class F>
void for_each_member(H& holder, const F& f) {
  f("host", holder.host);
  f("machine", holder.machine);
  f("boot", holder.boot);
  f("processes", holder.processes);
  f("pid", holder.pid);
  f("start", holder.start);
  f("since", holder.since);
  f("command", holder.command);
}

using files::fail;

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

}  // namespace

LockHolder LockHolder::this_process(const std::string& command) {
  LockHolder holder;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  holder.host = host;
  holder.machine = line_of("/etc/machine-id");
  holder.boot = line_of("/proc/sys/kernel/random/boot_id");
  char link[128] = {};
  if (::readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0) holder.processes = link;
  holder.pid = ::getpid();
  if (const auto state = process_state(holder.pid)) holder.start = state->start;
  holder.since = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
  holder.command = one_line(command);
  return holder;
}

std::string LockHolder::text() const {
  std::string text = first_line + "\n";
  for_each_member(
      *this, [&](const char* name, const auto& value) { text += fmt::format("{} = {}\n", name, value); });
  return text;
}

LockHolder LockHolder::read(const std::string& text) {
  LockHolder holder;
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  bool valid = line == first_line;
  for_each_member(holder, [&]<class T>(const char* name, T& value) {
    const std::string label = std::string(name) + " = ";
    valid = valid && std::getline(stream, line) && line.starts_with(label);
    if (!valid) return;
    const std::string word = line.substr(label.size());
    if constexpr (std::is_same_v<T, std::string>) {
      value = word;
    } else {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      valid = error == std::errc() && end == word.data() + word.size();
    }
  });
  if (!valid || holder.pid <= 0) throw InputError("it is no lock of scree");
  return holder;
}

std::string LockHolder::words() const {
  return fmt::format("process {} on host {} since {}{}", pid, host, since,
                     command.empty() ? "" : " (" + command + ")");
}

Holder state_of(const LockHolder& holder) {
  const LockHolder here = LockHolder::this_process();
  if (holder.host != here.host || holder.machine != here.machine) return Holder::unknown;
  if (holder.boot != here.boot) return Holder::gone;  // this machine has been started again
  if (holder.processes != here.processes) return Holder::unknown;
  if (::kill(static_cast<pid_t>(holder.pid), 0) != 0 && errno == ESRCH) return Holder::gone;
  const auto state = process_state(holder.pid);
  if (!state) return Holder::alive;  // hidden from this user
  const bool has_ended = state->state == 'Z' || state->state == 'X';
  return has_ended || state->start != holder.start ? Holder::gone : Holder::alive;
}

FolderLock::FolderLock(const std::string& folder, const std::string& command)
    : folder_(folder), path_(folder + "/" + lock_name), text_(LockHolder::this_process(command).text()) {
  // Each round ends in a lock or an error, unless another process takes or gives up the lock just then.
  constexpr int max_rounds = 100;
  for (int round = 0; round < max_rounds; ++round) {
    if (try_to_take()) return;
    refuse_or_clear();
  }
  throw InputError(fmt::format("{} is taken and given up all the time by other processes", path_));
}

FolderLock::~FolderLock() {
  // Somebody may have removed it by hand, and another process have its own by now.
  try {
    if (read_input(path_) == text_) ::unlink(path_.c_str());
  } catch (const InputError&) {
  }
}

/// A whole file gets a second name: that either works or finds the name taken, also over NFS.
bool FolderLock::try_to_take() {
  const LockHolder self = LockHolder::read(text_);
  const std::string own = fmt::format("{}.{}.{}", path_, self.host, self.pid);
  ::unlink(own.c_str());
  const int descriptor = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) fail("create", own);
  try {
    files::write_all(descriptor, text_, own);
    if (::fsync(descriptor) != 0) fail("sync", own);
  } catch (const RunError&) {
    ::close(descriptor);
    ::unlink(own.c_str());
    throw;
  }
  ::close(descriptor);
  const int result = ::link(own.c_str(), path_.c_str());
  int error_number = result == 0 ? 0 : errno;
  struct stat status {};
  // The answer of a server may get lost; the count of names does not.
  bool taken = result == 0 || (::stat(own.c_str(), &status) == 0 && status.st_nlink == 2);
  if (!taken && (error_number == EPERM || error_number == EOPNOTSUPP || error_number == ENOSYS)) {
    // No second names here. The name is reserved first: who finds it empty is refused.
    const int reserved = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    error_number = reserved < 0 ? errno : 0;
    if (reserved >= 0) {
      ::close(reserved);
      taken = ::rename(own.c_str(), path_.c_str()) == 0;
      error_number = taken ? 0 : errno;
    }
  }
  ::unlink(own.c_str());
  if (!taken && error_number != EEXIST) {
    errno = error_number;
    fail("create", path_);
  }
  return taken;
}

/// Removes the lock of a process that is gone; throws if there may be one.
void FolderLock::refuse_or_clear() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT) return;  // it has just been given up
    fail("open", path_);
  }
  struct Closing {
    int descriptor;
    ~Closing() { ::close(descriptor); }
  } closing{descriptor};
  std::string text(4096, '\0');
  const ssize_t n = ::pread(descriptor, text.data(), text.size(), 0);
  if (n < 0) fail("read", path_);
  text.resize(n);
  std::optional<LockHolder> holder;
  try {
    holder = LockHolder::read(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} may be in use: {} cannot be read: {}; if no run writes there, remove it",
                                 folder_, path_, error.what()));
  }
  switch (state_of(*holder)) {
    case Holder::alive:
      throw InputError(
          fmt::format("{} is in use by {}: wait until it has ended, or choose another [output] name", folder_,
                      holder->words()));
    case Holder::unknown:
      throw InputError(
          fmt::format("{} is in use by {}; whether that still runs cannot be seen from here: if it does not, "
                      "remove {}",
                      folder_, holder->words(), path_));
    case Holder::gone:
      break;
  }
  // Of several that find it left behind one removes it: not the new lock of the first.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::usleep(10'000);
    return;
  }
  struct stat opened {
  }, named{};
  if (::fstat(descriptor, &opened) != 0) fail("look at", path_);
  if (::stat(path_.c_str(), &named) != 0 || !is_same_file(opened, named)) return;
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("remove", path_);
  if (!warned_) log::warn("{} was left behind by {}: taken over", path_, holder->words());
  warned_ = true;
}

}  // namespace scree
