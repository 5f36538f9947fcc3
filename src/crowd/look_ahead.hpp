#pragma once
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "contact/contact_graph.hpp"
#include "crowd/look_ahead_kernels.hpp"
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

/// Pairs and walls at the present positions that may touch soon: those with a gap up to a reach.
struct NearContacts : ContactList<2> {
  std::vector<Real> wall_speed;  ///< of an obstacle's surface along the normal [m/s]; 0 for pairs
  void clear() {
    ContactList<2>::clear();
    wall_speed.clear();
  }
};

/// How somebody wants to walk in a step.
struct WalkingIntent {
  Vec<2> direction{};     ///< unit, or zero
  Real speed = 0;         ///< on free ground [m/s]
  Real last_speed = 0;    ///< of the last step [m/s]
  Real destination = -1;  ///< its number; -1: none
  Real time_to_go = 0;    ///< travel time to it [s]
  /// Others with a wider gap than this do not matter, and may not be seen [m]; < 0: nobody does.
  Real sight = HUGE_VAL;
};

/// What people see on their way, from one pass over all candidates (docs/method.md, "People", eq. P.1-P.2).
///
/// free_distance    how far a person who walks straight on gets before touching another one ahead whose disk
///             reaches into the middle of the path [m]: with d from centre to centre, R the sum of radii,
///             along = d . e, across = |d x e| and w the width that the pace of the other one gives:
///                 along - sqrt(R^2 - across^2)   for along > 0, across < w R;   the least over all others
///             but those who walk to the same destination and have further to go
/// turned      the same for e turned, and to walls: a multiple of their gap over n . e, since people walk up
///             to a wall within a part of the headway time
/// room        how far a person can step to its left or right before touching somebody beside it, and how far
///             walls are on that side [m]
/// oncoming    the time until it meets those who come towards it [s], in a path widened by
///             `lateral_clearance`, separately for others on its left and on its right (straight ahead
///             counts as left)
///
/// Only minima are taken, so the bits depend neither on order nor on ranks. Beyond `range` nothing is certain
/// to be seen, nor beyond somebody's own sight. Everybody looks at its own candidates, several at a time
/// (look_ahead_kernels.hpp), so a pair is looked at from each end. Cost: O(candidates), 8 bytes each; two
/// messages to ghosts and one back.
class LookAhead {
 public:
  /// e is turned to the right, to the left, twice as far to the right and to the left.
  static constexpr int n_turns = LookAheadResult::n_turns;

  struct Perception {
    Real range = 0;              ///< [m]; larger free distances are cut to it
    Real reach = 0;              ///< gap up to which contacts are near [m]
    bool oncoming = false;       ///< whether oncoming() is found
    Real lateral_clearance = 0;  ///< [m]
    Real headway_width = 1;      ///< w of others who stand; at most 1
    Real moving_width = 1;       ///< w of others who walk; at most 1
    Real side_range = 0;         ///< larger rooms are cut to it [m]; 0: they are not found
    Real turning_angle = 0;      ///< [rad]; 0: turned directions are not found
  };

  /// Finds who may be seen by whom and makes room for everybody local; after each list build. Pairs with a
  /// gap of more than `skin` are left out. `sight`: of the owned people, how far they may ever see (as
  /// WalkingIntent::sight) before the next list; until then two people come no nearer to each other than by
  /// `drift` [m]. Empty: anybody may see all that is found. Cost: O(pairs). Collective.
  void prepare(const State<2>& state, Neighborhood<2>& neighborhood, Real skin,
               std::span<const Real> sight = {}, Real drift = 0);
  /// After people have gone: local person i is `numbers`[i] now, or gone (-1). Cost: O(candidates). Local.
  void renumber(std::span<const Index> numbers);

  /// Of the owned people; set by the caller before find().
  std::span<WalkingIntent> walks(const State<2>& state);

  /// Refreshes ghosts (positions and walks; not levels) and looks at all candidates. Collective.
  void find(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception, Real dt);
  /// Only the free distances again, for new walking directions. Collective.
  void find_again(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception);

  /// What one of the owned people sees; turned[k]: along its direction turned by turn_angle(k,
  /// turning_angle).
  const LookAheadResult& result(std::size_t i) const { return results_[i]; }
  static Real turn_angle(int k, Real angle) { return (k < 2 ? angle : 2 * angle) * (k % 2 == 0 ? -1 : 1); }
  /// Cosine and sine of that angle, of the last perception.
  std::pair<Real, Real> turn(int k) const { return {cosines_[k], sines_[k]}; }
  const NearContacts& near() const { return near_; }

 private:
  /// The candidate pairs by person: see LookAheadView::Candidates.
  struct Candidates {
    std::vector<Index> first, others;
    std::vector<std::uint8_t> shifts;  // of those through periodic faces
  };
  struct VisiblePair {
    Index low, high;
    std::int16_t shift;
    bool by_low, by_high;  // who may see whom
  };
  Candidates& candidates(Index shift) { return shift < 0 ? within_box_ : through_faces_; }
  void list_candidates(std::span<const VisiblePair> pairs);
  static void renumber(Candidates& list, std::span<const Index> numbers);
  void resize(std::size_t n_local);
  void load(const State<2>& state, const Perception& perception);
  void perceive_people(const State<2>& state, const Neighborhood<2>& neighborhood,
                       const Perception& perception);
  void find_near_pairs(const State<2>& state, const Neighborhood<2>& neighborhood,
                       const SweepSchedule<2>::Block& block, Real reach);
  template <bool record>
  void look(State<2>& state, Neighborhood<2>& neighborhood, const Perception& perception, Real dt);
  template <bool record>
  void detect_walls(const State<2>& state, const SweepSchedule<2>::Block& block,
                    const SweepSchedule<2>& schedule, const Perception& perception, Real dt);
  void detect_wall(std::size_t i, const Vec<2>& normal, Real gap);

  std::vector<WalkingIntent> walks_;      // n_local
  std::vector<LookAheadResult> results_;  // n_local
  NearContacts near_;
  std::vector<Vec<2>> at_;
  std::vector<SurfacePoint<2>> surface_;

  // For kernels.
  const LookAheadKernels* kernels_ = nullptr;
  Candidates within_box_, through_faces_;
  std::size_t n_pairs_ = 0;  // of the last list
  std::vector<Real> sight_;
  std::vector<SweepRecord> disks_, headings_, goals_;  // n_local, disks_ two more
  std::vector<Real> scratch_;
  std::vector<Index> who_, near_places_;
  Real cosines_[n_turns] = {}, sines_[n_turns] = {};  // of the turns
};

}  // namespace scree
