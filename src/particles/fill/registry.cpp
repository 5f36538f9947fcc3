#include <array>

#include "particles/fill.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Fill<D>> Fill_##name();
#include "particles/fill/fill.def"
#undef SCREE_ENTRY

namespace {
template <int D>
std::span<const Entry<Fill<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) Fill_##name<D>(),
#include "particles/fill/fill.def"
#undef SCREE_ENTRY
  };
  return entries;
}
}  // namespace

template <>
std::span<const Entry<Fill<2>>> registry<Fill<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<Fill<3>>> registry<Fill<3>>() {
  return all<3>();
}

}  // namespace scree
