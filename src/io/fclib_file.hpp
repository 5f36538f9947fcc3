#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/even_share.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"
#include "io/fclib.hpp"

namespace scree {

/// This rank's entries of a sparse matrix, in any order, each on one rank. Entries of the same row and column
/// add up; zeros may be stored.
struct SparseShare {
  std::int64_t n_rows = 0, n_columns = 0;
  std::vector<std::int64_t> row, column;  ///< from 0
  std::vector<Real> value;
};

/// This rank's part of a vector: places [first, first + values.size()). The parts of the ranks follow each
/// other.
struct VectorShare {
  std::int64_t first = 0;
  std::vector<Real> values;
};

/// What only files of scree have, in the group /scree: vectors without values on all ranks if absent.
struct FclibExtension {
  VectorShare free_velocity;   ///< M^-1 f before it was rounded, dealt out as f [m/s, rad/s]
  VectorShare start_velocity;  ///< before the step, alike
  VectorShare compliance;      ///< two per contact, dealt out by contacts [1/kg]
  Real time_step = 0;          ///< [s], 0: unknown
  Real velocity_floor = 0;     ///< [m/s], 0: unknown
};

/// A discrete frictional contact problem as an FCLIB file states it, for any M, H, W (io/fclib.hpp has the
/// equations; masses need not be blocks of bodies). With bilateral constraints, global and local:
///     M v = H r + G l + f,   u = H^T v + w,   G^T v + b = 0,
///     u = W r + V l + q,     V^T r + R l + s = 0.
/// Vectors of contacts (w, q, mu, u, r) are distributed by contacts, those of bodies (f, v) by velocities, b,
/// s and l by constraints, each in even shares (EvenShare). Units are those of the file, SI if it follows the
/// convention.
struct FclibProblem : FclibExtension {
  std::string path;
  bool is_global = false;
  int dimension = 3;
  std::int64_t n_contacts = 0;
  std::int64_t n_velocities = 0;   ///< rows of M; 0 in a local problem, which does not know them
  std::int64_t n_constraints = 0;  ///< bilateral: columns of G or V
  SparseShare M, H, G;  ///< global: n x n, n x m and n x n_constraints with m = n_contacts * dimension
  SparseShare W, V, R;  ///< local: m x m, m x n_constraints and n_constraints x n_constraints
  VectorShare f, w, b;  ///< global
  VectorShare q, s;     ///< local
  VectorShare mu;
  FclibInfo info;  ///< bytes as stored: not every file is UTF-8
  /// Largest |A_ij - A_ji| / sqrt(|A_ii A_jj|) of M or W.
  Real asymmetry = 0;

  bool has_solution = false;  ///< there is a group /solution; whether it solves anything is another matter
  std::int64_t n_guesses = 0;
};

/// Impulses and velocities of a problem, dealt out as its vectors. A vector that is absent has no values on
/// any rank.
struct FclibSolution {
  VectorShare v;  ///< velocities of bodies, in global files
  VectorShare u;  ///< relative velocities
  VectorShare r;  ///< impulses
  VectorShare l;  ///< impulses of bilateral constraints
};

/// Largest relative asymmetry (see FclibProblem) that is read. Gyroscopic terms of an implicit step give M of
/// the Siconos/Bullet scenes up to 0.053 and their W up to 0.021; finite elements of LMGC90 come with entries
/// of 1e-8 of the largest in one triangle only, 0.22 by this measure in M and 1e-12 in W. One triangle stored
/// instead of two gives up to 1.
inline constexpr Real asymmetry_limit_of_masses = 0.5;
inline constexpr Real asymmetry_limit_of_delassus = 0.05;

/// Reads a file in the local or global layout of FCLIB 3.1, in the plane or in space: matrices as triplets,
/// compressed columns or compressed rows; integers and reals of any width. Any fault makes all ranks
/// throw the same InputError, on any number of ranks: with the file, the dataset and the first
/// place in it. That is: no HDF5, no such group, both groups, rolling friction (spacedim 5), a dataset
/// missing or of another type or shape, lengths that disagree, an index out of range, pointers that fall, a
/// number that is not finite, mu < 0, M_ii <= 0, W_ii < 0, M or W less symmetric than the limits above, a
/// block of a body in M or of a contact in W that is not positive definite, a contact without a body in a
/// column of H, a negative compliance, time step or velocity floor. Texts that cannot be read count as empty.
///
/// Each rank reads one part of each array, and the checks of matrices exchange their entries: nothing is
/// gathered. Cost O(entries / ranks) if rows (of triplets: entries) are alike. Collective.
FclibProblem read_fclib(const Comm& comm, const std::string& path);

/// Reads impulses of `problem` from its file, with the same checks: `group` is "/solution" or "/guesses/1"
/// and so on. Only r must be there. Collective.
FclibSolution read_fclib_solution(const Comm& comm, const FclibProblem& problem, const std::string& group);

/// Writes the group /solution of the file of `problem`, in place of one that is there; without u, v or l if
/// they have no values. The rest of the file is kept, and the file is replaced when its successor is complete
/// (NAME.part, renamed). Throws InputError if the file may not be written, RunError if that fails; the file
/// is as before then. Collective.
void write_fclib_solution(const Comm& comm, const FclibProblem& problem, const FclibSolution& solution);

/// Writes a local problem under `path`, in place of a file that exists, when it is complete: matrices as
/// compressed rows, sorted by column, entries of one place added up; of W, V, R, q, s, mu and info of
/// `problem`, and a guess without v if given. The bytes do not depend on the number of ranks if the values do
/// not. Throws RunError on all ranks if a count does not fit into the format's 32-bit integers, or if the
/// file cannot be written. Each rank sends its entries to the one that writes their row. Collective.
void write_fclib_local(const Comm& comm, const FclibProblem& problem, const std::string& path,
                       const FclibSolution* guess = nullptr);

}  // namespace scree
