#include "replay/split_problem.hpp"

#include <fmt/format.h>
#include <petscmat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "comm/record_exchange.hpp"
#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/petsc.hpp"
#include "core/random.hpp"
#include "core/sparse_all_to_all.hpp"

namespace scree {

namespace {

using Number = std::int64_t;

constexpr std::size_t at(Index place) {
  return static_cast<std::size_t>(place);
}

/// The bodies of one or more contacts: the lower-numbered one that moves, and the other or -1.
struct BodyPair {
  Number low = 0;
  Number high = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): an error of the check
  auto operator<=>(const BodyPair&) const = default;
};

BodyPair pair_of(Number a, Number b) {
  const auto [low, high] = std::minmax(a, b);
  return low < 0 ? BodyPair{high, low} : BodyPair{low, high};
}

/// value[first[i]] to value[first[i + 1] - 1] belong to item i.
struct Lists {
  std::vector<Index> first;
  std::vector<Index> value;
  std::span<const Index> of(std::size_t i) const {
    return std::span(value).subspan(at(first[i]), at(first[i + 1] - first[i]));
  }
};

/// From the item of each entry; entries keep their order.
Lists listed_by_item(std::size_t n_items, std::span<const std::pair<Index, Index>> item_and_value) {
  Lists lists;
  lists.first.assign(n_items + 1, 0);
  lists.value.resize(item_and_value.size());
  for (const auto& [item, value] : item_and_value) ++lists.first[at(item) + 1];
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  std::vector<Index> next(lists.first.begin(), lists.first.end() - 1);
  for (const auto& [item, value] : item_and_value) lists.value[at(next[at(item)]++)] = value;
  return lists;
}

using MatHandle = PetscHandle<Mat, MatDestroy>;
using PartitioningHandle = PetscHandle<MatPartitioning, MatPartitioningDestroy>;
using IsHandle = PetscHandle<IS, ISDestroy>;

/// For PETSc to keep and to free.
template <class T>
PetscInt* petsc_copy(const std::vector<T>& values) {
  PetscInt* copy = nullptr;
  SCREE_PETSC(PetscMalloc1(values.size() + 1, &copy));
  std::transform(values.begin(), values.end(), copy, [](T x) { return static_cast<PetscInt>(x); });
  return copy;
}

std::vector<Index> values_of(const IsHandle& set) {
  PetscInt n = 0;
  const PetscInt* values = nullptr;
  SCREE_PETSC(ISGetLocalSize(set.get(), &n));
  SCREE_PETSC(ISGetIndices(set.get(), &values));
  std::vector<Index> copy(values, values + n);
  SCREE_PETSC(ISRestoreIndices(set.get(), &values));
  return copy;
}

/// Rows of a symmetric graph of this rank in reverse Cuthill-McKee order; neighbours ascend.
std::vector<Index> cuthill_mckee(Lists neighbours) {
  const auto n = static_cast<PetscInt>(neighbours.first.size()) - 1;
  if (n == 0) return {};
  // PETSc orders matrices; of this one only the pattern counts.
  std::vector<PetscScalar> values(neighbours.value.size() + 1, 1.0);
  MatHandle graph;
  SCREE_PETSC(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, neighbours.first.data(),
                                        neighbours.value.data(), values.data(), graph.address()));
  IsHandle rows, columns;
  SCREE_PETSC(MatGetOrdering(graph.get(), MATORDERINGRCM, rows.address(), columns.address()));
  return values_of(rows);
}

/// The rank that each body of this rank's stretch goes to, such that ranks have about equal weights and few
/// edges between them. Collective.
std::vector<Index> partition(const Comm& comm, Number n_of_all, const std::vector<Index>& first,
                             const std::vector<Number>& neighbour, const std::vector<Number>& weight) {
  // Partitioners are known to fail on a handful of vertices per rank, where it does not matter who owns what.
  constexpr Number least_per_rank = 8;
  if (comm.size() == 1 || n_of_all < least_per_rank * comm.size())
    return std::vector<Index>(weight.size(), comm.rank());
  // Threads of PT-Scotch 7.0 communicate even where MPI was initialised for one thread, and then hang or
  // crash. One also finds the same partition every time.
  setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
  MatHandle graph;
  SCREE_PETSC(MatCreateMPIAdj(comm.handle(), static_cast<PetscInt>(weight.size()),
                              static_cast<PetscInt>(n_of_all), petsc_copy(first), petsc_copy(neighbour),
                              nullptr, graph.address()));
  PartitioningHandle partitioning;
  SCREE_PETSC(MatPartitioningCreate(comm.handle(), partitioning.address()));
  SCREE_PETSC(MatPartitioningSetAdjacency(partitioning.get(), graph.get()));
  SCREE_PETSC(MatPartitioningSetType(partitioning.get(), MATPARTITIONINGPTSCOTCH));
  SCREE_PETSC(MatPartitioningSetVertexWeights(partitioning.get(), petsc_copy(weight)));
  IsHandle rank;
  SCREE_PETSC(MatPartitioningApply(partitioning.get(), rank.address()));
  return values_of(rank);
}

