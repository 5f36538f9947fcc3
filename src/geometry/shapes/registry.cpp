#include <array>

#include "geometry/obstacle.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Shape<D>> Shape_##name();
#include "geometry/shapes/shapes.def"
#undef SCREE_ENTRY

namespace {

template <int D>
std::span<const Entry<Shape<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) Shape_##name<D>(),
#include "geometry/shapes/shapes.def"
#undef SCREE_ENTRY
  };
  return entries;
}

}  // namespace

template <>
std::span<const Entry<Shape<2>>> registry<Shape<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<Shape<3>>> registry<Shape<3>>() {
  return all<3>();
}

}  // namespace scree
