#pragma once
#include <functional>
#include <string>

#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// A disk that touches both walls of a corner, y = k x and y = -k x with k = tan(alpha) and the free space at
/// x < 0: with k > 0 the approach speeds are eta = k v_x - v_y (wall 1) and xi = k v_x + v_y (wall 2).
struct CornerCase {
  Real restitution = 1;
  Real tangent = 1;  ///< k
  Vec<2> velocity{};
};

/// As text, as the command line has it.
struct CornerVerification {
  std::string restitution = "1";
  std::string alpha = "pi/4";    ///< half angle, radians or "pi/N"
  std::string velocity = "1,0";  ///< "VX,VY"
  bool table = false;            ///< all published cases instead of this one
  bool check = false;            ///< compares the table with the published rows
  std::string source;            ///< folder that holds tests/reference/corner, for `check`
};

/// The velocity after the impact by the law "multiple", one line without its end:
/// vx_final,vy_final,speed_final,zone_initial,steps,stop. Digits are those of the published table; numbers
/// below 1e-14 of the speed before the impact are round-off and come out as 0.
std::string corner_row(const CornerCase& corner);

/// The case of `options`, or the table, as CSV with a header line. Throws InputError for what is no number or
/// out of range. Local.
std::string corner_csv(const CornerVerification& options);

/// Compares the table with the published rows, line by line (docs/verification.md); `show` gets the report.
/// Returns whether all agree. Throws InputError for a missing or damaged reference. Collective.
bool verify_corner(const Comm& comm, const CornerVerification& options,
                   const std::function<void(const std::string&)>& show);

}  // namespace scree
