#include "replay/split/colouring.hpp"

#include <bit>
#include <unordered_map>

#include "core/sparse_all_to_all.hpp"

namespace scree::split {

namespace {

class Colouring {
 public:
  Colouring(const Comm& comm, std::vector<Pair>& pairs, const Lists& pairs_of_body,
            std::span<const int> owner)
      : comm_(comm),
        pairs_(pairs),
        pairs_of_body_(pairs_of_body),
        owner_(owner),
        n_owned_(pairs_of_body.first.size() - 1),
        front_(pairs_of_body.first.begin(), pairs_of_body.first.end() - 1),
        taken_(n_owned_),
        n_open_(pairs.size()) {}

  /// Collective.
  void run() {
    for (std::size_t i = n_owned_; i-- > 0;) changed_.push_back(static_cast<Index>(i));
    settle();
    while (comm_.any(n_open_ > 0)) {
      receive();
      settle();
    }
  }

 private:
  using Colours = std::vector<std::uint64_t>;  // a bit for each colour taken
  static constexpr std::size_t n_bits = 64;

  /// Heads a message: that a pair is next for the higher body (followed by n_words of colours taken), or has
  /// a colour now.
  struct ColourMessage {
    Index pair;           // among those of the receiver
    Index from;           // among those of the sender
    std::int32_t colour;  // -1: none yet
    std::int32_t n_words;
  };
  struct Ready {
    Index from;
    Colours taken;
  };

  bool is_next(Index body, Index pair) const {
    const auto i = at(body);
    return front_[i] < pairs_of_body_.first[i + 1] && pairs_of_body_.value[at(front_[i])] == pair;
  }

  /// Colours what can be without news from other ranks.
  void settle() {
    while (!changed_.empty()) {
      const auto body = at(changed_.back());
      changed_.pop_back();
      if (front_[body] == pairs_of_body_.first[body + 1]) continue;
      const Index p = pairs_of_body_.value[at(front_[body])];
      const Pair& pair = pairs_[at(p)];
      if (pair.runner != comm_.rank()) {
        announce(p);
      } else if (is_next(pair.low, p)) {
        if (pair.high < 0)
          colour(p, nullptr);
        else if (!is_ghost(pair.high)) {
          if (is_next(pair.high, p)) colour(p, &taken_[at(pair.high)]);
        } else if (const auto ready = ready_.find(p); ready != ready_.end()) {
          const int chosen = colour(p, &ready->second.taken);
          outgoing_.to(owner_[at(pair.high)]).put(ColourMessage{ready->second.from, p, chosen, 0});
          ready_.erase(ready);
        }
      }
    }
  }

  bool is_ghost(Index body) const { return at(body) >= n_owned_; }

  /// Tells the runner of a pair, once, that it is next for its higher body.
  void announce(Index p) {
    Pair& pair = pairs_[at(p)];
    if (std::exchange(pair.is_announced, true)) return;
    const Colours& taken = taken_[at(pair.high)];
    Packer packer = outgoing_.to(pair.runner);
    packer.put(ColourMessage{pair.elsewhere, p, -1, static_cast<std::int32_t>(taken.size())});
    packer.put(std::span<const std::uint64_t>(taken));
  }

  /// Gives a pair of this rank the least colour that neither its lower body nor `others` has.
  std::int32_t colour(Index p, const Colours* others) {
    const Colours& own = taken_[at(pairs_[at(p)].low)];
    std::size_t word = 0;
    const auto free_colours = [&] {
      const auto taken = [&](const Colours& colours) {
        return word < colours.size() ? colours[word] : std::uint64_t{0};
      };
      return ~(taken(own) | (others ? taken(*others) : 0));
    };
    while (free_colours() == 0) ++word;
    const auto chosen = static_cast<std::int32_t>(word * n_bits) + std::countr_zero(free_colours());
    set_colour(p, chosen);
    return chosen;
  }

  /// Of a pair that is next for those of its bodies that this rank owns.
  void set_colour(Index p, std::int32_t colour) {
    Pair& pair = pairs_[at(p)];
    pair.colour = colour;
    --n_open_;
    for (const Index body : {pair.low, pair.high}) {
      if (body < 0 || is_ghost(body)) continue;
      Colours& taken = taken_[at(body)];
      const std::size_t word = at(colour) / n_bits;
      if (taken.size() <= word) taken.resize(word + 1, 0);
      taken[word] |= std::uint64_t{1} << (at(colour) % n_bits);
      ++front_[at(body)];
      changed_.push_back(body);
    }
  }

  void receive() {
    for (const PackedMessage& message : outgoing_.exchange(comm_)) {
      Unpacker unpacker(message.bytes);
      while (!unpacker.empty()) {
        const auto head = unpacker.take<ColourMessage>();
        if (head.colour >= 0) {
          set_colour(head.pair, head.colour);
          continue;
        }
        Ready& ready = ready_[head.pair];
        ready.from = head.from;
        ready.taken.resize(at(head.n_words));
        unpacker.take(std::span(ready.taken));
        changed_.push_back(pairs_[at(head.pair)].low);
      }
    }
  }

  const Comm& comm_;
  std::vector<Pair>& pairs_;
  const Lists& pairs_of_body_;
  std::span<const int> owner_;
  std::size_t n_owned_;
  std::vector<Index> front_;  // of each owned body: its first pair without a colour
  std::vector<Colours> taken_;
  std::size_t n_open_;
  std::vector<Index> changed_;              // owned bodies whose first pair may have become one to colour
  std::unordered_map<Index, Ready> ready_;  // pairs of this rank that are next for a body of another
  Outgoing outgoing_;
};

}  // namespace

void colour_pairs(const Comm& comm, std::vector<Pair>& pairs, const Lists& pairs_of_body,
                  std::span<const int> owner) {
  Colouring(comm, pairs, pairs_of_body, owner).run();
}

}  // namespace scree::split
