#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include "io/background.hpp"

using namespace scree;

TEST_CASE("background: work is done in order by one other thread while the caller goes on", "[io]") {
  std::promise<void> gate;
  std::shared_future<void> opened(gate.get_future());
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  Background background;
  std::vector<std::future<void>> pieces;
  for (int i = 0; i < 3; ++i)
    pieces.push_back(background.start([&, i] {
      opened.wait();
      done.push_back(i);
      threads.push_back(std::this_thread::get_id());
    }));
  for (const auto& piece : pieces) CHECK_FALSE(is_done(piece));
  gate.set_value();
  for (auto& piece : pieces) piece.get();
  CHECK(done == std::vector<int>{0, 1, 2});
  CHECK(threads[0] != std::this_thread::get_id());
  CHECK(threads[0] == threads[2]);
  CHECK(is_done(pieces[0]));
}

TEST_CASE("background: what work throws comes out of its future, and work after it is done", "[io]") {
  Background background;
  std::future<void> first = background.start([] { throw std::runtime_error("no room"); });
  bool done = false;
  std::future<void> second = start_work(&background, [&] { done = true; });
  CHECK_THROWS_WITH(first.get(), "no room");
  second.get();
  CHECK(done);
  std::future<void> at_once = start_work(nullptr, [] { throw std::runtime_error("no room"); });
  CHECK(is_done(at_once));
  CHECK_THROWS_WITH(at_once.get(), "no room");
}

TEST_CASE("background: its end waits for all work that was handed over", "[io]") {
  std::atomic<int> n_done = 0;
  {
    Background background;
    for (int i = 0; i < 5; ++i)
      static_cast<void>(background.start([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++n_done;
      }));
  }
  CHECK(n_done == 5);
}

TEST_CASE("background: signals are left to the thread that hands over work", "[io]") {
  const auto blocks = [](int signal) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
  };
  REQUIRE_FALSE(blocks(SIGTERM));
  Background background;
  bool blocked_there = false;
  background.start([&] { blocked_there = blocks(SIGTERM) && blocks(SIGUSR1) && blocks(SIGINT); }).get();
  CHECK(blocked_there);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) CHECK_FALSE(blocks(signal));
}
