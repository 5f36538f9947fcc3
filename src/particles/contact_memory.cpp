#include "particles/contact_memory.hpp"

#include <algorithm>

namespace scree {

void ContactMemory::recall(Index i, GlobalId partner, std::span<Real> numbers) const {
  const auto body = static_cast<std::size_t>(i);
  const auto w = static_cast<std::size_t>(width);
  std::ranges::fill(numbers, 0.0);
  for (auto e = static_cast<std::size_t>(start[body]); e < static_cast<std::size_t>(start[body + 1]); ++e) {
    if (other[e] != partner) continue;
    std::copy_n(value.begin() + static_cast<std::ptrdiff_t>(e * w), std::min(w, numbers.size()),
                numbers.begin());
    return;
  }
}

void ContactMemory::clear(Index n_bodies_now) {
  start.assign(static_cast<std::size_t>(n_bodies_now) + 1, 0);
  other.clear();
  value.clear();
}

void ContactMemory::append_from(const ContactMemory& from, Index body) {
  width = from.width;
  const auto first = from.start[static_cast<std::size_t>(body)];
  const auto last = from.start[static_cast<std::size_t>(body) + 1];
  other.insert(other.end(), from.other.begin() + first, from.other.begin() + last);
  value.insert(value.end(), from.value.begin() + std::ptrdiff_t{first} * width,
               from.value.begin() + std::ptrdiff_t{last} * width);
  start.push_back(static_cast<Index>(other.size()));
}

ContactMemory ContactMemory::of(std::span<const Index> bodies) const {
  ContactMemory chosen;
  chosen.width = width;
  for (const Index i : bodies) chosen.append_from(*this, i);
  return chosen;
}

ContactMemory collect(Index n_bodies, std::span<const RememberedContact> contacts, int width) {
  const auto w = static_cast<std::size_t>(width);
  ContactMemory memory;
  memory.width = width;
  memory.clear(n_bodies);
  for (const RememberedContact& c : contacts) ++memory.start[static_cast<std::size_t>(c.body) + 1];
  for (std::size_t i = 1; i < memory.start.size(); ++i) memory.start[i] += memory.start[i - 1];
  memory.other.resize(contacts.size());
  memory.value.resize(contacts.size() * w);
  std::vector<Index> next(memory.start.begin(), memory.start.end() - 1);
  for (const RememberedContact& c : contacts) {
    const auto e = static_cast<std::size_t>(next[static_cast<std::size_t>(c.body)]++);
    memory.other[e] = c.other;
    std::copy_n(c.value.begin(), w, memory.value.begin() + static_cast<std::ptrdiff_t>(e * w));
  }
  return memory;
}

}  // namespace scree
