#pragma once
#include "core/memory.hpp"
#include "core/types.hpp"

namespace scree {

/// What a body takes at least while a run is made: fields, neighbour lists, messages [bytes].
inline constexpr Real bytes_of_body = 300;

}  // namespace scree
