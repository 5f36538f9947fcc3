#include "core/stop_signal.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace scree::stop_signal {

namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGUSR1};
constexpr long long ns_between_signals = 500'000'000;

volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t speaks = 0;
std::atomic<long long> first_time = 0;  // [ns]
static_assert(std::atomic<long long>::is_always_lock_free);
bool watching = false;
std::array<struct sigaction, signals.size()> usual{};

long long now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Calls nothing but what POSIX allows in a handler.
void record_signal(int signal) {
  const int saved_errno = errno;
  if (first_signal == 0) {
    first_signal = signal;
    first_time = now();
    if (speaks != 0) {
      constexpr char text[] =
          "\nasked to stop: the run ends after this step, with a checkpoint; Ctrl-C once more ends it at "
          "once\n";
      // A message that nobody can read is no reason to do anything else.
      static_cast<void>(::write(STDERR_FILENO, text, sizeof text - 1) >= 0);
    }
  } else if (signal != SIGUSR1 && now() - first_time >= ns_between_signals) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // ends the process as soon as this handler returns
  }
  errno = saved_errno;
}

}  // namespace

void watch() {
  if (watching) return;
  watching = true;
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = record_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &usual[i]);
    if (usual[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

void release() {
  if (!watching) return;
  watching = false;
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &usual[i], nullptr);
  if (first_signal != 0) std::raise(first_signal);
}

void announce(bool yes) {
  speaks = yes ? 1 : 0;
}

int received() {
  return first_signal;
}

std::string name_of(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT (Ctrl-C)";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace scree::stop_signal
