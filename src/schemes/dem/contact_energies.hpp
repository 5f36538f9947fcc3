#pragma once
#include <vector>

#include "schemes/dem/contact_energy.hpp"
#include "schemes/dem/wall_visitor.hpp"

namespace scree {

/// What contacts store and lose, for the energy balance: a pass of its own after a step, so that runs that do
/// not ask for it pay nothing. Histories must keep what was before the step. All sums are the same bits on
/// any number of ranks.
template <int D>
class ContactEnergies {
 public:
  /// Of the forces of the step, with the present velocities. Records become those of now, without forces.
  /// Collective.
  ContactEnergy find(StepContext<D>& step, GhostExchange<D>& ghosts);
  /// Of the contacts that there are, as at the end of a step of dt = 0 in which nothing was done. Collective.
  ContactEnergy find_again(StepContext<D>& step, GhostExchange<D>& ghosts);

 private:
  using Block = typename StepContext<D>::Block;
  ContactEnergy of_pairs(const StepContext<D>& step, const Block& block, ContactEnergy sum) const;
  ContactEnergy of_walls(const StepContext<D>& step, const Block& block, ContactEnergy sum);

  std::vector<MotionRecord> force_motions_;  // local bodies: by which forces were made
  std::vector<ContactEnergy> energies_;      // of each block
  WallVisitor<D> walls_;
  std::vector<Index> places_;  // in which they are looked at
};

}  // namespace scree
