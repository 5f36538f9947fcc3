#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A row of dominoes that fall against each other: no slip on the floor, no friction between them, no
/// restitution, sharp edges. Domino i, at the angle t_i from upright, leans with its upper edge on the face
/// of the next (van Leeuwen's constraint):
///     h sin(t_i - t_{i+1}) = (s + d) cos(t_{i+1}) - d
/// so the row has one degree of freedom, the angle of its first domino. It keeps its energy from impact to
/// impact; at an impact momenta are projected on the motion of the longer row.
struct DominoRow {
  Real height = 1;     ///< h [m]
  Real thickness = 0;  ///< d [m]
  Real gap = 0;        ///< s, between faces [m]
  Real gravity = 9.81;

  /// When domino 0, 1, ... begins to move [s]; domino 0 stands and gets the spin `push` at 0 [rad/s].
  std::vector<Real> impact_times(std::size_t n, Real push) const {
    std::vector<Real> times{0};
    Real rate = push;
    const Real inertia = (height * height + thickness * thickness) / 3;  // about the edge, over mass
    const Real last = std::asin(gap / height);
    while (times.size() < n) {
      const std::size_t n_moving = times.size();
      const Chain start = chain(n_moving, 0);
      const Real energy = 0.5 * inertia * start.inertia * rate * rate + gravity * start.centres;
      // Time over the angle, by the midpoint rule.
      constexpr int n_parts = 2000;
      const Real part = last / n_parts;
      const auto rate_at = [&](Real angle) {
        const Chain at = chain(n_moving, angle);
        return std::sqrt(2 * (energy - gravity * at.centres) / (inertia * at.inertia));
      };
      Real time = times.back();
      for (int k = 0; k < n_parts; ++k) time += part / rate_at((k + 0.5) * part);
      times.push_back(time);
      const Real moving = chain(n_moving, last).inertia;
      rate = rate_at(last) * moving / (moving + 1);
    }
    return times;
  }

 private:
  struct Chain {
    Real inertia = 0;  // sum of (dt_i / dt_first)^2
    Real centres = 0;  // sum of the heights of centres
  };
  Chain chain(std::size_t n, Real angle) const {
    Chain sum;
    Real share = 1;
    for (std::size_t i = 0; i < n; ++i) {
      sum.inertia += share * share;
      sum.centres += 0.5 * (height * std::cos(angle) + thickness * std::sin(angle));
      const Real lean = std::asin(((gap + thickness) * std::cos(angle) - thickness) / height);
      share *= 1 - (gap + thickness) * std::sin(angle) / (height * std::cos(lean));
      angle += lean;
    }
    return sum;
  }
};

}  // namespace scree
