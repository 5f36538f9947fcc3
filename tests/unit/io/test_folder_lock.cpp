#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/folder_lock.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

/// The number of a process that has ended and been waited for.
std::int64_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

std::string refusal(const std::string& folder) {
  return message_of<InputError>([&] { const FolderLock lock(folder, "again"); });
}

}  // namespace

TEST_CASE("folder lock: a second taker is refused with host, process, start and command, and gets it later",
          "[io]") {
  const Scratch scratch;
  const LockHolder self = LockHolder::this_process();
  {
    const FolderLock lock(scratch.folder(), "scree run deck.toml");
    CHECK_THAT(refusal(scratch.folder()),
               Catch::Contains(scratch.folder() + " is in use by process " + std::to_string(::getpid()) +
                               " on host " + self.host + " since 20") &&
                   Catch::Contains("(scree run deck.toml)"));
  }
  CHECK(n_files_in(scratch.folder()) == 0);
  const FolderLock again(scratch.folder(), "");
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("folder lock: one of a process that is gone is taken over", "[io]") {
  const Scratch scratch;
  const std::string path = scratch / ".scree-lock";
  LockHolder holder = LockHolder::this_process();
  SECTION("it has ended") {
    holder.pid = ended_process();
  }
  SECTION("its number belongs to another process now") {
    holder.start -= 1;
  }
  SECTION("the machine has been started again") {
    holder.boot = "another start";
  }
  put(path, holder.text());
  CHECK(state_of(holder) == Holder::gone);
  {
    const FolderLock lock(scratch.folder(), "mine");
    CHECK(LockHolder::read(content_of(path)).command == "mine");
  }
  CHECK(n_files_in(scratch.folder()) == 0);
}

TEST_CASE("folder lock: one that cannot be judged from here is left alone, and the file to remove is named",
          "[io]") {
  const Scratch scratch;
  const std::string path = scratch / ".scree-lock";
  LockHolder holder = LockHolder::this_process();
  holder.pid = ended_process();
  std::string text;
  SECTION("of another host") {
    holder.host = "elsewhere";
    text = holder.text();
  }
  SECTION("of another machine of this name") {
    holder.machine = "0123";
    text = holder.text();
  }
  SECTION("of another container") {
    holder.processes = "pid:[1]";
    text = holder.text();
  }
  SECTION("empty") {}
  SECTION("of something else") {
    text = "scree lock 1\nhost = a\npid = many\n";
  }
  put(path, text);
  CHECK_THAT(refusal(scratch.folder()), Catch::Contains("remove") && Catch::Contains(path));
  CHECK(content_of(path) == text);
  CHECK(n_files_in(scratch.folder()) == 1);
}

TEST_CASE("folder lock: a zombie holds no lock, a stopped process does", "[io]") {
  const Scratch scratch;
  LockHolder holder = LockHolder::this_process();
  SECTION("zombie") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t information{};
    ::waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOWAIT);
    holder.pid = child;
    CHECK(state_of(holder) == Holder::gone);
    ::waitpid(child, nullptr, 0);
  }
  SECTION("stopped") {
    int parts[2];
    REQUIRE(::pipe(parts) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string text = LockHolder::this_process().text();
      static_cast<void>(::write(parts[1], text.data(), text.size()) >= 0);
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, WUNTRACED);
    std::string text(4096, '\0');
    text.resize(::read(parts[0], text.data(), text.size()));
    CHECK(state_of(LockHolder::read(text)) == Holder::alive);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (const int part : parts) ::close(part);
  }
}

TEST_CASE("folder lock: of eight processes that find a lock left behind one gets it at a time", "[io]") {
  const Scratch scratch;
  LockHolder holder = LockHolder::this_process();
  holder.pid = ended_process();
  put(scratch / ".scree-lock", holder.text());
  std::vector<pid_t> children;
  for (int k = 0; k < 8; ++k) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        const FolderLock lock(scratch.folder(), "");
        // Nobody else may be in here: a second file of this name would show it.
        const std::string inside = scratch / "inside";
        code = ::link((scratch / ".scree-lock").c_str(), inside.c_str()) == 0 ? 0 : 2;
        ::usleep(20'000);
        ::unlink(inside.c_str());
      } catch (const InputError&) {
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  int n_taken = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) != 2);
    n_taken += WEXITSTATUS(status) == 0;
  }
  CHECK(n_taken >= 1);
  CHECK(n_files_in(scratch.folder()) == 0);
}