struct BodyFact {
  int owner = 0;
  int n_partners = 0;  ///< different bodies in contact with it; all static ones count as one
};

/// Who owns which body. A rank keeps one stretch of all numbers.
class Directory {
 public:
  /// `pairs` of this rank's contacts. Decides who owns what. Collective.
  Directory(const Comm& comm, Number n_bodies, std::vector<BodyPair> pairs);

  /// Facts about bodies of any rank. Collective.
  std::vector<BodyFact> look_up(std::span<const Number> bodies) const;

 private:
  Comm comm_;
  Number n_bodies_;
  EvenShare share_;
  std::vector<BodyFact> facts_;
};

Directory::Directory(const Comm& comm, Number n_bodies, std::vector<BodyPair> pairs)
    : comm_(comm), n_bodies_(n_bodies), share_(comm, n_bodies), facts_(share_.size()) {
  struct Partner {
    Number body;
    Number partner;
    Number n_contacts;  // as the lower-numbered body, whose owner runs them
    bool operator<(const Partner& other) const {
      return std::tie(body, partner) < std::tie(other.body, other.partner);
    }
  };
  std::sort(pairs.begin(), pairs.end());
  Outgoing outgoing;
  for (auto pair = pairs.begin(); pair != pairs.end();) {
    const auto next = std::find_if(pair, pairs.end(), [&](const BodyPair& other) { return other != *pair; });
    const auto tell = [&](Number body, Number partner, Number n_contacts) {
      outgoing.to(EvenShare::owner(n_bodies_, body, comm_.size())).put(Partner{body, partner, n_contacts});
    };
    tell(pair->low, pair->high, next - pair);
    if (pair->high >= 0) tell(pair->high, pair->low, 0);
    pair = next;
  }
  std::vector<Partner> partners = exchange_values<Partner>(comm_, outgoing);
  std::sort(partners.begin(), partners.end());

  std::vector<Number> weight(facts_.size(), 1);
  std::vector<Index> first(facts_.size() + 1, 0);
  std::vector<Number> neighbour;
  for (std::size_t k = 0; k < partners.size(); ++k) {
    const auto body = share_.at(partners[k].body);
    weight[body] += partners[k].n_contacts;
    if (k > 0 && !(partners[k - 1] < partners[k])) continue;
    ++facts_[body].n_partners;
    if (partners[k].partner < 0) continue;
    ++first[body + 1];
    neighbour.push_back(partners[k].partner);
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  const std::vector<Index> owner = partition(comm_, n_bodies_, first, neighbour, weight);
  for (std::size_t i = 0; i < facts_.size(); ++i) facts_[i].owner = owner[i];
}

std::vector<BodyFact> Directory::look_up(std::span<const Number> bodies) const {
  std::vector<BodyFact> facts(bodies.size());
  Outgoing questions;
  std::map<int, std::vector<std::size_t>> asked;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const int rank = EvenShare::owner(n_bodies_, bodies[i], comm_.size());
    if (rank == comm_.rank()) {
      facts[i] = facts_[share_.at(bodies[i])];
    } else {
      questions.to(rank).put(bodies[i]);
      asked[rank].push_back(i);
    }
  }
  Outgoing answers;
  for (const PackedMessage& message : questions.exchange(comm_)) {
    Packer packer = answers.to(message.rank);
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) packer.put(facts_[share_.at(unpacker.take<Number>())]);
  }
  for (const PackedMessage& message : answers.exchange(comm_)) {
    Unpacker unpacker(message.bytes);
    for (const std::size_t i : asked[message.rank]) facts[i] = unpacker.take<BodyFact>();
  }
  return facts;
}

