#pragma once
#include <string>

#include "core/section.hpp"

namespace scree {

/// Declares `weight`: whether a distribution counts bodies or the volume they fill. True for volume.
inline void describe_weight(Section& section, std::string& weight) {
  section.choice("weight", weight, {"number", "volume"},
                 {.doc = "what the shares are shares of: the number of bodies, or the volume they fill"});
}

}  // namespace scree
