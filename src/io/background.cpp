#include "io/background.hpp"

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "core/parallel.hpp"

namespace scree {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::future<void> Background::start(std::function<void()> work) {
  std::packaged_task<void()> task(std::move(work));
  std::future<void> result = task.get_future();
  if (!thread_.joinable()) {
    start_thread();
    if (!thread_.joinable()) {
      task();
      return result;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  return result;
}

void Background::start_thread() {
  if (!may_have_threads()) return;
  // Signals are for the thread that takes steps: it looks at what a handler leaves. Not those of its own
  // faults.
  sigset_t of_others, before;
  sigfillset(&of_others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&of_others, own);
  pthread_sigmask(SIG_SETMASK, &of_others, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // thread_ stays empty
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Background::run() {
  while (true) {
    std::packaged_task<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

std::future<void> start_work(Background* background, std::function<void()> work) {
  if (background) return background->start(std::move(work));
  std::packaged_task<void()> task(std::move(work));
  std::future<void> result = task.get_future();
  task();
  return result;
}

bool is_done(const std::future<void>& work) {
  return !work.valid() || work.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace scree
