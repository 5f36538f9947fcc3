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
         .doc = "The neighbour list holds pairs with a gap below the skin; it is rebuilt before other pairs "
                "could touch. \"auto\" takes 0.1 to 1 (3D: 0.4) mean diameters, more if bodies move fast. It "
                "grows by itself where a step needs more"});
    if (word == "auto") skin = 0;
    word = "auto";
    section.integer_or_word(
        "classes", size_classes, word, {"auto"},
        {.range = {.min = 1, .max = 8},
         .doc = "Size classes in which candidates are sought, with limits at the largest radius over powers "
                "of two; never changes results. \"auto\" takes one below a ratio of radii of 3 to 1, and as "
                "many as the ratio has powers of two above"});
    if (word == "auto") size_classes = 0;
  });
  root.table(
      "decomposition", {.doc = "Domain decomposition; never changes results, except for block_cells"},
      [&](Section& section) {
        std::string word = "auto";
        section.integer_or_word(
            "block_cells", block_cells, word, {"auto"},
            {.range = {.min = 1, .max = 32},
             .doc =
                 "Cells along the edge of a block, at most 10 in 3D. The order of sweeps, and so the "
                 "result, depends on it. \"auto\" takes 2 to 16 by the scheme and the number of bodies, and "
                 "down to 1 if some bodies are far larger than most"});
        if (word == "auto") block_cells = 0;
        section.boolean("rebalance", rebalance, {.doc = "Whether blocks move between ranks during the run"});
        section.real("rebalance_threshold", rebalance_threshold,
                     {.range = {.min = 1},
                      .doc = "Load is rebalanced when the largest load of a rank is this many times the mean "
                             "and moving blocks costs less than it saves"});
        section.real("rebalance_cost", rebalance_cost,
                     {.range = non_negative,
                      .doc = "Steps that it takes to move all bodies of a rank to another one: load is "
                             "rebalanced once imbalance has cost more than that; 0: at once"});
        section.choice(
            "weights", weights,
            {{"auto", Weights::automatic}, {"measured", Weights::measured}, {"counts", Weights::counts}},
            {.doc = "Load of a block: measured times of its bodies, candidates and contacts, or counts of "
                    "its bodies and candidate pairs. With measured times the owners of blocks differ from "
                    "run to run; \"auto\" measures unless the last bits of the solver depend on the owners"});
      });
}

}  // namespace scree
