#include "bench/case.hpp"

#include "bench/measure_time.hpp"

namespace scree {

Real BenchRun::triad() const {
  if (!triad_) triad_ = triad_rate(comm_);
  return *triad_;
}

void BenchCase::add_repetitions(CommandLine& app) {
  app.option("--repetitions", repetitions_, "of each timing; the median counts").check(positive_number());
}

void BenchCase::add_folder(CommandLine& app) {
  app.option("--folder", folder_,
             "where files are written that go away; all ranks must see it; else where the system has "
             "temporary files");
}

}  // namespace scree
