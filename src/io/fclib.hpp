#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "friction/friction_problem.hpp"

namespace scree {

/// Names a contact, the same on any number of ranks: ids of its bodies, a negative number in place of what is
/// no body (of runs: -1 - obstacle), and a number that distinguishes contacts of one pair (of runs: the part
/// of the obstacle).
struct ContactKey {
  GlobalId a = 0, b = 0;
  std::int64_t feature = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): an error of the check
  auto operator<=>(const ContactKey&) const = default;
};

/// What the group `info` of an FCLIB file says for people.
struct FclibInfo {
  std::string title, description, math_info;
};

/// Where a solve of the problem ended.
struct FclibResult {
  std::span<const Real> impulse;  ///< n_contacts * D [N s], or empty on all ranks: none is written
  bool solved = true;             ///< /solution; false: the last one of the guesses
};

/// Writes a friction problem in the global layout of FCLIB, the exchange format for discrete frictional
/// contact problems (fclib 3.1; Acary and others, FCLIB technical report, INRIA RT-0444, 2014): find v and r
/// with
///     M v = H r + f,   u = H^T v + w,   K* containing u + mu |u_T| e_N perpendicular to r in K.
/// In terms of docs/method.md, eq. F.1-F.4: H is the transpose of ours, f = M v_free; frames (N, T1[, T2]),
/// the sign of u and mu are the same. Compliance has no place in FCLIB: the file is then the rigid problem,
/// and its description says so.
///
/// /fclib_global            spacedim D; M (n x n) and H (n x m) as triplets without zeros, `i` the row and
///                          `p` the column from 0; vectors f, w, mu; n = n_bodies * n_velocities<D>,
///                          m = n_contacts * D
/// /guesses/1               r as given, v = v_free + M^-1 H r, u = H^T v + w; only if there is a guess
/// /solution                alike for `result`; if that is no solution, it is one more guess
/// /scree                   what FCLIB cannot say, with units; attributes version, time_step [s],
///                          velocity_floor [m/s]
///   body_id                n_bodies (int64)
///   contact_key            n_contacts x 3 (int64): ContactKey
///   contact_body           n_contacts x 2 (int32): rows of a and b in body_id, -1 for none
///   free_velocity          n_bodies x n_velocities<D> (f rounds it); start_velocity alike, if there is one
///   compliance             n_contacts x 2 along N and T, if any is not zero
///
/// Order: bodies by id; contacts by the id of body a (of b if a is none), then by key; M by rows; H by
/// columns, in each by rows. The bytes of the file depend on neither the number of ranks nor on which rank
/// had what, if a sweep's order does not (as for all of this code's decompositions).
///
/// `keys` has one key per contact of this rank. `guess` has n_contacts * D impulses [N s], or is empty on all
/// ranks. The file appears under `path`, in place of one that exists, when it is complete. Throws RunError on
/// all ranks if a key or body occurs twice, if a count does not fit into the format's 32-bit integers, or if
/// the file cannot be written; there is no new file then. Nothing is gathered: each rank sends its contacts
/// to the one that has the row of their first body, and writes one stretch of each array. Collective.
template <int D>
void write_fclib(const FrictionProblem<D>& problem, std::span<const ContactKey> keys,
                 std::span<const Real> guess, const FclibInfo& info, const std::string& path,
                 const FclibResult& result = {});

/// A count as the 32-bit integer of the format; throws RunError naming the file and `what` is counted. Local.
std::int32_t fclib_integer(std::int64_t count, std::string_view what, const std::string& path);

}  // namespace scree
