#include <array>

#include "particles/fill.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<RadiusDistribution<D>> RadiusDistribution_##name();
#include "particles/distributions/distributions.def"
#undef SCREE_ENTRY

namespace {
template <int D>
std::span<const Entry<RadiusDistribution<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) RadiusDistribution_##name<D>(),
#include "particles/distributions/distributions.def"
#undef SCREE_ENTRY
  };
  return entries;
}
}  // namespace

template <>
std::span<const Entry<RadiusDistribution<2>>> registry<RadiusDistribution<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<RadiusDistribution<3>>> registry<RadiusDistribution<3>>() {
  return all<3>();
}

}  // namespace scree