/// A pair of bodies on the rank that runs it (the owner of the lower one) or on the owner of the other one.
struct Pair {
  BodyPair bodies;
  int partners = 0;      ///< the more of those of its bodies
  std::uint64_t draw;    ///< a random number, the same on all ranks
  int runner = 0;        ///< rank
  Index low = -1;        ///< where this rank holds the lower body; -1: not at all
  Index high = -1;       ///< the other; -1: it is static
  Index elsewhere = 0;   ///< its number among the pairs of the runner, if that is another rank
  Index high_there = 0;  ///< where the runner holds the higher body, if that is another rank
  bool is_announced = false;
  int colour = -1;

  bool operator<(const Pair& other) const {
    return std::tie(other.partners, draw, bodies) < std::tie(partners, other.draw, other.bodies);
  }
};

std::uint64_t draw_of(const BodyPair& pair) {
  const auto word = [](Number number, int shift) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> shift);
  };
  const auto bits =
      philox4x32({word(pair.low, 0), word(pair.low, 32), word(pair.high, 0), word(pair.high, 32)}, {0, 0});
  return std::uint64_t{bits[0]} << 32 | bits[1];
}

/// Gives each pair the least colour that no pair before it in the order of Pair has at its bodies.
class Colouring {
 public:
  /// `pairs_of_body`: of each owned body, in that order. `owner` of each body held.
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
  struct Note {
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
          outgoing_.to(owner_[at(pair.high)]).put(Note{ready->second.from, p, chosen, 0});
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
    packer.put(Note{pair.elsewhere, p, -1, static_cast<std::int32_t>(taken.size())});
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
        const auto note = unpacker.take<Note>();
        if (note.colour >= 0) {
          set_colour(note.pair, note.colour);
          continue;
        }
        Ready& ready = ready_[note.pair];
        ready.from = note.from;
        ready.taken.resize(at(note.n_words));
        unpacker.take(std::span(ready.taken));
        changed_.push_back(pairs_[at(note.pair)].low);
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

/// A body as its owner knows it.
struct OwnedBody {
  Number number;
  int n_partners;
};

}  // namespace

class SplitHalo final : public BodyHalo {
 public:
  /// `owned`: the bodies of this rank, ascending; `run`: the pairs it runs, ascending, each once. Collective.
  SplitHalo(const Comm& comm, const Directory& directory, std::span<const OwnedBody> owned,
            std::span<const BodyPair> run);

  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_owned_; }
  Index n_held() const override { return static_cast<Index>(held_.size()); }
  int n_colours() const override { return n_colours_; }
  void copy_to_ghosts(std::span<Real> values, int width) override {
    ghosts_.begin(std::span<const Real>(values), width);
    ghosts_.end(values, width);
  }
  void add_to_owners(std::span<Real> values, int width) override {
    ghosts_.begin(std::span<const Real>(values), width, RecordExchange::Way::reverse);
    ghosts_.end_combining(values, width, RecordExchange::Way::reverse, std::plus<>());
  }
  void begin_transfer(int stage, std::span<const Real> values, int width) override {
    stages_[at(stage)].begin(values, width);
  }
  void end_transfer(int stage, std::span<Real> values, int width) override {
    stages_[at(stage)].end_move(values, width);
  }

  /// Numbers of the bodies held.
  const std::vector<Number>& held() const { return held_; }
  /// Where each of the bodies owned is held, in the order in which they were given.
  std::span<const Index> place_of_owned() const { return place_of_owned_; }
  /// A pair run by this rank, by its place in the list given.
  const Pair& pair(Index p) const { return pairs_[at(p)]; }
  /// Whether the active copy of this held body leaves or reaches this rank during a sweep.
  bool is_shared(Index body) const { return shared_[at(body)] != 0; }

 private:
  void place_bodies(const Directory& directory, std::span<const OwnedBody> owned,
                    std::span<const BodyPair> run);
  void meet_pairs_of_others(std::span<const OwnedBody> owned);
  void plan_transfers(const Lists& pairs_of_body);

  Comm comm_;
  Index n_owned_;
  int n_colours_ = 0;
  std::vector<Number> held_;
  std::vector<int> owner_;       // of each body held
  std::vector<int> n_partners_;  // alike
  std::vector<Index> place_of_owned_;
  std::vector<Pair> pairs_;  // those that this rank runs, then those that others run with bodies it owns
  std::vector<std::uint8_t> shared_;
  RecordExchange ghosts_;
  std::vector<RecordExchange> stages_;
};

