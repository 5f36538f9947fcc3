#include "comm/migration.hpp"

#include <map>

namespace scree {

namespace {

/// Calls f(values) for the fields that travel.
template <class Store, class F>
void for_each_packed(Store& bodies, bool ghost_fields_only, F&& f) {
  bodies.for_each_field([&](const FieldInfo& info, auto& values) {
    if (!ghost_fields_only || bodies.is_of_ghosts(info)) f(values);
  });
}

}  // namespace

template <int D>
void pack_bodies(const BodyStore<D>& bodies, const ContactMemory& memory, std::span<const Index> which,
                 bool ghost_fields_only, Packer& packer) {
  for_each_packed(bodies, ghost_fields_only, [&](const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    static thread_local std::vector<T> chosen;
    chosen.resize(which.size());
    for (std::size_t k = 0; k < which.size(); ++k) chosen[k] = values[which[k]];
    packer.put(std::span<const T>(chosen));
  });
  const ContactMemory leaving = memory.of(which);
  packer.put(leaving.width);
  packer.put(std::span<const Index>(leaving.start));
  packer.put(std::span<const GlobalId>(leaving.other));
  packer.put(std::span<const Real>(leaving.value));
}

template <int D>
void unpack_bodies(Unpacker& unpacker, Index first, Index count, bool ghost_fields_only, BodyStore<D>& bodies,
                   ContactMemory& memory) {
  for_each_packed(bodies, ghost_fields_only, [&](auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    unpacker.take(std::span<T>(values).subspan(first, count));
  });
  ContactMemory arriving;
  arriving.width = unpacker.take<int>();
  arriving.start.resize(static_cast<std::size_t>(count) + 1);
  unpacker.take(std::span<Index>(arriving.start));
  arriving.other.resize(arriving.start.back());
  arriving.value.resize(arriving.other.size() * static_cast<std::size_t>(arriving.width));
  unpacker.take(std::span<GlobalId>(arriving.other));
  unpacker.take(std::span<Real>(arriving.value));
  for (Index i = 0; i < count; ++i) memory.append_from(arriving, i);
}

template <int D>
std::int64_t migrate(const Comm& comm, std::span<const int> destination, BodyStore<D>& bodies,
                     ContactMemory& memory, ExchangeVolume* volume) {
  std::map<int, std::vector<Index>> leaving;
  std::vector<Index> staying;
  staying.reserve(destination.size());
  for (std::size_t i = 0; i < destination.size(); ++i)
    (destination[i] == comm.rank() ? staying : leaving[destination[i]]).push_back(static_cast<Index>(i));

  const auto n_leaving = static_cast<std::int64_t>(destination.size() - staying.size());
  const std::int64_t n_moved = comm.sum(n_leaving);
  if (n_moved == 0) return 0;

  Outgoing outgoing;
  for (const auto& [rank, which] : leaving) {
    Packer packer = outgoing.to(rank);
    packer.put(static_cast<Index>(which.size()));
    pack_bodies(bodies, memory, which, false, packer);
  }
  if (n_leaving > 0) {
    bodies.reorder(staying);
    memory = memory.of(staying);
  }
  if (volume) *volume += volume_of(outgoing);
  for (const PackedMessage& message : outgoing.exchange(comm)) {
    Unpacker unpacker(message.bytes);
    const auto count = unpacker.take<Index>();
    const Index first = bodies.n_owned();
    bodies.resize(first + count, 0);
    unpack_bodies(unpacker, first, count, false, bodies, memory);
  }
  return n_moved;
}

#define SCREE_INSTANTIATE(D)                                                                            \
  template void pack_bodies<D>(const BodyStore<D>&, const ContactMemory&, std::span<const Index>, bool, \
                               Packer&);                                                                \
  template void unpack_bodies<D>(Unpacker&, Index, Index, bool, BodyStore<D>&, ContactMemory&);         \
  template std::int64_t migrate<D>(const Comm&, std::span<const int>, BodyStore<D>&, ContactMemory&,    \
                                   ExchangeVolume*);
SCREE_INSTANTIATE(2)
SCREE_INSTANTIATE(3)
#undef SCREE_INSTANTIATE

}  // namespace scree
