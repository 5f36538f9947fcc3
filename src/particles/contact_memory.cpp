#include "particles/contact_memory.hpp"

namespace scree {

ContactMemory collect(Index n_bodies, std::span<const RememberedContact> contacts) {
  ContactMemory memory;
  memory.clear(n_bodies);
  for (const RememberedContact& c : contacts) ++memory.start[static_cast<std::size_t>(c.body) + 1];
  for (std::size_t i = 1; i < memory.start.size(); ++i) memory.start[i] += memory.start[i - 1];
  memory.other.resize(contacts.size());
  memory.value.resize(contacts.size());
  std::vector<Index> next(memory.start.begin(), memory.start.end() - 1);
  for (const RememberedContact& c : contacts) {
    const auto e = static_cast<std::size_t>(next[static_cast<std::size_t>(c.body)]++);
    memory.other[e] = c.other;
    memory.value[e] = c.value;
  }
  return memory;
}

}  // namespace scree
