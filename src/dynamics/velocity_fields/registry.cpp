#include <array>

#include "dynamics/velocity_field.hpp"

namespace scree {

#define SCREE_ENTRY(name) \
  template <int D>        \
  Entry<VelocityField<D>> VelocityField_##name();
#include "dynamics/velocity_fields/velocity_fields.def"
#undef SCREE_ENTRY

namespace {
template <int D>
std::span<const Entry<VelocityField<D>>> all() {
  static const std::array entries{
#define SCREE_ENTRY(name) VelocityField_##name<D>(),
#include "dynamics/velocity_fields/velocity_fields.def"
#undef SCREE_ENTRY
  };
  return entries;
}
}  // namespace

template <>
std::span<const Entry<VelocityField<2>>> registry<VelocityField<2>>() {
  return all<2>();
}
template <>
std::span<const Entry<VelocityField<3>>> registry<VelocityField<3>>() {
  return all<3>();
}

}  // namespace scree
