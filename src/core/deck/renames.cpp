#include "core/deck/renames.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/deck/declaration.hpp"
#include "core/error.hpp"

namespace scree {

namespace {

/// An old name that decks may use for one version more.
struct Rename {
  std::string_view table;  ///< that holds the key; "a.*": every table in [a]
  std::string_view before;
  std::string_view now;       ///< empty: the key has no effect any more
  std::string_view key = {};  ///< if given, `before` and `now` are values of this key
};

/// One line per name; remove a line in the version after the one that brought it.
constexpr Rename renames[] = {
    {.table = "", .before = "feeders", .now = "inlets"},
    {.table = "", .before = "sinks", .now = "outlets"},
    {.table = "measures.*", .before = "feeders", .now = "inlets", .key = "type"},
    {.table = "nonsmooth", .before = "touching_range", .now = "contact_slop"},
    {.table = "nonsmooth", .before = "contact_range", .now = "speculative_margin"},
    {.table = "solver", .before = "variant", .now = ""},
    {.table = "solver", .before = "eps_p", .now = ""},
    {.table = "solver", .before = "eps_s", .now = ""},
    {.table = "solver", .before = "eps_T", .now = ""},
};

std::string warning(const Rename& rename, const std::string& place, const std::string& path) {
  if (rename.now.empty())
    return fmt::format("{}: '{}' {} has no effect any more; the next version will not know it", place,
                       rename.before, table_text(path));
  return rename.key.empty()
             ? fmt::format("{}: '{}' {} is now called '{}'; the next version will not know the old name",
                           place, rename.before, table_text(path), rename.now)
             : fmt::format(
                   "{}: {} = \"{}\" {} is now called \"{}\"; the next version will not know the old name",
                   place, rename.key, rename.before, table_text(path), rename.now);
}

void rename_in(DeckSource& source, const Rename& rename, toml::table& table, const std::string& path) {
  const std::string_view name = rename.key.empty() ? rename.before : rename.key;
  const auto found = table.find(name);
  if (found == table.end()) return;
  const toml::source_region region = found->first.source();
  const std::string place = source.place(join_path(path, name), region);
  if (!rename.key.empty()) {
    auto* word = found->second.as_string();
    if (!word || word->get() != rename.before) return;
    *word = std::string(rename.now);
  } else if (rename.now.empty()) {
    table.erase(rename.before);
  } else {
    if (const auto other = table.find(rename.now); other != table.end())
      throw InputError(
          fmt::format("{}: '{}' {} is the old name of '{}', which is given as well ({}): keep '{}'", place,
                      rename.before, table_text(path), rename.now,
                      source.place(join_path(path, rename.now), other->first.source()), rename.now));
    // Moved: a copy would lose the place of each node in the file.
    found->second.visit([&](auto& node) {
      table.insert_or_assign(toml::key(rename.now, toml::source_region(region)), std::move(node));
    });
    table.erase(rename.before);
  }
  source.warnings.push_back(warning(rename, place, path));
}

}  // namespace

void rename_old_keys(DeckSource& source) {
  for (const Rename& rename : renames) {
    if (rename.table.empty()) {
      rename_in(source, rename, source.root, "");
      continue;
    }
    const bool in_each = rename.table.ends_with(".*");
    const std::string outer(rename.table.substr(0, rename.table.size() - (in_each ? 2 : 0)));
    toml::table* table = source.root[outer].as_table();
    if (!table) continue;
    if (!in_each) {
      rename_in(source, rename, *table, outer);
      continue;
    }
    for (auto& [name, node] : *table)
      if (toml::table* inner = node.as_table())
        rename_in(source, rename, *inner, join_path(outer, name.str()));
  }
}

void rename_old_keys(DeckSource& source, std::vector<std::string>& path) {
  for (const Rename& rename : renames) {
    const std::size_t depth = rename.table.empty() ? 0 : 1;
    if (!rename.key.empty() || path.size() <= depth || path[depth] != rename.before ||
        (depth == 1 && path[0] != rename.table))
      continue;
    std::string given;
    for (const std::string& name : path) given = join_path(given, name);
    path[depth] = rename.now;
    source.warnings.push_back(warning(rename, "--set " + given, std::string(rename.table)));
  }
}

}  // namespace scree
