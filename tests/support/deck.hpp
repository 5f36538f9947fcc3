#pragma once
#include <fmt/format.h>

#include <string>

namespace scree {

/// What every deck says. Vectors are written as in a deck; what is empty or 0 is left out.
struct DeckHead {
  int dimension = 2;
  std::string scheme = "pbd";
  std::string lower{}, upper{}, periodic{};  ///< of the domain
  double step = 0.01;                        ///< [s]
  double end_time = 100;                     ///< [s]; tests count steps instead
  int seed = 0;
  std::string gravity{};
  double skin = 0;
  int block_cells = 0;
  std::string simulation{};  ///< more lines of [simulation]
};

/// The text of a deck: its head, then the tables that matter for the test.
inline std::string deck(const DeckHead& head, const std::string& tables) {
  std::string text = fmt::format("[simulation]\ndimension = {}\nscheme = \"{}\"\nend_time = {}\n",
                                 head.dimension, head.scheme, head.end_time);
  if (head.seed != 0) text += fmt::format("seed = {}\n", head.seed);
  text += head.simulation;
  if (!head.lower.empty()) text += "[domain]\nlower = " + head.lower + "\nupper = " + head.upper + "\n";
  if (!head.periodic.empty()) text += "periodic = " + head.periodic + "\n";
  text += fmt::format("[time]\nstep = {}\n", head.step);
  if (!head.gravity.empty()) text += "[physics]\ngravity = " + head.gravity + "\n";
  if (head.skin > 0) text += fmt::format("[neighbors]\nskin = {}\n", head.skin);
  if (head.block_cells > 0) text += fmt::format("[decomposition]\nblock_cells = {}\n", head.block_cells);
  return text + tables.substr(tables.starts_with('\n') ? 1 : 0);  // raw strings begin on a line of their own
}

}  // namespace scree
