#include <array>

#include "core/plugin.hpp"
#include "dynamics/stepper.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<Stepper<D>> Stepper_##name();
#include "dynamics/steppers/steppers.def"
#undef SCREE_ENTRY

namespace {
template <int D>
std::span<const Entry<Stepper<D>>> entries() {
  static const std::array list{
#define SCREE_ENTRY(name) Stepper_##name<D>(),
#include "dynamics/steppers/steppers.def"
#undef SCREE_ENTRY
  };
  return list;
}
}  // namespace

template <>
std::span<const Entry<Stepper<2>>> registry<Stepper<2>>() {
  return entries<2>();
}
template <>
std::span<const Entry<Stepper<3>>> registry<Stepper<3>>() {
  return entries<3>();
}

}  // namespace scree
