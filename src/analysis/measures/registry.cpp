#include <array>

#include "analysis/measure.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Measure<D>> Measure_##name();
#include "analysis/measures/measures.def"
#undef SCREE_ENTRY

namespace {
template <int D>
std::span<const Entry<Measure<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) Measure_##name<D>(),
#include "analysis/measures/measures.def"
#undef SCREE_ENTRY
  };
  return entries;
}
}  // namespace

template <>
std::span<const Entry<Measure<2>>> registry<Measure<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<Measure<3>>> registry<Measure<3>>() {
  return all<3>();
}

}  // namespace scree
