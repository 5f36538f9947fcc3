#include "core/input_crash.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "core/error.hpp"

namespace scree {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool catches = false;
#else
constexpr bool catches = true;
#endif

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
constexpr std::size_t max_files = 4;

// A handler may touch nothing but plain memory that was prepared before.
struct File {
  std::array<char, 1024> words;
  std::size_t length;
};
std::array<File, max_files> files;
volatile sig_atomic_t n_files = 0;
std::size_t n_guards = 0;  // of which the first max_files are named
volatile sig_atomic_t speaks_here = 1;
volatile sig_atomic_t code_of_end = static_cast<int>(ExitCode::bad_input);
std::array<struct sigaction, crashes.size()> usual;
alignas(16) std::array<std::byte, 1 << 16> stack;  // that of the program may be what overflowed

void print(const char* words, std::size_t length) {
  while (length > 0) {
    const ssize_t n = ::write(STDERR_FILENO, words, length);
    if (n <= 0) return;
    words += n;
    length -= static_cast<std::size_t>(n);
  }
}

void print(const char* words) {
  print(words, std::strlen(words));
}

void on_crash(int) {
  if (n_files > 0) {
    if (speaks_here == 0) {
      // The launcher ends this process once the one that prints is gone.
      timespec rest{3, 0};
      while (::nanosleep(&rest, &rest) != 0) {
      }
    }
    print("scree: ");
    for (sig_atomic_t i = 0; i < n_files; ++i) {
      if (i > 0) print(" or ");
      const File& file = files[i];
      print(file.words.data(), file.length);
    }
    print(": damaged: reading it ended in a crash of the library that reads it\n");
  }
  ::_exit(code_of_end);
}

void take_crashes() {
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  for (std::size_t i = 0; i < crashes.size(); ++i) ::sigaction(crashes[i], &action, &usual[i]);
}

}  // namespace

InputCrashGuard::InputCrashGuard(const std::string& path, bool speaks) {
  if (!catches) return;
  if (n_guards == 0) {
    speaks_here = speaks ? 1 : 0;
    take_crashes();
  }
  if (n_guards < max_files) {
    File& file = files[n_guards];
    file.length = 0;
    // Names may hold what would change a terminal.
    for (const char c : path)
      if (file.length < file.words.size())
        file.words[file.length++] = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  n_files = static_cast<sig_atomic_t>(std::min(++n_guards, max_files));
}

InputCrashGuard::~InputCrashGuard() {
  if (!catches) return;
  n_files = static_cast<sig_atomic_t>(std::min(--n_guards, max_files));
  if (n_guards == 0)
    for (std::size_t i = 0; i < crashes.size(); ++i) ::sigaction(crashes[i], &usual[i], nullptr);
}

void end_quietly_with(int code) {
  if (!catches) return;
  code_of_end = code;
  if (n_guards == 0) take_crashes();
  n_files = 0;
}

}  // namespace scree
