#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <typeinfo>

/// Registries. To add a shape, motion, packing, law, measure...: write one file that ends in
///     SCREE_PLUGIN(Shape, plane, Plane, "half-space")
/// and add the line SCREE_ENTRY(plane) to the folder's .def list. An explicit list survives static libraries
/// (a static initialiser would vanish from them) and a style test fails when a file is missing from it.
/// The same file makes a shared object without the source of scree, which programs load: docs/plugins.md.
namespace scree {

/// Whom a key or kind of a deck is for. What compares methods with each other, or reaches into one, is for
/// the laboratory: decks may use it and say so, but the reference, lists and messages name what is for users
/// (docs/decks-laboratory.md has the rest).
enum class Audience { users, laboratory };

/// One registered kind of Base. `make` is null where the kind does not exist in this dimension.
template <class Base>
struct Entry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Base> (*make)();
  Audience audience = Audience::users;
};

/// All kinds of Base, in the order of the .def list; specialised once per base, in its registry.cpp
/// (core/registry.inc).
template <class Base>
std::span<const Entry<Base>> registry();

template <class Base, class Derived>
std::unique_ptr<Base> make_plugin() {
  return std::make_unique<Derived>();
}

/// Adds an entry while a shared object is loaded (core/external_plugins.hpp). `interface` is there to be
/// referred to; `registry` uses registry<Base>().
void add_external(const char* interface, const std::type_info& base, std::string_view name,
                  std::string_view summary, void (*make)(), void (*registry)());

/// A static object of each plug-in in a shared object.
struct Registration {
  template <class In2d, class In3d>
  Registration(const char* interface, const Entry<In2d>& in_2d, const Entry<In3d>& in_3d) {
    add(interface, in_2d);
    add(interface, in_3d);
  }
  template <class Base>
  static void add(const char* interface, const Entry<Base>& entry) {
    add_external(interface, typeid(Base), entry.name, entry.summary, reinterpret_cast<void (*)()>(entry.make),
                 [] { registry<Base>(); });
  }
};

}  // namespace scree

#ifdef SCREE_EXTERNAL_PLUGIN
#include "core/plugin_interface.hpp"
extern "C" const char SCREE_INTERFACE;
#define SCREE_REGISTER(Base, name)                                                                      \
  static const ::scree::Registration Base##_##name##_registration(&SCREE_INTERFACE, Base##_##name<2>(), \
                                                                  Base##_##name<3>());
#else
#define SCREE_REGISTER(Base, name)
#endif

/// For a class template `Class<D>` derived from `Base<D>` that exists for D = 2 and D = 3. The word
/// `laboratory` may follow, for a kind that is not for users.
#define SCREE_PLUGIN(Base, name, Class, summary, ...)                                   \
  template <int D>                                                                      \
  ::scree::Entry<::scree::Base<D>> Base##_##name() {                                    \
    return {#name, summary, &::scree::make_plugin<::scree::Base<D>, ::scree::Class<D>>, \
            __VA_OPT__(::scree::Audience::__VA_ARGS__)};                                \
  }                                                                                     \
  template ::scree::Entry<::scree::Base<2>> Base##_##name<2>();                         \
  template ::scree::Entry<::scree::Base<3>> Base##_##name<3>();                         \
  SCREE_REGISTER(Base, name)

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
  template ::scree::Entry<::scree::Base<3>> Base##_##name<3>();                         \
  SCREE_REGISTER(Base, name)
