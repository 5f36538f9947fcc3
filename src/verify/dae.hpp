#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// Friction and joints as constraints: small problems with exact solutions. With none of the optional
/// members, all published rows of a case are computed and checked; with any of them, one run that is only
/// reported.
struct DaeVerification {
  std::string which;  ///< pendulum, double-pendulum, slope, oscillator or stack
  std::optional<Real> gravity, time_step, end_time;  ///< [m/s2, s, s]
  std::optional<Real> angle;                         ///< of the slope [deg]
  std::optional<Real> mu;                            ///< slope: coefficient; oscillator: mu N [N]
  std::string integrator;                            ///< a registered name; empty: rk4, stack: gear
  std::string projection;  ///< none, position, velocity or both; empty: velocity (pendulums and stack only)
  std::vector<Real> start,
      velocity;              ///< at the start: one number, two per body of a pendulum; empty: as published
  bool strict = false;       ///< a start that breaks the constraints is refused instead of projected
  std::optional<int> disks;  ///< of the stack: 3, 6 or 10
  bool quick = false;        ///< only the smallest stack
  std::string source;        ///< folder that holds inputs/verification and tests/reference/dae
  std::string csv;           ///< table of all runs to write; empty: none

  bool is_single_run() const {
    return gravity || time_step || end_time || angle || mu || !integrator.empty() || !projection.empty() ||
           !start.empty() || !velocity.empty() || strict;
  }
};

/// The report of docs/verification.md, "Friction and joints as constraints". `show` gets its lines. Returns
/// whether all checks hold. The ranks share the disks of a stack; of the others each computes all for itself.
/// Throws InputError for options that the case does not have or that cannot be, and for a missing or damaged
/// reference. Collective.
bool verify_dae(const Comm& comm, const DaeVerification& options,
                const std::function<void(const std::string&)>& show);

}  // namespace scree
