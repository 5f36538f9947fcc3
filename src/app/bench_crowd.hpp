#pragma once
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// What `scree_bench crowd` measures.
struct CrowdBenchOptions {
  std::vector<std::int64_t> agents{10'000};
  std::vector<Real> densities{1, 3};          ///< at the start [1/m2]
  std::vector<std::int64_t> columns{0, 400};  ///< in the area of the crowd
  std::string model = "projection";           ///< as [crowd] model
  Real tolerance = 1e-6;                      ///< as [crowd] tolerance [m]
  Real dt = 0.05;                             ///< [s]
  int warm_up = 100;                          ///< steps before the first timing
  int repetitions = 5;                        ///< of every timing; the median is reported
  int steps = 20;                             ///< of one repetition
};

/// One row: a square crowd of the default people in a hall twice as long, walking to its open far side,
/// shared by the ranks of the communicator.
struct CrowdBenchRow {
  std::string model;
  std::int64_t agents = 0, columns = 0;
  int ranks = 0;
  Real density = 0;
  Real microseconds =
      0;  ///< per agent and step, of all ranks together: processor time of the slowest * ranks / agents
  Real spread = 0;            ///< (largest - least) / median
  Real real_time_factor = 0;  ///< simulated over wall seconds
  Real directions = 0, look_ahead = 0, projection = 0, neighbours = 0, people = 0;  ///< parts of microseconds
  Real contacts_per_agent = 0, sweeps = 0;     ///< of the projection, means over the steps that were timed
  Real worst_overlap = 0, worst_residual = 0;  ///< [m]
  Real bytes_per_agent = 0;
};

/// Runs all rows. Collective.
std::vector<CrowdBenchRow> bench_crowd(const Comm& comm, const CrowdBenchOptions& options);

std::string format_bench(const std::vector<CrowdBenchRow>& rows);
std::string bench_csv(const std::vector<CrowdBenchRow>& rows);

}  // namespace scree
