#include "bench/packing_bench.hpp"

#include "bench/options.hpp"

namespace scree {

void PackingBench::add_options(CLI::App& app) {
  app.add_option("--dimensions", dimensions_, "2, 3 or both")->delimiter(',')->check(CLI::Range(2, 3));
  app.add_option("--bodies", bodies_, "numbers of bodies, over all ranks")
      ->delimiter(',')
      ->check(positive_number());
  add_repetitions(app);
}

void PackingBench::make_quick() {
  bodies_ = {quick_bodies_};
  repetitions_ = 3;
}

}  // namespace scree
