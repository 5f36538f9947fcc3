#pragma once
#include <span>
#include <vector>

#include "geometry/convex/manifold.hpp"
#include "geometry/convex/wall_contact.hpp"
#include "neighbors/contact_rules.hpp"
#include "neighbors/neighbor_list.hpp"
#include "state/state.hpp"

namespace scree {

/// Where bodies with shapes meet each other and walls. Which pairs are contacts follows from the same rules
/// as of spheres, with the displacement of each point: bodies turn. All points of a pair are contacts if one
/// of them is. With ContactRules::other_displacement points are looked for as far as it goes: a pair gets
/// more of them.
template <int D>
class ShapeContacts {
 public:
  /// For bodies as they are and these rules. Local, O(local bodies).
  void begin(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules);

  /// The contacts of a pair, `between` the centres of its bodies (that of high minus that of low); none if it
  /// is no contact. Good until the next call.
  const Manifold<D>& of_pair(std::size_t place, Index low, Index high, const Vec<D>& between);
  /// The same of a body and a wall. `from`: where its centre was when the step began.
  const WallContacts<D>& of_wall(std::size_t place, Index body, int constraint, const Vec<D>& from);

  /// Whether a point of the last pair or wall asked for, which the free motion kept apart, overlaps too deep
  /// by the other displacement.
  bool misses_point() const { return misses_point_; }
  /// Whether points of the last wall asked for were left out, since another wall stands for it there.
  bool leaves_out() const { return leaves_out_; }
  /// False: by the other displacement no points of a pair come nearer by more than
  /// ContactRules::overlap_threshold, so it misses none.
  bool may_miss_points(Index low, Index high) const;

 private:
  /// How a body goes on: displacement of its centre, and turn.
  struct Displacement {
    Vec<D> move;
    Spin<D> turn;
    Vec<D> of_point(const Vec<D>& lever) const;
    Real longest(Real radius) const { return norm(move) + norm(turn) * radius; }
  };
  Displacement displacement_of(std::span<const Vec<D>> moves, std::span<const Spin<D>> turns,
                               Index body) const {
    return moves.empty() ? Displacement{} : Displacement{moves[body], turns[body]};
  }
  /// By how much two points of bodies can come nearer at most [m].
  Real closing_bound(const Displacement& of_low, const Displacement& of_high, Index low, Index high) const;
  Real width_for(Index body, Real bound) const;
  /// Gaps up to which points are found: in all, and above the least [m].
  struct Range {
    Real reach, width;
  };
  /// Whether one of the points is a contact; `of_free`: which of them the free motion finds. `closes(way,
  /// point)`: by how much its gap closes; `free`, `then`: the free motion and the other one.
  template <class Points, class Closes>
  bool is_contact(const Points& points, Real tolerance, const Range& of_free, const Closes& closes);
  Real velocity_bound(int constraint, Index body) const;
  void leave_out_points(std::size_t place, Index body, int constraint, Real rounding);

  const State<D>* state_ = nullptr;
  const SweepSchedule<D>* schedule_ = nullptr;
  const ContactRules<D>* rules_ = nullptr;
  std::vector<BodyPose<D>> pose_;  // of local bodies, about 0
  Manifold<D> pair_;
  WallContacts<D> wall_;
  bool misses_point_ = false, leaves_out_ = false;
  // Of each candidate pair of the list: a direction along which it was apart, or 0. It saves work only.
  std::vector<Vec<D>> axis_;
  std::int64_t list_of_axes_ = -1;
};

}  // namespace scree