SplitHalo::SplitHalo(const Comm& comm, const Directory& directory, std::span<const OwnedBody> owned,
                     std::span<const BodyPair> run)
    : comm_(comm), n_owned_(static_cast<Index>(owned.size())), ghosts_(comm) {
  place_bodies(directory, owned, run);
  meet_pairs_of_others(owned);

  std::vector<Index> turn(pairs_.size());
  std::iota(turn.begin(), turn.end(), 0);
  std::sort(turn.begin(), turn.end(), [&](Index i, Index j) { return pairs_[at(i)] < pairs_[at(j)]; });
  std::vector<std::pair<Index, Index>> body_and_pair;
  body_and_pair.reserve(2 * turn.size());
  for (const Index p : turn)
    for (const Index body : {pairs_[at(p)].low, pairs_[at(p)].high})
      if (body >= 0 && body < n_owned_) body_and_pair.emplace_back(body, p);
  const Lists pairs_of_body = listed_by_item(at(n_owned_), body_and_pair);
  Colouring(comm_, pairs_, pairs_of_body, owner_).run();
  for (const Pair& pair : pairs_) n_colours_ = std::max(n_colours_, pair.colour + 1);
  n_colours_ = static_cast<int>(comm_.max(std::int64_t{n_colours_}));

  shared_.assign(held_.size(), 0);
  for (int stage = 0; stage <= 2 * n_colours_; ++stage) stages_.emplace_back(comm);
  if (comm_.size() > 1) plan_transfers(pairs_of_body);
}

/// Gives the bodies owned and the ghosts their places, and this rank's pairs theirs.
void SplitHalo::place_bodies(const Directory& directory, std::span<const OwnedBody> owned,
                             std::span<const BodyPair> run) {
  const auto owned_at = [&](Number number) {
    const auto found = std::lower_bound(owned.begin(), owned.end(), number,
                                        [](const OwnedBody& body, Number n) { return body.number < n; });
    return found != owned.end() && found->number == number ? static_cast<Index>(found - owned.begin()) : -1;
  };
  pairs_.resize(run.size());
  std::vector<Number> ghosts;
  std::vector<std::pair<Index, Index>> edges;
  for (std::size_t p = 0; p < run.size(); ++p) {
    Pair& pair = pairs_[p];
    pair.bodies = run[p];
    pair.runner = comm_.rank();
    pair.draw = draw_of(run[p]);
    pair.low = p > 0 && run[p].low == run[p - 1].low ? pairs_[p - 1].low : owned_at(run[p].low);
    if (run[p].high < 0) continue;
    pair.high = owned_at(run[p].high);
    if (pair.high < 0) {
      ghosts.push_back(run[p].high);
    } else {
      edges.emplace_back(pair.low, pair.high);
      edges.emplace_back(pair.high, pair.low);
    }
  }
  place_of_owned_.resize(owned.size());
  for (const Index i : cuthill_mckee(listed_by_item(owned.size(), edges))) {
    place_of_owned_[at(i)] = static_cast<Index>(held_.size());
    held_.push_back(owned[at(i)].number);
    n_partners_.push_back(owned[at(i)].n_partners);
  }
  owner_.assign(held_.size(), comm_.rank());

  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  held_.insert(held_.end(), ghosts.begin(), ghosts.end());
  for (const BodyFact& fact : directory.look_up(ghosts)) {
    owner_.push_back(fact.owner);
    n_partners_.push_back(fact.n_partners);
  }
  for (Pair& pair : pairs_) {
    pair.low = place_of_owned_[at(pair.low)];
    pair.partners = 1;
    if (pair.bodies.high < 0) continue;
    if (pair.high >= 0)
      pair.high = place_of_owned_[at(pair.high)];
    else
      pair.high =
          n_owned_ + static_cast<Index>(std::lower_bound(ghosts.begin(), ghosts.end(), pair.bodies.high) -
                                        ghosts.begin());
    pair.partners = std::max(n_partners_[at(pair.low)], n_partners_[at(pair.high)]);
  }
}

/// Tells owners of ghosts about the pairs that this rank runs with them.
void SplitHalo::meet_pairs_of_others(std::span<const OwnedBody> owned) {
  struct Told {
    BodyPair bodies;
    int partners;
    Index pair;
    Index high;
  };
  Outgoing outgoing;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    if (pair.high >= n_owned_)
      outgoing.to(owner_[at(pair.high)])
          .put(Told{pair.bodies, pair.partners, static_cast<Index>(p), pair.high});
  }
  for (const PackedMessage& message : outgoing.exchange(comm_)) {
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) {
      const auto told = unpacker.take<Told>();
      Pair& pair = pairs_.emplace_back();
      pair.bodies = told.bodies;
      pair.draw = draw_of(told.bodies);
      pair.partners = told.partners;
      pair.runner = message.rank;
      pair.elsewhere = told.pair;
      pair.high_there = told.high;
      const auto high = std::lower_bound(owned.begin(), owned.end(), told.bodies.high,
                                         [](const OwnedBody& body, Number n) { return body.number < n; });
      pair.high = place_of_owned_[static_cast<std::size_t>(high - owned.begin())];
    }
  }
}

