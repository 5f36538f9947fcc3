#pragma once
#include <array>
#include <bit>

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

  using Numbers = std::array<Real, 10>;  // all of them
  Numbers numbers() const { return std::bit_cast<Numbers>(*this); }
  static ContactEnergy of(const Numbers& numbers) { return std::bit_cast<ContactEnergy>(numbers); }
  ContactEnergy& operator+=(const ContactEnergy& more) {
    Numbers sums = numbers();
    const Numbers terms = more.numbers();
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += terms[k];
    return *this = of(sums);
  }
};

}  // namespace scree
