#pragma once
#include "schemes/common/stepper.hpp"

namespace scree {

/// The scheme "crowd" (2D only), for the list of schemes.
template <int D>
Entry<Stepper<D>> crowd_scheme();

}  // namespace scree
