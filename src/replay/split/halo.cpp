#include "replay/split/halo.hpp"

#include "core/random.hpp"
#include "core/sparse_all_to_all.hpp"
#include "replay/split/colouring.hpp"
#include "replay/split/index_set.hpp"

namespace scree::split {

namespace {

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

std::uint64_t draw_of(const BodyPair& pair) {
  const auto word = [](Number number, int shift) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) >> shift);
  };
  const auto bits =
      philox4x32({word(pair.low, 0), word(pair.low, 32), word(pair.high, 0), word(pair.high, 32)}, {0, 0});
  return std::uint64_t{bits[0]} << 32 | bits[1];
}

/// The place of a body in an ascending list; -1 if it is not there.
Index place_in(std::span<const OwnedBody> owned, Number number) {
  const auto found = std::ranges::lower_bound(owned, number, {}, &OwnedBody::number);
  return found != owned.end() && found->number == number ? static_cast<Index>(found - owned.begin()) : -1;
}

}  // namespace

/// What an owner sends to a rank about the active copy or a ghost of a body.
struct Halo::Transfer {
  enum class Kind : std::int32_t { ghost, copied, arrives, leaves };
  Kind kind;
  std::int32_t stage;
  Index place;  // at the receiver of this message
  int peer;     // whom the value comes from, or goes to
  Number body;
};

Halo::Halo(const Comm& comm, const BodyDirectory& directory, std::span<const OwnedBody> owned,
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
  colour_pairs(comm_, pairs_, pairs_of_body, owner_);
  for (const Pair& pair : pairs_) n_colours_ = std::max(n_colours_, pair.colour + 1);
  n_colours_ = static_cast<int>(comm_.max(std::int64_t{n_colours_}));

  shared_.assign(local_.size(), 0);
  for (int stage = 0; stage <= 2 * n_colours_; ++stage) stages_.emplace_back(comm);
  if (comm_.size() > 1) plan_transfers(pairs_of_body);
}

/// Gives the bodies owned and the ghosts their places, and this rank's pairs theirs.
void Halo::place_bodies(const BodyDirectory& directory, std::span<const OwnedBody> owned,
                        std::span<const BodyPair> run) {
  pairs_.resize(run.size());
  std::vector<Number> ghosts;
  std::vector<std::pair<Index, Index>> edges;
  for (std::size_t p = 0; p < run.size(); ++p) {
    Pair& pair = pairs_[p];
    pair.bodies = run[p];
    pair.runner = comm_.rank();
    pair.draw = draw_of(run[p]);
    pair.low = p > 0 && run[p].low == run[p - 1].low ? pairs_[p - 1].low : place_in(owned, run[p].low);
    if (run[p].high < 0) continue;
    pair.high = place_in(owned, run[p].high);
    if (pair.high < 0) {
      ghosts.push_back(run[p].high);
    } else {
      edges.emplace_back(pair.low, pair.high);
      edges.emplace_back(pair.high, pair.low);
    }
  }
  place_of_owned_.resize(owned.size());
  for (const Index i : cuthill_mckee(listed_by_item(owned.size(), edges))) {
    place_of_owned_[at(i)] = static_cast<Index>(local_.size());
    local_.push_back(owned[at(i)].number);
    n_partners_.push_back(owned[at(i)].n_partners);
  }
  owner_.assign(local_.size(), comm_.rank());

  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  local_.insert(local_.end(), ghosts.begin(), ghosts.end());
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
void Halo::meet_pairs_of_others(std::span<const OwnedBody> owned) {
  struct PairMessage {
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
          .put(PairMessage{pair.bodies, pair.partners, static_cast<Index>(p), pair.high});
  }
  for (const PackedMessage& message : outgoing.exchange(comm_)) {
    Unpacker unpacker(message.bytes);
    while (!unpacker.empty()) {
      const auto there = unpacker.take<PairMessage>();
      Pair& pair = pairs_.emplace_back();
      pair.bodies = there.bodies;
      pair.draw = draw_of(there.bodies);
      pair.partners = there.partners;
      pair.runner = message.rank;
      pair.elsewhere = there.pair;
      pair.high_there = there.high;
      pair.high = place_of_owned_[at(place_in(owned, there.bodies.high))];
    }
  }
}

/// Owners know all pairs of their bodies, hence where the active copy of each is needed when.
void Halo::plan_transfers(const Lists& pairs_of_body) {
  using Kind = Transfer::Kind;
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
    const Number number = local_[at(body)];
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
  take_transfers(exchange_values<Transfer>(comm_, outgoing));
}

/// Both ends list the same bodies in order of their numbers.
void Halo::take_transfers(std::vector<Transfer> transfers) {
  using Kind = Transfer::Kind;
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

}  // namespace scree::split