/// Owners know all pairs of their bodies, hence where the active copy of each is needed when.
void SplitHalo::plan_transfers(const Lists& pairs_of_body) {
  enum class Kind : std::int32_t { ghost, copied, arrives, leaves };
  struct Transfer {
    Kind kind;
    std::int32_t stage;
    Index place;  // at the receiver of this message
    int peer;     // whom the value comes from, or goes to
    Number body;
  };
  struct Touch {
    int colour;
    int rank;
    Index place;
  };
  const int me = comm_.rank();
  Outgoing outgoing;
  std::vector<Touch> touches;
  for (Index body = 0; body < n_owned_; ++body) {
    touches.clear();
    for (const Index p : pairs_of_body.of(at(body))) {
      const Pair& pair = pairs_[at(p)];
      touches.push_back({pair.colour, pair.runner, pair.runner == me ? body : pair.high_there});
    }
    if (touches.empty()) continue;
    std::sort(touches.begin(), touches.end(),
              [](const Touch& s, const Touch& t) { return s.colour < t.colour; });
    const Number number = held_[at(body)];
    const auto pass = [&](const Touch& from, const Touch& to, int stage) {
      if (to.rank == from.rank) return;
      outgoing.to(to.rank).put(Transfer{Kind::arrives, stage, to.place, from.rank, number});
      outgoing.to(from.rank).put(Transfer{Kind::leaves, stage, from.place, to.rank, number});
    };
    const Touch home{-1, me, body};
    const Touch& first = touches.front();
    const Touch& last = touches.back();
    pass(home, first, 0);
    for (std::size_t k = 1; k < touches.size(); ++k) {
      const int stage = touches[k - 1].colour + 1;
      pass(touches[k - 1], touches[k], stage);
      pass(touches[k - 1], touches[k], n_colours_ + stage);
    }
    pass(last, home, last.colour + 1);
    pass(last, first, n_colours_ + last.colour + 1);

    std::sort(touches.begin(), touches.end(), [](const Touch& s, const Touch& t) { return s.rank < t.rank; });
    int before = me;
    for (const Touch& touch : touches) {
      if (touch.rank == me || touch.rank == before) continue;
      outgoing.to(touch.rank).put(Transfer{Kind::ghost, 0, touch.place, me, number});
      outgoing.to(me).put(Transfer{Kind::copied, 0, body, touch.rank, number});
      before = touch.rank;
    }
  }

  // Both ends list the same bodies in order of their numbers.
  std::vector<Transfer> transfers = exchange_values<Transfer>(comm_, outgoing);
  std::sort(transfers.begin(), transfers.end(), [](const Transfer& s, const Transfer& t) {
    return std::tie(s.peer, s.body) < std::tie(t.peer, t.body);
  });
  for (const Transfer& transfer : transfers) {
    const bool is_copy = transfer.kind == Kind::ghost || transfer.kind == Kind::copied;
    if (!is_copy) shared_[at(transfer.place)] = 1;
    RecordExchange& exchange = is_copy ? ghosts_ : stages_[at(transfer.stage)];
    if (transfer.kind == Kind::leaves || transfer.kind == Kind::copied)
      exchange.send(transfer.peer, transfer.place);
    else
      exchange.receive(transfer.peer, transfer.place);
  }
}

namespace {

template <int D>
struct BodyRow {
  static constexpr std::size_t q = n_velocities<D>;
  OwnedBody body;
  std::array<Real, q * q> mass;
  std::array<Real, q> free_velocity, start_velocity;
};

template <int D>
struct ContactRow {
  static constexpr std::size_t q = n_velocities<D>;
  Number number;
  Number a, b;
  std::array<Real, 2 * D * q> jacobian;
  std::array<Real, D> bias;
  std::array<Real, 2> compliance;
  Real mu;
};

template <std::size_t n>
void copy_row(const std::vector<Real>& values, std::size_t row, std::array<Real, n>& to) {
  if (values.empty())
    to.fill(0);
  else
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * n), n, to.begin());
}

