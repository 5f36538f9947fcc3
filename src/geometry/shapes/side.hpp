#pragma once
#include "core/section.hpp"

namespace scree {

/// Reads `side`: where the bodies are, seen from a closed surface. True for "inside".
inline bool bodies_inside(Section& section) {
  bool inside = false;
  section.choice("side", inside, {{"outside", false}, {"inside", true}},
                 {.doc = "where bodies may be: outside of a solid obstacle, or inside of a container"});
  return inside;
}

}  // namespace scree
