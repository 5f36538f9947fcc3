#include "comm/record_exchange.hpp"

#include <thread>

#include "comm/fixed_copy.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {
constexpr int record_tag = 7102;
}

void RecordExchange::clear() {
  forget_channels();
  sent_ = {};
  received_ = {};
}

void RecordExchange::forget_channels() {
  for (auto& channel : channels_) {
    if (channel->is_pending) {
      [[maybe_unused]] const Channel* still_in_use = channel.release();  // see the head of the class
      continue;
    }
    for (MPI_Request& request : channel->requests) MPI_Request_free(&request);
  }
  channels_.clear();
}

void RecordExchange::renumber(std::span<const Index> sent, std::span<const Index> received) {
  const bool sends_less = renumber(sent_, sent), receives_less = renumber(received_, received);
  if (sends_less || receives_less) forget_channels();  // their buffers are too long
}

/// Returns whether entries were dropped.
bool RecordExchange::renumber(Side& side, std::span<const Index> numbers) {
  Index n = 0;
  for (Peer& peer : side.peers) {
    const Index first = n;
    for (Index k = peer.first; k < peer.last; ++k)
      if (const Index number = numbers[side.places[k]]; number >= 0) side.places[n++] = number;
    peer.first = first;
    peer.last = n;
  }
  const bool is_less = n < static_cast<Index>(side.places.size());
  side.places.resize(n);
  std::erase_if(side.peers, [](const Peer& peer) { return peer.first == peer.last; });
  return is_less;
}

void RecordExchange::append(Side& side, int rank, Index place) {
  const auto end = static_cast<Index>(side.places.size());
  if (side.peers.empty() || side.peers.back().rank != rank) {
    SCREE_ASSERT(side.peers.empty() || side.peers.back().rank < rank);
    side.peers.push_back({rank, end, end});
  }
  side.places.push_back(place);
  side.peers.back().last = end + 1;
}

std::vector<int> RecordExchange::peers() const {
  std::vector<int> ranks;
  for (const Side* side : {&sent_, &received_})
    for (const Peer& peer : side->peers) ranks.push_back(peer.rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

ExchangeVolume RecordExchange::volume(std::size_t entry_bytes, Direction direction) const {
  const Side& side = direction == Direction::forward ? sent_ : received_;
  return {static_cast<std::int64_t>(side.peers.size()),
          static_cast<std::int64_t>(side.places.size() * entry_bytes)};
}

void RecordExchange::gather(const std::byte* values, const Index* places, std::size_t n, std::size_t size,
                            std::byte* out) {
  with_copy_of(size, [&](const auto& copy) {
    for (std::size_t k = 0; k < n; ++k)
      copy(out + k * size, values + static_cast<std::size_t>(places[k]) * size);
  });
}

void RecordExchange::scatter(const std::byte* in, const Index* places, std::size_t n, std::size_t size,
                             std::byte* values) {
  with_copy_of(size, [&](const auto& copy) {
    for (std::size_t k = 0; k < n; ++k)
      copy(values + static_cast<std::size_t>(places[k]) * size, in + k * size);
  });
}

RecordExchange::Channel& RecordExchange::channel_of(std::size_t entry_bytes, Direction direction) {
  for (const auto& channel : channels_)
    if (channel->entry_bytes == entry_bytes && channel->direction == direction) return *channel;
  Channel& channel = *channels_.emplace_back(std::make_unique<Channel>());
  channel.entry_bytes = entry_bytes;
  channel.direction = direction;
  const Side& out = direction == Direction::forward ? sent_ : received_;
  const Side& in = direction == Direction::forward ? received_ : sent_;
  channel.out.resize(out.places.size() * entry_bytes);
  channel.in.resize(in.places.size() * entry_bytes);
  channel.n_receives = static_cast<int>(in.peers.size());
  channel.requests.reserve(in.peers.size() + out.peers.size());
  MPI_Datatype entry = MPI_DATATYPE_NULL;  // a count of bytes might not fit in an int
  MPI_Type_contiguous(static_cast<int>(entry_bytes), MPI_BYTE, &entry);
  MPI_Type_commit(&entry);
  for (const Peer& peer : in.peers)
    MPI_Recv_init(channel.in.data() + static_cast<std::size_t>(peer.first) * entry_bytes,
                  peer.last - peer.first, entry, peer.rank, record_tag, comm_.handle(),
                  &channel.requests.emplace_back());
  for (const Peer& peer : out.peers)
    MPI_Send_init(channel.out.data() + static_cast<std::size_t>(peer.first) * entry_bytes,
                  peer.last - peer.first, entry, peer.rank, record_tag, comm_.handle(),
                  &channel.requests.emplace_back());
  MPI_Type_free(&entry);  // lives on as long as the requests
  return channel;
}

void RecordExchange::start_receives(Channel& channel) {
  SCREE_ASSERT(!channel.is_pending);
  channel.is_pending = true;
  if (channel.n_receives > 0) MPI_Startall(channel.n_receives, channel.requests.data());
}

void RecordExchange::start_sends(Channel& channel) {
  const int n_sends = static_cast<int>(channel.requests.size()) - channel.n_receives;
  if (n_sends > 0) MPI_Startall(n_sends, channel.requests.data() + channel.n_receives);
}

void RecordExchange::wait(Channel& channel) {
  SCREE_ASSERT(channel.is_pending);
  const Waiting waiting;
  // A neighbour that computes answers within microseconds; one whose core another program has gets it back
  // only if this one lets go.
  constexpr int patience = 1000;
  int is_complete = 0;
  for (int n_tests = 0; is_complete == 0; ++n_tests) {
    if (n_tests > patience) std::this_thread::yield();
    MPI_Testall(static_cast<int>(channel.requests.size()), channel.requests.data(), &is_complete,
                MPI_STATUSES_IGNORE);
  }
  channel.is_pending = false;
}

}  // namespace scree
