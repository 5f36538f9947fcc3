#pragma once
#include <memory>
#include <span>
#include <string_view>

/// Registries. To add a shape, motion, fill, law, measure...: write one file that ends in
///     SCREE_PLUGIN(Shape, plane, Plane, "half-space")
/// and add the line SCREE_ENTRY(plane) to the folder's .def list. An explicit list survives static libraries
/// (a static initialiser would vanish from them) and a style test fails when a file is missing from it.
namespace scree {

/// One registered kind of Base. `make` is null where the kind does not exist in this dimension.
template <class Base>
struct Entry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Base> (*make)();
};

/// All kinds of Base, in the order of the .def list; specialised once per base, in its registry.cpp
/// (core/registry.inc).
template <class Base>
std::span<const Entry<Base>> registry();

template <class Base, class Derived>
std::unique_ptr<Base> make_plugin() {
  return std::make_unique<Derived>();
}

}  // namespace scree

/// For a class template `Class<D>` derived from `Base<D>` that exists for D = 2 and D = 3.
#define SCREE_PLUGIN(Base, name, Class, summary)                                         \
  template <int D>                                                                       \
  ::scree::Entry<::scree::Base<D>> Base##_##name() {                                     \
    return {#name, summary, &::scree::make_plugin<::scree::Base<D>, ::scree::Class<D>>}; \
  }                                                                                      \
  template ::scree::Entry<::scree::Base<2>> Base##_##name<2>();                          \
  template ::scree::Entry<::scree::Base<3>> Base##_##name<3>();

/// For a class `Class` (no template) that exists in one dimension only.
#define SCREE_PLUGIN_ONLY(Base, dimension, name, Class, summary)                        \
  template <int D>                                                                      \
  ::scree::Entry<::scree::Base<D>> Base##_##name() {                                    \
    if constexpr (D == dimension)                                                       \
      return {#name, summary, &::scree::make_plugin<::scree::Base<D>, ::scree::Class>}; \
    else                                                                                \
      return {#name, summary, nullptr};                                                 \
  }                                                                                     \
  template ::scree::Entry<::scree::Base<2>> Base##_##name<2>();                         \
  template ::scree::Entry<::scree::Base<3>> Base##_##name<3>();
