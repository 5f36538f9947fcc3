#pragma once
#include <string>
#include <vector>

#include "core/error.hpp"

namespace scree {

/// A key or table that must be there and is not.
class MissingEntry : public InputError {
 public:
  using InputError::InputError;
};

/// What is wrong with a deck. Usually the first error is thrown where it is found; while errors are
/// collected, reading goes on (errors_of_deck).
class DeckErrors {
 public:
  void collect() { collecting_ = true; }
  bool collecting() const { return collecting_; }
  std::size_t size() const { return list_.size(); }
  bool any() const { return !list_.empty(); }

  /// What misses may be due to a mistake before it, so it is reported only if all before it are missing, too.
  void add(const InputError& error);
  void add(const std::string& message) { put({message, false}); }
  /// Puts unknown names before the errors from `first` on: they are often the cause of what misses among
  /// these.
  void add_unknown(std::size_t first, const std::vector<std::string>& messages);

  std::string text(const std::string& deck) const;

 private:
  struct One {
    std::string message;
    bool is_missing = false;
  };
  void put(const One& one);

  std::vector<One> list_;
  bool collecting_ = false;
};

}  // namespace scree
