#pragma once
#include <array>
#include <cstdint>

#include "core/types.hpp"
#include "geometry/box.hpp"

namespace scree {
template <int D>
struct Lattice {};
}  // namespace scree
