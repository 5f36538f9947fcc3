#pragma once
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// What `scree_bench dem` measures.
struct DemBenchOptions {
  std::vector<std::int64_t> bodies{4096, 32768, 131072};  ///< multiples of 4096
  std::string law = "hertz";                              ///< as [dem] law
  Real settling_time = 0.5;                               ///< of the bed that the others are tiles of [s]
  int repetitions = 5;                                    ///< of every timing; the median is reported
  Real seconds = 1;                                       ///< least time of one repetition
};

/// One row: a settled bed of equal spheres under gravity on a flat floor, periodic along x and y, some 16
/// diameters high, shared by the ranks of the communicator. Grains as docs/performance.md, "Soft contact",
/// says.
struct DemBenchRow {
  std::string law;
  std::int64_t bodies = 0;
  int ranks = 0;
  Real contacts_per_body = 0, pairs_per_body = 0;                       ///< touching, and candidates
  Real particle_steps_per_second = 0;                                   ///< of all ranks together
  Real spread = 0;                                                      ///< (largest - least) / median
  Real forces_ns = 0, exchange_ns = 0, move_ns = 0, neighbours_ns = 0;  ///< per body of a rank and step
  Real steps_per_rebuild = 0;
  Real bytes_per_body = 0;
};

/// Runs all rows. Collective. Throws InputError for numbers of bodies that are no multiples of 4096.
std::vector<DemBenchRow> bench_dem(const Comm& comm, const DemBenchOptions& options);

std::string format_bench(const std::vector<DemBenchRow>& rows);
std::string bench_csv(const std::vector<DemBenchRow>& rows);

}  // namespace scree
