#pragma once
#include <string>
#include <utility>
#include <vector>

#include "bench/case.hpp"
#include "run/run_deck.hpp"

namespace scree {

/// A dense packing in a periodic box: solid fraction 0.80 in 2D, 0.55 in 3D, mean radius 0.5 m, +-20 %.
struct PackingOptions {
  std::int64_t bodies = 0;       ///< rounded to a square or cubic number
  Real skin = 0.3;               ///< in mean diameters; 0.1 suits a packing that hardly moves
  std::int64_t block_cells = 0;  ///< as decomposition.block_cells; 0: auto
  bool random = false;           ///< random places at half the solid fraction, instead of a jittered lattice
  std::string more;              ///< further tables of the deck
};

/// The deck of a packing that drifts across its box, with two sweeps of position-based dynamics a step.
template <int D>
std::string packing_text(const PackingOptions& options);

/// A deck made by a benchmark.
template <int D>
RunDeck<D> read_bench_deck(const std::string& text) {
  return read_run_deck<D>(Deck::from_text(text, "benchmark deck"));
}

template <int D>
RunDeck<D> packing(const PackingOptions& options) {
  return read_bench_deck<D>(packing_text<D>(options));
}

/// A case that measures packings: in the plane and in space, of some numbers of bodies.
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
