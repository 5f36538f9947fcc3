#pragma once
#include <functional>
#include <span>
#include <vector>

#include "comm/record_exchange.hpp"
#include "core/body_halo.hpp"
#include "replay/split/body_directory.hpp"

namespace scree::split {

/// A body as its owner knows it.
struct OwnedBody {
  Number number;
  int n_partners;
};

/// Ghosts and halo transfers of a SplitProblem.
class Halo final : public BodyHalo {
 public:
  /// `owned`: the bodies of this rank, ascending; `run`: the pairs it runs, ascending, each once. Collective.
  Halo(const Comm& comm, const BodyDirectory& directory, std::span<const OwnedBody> owned,
       std::span<const BodyPair> run);

  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_owned_; }
  Index n_local() const override { return static_cast<Index>(local_.size()); }
  int n_colours() const override { return n_colours_; }
  void copy_to_ghosts(std::span<Real> values, int width) override {
    ghosts_.begin(std::span<const Real>(values), width);
    ghosts_.end(values, width);
  }
  void add_to_owners(std::span<Real> values, int width) override {
    ghosts_.begin(std::span<const Real>(values), width, RecordExchange::Direction::reverse);
    ghosts_.end_combining(values, width, RecordExchange::Direction::reverse, std::plus<>());
  }
  void begin_transfer(int stage, std::span<const Real> values, int width) override {
    stages_[at(stage)].begin(values, width);
  }
  void end_transfer(int stage, std::span<Real> values, int width) override {
    stages_[at(stage)].end_move(values, width);
  }

  /// Numbers of the local bodies.
  const std::vector<Number>& local() const { return local_; }
  /// The local place of each body owned, in the order in which they were given.
  std::span<const Index> place_of_owned() const { return place_of_owned_; }
  /// A pair run by this rank, by its place in the list given.
  const Pair& pair(Index p) const { return pairs_[at(p)]; }
  /// Whether the active copy of this local body leaves or reaches this rank during a sweep.
  bool is_shared(Index body) const { return shared_[at(body)] != 0; }

 private:
  struct Transfer;

  void place_bodies(const BodyDirectory& directory, std::span<const OwnedBody> owned,
                    std::span<const BodyPair> run);
  void meet_pairs_of_others(std::span<const OwnedBody> owned);
  void plan_transfers(const Lists& pairs_of_body);
  void take_transfers(std::vector<Transfer> transfers);

  Comm comm_;
  Index n_owned_;
  int n_colours_ = 0;
  std::vector<Number> local_;
  std::vector<int> owner_;       // of each local body
  std::vector<int> n_partners_;  // alike
  std::vector<Index> place_of_owned_;
  std::vector<Pair> pairs_;  // those that this rank runs, then those that others run with bodies it owns
  std::vector<std::uint8_t> shared_;
  RecordExchange ghosts_;
  std::vector<RecordExchange> stages_;
};

}  // namespace scree::split
