#include "neighbors/neighborhood_settings.hpp"

#include <string>

namespace scree {

void NeighborhoodSettings::describe(Section& root) {
  root.table("neighbors", {.doc = "Finding of candidate contacts"}, [&](Section& section) {
    std::string word = "auto";
    section.real_or_word(
        "skin", skin, word, {"auto"},
        {.unit = Unit::length,
         .range = positive,
         .doc =
             "The neighbour list holds pairs with a gap below the skin; it is rebuilt when bodies have used "
             "the skin up. \"auto\" takes 0.1 to 1 (3D: 0.4) mean diameters, more if bodies move fast. A "
             "step that "
             "needs more gets more, by itself"});
    if (word == "auto") skin = 0;
  });
  root.table(
      "decomposition",
      {.doc = "Sharing of the bodies between ranks; never changes results, except for "
              "block_cells"},
      [&](Section& section) {
        std::string word = "auto";
        section.integer_or_word(
            "block_cells", block_cells, word, {"auto"},
            {.range = {.least = 1, .most = 32},
             .doc = "Cells along the edge of a block, at most 10 in 3D. Part of the "
                    "definition of the sweep: results depend on it. \"auto\" takes 2 to 16 by "
                    "the scheme and the number of bodies"});
        if (word == "auto") block_cells = 0;
        section.boolean("rebalance", rebalance, {.doc = "Whether blocks move between ranks during the run"});
        section.real(
            "rebalance_threshold", rebalance_threshold,
            {.range = {.least = 1},
             .doc = "Load is rebalanced when the fullest rank has this many times the mean weight and "
                    "moving blocks costs less than it saves"});
        section.real("rebalance_cost", rebalance_cost,
                     {.range = non_negative,
                      .doc = "Steps that it takes to move all bodies of a rank to another one: load is "
                             "rebalanced once imbalance has cost more than that; 0: at once"});
        section.choice(
            "weights", weights,
            {{"auto", Weights::automatic}, {"measured", Weights::measured}, {"counts", Weights::counts}},
            {.doc = "What a block weighs: what its bodies, candidates and contacts are measured "
                    "to cost, or the number of its bodies and candidate pairs. Measuring makes "
                    "the owners of blocks differ from run to run; \"auto\" measures where that "
                    "cannot change results: not with solvers whose last bits depend on ranks"});
      });
}

}  // namespace scree
