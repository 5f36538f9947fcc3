#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace scree {

/// Work of this rank that a thread of its own does, one piece after the other in the order given, while the
/// rank goes on with its steps. The work may use neither MPI nor HDF5 (which is not built for threads) nor
/// timers (core/timing.hpp), and holds all it needs. Nothing here is collective.
class Background {
 public:
  Background() = default;
  /// Waits until all is done; what failed and was not asked for is dropped.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Hands over a piece of work; get() of the future waits for it and throws what it threw. Where no thread
  /// can be made or MPI allows none, the work is done at once.
  std::future<void> start(std::function<void()> work);

 private:
  void start_thread();
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
  bool ends_ = false;
  std::thread thread_;  ///< made for the first piece of work
};

/// Does `work` in the background, or at once if that is null.
std::future<void> start_work(Background* background, std::function<void()> work);

/// Whether what a future stands for is done (or there is none).
bool is_done(const std::future<void>& work);

}  // namespace scree
