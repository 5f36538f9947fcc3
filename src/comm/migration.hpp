#pragma once
#include <span>

#include "comm/exchange_volume.hpp"
#include "core/parallel.hpp"
#include "core/sparse_all_to_all.hpp"
#include "particles/body_store.hpp"
#include "particles/contact_memory.hpp"

namespace scree {

/// Appends the chosen bodies to a message: their fields (all, or those that ghosts keep) and their memory.
template <int D>
void pack_bodies(const BodyStore<D>& bodies, const ContactMemory& memory, std::span<const Index> which,
                 bool ghost_fields_only, Packer& packer);
/// Writes `count` bodies taken from a message to places first, first + 1, ... (which must exist) and appends
/// their memory.
template <int D>
void unpack_bodies(Unpacker& unpacker, Index first, Index count, bool ghost_fields_only, BodyStore<D>& bodies,
                   ContactMemory& memory);

/// Sends every owned body i to rank destination[i], with its memory; ghosts are dropped. A body may move any
/// distance. Returns the number that moved, over all ranks; adds to `volume` what this rank
/// sent. Collective.
template <int D>
std::int64_t migrate(const Comm& comm, std::span<const int> destination, BodyStore<D>& bodies,
                     ContactMemory& memory, ExchangeVolume* volume = nullptr);

}  // namespace scree
