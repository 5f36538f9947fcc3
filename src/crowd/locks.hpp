#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "crowd/look_ahead.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

class CrowdEnvironment;
class WalkingModel;

/// People who block each other for good.
struct Lock {
  Real since = 0;           ///< when the first of them had got on for the last time [s]
  Real until = -1;          ///< when it was gone [s]; -1: it is there
  std::int64_t people = 0;  ///< at the last look at it
  Vec<2> at{};              ///< mean of their places then [m]
  int level = 0;            ///< of the building
  /// The destinations that most of them were bound for, with how many; -1: no more.
  std::array<std::pair<int, std::int64_t>, 3> bound_for{{{-1, 0}, {-1, 0}, {-1, 0}}};
};

/// Looks every 5 s for people who want to move and do not ([crowd.lock]; docs/method.md, "Locks").
///
/// Somebody stands who is on its way, waits for nothing, and whose travel time (at 1 m/s) has fallen by less
/// than the share 0.02 of `after` (of slow people: a quarter of what they could do) for `after`. Who stands
/// is in a queue, not in a lock, if somebody who does not stand is within 0.1 m in its forward half plane, or
/// behind others in a chain of such. All others who stand are locked, and those of them within 0.1 m of each
/// other are one lock. Decisions follow from comparisons of single bodies and from sums of integers: the same
/// on any number of ranks.
class Locks {
 public:
  explicit Locks(CrowdEnvironment& environment) : environment_(environment) {}

  /// Declares and reads [crowd.lock].
  void describe(Section& crowd);
  /// Whether it is time to look, at the start of a step.
  bool is_due(const Clock& clock) const;
  /// `walks` of the owned people, as in this step. Collective; O(people), and O(pairs) if anybody stands.
  void detect(State<2>& state, Neighborhood<2>& neighborhood, std::span<const WalkingIntent> walks,
              const WalkingModel& walking);
  /// Whether the deck asks to end the run for a lock that is there.
  bool ends_run() const { return ends_run_ && n_locked_ > 0; }
  /// All so far, and the first of them one by one.
  std::int64_t n_locks() const { return n_locks_; }
  std::span<const Lock> list() const { return list_; }
  /// For checkpoints, brought up to date. restore() takes it back. Local.
  std::span<Real> memory();
  void restore();

 private:
  /// What of a lock is found before its number is known; `id`: the least of its people.
  struct LockHead {
    GlobalId id;
    Vec<2> at;
    std::int32_t level;
  };
  struct StandingPair {
    Index by, whom;
  };
  bool wants_to_move(const State<2>& state, std::size_t i, const WalkingIntent& walk,
                     const WalkingModel& walking, Vec<2>& direction) const;
  bool find_standing(State<2>& state, std::span<const WalkingIntent> walks, const WalkingModel& walking);
  void exclude_queues(State<2>& state, Neighborhood<2>& neighborhood);
  void join(State<2>& state, Neighborhood<2>& neighborhood);
  void number_locks(State<2>& state, const WalkingModel& walking);
  std::string text(const Lock& lock, const WalkingModel& walking) const;

  CrowdEnvironment& environment_;
  Real after_ = 30;
  bool ends_run_ = false;
  std::int64_t n_locked_ = 0, n_locks_ = 0;
  std::vector<Lock> list_;
  std::vector<Real> memory_;
  // Work arrays of a look, by local body.
  std::vector<Real> stands_;         // 1: stands, and is not known to be in a queue
  std::vector<Real> label_;          // least id of its lock; infinite: in none
  std::vector<Vec<2>> direction_;    // that it wants to go in
  std::vector<StandingPair> pairs_;  // both stand and are near
  std::vector<StandingPair> ahead_;  // of these, the second is ahead of the first
};

}  // namespace scree
