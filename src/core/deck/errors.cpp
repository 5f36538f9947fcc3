#include "core/deck/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace scree {

void DeckErrors::add(const InputError& error) {
  const bool is_missing = dynamic_cast<const MissingEntry*>(&error) != nullptr;
  const bool all_missing = std::ranges::all_of(list_, [](const One& one) { return one.is_missing; });
  if (!is_missing || all_missing) put({error.what(), is_missing});
}

void DeckErrors::add_unknown(std::size_t first, const std::vector<std::string>& messages) {
  std::vector<One> after(list_.begin() + static_cast<std::ptrdiff_t>(first), list_.end());
  std::erase_if(after, [](const One& one) { return one.is_missing; });
  list_.resize(first);
  for (const std::string& message : messages) put({message, false});
  for (const One& one : after) put(one);
}

namespace {

/// Line and column of a message "DECK:line:col: ..."; such without a place, as those of --set, come last.
std::pair<int, int> place_of(const std::string& message, const std::string& deck) {
  std::pair<int, int> place{std::numeric_limits<int>::max(), 0};
  if (!message.starts_with(deck + ':')) return place;
  const char* const end = message.data() + message.size();
  const auto line = std::from_chars(message.data() + deck.size() + 1, end, place.first);
  if (line.ptr != end) std::from_chars(line.ptr + 1, end, place.second);
  return place;
}

}  // namespace

std::string DeckErrors::text(const std::string& deck) const {
  if (list_.size() == 1) return list_.front().message;
  std::vector<std::string> messages;
  for (const One& one : list_) messages.push_back(one.message);
  std::ranges::stable_sort(messages, {}, [&](const std::string& one) { return place_of(one, deck); });
  constexpr std::size_t max_listed = 20;
  std::string text = fmt::format("{} errors in {}:", list_.size(), deck);
  for (std::size_t i = 0; i < std::min(max_listed, messages.size()); ++i) text += "\n  " + messages[i];
  if (list_.size() > max_listed) text += fmt::format("\n  and {} more", list_.size() - max_listed);
  return text;
}

void DeckErrors::put(const One& one) {
  if (std::ranges::none_of(list_, [&](const One& other) { return other.message == one.message; }))
    list_.push_back(one);
}

}  // namespace scree
