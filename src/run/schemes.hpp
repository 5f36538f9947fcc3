#pragma once
#include <string>
#include <vector>

#include "schemes/common/stepper.hpp"

namespace scree {

/// All schemes: those of the registry, then those of tenants (docs/architecture.md).
template <int D>
const std::vector<Entry<Stepper<D>>>& all_schemes();

/// Names of schemes that this build was made without; they are refused where a deck asks for them.
std::vector<std::string> excluded_schemes();

}  // namespace scree
