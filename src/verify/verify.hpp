#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

/// The verifications of `scree_verify` (docs/verification.md). They run decks by the code that runs every
/// deck, on the ranks of `comm`; the numbers do not depend on how many there are. `show` gets the lines of
/// the report as they become known. All return whether every check holds, throw InputError for options that
/// cannot be used and for a missing or damaged reference, and are collective.
namespace scree {

struct VerifyOptions {
  std::string only = "all";  ///< case, or group of cases
  bool quick = false;        ///< leaves out what takes long
  std::string source;        ///< folder that holds inputs/verification and tests/reference
  std::string csv;           ///< table to write; empty: none
};

/// Takes a line of a report.
using Show = std::function<void(const std::string&)>;

/// Position-based dynamics: two experiments of the convergence proof against their references.
bool verify_pbd(const Comm& comm, const VerifyOptions& options, const Show& show);

/// The exact motion of "sliding": a point that f = (0, -1, 0) drives along the circle in which two balls
/// intersect (docs/verification.md), until it leaves them.
Vec<3> sliding_exact(Real t);

/// A cube on a slope: recomputes the published table of the split interior-point method, and compares every
/// registered solver with the exact motion, a = g (sin - mu cos) or rest. Every rank computes all of it for
/// itself.
bool verify_slope(const Comm& comm, const VerifyOptions& options, const Show& show);

/// Houses of cards: which fall, how many cards and when, beside published outcomes.
bool verify_cards(const Comm& comm, const VerifyOptions& options, const Show& show);

/// A disk in a corner, options as text, as the command line has them.
struct CornerOptions : VerifyOptions {
  std::string restitution = "1";
  std::string alpha = "pi/4";    ///< half angle, radians or "pi/N"
  std::string velocity = "1,0";  ///< "VX,VY"
  bool table = false;            ///< all published cases instead of this one
  bool check = false;            ///< compares the table with the published rows
};

/// The case of `options`, or the table, as CSV with a header line. Throws InputError for what is no number or
/// out of range. Local.
std::string corner_csv(const CornerOptions& options);

/// Compares the table with the published rows, line by line.
bool verify_corner(const Comm& comm, const CornerOptions& options, const Show& show);

/// Friction and joints as constraints: small problems with exact solutions; `only` is pendulum,
/// double-pendulum, slope, oscillator or stack. With none of the optional members, all published rows of a
/// case are computed and checked; with any of them, one run that is only reported.
struct DaeOptions : VerifyOptions {
  std::optional<Real> gravity, time_step, end_time;  ///< [m/s2, s, s]
  std::optional<Real> angle;                         ///< of the slope [deg]
  std::optional<Real> mu;                            ///< slope: coefficient; oscillator: mu N [N]
  std::string integrator;                            ///< a registered name; empty: rk4, stack: gear
  std::string projection;  ///< none, position, velocity or both; empty: velocity (pendulums and stack only)
  std::vector<Real> start,
      velocity;              ///< at the start: one number, two per body of a pendulum; empty: as published
  bool strict = false;       ///< a start that breaks the constraints is refused instead of projected
  std::optional<int> disks;  ///< of the stack: 3, 6 or 10

  bool is_single_run() const {
    return gravity || time_step || end_time || angle || mu || !integrator.empty() || !projection.empty() ||
           !start.empty() || !velocity.empty() || strict;
  }
};

/// The ranks share the disks of a stack; of the others each computes all for itself.
bool verify_dae(const Comm& comm, const DaeOptions& options, const Show& show);

}  // namespace scree
