#include "particles/contact_memory.hpp"

namespace scree {

void ContactMemory::restore(Index i, GlobalId partner, std::span<Real> numbers) const {
  const std::size_t body = i;
  const std::size_t w = width;
  std::ranges::fill(numbers, 0.0);
  for (std::size_t e = start[body]; e < static_cast<std::size_t>(start[body + 1]); ++e) {
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
  const auto first = from.start[body];
  const auto last = from.start[static_cast<std::size_t>(body) + 1];
  other.insert(other.end(), from.other.begin() + first, from.other.begin() + last);
  value.insert(value.end(), from.value.begin() + std::ptrdiff_t{first} * width,
               from.value.begin() + std::ptrdiff_t{last} * width);
  start.push_back(static_cast<Index>(other.size()));
}

ContactMemory ContactMemory::of(std::span<const Index> bodies) const {
  ContactMemory chosen;
  chosen.width = width;
  std::size_t n = 0;
  for (const Index i : bodies)
    n += static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1] - start[i]);
  chosen.start.reserve(bodies.size() + 1);
  chosen.other.reserve(n);
  chosen.value.reserve(n * static_cast<std::size_t>(width));
  for (const Index i : bodies) chosen.append_from(*this, i);
  return chosen;
}

}  // namespace scree
