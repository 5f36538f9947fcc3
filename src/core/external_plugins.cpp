#include "core/external_plugins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/plugin_interface.hpp"

extern "C" const char SCREE_INTERFACE;
const char SCREE_INTERFACE = 0;

namespace scree {

namespace {

struct Loaded {
  std::vector<ExternalEntry> entries;
  std::vector<void (*)()> registries;  ///< each looks for names that are taken
  std::vector<std::string> files;
  std::string loading;  ///< the file of which static objects are being made
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

constexpr const char* variable = "SCREE_PLUGINS";
constexpr std::string_view interface_of_any = "scree_interface_";

/// The name of the interface in a message of the dynamic linker; empty if it is about something else.
std::string interface_in(const std::string& message) {
  const std::size_t begin = message.find(interface_of_any);
  if (begin == std::string::npos) return "";
  return message.substr(begin, message.find_first_of(" ,)\n", begin) - begin);
}

void load(const std::string& path) {
  const std::string file = std::filesystem::absolute(path).string();
  if (!std::filesystem::is_regular_file(file))
    throw InputError(fmt::format("{}: there is no file {}", variable, file));
  Loaded& all = loaded();
  const std::size_t n_before = all.entries.size();
  all.loading = file;
  // All symbols now: a plug-in for another scree then fails before any of its code runs.
  const void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string message = dlerror();
    const std::string needed = interface_in(message);
    if (needed.empty()) throw InputError(fmt::format("{}: {}", variable, message));
    throw InputError(fmt::format(
        "{}: {} was built for another scree: it needs {}, and this program has {}. Build it again with the "
        "headers that lie beside this program",
        variable, file, needed, SCREE_INTERFACE_NAME));
  }
  if (all.entries.size() == n_before)
    throw InputError(fmt::format(
        "{}: {} adds nothing: it is named twice, or holds no SCREE_PLUGIN (scree_add_plugin of CMake)",
        variable, file));
  all.files.push_back(file);
}

void load_all(const std::string& list) {
  if (list.empty() || !loaded().files.empty()) return;
  std::istringstream paths(list);
  for (std::string path; std::getline(paths, path, ':');)
    if (!path.empty()) load(path);
  for (void (*look)() : loaded().registries) look();
}

std::string asked_for() {
  const char* list = std::getenv(variable);
  return list == nullptr ? "" : list;
}

}  // namespace

void load_external_plugins(const Comm& comm) {
  std::string list = asked_for();
  comm.broadcast(list);
  share_errors(comm, [&] { load_all(list); });
}

void load_external_plugins() {
  load_all(asked_for());
}

void add_external(const char* /*interface*/, const std::type_info& base, std::string_view name,
                  std::string_view summary, void (*make)(), void (*registry)()) {
  Loaded& all = loaded();
  all.entries.push_back({&base, name, summary, make, "plug-in " + all.loading});
  all.registries.push_back(registry);
}

std::span<const ExternalEntry> external_entries() {
  return loaded().entries;
}

std::vector<std::string> external_plugins() {
  std::vector<std::string> list;
  for (const std::string& file : loaded().files) {
    std::string names;
    for (const ExternalEntry& entry : loaded().entries)
      if (entry.source == "plug-in " + file &&
          names.find("\"" + std::string(entry.name) + "\"") == std::string::npos)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", entry.name);
    list.push_back(fmt::format("{}: {}", file, names));
  }
  return list;
}

}  // namespace scree
