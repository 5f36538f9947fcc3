#pragma once
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// What `scree_bench pbd` measures.
struct PbdBenchOptions {
  std::vector<int> dimensions{2, 3};
  std::vector<std::int64_t> bodies{10'000, 100'000, 1'000'000};
  int repetitions = 5;           ///< of every timing; the median is reported
  Real seconds = 0.2;            ///< least time of one repetition
  std::int64_t block_cells = 0;  ///< as decomposition.block_cells; 0: auto
  bool all_sets = false;         ///< every instruction set, not only the widest
};

/// One row: a dense packing of `bodies` in a periodic box (solid fraction 0.80 in 2D, 0.55 in 3D, radii +-20
/// %, skin a tenth of the mean diameter), shared by the ranks of the communicator.
struct PbdBenchRow {
  int dimension = 0;
  std::int64_t bodies = 0;
  int ranks = 0;
  std::string instruction_set;
  std::int64_t pairs = 0;
  Real pairs_per_second = 0;       ///< plain sweep, per rank
  Real warm_pairs_per_second = 0;  ///< sweep with accumulated multipliers, per rank
  Real spread = 0;                 ///< (largest - least) / median of the plain sweep
  Real bandwidth_bound = 0;        ///< pairs per second per rank that the measured triad rate would allow
  Real exchange_share = 0;         ///< of a plain sweep
  Real rebuild_ns = 0, search_ns = 0, classes_ns = 0;  ///< per body of a rank
  Real step_ns = 0;  ///< per body of a rank: a moving packing, 2 sweeps and warm start, rebuilds included
  Real steps_per_second = 0;
  Real steps_per_rebuild = 0;
  Real bytes_per_body = 0;
  Real list_bytes_per_body = 0;  ///< of these: lists, tables and work arrays
};

/// Runs all rows; `triad` is the machine's rate, for the bound. Collective.
std::vector<PbdBenchRow> bench_pbd(const Comm& comm, const PbdBenchOptions& options, Real triad);

std::string format_bench(const std::vector<PbdBenchRow>& rows, Real triad);
std::string bench_csv(const std::vector<PbdBenchRow>& rows, Real triad);

}  // namespace scree
