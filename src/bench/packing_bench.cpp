#include "bench/packing_bench.hpp"

#include "core/command_line.hpp"

namespace scree {

void PackingBench::add_options(CommandLine& app) {
  app.option("--dimensions", dimensions_, "2, 3 or both").delimiter(',').check(in_range(2, 3));
  app.option("--bodies", bodies_, "numbers of bodies, over all ranks")
      .delimiter(',')
      .check(positive_number());
  add_repetitions(app);
}

void PackingBench::make_quick() {
  bodies_ = {quick_bodies_};
  repetitions_ = 3;
}

}  // namespace scree