/// The rows of all ranks that belong to bodies of this rank: row i goes to the owner that to[i] names.
template <class Row, class Fill>
std::vector<Row> sent_to_owners(const Comm& comm, std::span<const BodyFact> to, const Fill& fill) {
  std::map<int, std::size_t> n_rows;
  for (const BodyFact& fact : to) ++n_rows[fact.owner];
  Outgoing outgoing;
  for (const auto& [rank, n] : n_rows) outgoing.reserve(rank, n * sizeof(Row));
  Row row;
  for (std::size_t i = 0; i < to.size(); ++i) {
    fill(i, row);
    outgoing.to(to[i].owner).put(row);
  }
  return exchange_values<Row>(comm, outgoing);
}

template <std::size_t n>
void append(std::vector<Real>& to, const std::array<Real, n>& row) {
  to.insert(to.end(), row.begin(), row.end());
}

constexpr Number no_number = std::numeric_limits<Number>::max();

/// Throws the message of the smallest number that has one. Collective.
void require_none(const Comm& comm, Number number, const std::string& message) {
  const std::string of_all = message_of_smallest(comm, number, message);
  if (!of_all.empty()) throw InputError(of_all);
}

/// Throws InputError unless the numbers of all ranks are 0 to n - 1 in some order. Collective.
void check_numbers(const Comm& comm, std::span<const Number> numbers, Number n, std::string_view what) {
  Number wrong = no_number;
  std::string message;
  for (const Number number : numbers)
    if (number < 0 || number >= n) wrong = std::min(wrong, number);
  if (wrong != no_number)
    message = fmt::format("friction problem: a {} has the number {}; valid are 0 to {}", what, wrong, n - 1);
  require_none(comm, wrong, message);

  Outgoing outgoing;
  for (const Number number : numbers) outgoing.to(EvenShare::owner(n, number, comm.size())).put(number);
  const EvenShare share(comm, n);
  std::vector<int> times(share.size(), 0);
  for (const Number number : exchange_values<Number>(comm, outgoing)) ++times[share.at(number)];
  const auto bad = std::find_if(times.begin(), times.end(), [](int k) { return k != 1; });
  if (bad != times.end()) {
    wrong = share.first + (bad - times.begin());
    message =
        fmt::format("friction problem: {} {} is given {} times; each must be given once", what, wrong, *bad);
  }
  require_none(comm, wrong, message);
}

template <int D>
void check(const Comm& comm, const ProblemShare<D>& share, bool has_start, bool is_compliant, Number n_bodies,
           Number n_contacts) {
  constexpr std::size_t q = ProblemShare<D>::q;
  share_errors(comm, [&] {
    const std::size_t n = share.contact.size();
    if (share.mass.size() != share.body.size() * q * q ||
        share.free_velocity.size() != share.body.size() * q ||
        share.start_velocity.size() != (has_start ? share.body.size() * q : 0) || share.a.size() != n ||
        share.b.size() != n || share.jacobian.size() != n * 2 * D * q || share.bias.size() != n * D ||
        share.mu.size() != n || share.compliance.size() != (is_compliant ? n * 2 : 0))
      throw InputError("friction problem: the arrays of its bodies or contacts do not fit each other");
    if (n_bodies > PETSC_MAX_INT)
      throw InputError(
          fmt::format("friction problem: {} bodies; PETSc counts to {}", n_bodies, PETSC_MAX_INT));
  });
  check_numbers(comm, share.body, n_bodies, "body");
  check_numbers(comm, share.contact, n_contacts, "contact");

  Number wrong = no_number;
  std::string message;
  for (std::size_t c = 0; c < share.contact.size(); ++c) {
    const auto [low, high] = std::minmax(share.a[c], share.b[c]);
    if ((low >= -1 && low < high && high < n_bodies) || share.contact[c] >= wrong) continue;
    wrong = share.contact[c];
    message = fmt::format(
        "friction problem: contact {} is between bodies {} and {}; valid are two different numbers from -1 "
        "(static) to {}",
        wrong, share.a[c], share.b[c], n_bodies - 1);
  }
  require_none(comm, wrong, message);
}

/// The rows of a share, `width` numbers each.
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, const EvenShare& share, std::size_t width) {
  const auto row = [&](Number i) {
    return all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width);
  };
  return {row(share.first), row(share.last)};
}

