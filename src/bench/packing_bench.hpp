#pragma once
#include <utility>
#include <vector>

#include "bench/case.hpp"

namespace scree {

/// A case that measures packings (packing.hpp): in the plane and in space, of some numbers of bodies.
class PackingBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override;
  void make_quick() override;
  std::int64_t study_bodies() const override { return bodies_.back(); }
  void set_bodies(std::int64_t bodies) override { bodies_ = {bodies}; }

 protected:
  PackingBench(std::vector<int> dimensions, std::vector<std::int64_t> bodies, std::int64_t quick_bodies)
      : dimensions_(std::move(dimensions)), bodies_(std::move(bodies)), quick_bodies_(quick_bodies) {}

  /// Calls f.operator()<D>(bodies) for each dimension and number.
  template <class F>
  void for_each_size(F&& f) const {
    for (const int dimension : dimensions_)
      for (const std::int64_t bodies : bodies_) {
        if (dimension == 2)
          f.template operator()<2>(bodies);
        else
          f.template operator()<3>(bodies);
      }
  }
  const std::vector<std::int64_t>& bodies() const { return bodies_; }

 private:
  std::vector<int> dimensions_;
  std::vector<std::int64_t> bodies_;
  std::int64_t quick_bodies_;
};

}  // namespace scree
