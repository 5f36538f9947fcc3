#pragma once
#include "core/types.hpp"

namespace scree {

/// Energies of soft contacts at the end of a step, and what they did in it (docs/method.md, eq. H.9-H.11).
struct ContactEnergy {
  // Stored [J].
  Real normal = 0;
  Real springs = 0;  ///< tangential, and of resistance to rolling
  // Powers with the velocities of now [W].
  Real impact = 0;      ///< lost to damping along normals
  Real friction = 0;    ///< lost to damping along surfaces
  Real rolling = 0;     ///< lost to resistance to rolling, but for what its springs lose
  Real wall_work = 0;   ///< done by moving obstacles on bodies
  Real stretching = 0;  ///< put into springs by slip
  Real cohesion = 0;    ///< done by attraction on bodies
  // In the step [J].
  Real slid = 0;    ///< lost by springs that slide
  Real rolled = 0;  ///< and by those that roll
};
constexpr std::size_t n_contact_energies = sizeof(ContactEnergy) / sizeof(Real);

}  // namespace scree
