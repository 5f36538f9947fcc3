#include "comm/ghost_exchange.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "comm/migration.hpp"
#include "core/sparse_all_to_all.hpp"

namespace scree {

namespace {

/// The blocks that touch the bodies of one block: entry `axes` is the block one step down along `axes`.
template <int D>
struct Touchers {
  std::array<int, std::size_t{1} << D> rank;  // -1: no such block
  std::array<int, std::size_t{1} << D> colour;
  bool shared = false;  // touched by more than one rank

  Touchers(const Domain& domain, const Lattice<D>& lattice, const Cell<D>& block) {
    for (unsigned axes = 0; axes < rank.size(); ++axes) {
      Cell<D> down;
      unsigned wrapped = 0;
      const bool exists = lattice.neighbour(block, axes, -1, down, wrapped);
      rank[axes] = exists ? domain.owner_of(lattice.key_of(down)) : -1;
      colour[axes] = exists ? lattice.colour_of(down) : -1;
      shared = shared || (exists && rank[axes] != rank[0]);
    }
  }
};

constexpr bool contains(unsigned set, unsigned subset) {
  return (set & subset) == subset;
}

}  // namespace

template <int D>
GhostExchange<D>::GhostExchange(const Comm& comm) : comm_(comm), ghosts_(comm), sums_(comm) {
  stages_.reserve(n_stages);
  for (int stage = 0; stage < n_stages; ++stage) stages_.emplace_back(comm);
}

template <int D>
void GhostExchange<D>::rebuild(const Domain& domain, const Lattice<D>& lattice, BlockTable<D>& table,
                               std::span<const Place> places, BodyStore<D>& bodies, ContactMemory& memory) {
  n_owned_ = bodies.n_owned();
  n_local_ = n_owned_;
  if (comm_.size() == 1) return;
  std::map<int, std::vector<Index>> wanted;
  for (const auto& block : table.blocks()) {
    const Touchers<D> touchers(domain, lattice, block.place);
    if (!touchers.shared) continue;
    for (Index i = block.first; i < block.last; ++i) {
      const unsigned low = lattice.low_layers(local_cell(places[i]));
      for (unsigned axes = 1; axes < touchers.rank.size(); ++axes) {
        const int rank = touchers.rank[axes];
        if (!contains(low, axes) || rank < 0 || rank == comm_.rank()) continue;
        std::vector<Index>& list = wanted[rank];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
    }
  }

  ghosts_.clear();
  Outgoing outgoing;
  for (const auto& [rank, which] : wanted) {
    Packer packer = outgoing.to(rank);
    packer.put(static_cast<Index>(which.size()));
    packer.put(std::span<const Index>(which));
    pack_bodies(bodies, memory, which, true, packer);
    for (const Index i : which) ghosts_.send(rank, i);
  }
  home_.clear();
  // Messages come in order of rank, ranks own ascending ranges of the curve, and each rank packed in storage
  // order: so the ghosts arrive sorted by (place, id), which is the order the block table needs.
  count(Traffic::ghost_fetches, volume_of(outgoing));
  for (const PackedMessage& message : outgoing.exchange(comm_)) {
    Unpacker unpacker(message.bytes);
    const auto count = unpacker.take<Index>();
    std::vector<Index> slots(count);
    unpacker.take(std::span<Index>(slots));
    for (const Index slot : slots) home_.push_back({message.rank, slot});
    const Index first = bodies.n_local();
    bodies.resize(bodies.n_owned(), bodies.n_ghosts() + count);
    unpack_bodies(unpacker, first, count, true, bodies, memory);
    for (Index g = 0; g < count; ++g) ghosts_.receive(message.rank, first + g);
  }

  n_local_ = bodies.n_local();
  const std::size_t n_owned = n_owned_;
  std::vector<Place> ghost_places;
  const std::span<const Vec<D>> ghost_positions = std::as_const(bodies).position().subspan(n_owned);
  find_places<D>(lattice, ghost_positions, ghost_places);
  table.add(lattice, ghost_positions, ghost_places, bodies.n_owned(), false);

  std::vector<Place> all_places(places.begin(), places.end());
  all_places.insert(all_places.end(), ghost_places.begin(), ghost_places.end());
  plan_transfers(domain, lattice, table, all_places);
}

namespace {

/// Stages at which two ranks meet, one after the other: each transfer may take place at any stage from
/// `ready` to `due`.
class Meetings {
 public:
  void need(int ready, int due) { needed_[index(due)] |= 1U << ready; }
  /// The fewest stages that serve all: at the last moment for whom no earlier meeting comes in time.
  void arrange() {
    for (std::size_t due = 0; due < needed_.size(); ++due)
      for (unsigned ready = 0; ready <= due; ++ready)
        if ((needed_[due] >> ready & 1U) != 0 && (stages_ >> ready & ((2U << (due - ready)) - 1)) == 0)
          stages_ |= 1U << due;
  }
  /// The first of them from `ready` on.
  int stage(int ready) const { return ready + std::countr_zero(stages_ >> ready); }

 private:
  static std::size_t index(int stage) { return static_cast<std::size_t>(stage); }
  std::array<unsigned, 16> needed_{};
  unsigned stages_ = 0;
};

/// Where an active copy goes: to its first rank, on to the next, home after the last sweep, or to the first
/// rank of the next sweep.
enum class Leg : std::uint8_t { start, within, home, again };
struct Transfer {
  int peer;
  int home;
  Index body;
  std::int8_t ready, due;
  Leg leg;
};

/// Gives the transfers that are sent, or received, to the stages of the two sweeps, of `colours` each.
void plan_stages(std::vector<Transfer>& list, bool is_sent, int colours, std::vector<RecordExchange>& stages,
                 std::vector<int>& peers) {
  // Both ends list the same bodies: by rank of their owner, then in his storage order.
  std::sort(list.begin(), list.end(), [](const Transfer& a, const Transfer& b) {
    return std::tie(a.peer, a.home, a.body, a.ready) < std::tie(b.peer, b.home, b.body, b.ready);
  });
  for (auto first = list.begin(); first != list.end();) {
    const int peer = first->peer;
    const auto last = std::find_if(first, list.end(), [&](const Transfer& h) { return h.peer != peer; });
    peers.push_back(peer);
    for (const bool goes_on : {false, true}) {
      const Leg unused = goes_on ? Leg::home : Leg::again;
      Meetings meetings;
      for (auto h = first; h != last; ++h)
        if (h->leg != Leg::start && h->leg != unused) meetings.need(h->ready, h->due);
      meetings.arrange();
      for (auto h = first; h != last; ++h) {
        if (h->leg == unused || (h->leg == Leg::start && goes_on)) continue;
        const int stage = h->leg == Leg::start ? 0 : meetings.stage(h->ready) + (goes_on ? colours : 0);
        RecordExchange& exchange = stages[stage];
        if (is_sent)
          exchange.send(peer, h->body);
        else
          exchange.receive(peer, h->body);
      }
    }
    first = last;
  }
}

/// Who touches a body in these lowest layers of its block, by colour, -1: nobody. Different touching blocks
/// have different colours.
template <int D, int colours>
std::array<int, std::size_t{colours}> touchers_by_colour(const Touchers<D>& touchers, unsigned low) {
  std::array<int, std::size_t{colours}> toucher;
  toucher.fill(-1);
  for (unsigned axes = 0; axes < touchers.rank.size(); ++axes)
    if (contains(low, axes) && touchers.rank[axes] >= 0) toucher[touchers.colour[axes]] = touchers.rank[axes];
  return toucher;
}

}  // namespace

template <int D>
void GhostExchange<D>::plan_transfers(const Domain& domain, const Lattice<D>& lattice,
                                      const BlockTable<D>& table, std::span<const Place> places) {
  std::vector<Transfer> sent, received;
  std::vector<std::pair<int, PartialSum>> sums;  // of other ranks
  sums_leaving_.clear();
  sums_.clear();
  const int me = comm_.rank();
  shared_.assign(places.size(), 0);

  for (const auto& block : table.blocks()) {
    const Touchers<D> touchers(domain, lattice, block.place);
    if (!touchers.shared) continue;
    const int home = touchers.rank[0];
    for (Index i = block.first; i < block.last; ++i) {
      const unsigned low = lattice.low_layers(local_cell(places[i]));
      const auto toucher = touchers_by_colour<D, colours>(touchers, low);
      const auto pass = [&](int from, int to, Leg leg, int ready, int due) {
        if (from == to || (from != me && to != me)) return;
        (from == me ? sent : received)
            .push_back({from == me ? to : from, home, i, static_cast<std::int8_t>(ready),
                        static_cast<std::int8_t>(due), leg});
        shared_[i] = 1;
      };
      int holder = home, ready = 0, first = -1;
      for (int colour = 0; colour < colours; ++colour) {
        const int next = toucher[colour];
        if (next < 0) continue;
        pass(holder, next, first < 0 ? Leg::start : Leg::within, ready, first < 0 ? 0 : colour);
        if (first < 0) first = next;
        holder = next;
        ready = colour + 1;
        if (next == me && home != me) {
          sums_.send(home, static_cast<Index>(sums_leaving_.size()));
          sums_leaving_.push_back({i, colour});
        }
        if (next != me && home == me) sums.push_back({next, {i, colour}});
      }
      pass(holder, home, Leg::home, ready, colours);
      pass(holder, first, Leg::again, ready, colours);
    }
  }

  sums_arriving_.clear();
  std::ranges::stable_sort(sums, {}, &std::pair<int, PartialSum>::first);
  for (const auto& [peer, sum] : sums) {
    sums_.receive(peer, static_cast<Index>(sums_arriving_.size()));
    sums_arriving_.push_back(sum);
  }

  for (RecordExchange& stage : stages_) stage.clear();
  neighbours_ = ghosts_.peers();
  plan_stages(sent, true, colours, stages_, neighbours_);
  plan_stages(received, false, colours, stages_, neighbours_);
  std::sort(neighbours_.begin(), neighbours_.end());
  neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
}

template <int D>
void GhostExchange<D>::renumber(std::span<const Index> numbers, std::span<const Index> at_owner) {
  const auto number_of = [&](Index body) { return numbers[body]; };
  // Of sums: the places of those that stay.
  const auto keep_sums = [&](std::vector<PartialSum>& sums, std::vector<Index>& places) {
    places.assign(sums.size(), -1);
    std::size_t n = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const Index body = number_of(sums[k].body);
      if (body < 0) continue;
      places[k] = static_cast<Index>(n);
      sums[n++] = {body, sums[k].colour};
    }
    sums.resize(n);
  };
  keep_sums(sums_leaving_, kept_leaving_);
  keep_sums(sums_arriving_, kept_arriving_);
  sums_.renumber(kept_leaving_, kept_arriving_);
  ghosts_.renumber(numbers, numbers);
  for (RecordExchange& stage : stages_) stage.renumber(numbers, numbers);
  Index n_owned = 0, n_local = 0;
  for (Index i = 0; i < n_local_; ++i) {
    const Index number = number_of(i);
    if (number < 0) continue;
    if (!shared_.empty()) shared_[number] = shared_[i];
    if (i >= n_owned_)
      home_[number - n_owned] = {home_[i - n_owned_].rank, at_owner[i - n_owned_]};
    else
      ++n_owned;
    ++n_local;
  }
  if (!shared_.empty()) shared_.resize(n_local);
  home_.resize(n_local - n_owned);
  n_owned_ = n_owned;
  n_local_ = n_local;
}

template <int D>
void GhostExchange<D>::copy_to_ghosts(std::span<Real> values, int width) {
  count(Traffic::ghost_copies, volume_of_copy(width));
  ghosts_.begin(std::span<const Real>(values), width);
  ghosts_.end(values, width);
}

template <int D>
void GhostExchange<D>::add_to_owners(std::span<std::int32_t> counts) {
  count(Traffic::to_owners, ghosts_.volume(sizeof(std::int32_t), Direction::reverse));
  ghosts_.begin(std::span<const std::int32_t>(counts), 1, Direction::reverse);
  ghosts_.end_combining(counts, 1, Direction::reverse, std::plus<>());
}

template <int D>
void GhostExchange<D>::add_to_owners(std::span<Real> values, int width) {
  count(Traffic::to_owners, volume_to_owners(width));
  ghosts_.begin(std::span<const Real>(values), width, Direction::reverse);
  ghosts_.end_combining(values, width, Direction::reverse, std::plus<>());
}

template <int D>
void GhostExchange<D>::min_to_owners(std::span<Real> values, int width) {
  count(Traffic::to_owners, volume_to_owners(width));
  ghosts_.begin(std::span<const Real>(values), width, Direction::reverse);
  ghosts_.end_combining(values, width, Direction::reverse, [](Real a, Real b) { return std::min(a, b); });
}

template <int D>
void GhostExchange<D>::begin_transfer(int stage, std::span<const Real> values, int width) {
  count(Traffic::transfers, volume_of_stage(stage, width));
  stages_[stage].begin(values, width);
}

template <int D>
void GhostExchange<D>::end_transfer(int stage, std::span<Real> values, int width) {
  stages_[stage].end_move(values, width);
}

template <int D>
std::vector<RememberedContact> GhostExchange<D>::send_to_owners(
    Index n_owned, std::span<const RememberedContact> contacts) const {
  Outgoing outgoing;
  for (RememberedContact contact : contacts) {
    const Home& home = home_[contact.body - n_owned];
    contact.body = home.index;
    outgoing.to(home.rank).put(contact);
  }
  count(Traffic::memory, volume_of(outgoing));
  return exchange_values<RememberedContact>(comm_, outgoing);
}

template class GhostExchange<2>;
template class GhostExchange<3>;

}  // namespace scree
