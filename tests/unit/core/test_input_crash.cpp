#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "core/input_crash.hpp"

using namespace scree;

namespace {

struct End {
  int code = -1;  ///< -1: by a signal
  std::string words;
};

/// What becomes of a process that does this.
End end_of(const std::function<void()>& work) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[0]);
    work();
    ::_exit(0);
  }
  ::close(pipe[1]);
  End end;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(pipe[0], part.data(), part.size())) > 0;)
    end.words.append(part.data(), static_cast<std::size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  return end;
}

void crash() {
  ::signal(SIGABRT, SIG_DFL);  // Catch takes it, too
  std::abort();
}

}  // namespace

TEST_CASE("input crash: a crash while a file is read names it and ends with exit code 2", "[core]") {
  const End one = end_of([] {
    const InputCrashGuard guard("a.h5", true);
    std::abort();
  });
  CHECK(one.code == 2);
  CHECK(one.words == "scree: a.h5: damaged: reading it ended in a crash of the library that reads it\n");
  const End two = end_of([] {
    const InputCrashGuard first("a.h5", true), second("b\x1b.h5", true);
    volatile int* nothing = nullptr;
    *nothing = 1;
  });
  CHECK(two.code == 2);
  CHECK(two.words.starts_with("scree: a.h5 or b?.h5: damaged"));
}

TEST_CASE("input crash: before and after, crashes are those of the program", "[core]") {
  const End after = end_of([] {
    { const InputCrashGuard guard("a.h5", true); }
    crash();
  });
  CHECK(after.code == -1);
  CHECK(after.words.find("a.h5") == std::string::npos);
}

TEST_CASE("input crash: an end that has been explained stays quiet and keeps its code", "[core]") {
  const End end = end_of([] {
    end_quietly_with(2);
    std::abort();
  });
  CHECK(end.code == 2);
  CHECK(end.words.empty());
}
