#pragma once
#include <span>
#include <vector>

#include "geometry/convex/manifold.hpp"
#include "geometry/convex/wall_contact.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/pbd/multipliers.hpp"
#include "schemes/pbd/pair_kernels.hpp"
#include "state/state.hpp"

namespace scree {

/// What a sweep does with contacts: a mode and its numbers, see PairMode.
struct SweepParameters {
  Real compliance = 0;  ///< a = alpha / h [-]
  Real scale = 0;       ///< of PairMode::warm
};

/// Projections of bodies with shapes, which turn (docs/method.md, eq. D.16). For each
/// point of a contact between a and b with normal n, gap g and levers r,
///
///     W = sum over both of w (1 + (r x n) . J^-1 (r x n)),   dl as of PairMode with W for the sum of
///     mobilities,   x_a -= w_a dl n,   turn of a: -w_a dl J_a^-1 (r_a x n), and the opposite for b,
///
/// where J is the inertia over the mass. A pair is found again at every visit, by contact_points() or
/// ObstacleSet::touch(); within a visit gaps follow the motion to first order. Spheres are bodies whose (r x
/// n) is 0. Positions and sizes are in the records of the sweeper, orientations here. A contact's pushes act
/// at one point, so they keep sum x / w and the angular momentum of the change but for the second order of
/// turns.
template <int D>
class ShapeProjection {
 public:
  /// Makes the arrays fit the bodies and candidates that are there. After every rebuild. Local.
  void prepare(const State<D>& state, const Neighborhood<D>& neighborhood);

  /// The orientations of all local bodies; those of owned bodies are current between sweeps.
  std::span<Orientation<D>> orientations() { return orientation_; }
  std::span<const Orientation<D>> orientations() const { return orientation_; }
  std::span<Real> numbers() {
    return {reinterpret_cast<Real*>(orientation_.data()), orientation_.size() * numbers_each};
  }
  static constexpr int numbers_each = sizeof(Orientation<D>) / sizeof(Real);

  /// What the visits of a sweep read and write. `mobility`: of local bodies; empty: all 1.
  struct Sweep {
    const State<D>& state;
    const Neighborhood<D>& neighborhood;
    std::span<SweepRecord> records;
    std::span<const Real> mobility;
    PbdMultipliers<D>& multipliers;
    PairMode mode;
    SweepParameters parameters;
  };
  /// The contacts of a block, in the order of the schedule. Returns the deepest overlap met [m]. Local. Cost
  /// about 1 us per pair of boxes that touch.
  Real run(const Sweep& sweep, const typename SweepSchedule<D>::Block& block);

 private:
  using Points = typename PbdMultipliers<D>::Points;
  struct End;
  struct Contact;
  End end_of(const Sweep& sweep, std::size_t body);
  Real treat_pair(const Sweep& sweep, std::size_t place, Index low, Index high, const Vec<D>& between);
  Real treat_wall(const Sweep& sweep, std::size_t place, Index body, int constraint);
  static Real project(const Sweep& sweep, std::span<Contact> contacts, End& a, End* b, Points& remembered);

  std::vector<Orientation<D>> orientation_;  // of local bodies
  /// Of each candidate pair: a direction along which it was apart, or 0. It saves work only.
  std::vector<Vec<D>> axis_;
  WallContacts<D> wall_;
};

}  // namespace scree