/// Every rank takes its even share of the list.
template <int D>
ProblemShare<D> share_of_list(const Comm& comm, const ListedProblem<D>& whole) {
  constexpr std::size_t q = ListedProblem<D>::q;
  const std::size_t n_bodies = whole.position.size();
  const std::size_t n = whole.a.size();
  if (whole.mass.size() != n_bodies * q * q || whole.free_velocity.size() != n_bodies * q ||
      whole.b.size() != n || whole.jacobian.size() != n * 2 * D * q || whole.bias.size() != n * D ||
      whole.mu.size() != n || (!whole.compliance.empty() && whole.compliance.size() != n * 2))
    throw InputError("listed friction problem: its arrays do not fit each other");

  ProblemShare<D> share;
  const EvenShare bodies(comm, whole.n_bodies()), contacts(comm, whole.n_contacts());
  share.body = bodies.numbers();
  share.mass = rows_of(whole.mass, bodies, q * q);
  share.free_velocity = rows_of(whole.free_velocity, bodies, q);
  share.contact = contacts.numbers();
  share.a = rows_of(whole.a, contacts, 1);
  share.b = rows_of(whole.b, contacts, 1);
  share.jacobian = rows_of(whole.jacobian, contacts, 2 * D * q);
  share.bias = rows_of(whole.bias, contacts, D);
  share.mu = rows_of(whole.mu, contacts, 1);
  if (!whole.compliance.empty()) share.compliance = rows_of(whole.compliance, contacts, 2);
  share.time_step = whole.time_step;
  share.velocity_floor = whole.velocity_floor;
  return share;
}

/// Puts rows of all ranks in place. Added as integers over zeros, so that every bit arrives.
std::vector<Real> gather(const Comm& comm, std::span<const Number> number, std::span<const Real> values,
                         int width, Number n_of_all) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<std::int64_t> bits(static_cast<std::size_t>(n_of_all) * w, 0);
  for (std::size_t i = 0; i < number.size(); ++i)
    for (std::size_t k = 0; k < w; ++k)
      bits[static_cast<std::size_t>(number[i]) * w + k] = std::bit_cast<std::int64_t>(values[i * w + k]);
  comm.sum(bits);
  std::vector<Real> all(bits.size());
  std::transform(bits.begin(), bits.end(), all.begin(),
                 [](std::int64_t b) { return std::bit_cast<Real>(b); });
  return all;
}

/// A contact in the order of its rank's list: by colour, contacts of shared bodies first, then as bodies
/// lie in memory.
struct Visit {
  int colour;
  bool is_interior;
  Index place;
  Number number;
  std::size_t row;
  Index pair;
  bool operator<(const Visit& other) const {
    return std::tie(colour, is_interior, place, number) <
           std::tie(other.colour, other.is_interior, other.place, other.number);
  }
};

}  // namespace

template <int D>
SplitProblem<D>::SplitProblem(const Comm& comm, const ListedProblem<D>& whole)
    : SplitProblem(comm, share_of_list(comm, whole)) {}

