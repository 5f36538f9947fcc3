#include <array>

#include "geometry/obstacle.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Motion<D>> Motion_##name();
#include "geometry/motions/motions.def"
#undef SCREE_ENTRY

namespace {

template <int D>
std::span<const Entry<Motion<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) Motion_##name<D>(),
#include "geometry/motions/motions.def"
#undef SCREE_ENTRY
  };
  return entries;
}

}  // namespace

template <>
std::span<const Entry<Motion<2>>> registry<Motion<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<Motion<3>>> registry<Motion<3>>() {
  return all<3>();
}

}  // namespace scree
