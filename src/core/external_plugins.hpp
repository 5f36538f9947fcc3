#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/plugin.hpp"

/// Plug-ins that were compiled without the source of scree, into shared objects (docs/plugins.md). A shared
/// object adds its entries while it is loaded (Registration, core/plugin.hpp); registries put them behind
/// those of their .def list.
namespace scree {

/// Loads the shared objects that the environment variable SCREE_PLUGINS of rank 0 names, separated by colons,
/// in their order. Throws InputError if one is missing, was built for another scree, or has a name that is
/// taken. Before any registry is used. Collective.
void load_external_plugins(const Comm& comm);
/// The same for one process, from its own environment: for what needs no MPI. Local.
void load_external_plugins();
/// "FILE: Shape torus, ..." of each file that was loaded, in their order.
std::vector<std::string> external_plugins();

/// What a shared object added, without its type.
struct ExternalEntry {
  const std::type_info* base;
  std::string_view name, summary;
  void (*make)();      ///< null, or a function that returns a std::unique_ptr<Base>
  std::string source;  ///< "plug-in FILE"
};
std::span<const ExternalEntry> external_entries();

/// Throws InputError if one of the last `n_external` entries has the name of one before it.
template <class Base>
void require_distinct_names(std::span<const Entry<Base>> all, std::size_t n_external) {
  for (std::size_t i = all.size() - n_external; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (all[i].name != all[j].name) continue;
      const auto external = external_entries();
      const auto it = std::ranges::find_if(external, [&](const ExternalEntry& e) {
        return e.base == &typeid(Base) && e.name.data() == all[i].name.data();
      });
      throw InputError((it == external.end() ? "a plug-in" : it->source) + " adds \"" +
                       std::string(all[i].name) + "\", but there is one of this kind with that name");
    }
}

/// The entries of a .def list and behind them those of shared objects. Throws InputError if a name is taken.
template <class Base>
std::vector<Entry<Base>> with_external(std::span<const Entry<Base>> own) {
  std::vector<Entry<Base>> all(own.begin(), own.end());
  for (const ExternalEntry& entry : external_entries())
    if (*entry.base == typeid(Base))
      all.push_back({entry.name, entry.summary, reinterpret_cast<std::unique_ptr<Base> (*)()>(entry.make)});
  require_distinct_names<Base>(all, all.size() - own.size());
  return all;
}

}  // namespace scree