template <int D>
SplitProblem<D>::SplitProblem(const Comm& comm, ProblemShare<D> share)
    : n_bodies_of_all_(comm.sum(static_cast<std::int64_t>(share.body.size()))),
      n_contacts_of_all_(comm.sum(static_cast<std::int64_t>(share.contact.size()))) {
  constexpr std::size_t q = ProblemShare<D>::q;
  const bool is_compliant = comm.any(!share.compliance.empty());
  const bool has_start = comm.any(!share.start_velocity.empty());
  check(comm, share, has_start, is_compliant, n_bodies_of_all_, n_contacts_of_all_);
  problem_.time_step = share.time_step;
  problem_.velocity_floor = share.velocity_floor;

  // Rows go to the owners of bodies and of the lower bodies of contacts.
  std::vector<BodyPair> pairs(share.contact.size());
  std::vector<Number> lows(share.contact.size());
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    pairs[c] = pair_of(share.a[c], share.b[c]);
    lows[c] = pairs[c].low;
  }
  const Directory directory(comm, n_bodies_of_all_, std::move(pairs));
  const std::vector<BodyFact> facts = directory.look_up(share.body);
  auto bodies = sent_to_owners<BodyRow<D>>(comm, facts, [&](std::size_t i, BodyRow<D>& row) {
    row.body = {share.body[i], facts[i].n_partners};
    copy_row(share.mass, i, row.mass);
    copy_row(share.free_velocity, i, row.free_velocity);
    copy_row(share.start_velocity, i, row.start_velocity);
  });
  const auto contacts =
      sent_to_owners<ContactRow<D>>(comm, directory.look_up(lows), [&](std::size_t c, ContactRow<D>& row) {
        row.number = share.contact[c];
        row.a = share.a[c];
        row.b = share.b[c];
        copy_row(share.jacobian, c, row.jacobian);
        copy_row(share.bias, c, row.bias);
        copy_row(share.compliance, c, row.compliance);
        row.mu = share.mu[c];
      });
  share = {};

  std::vector<std::pair<BodyPair, std::size_t>> pair_and_row;
  pair_and_row.reserve(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c)
    pair_and_row.emplace_back(pair_of(contacts[c].a, contacts[c].b), c);
  std::sort(pair_and_row.begin(), pair_and_row.end());
  std::vector<BodyPair> run;
  std::vector<Index> pair_of_contact(contacts.size());
  for (const auto& [pair, c] : pair_and_row) {
    if (run.empty() || run.back() != pair) run.push_back(pair);
    pair_of_contact[c] = static_cast<Index>(run.size()) - 1;
  }
  std::sort(bodies.begin(), bodies.end(),
            [](const BodyRow<D>& x, const BodyRow<D>& y) { return x.body.number < y.body.number; });
  std::vector<OwnedBody> owned;
  for (const BodyRow<D>& row : bodies) owned.push_back(row.body);
  halo_ = std::make_unique<SplitHalo>(comm, directory, owned, run);

  problem_.halo = halo_.get();
  problem_.body_id.assign(halo_->held().begin(), halo_->held().end());
  const auto fill = [&](std::vector<Real>& values, auto BodyRow<D>::*of_row, std::size_t width) {
    values.resize(problem_.body_id.size() * width);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      std::copy_n((bodies[i].*of_row).begin(), width,
                  values.begin() + halo_->place_of_owned()[i] * static_cast<std::ptrdiff_t>(width));
    halo_->copy_to_ghosts(values, static_cast<int>(width));
  };
  fill(problem_.mass, &BodyRow<D>::mass, q * q);
  fill(problem_.free_velocity, &BodyRow<D>::free_velocity, q);
  if (has_start) fill(problem_.start_velocity, &BodyRow<D>::start_velocity, q);

  std::vector<Visit> visits;
  visits.reserve(contacts.size());
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Pair& pair = halo_->pair(pair_of_contact[c]);
    const bool is_interior = !halo_->is_shared(pair.low) && (pair.high < 0 || !halo_->is_shared(pair.high));
    visits.push_back({pair.colour, is_interior, pair.low, contacts[c].number, c, pair_of_contact[c]});
  }
  std::sort(visits.begin(), visits.end());
  const auto n_colours = at(halo_->n_colours());
  problem_.colour_first.assign(n_colours + 1, 0);
  problem_.interior_first.assign(n_colours, 0);
  problem_.jacobian.reserve(visits.size() * 2 * D * q);
  problem_.bias.reserve(visits.size() * D);
  for (const Visit& visit : visits) {
    const ContactRow<D>& row = contacts[visit.row];
    const Pair& pair = halo_->pair(visit.pair);
    const bool is_a_low = row.a == pair.bodies.low;
    ++problem_.colour_first[at(visit.colour) + 1];
    if (!visit.is_interior) ++problem_.interior_first[at(visit.colour)];
    contact_number_.push_back(row.number);
    problem_.a.push_back(is_a_low ? pair.low : pair.high);
    problem_.b.push_back(is_a_low ? pair.high : pair.low);
    problem_.mu.push_back(row.mu);
    append(problem_.jacobian, row.jacobian);
    append(problem_.bias, row.bias);
    if (is_compliant) append(problem_.compliance, row.compliance);
  }
  for (std::size_t p = 0; p < n_colours; ++p) {
    problem_.colour_first[p + 1] += problem_.colour_first[p];
    problem_.interior_first[p] += problem_.colour_first[p];
  }
}

template <int D>
SplitProblem<D>::~SplitProblem() = default;

template <int D>
std::span<const std::int64_t> SplitProblem<D>::body_number() const {
  return halo_->held();
}

template <int D>
std::vector<Real> SplitProblem<D>::gather_contacts(std::span<const Real> values, int width) const {
  return gather(halo_->comm(), contact_number_, values, width, n_contacts_of_all_);
}

template <int D>
std::vector<Real> SplitProblem<D>::gather_bodies(std::span<const Real> values, int width) const {
  return gather(halo_->comm(), body_number().first(at(halo_->n_owned())), values, width, n_bodies_of_all_);
}

template class SplitProblem<2>;
template class SplitProblem<3>;

}  // namespace scree
