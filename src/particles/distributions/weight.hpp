#pragma once
#include "core/section.hpp"

namespace scree {

/// Declares `weight`: whether a distribution counts bodies or the volume they fill. True for volume.
inline void describe_weight(Section& section, bool& by_volume) {
  section.choice("weight", by_volume, {{"number", false}, {"volume", true}},
                 {.doc = "what the shares are shares of: the number of bodies, or the volume they fill"});
}

}  // namespace scree
