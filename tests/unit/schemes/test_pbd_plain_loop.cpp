// Position-based dynamics against its definition: a loop over the pairs, written without blocks, batches or
// ranks.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/deck.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

constexpr Real rate = 1;  // of the attraction to the origin [1/s]

template <int D>
Simulation<D> start(Real h, Real share, int n_sweeps) {
  const std::string ones = D == 2 ? "1, 1" : "1, 1, 1";
  const std::string minus_ones = D == 2 ? "-1, -1" : "-1, -1, -1";
  Deck deck = Deck::from_text(fmt::format("[simulation]\ndimension = {}\nend_time = 100\n[time]\nstep = {}\n"
                                          "[domain]\nlower = [{}]\nupper = [{}]\n"
                                          "[velocity]\ntype = \"attraction\"\nrate = {}\n"
                                          "[pbd]\nsweeps = {}\nwarm_start = {}\noverlap_limit = 0\n"
                                          "[particles.crowd]\nmobility = 0.7\nradius = {{ distribution = "
                                          "\"uniform\", min = 0.06, max = 0.1 }}\n"
                                          "source = {{ type = \"random\", count = 40 }}\n",
                                          D, h, minus_ones, ones, rate, n_sweeps, share),
                              "plain_loop.toml");
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return Simulation<D>(Comm(), std::move(content));
}

/// Bodies by id, and the multipliers of pairs by ids.
template <int D>
struct PlainLoop {
  std::map<GlobalId, Vec<D>> x;
  std::map<std::pair<GlobalId, GlobalId>, Real> multiplier;

  using Pairs = std::vector<std::pair<GlobalId, GlobalId>>;
  void step(const Pairs& pairs, const std::map<GlobalId, Real>& radius, Real h, Real share, int n_sweeps) {
    for (auto& [id, position] : x) position = position * (1 - h * rate);
    // Bodies of equal mobility w move w dl each, and l counts in displacements over mobility.
    constexpr Real w = 0.7;
    const auto push = [&](GlobalId i, GlobalId j, Real dl) {
      const Vec<D> apart = x[i] - x[j];
      const Vec<D> shift = apart * (w * dl / norm(apart));
      x[i] = x[i] + shift;
      x[j] = x[j] - shift;
    };
    for (const auto& [i, j] : pairs) {
      Real& l = multiplier[{i, j}];
      l *= share;
      if (l > 0) push(i, j, l);
    }
    for (int sweep = 0; sweep < n_sweeps; ++sweep)
      for (const auto& [i, j] : pairs) {
        const Real gap = norm(x[i] - x[j]) - radius.at(i) - radius.at(j);
        Real& l = multiplier[{i, j}];
        const Real min = share > 0 ? -l : 0;
        const Real dl = std::max(min, -gap / (2 * w));
        l += dl;
        push(i, j, dl);
      }
    if (share == 0) multiplier.clear();
  }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "PBD: 40 bodies follow the plain loop over the same pairs to 1e-12, multipliers kept in any share",
    "[dynamics]", ((int D), D), 2, 3) {
  constexpr Real h = 2e-3;
  for (const auto& [share, n_sweeps] : {std::pair{0.0, 1}, {0.9, 1}, {0.9, 2}, {1.0, 1}}) {
    Simulation<D> simulation = start<D>(h, share, n_sweeps);
    const BodyStore<D>& bodies = simulation.state().bodies;
    PlainLoop<D> plain;
    std::map<GlobalId, Real> radius;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      plain.x[bodies.id()[i]] = bodies.position()[i];
      radius[bodies.id()[i]] = bodies.radius()[i];
    }
    Real worst = 0;
    for (int k = 0; k < 1200; ++k) {
      simulation.step();
      // The list may have been found anew in this step, before its sweeps.
      typename PlainLoop<D>::Pairs pairs;
      simulation.neighborhood().schedule().for_each_pair([&](std::size_t, Index low, Index high, Index) {
        pairs.emplace_back(bodies.id()[low], bodies.id()[high]);
      });
      plain.step(pairs, radius, h, share, n_sweeps);
      for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
        worst = std::max(worst, norm(bodies.position()[i] - plain.x[bodies.id()[i]]));
    }
    INFO("share " << share << ", sweeps " << n_sweeps);
    CHECK(worst < 1e-12);
    CHECK(simulation.neighborhood().n_rebuilds() > 5);
    CHECK(simulation.neighborhood().schedule().n_pairs() > 60);
  }
}

}  // namespace scree
