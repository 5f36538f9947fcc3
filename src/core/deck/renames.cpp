#include "core/deck/renames.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/deck/declaration.hpp"
#include "core/error.hpp"

namespace scree {

namespace {

/// A line of postprocess/scree/results/renamed_keys.def, which Python reads as well.
struct Rename {
  std::string_view table, before, now, key;
};

constexpr Rename renames[] = {
#define SCREE_RENAME(table, before, now, key) {table, before, now, key},
#include <renamed_keys.def>
#undef SCREE_RENAME
};

/// The first name of a dotted path, and what follows it.
std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
  const std::size_t dot = path.find('.');
  return {path.substr(0, dot), dot == path.npos ? "" : path.substr(dot + 1)};
}

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

/// Renames in the tables that `within` names, seen from `table`, whose own path is `path`.
void rename_within(DeckSource& source, const Rename& rename, std::string_view within, toml::table& table,
                   const std::string& path) {
  if (within.empty()) {
    rename_in(source, rename, table, path);
    return;
  }
  const auto [outer, rest] = split_path(within);
  for (auto& [name, node] : table)
    if (toml::table* inner = node.as_table(); inner && (outer == "*" || name.str() == outer))
      rename_within(source, rename, rest, *inner, join_path(path, name.str()));
}

/// Where in `path` the key stands that `rename` is about; the length of the path if it does not hold it.
std::size_t place_of_key(const Rename& rename, const std::vector<std::string>& path) {
  std::size_t depth = 0;
  for (std::string_view rest = rename.table; !rest.empty(); ++depth) {
    const auto [outer, inner] = split_path(rest);
    if (depth == path.size() || (outer != "*" && path[depth] != outer)) return path.size();
    rest = inner;
  }
  return depth < path.size() && path[depth] == rename.before ? depth : path.size();
}

}  // namespace

void rename_old_keys(DeckSource& source) {
  for (const Rename& rename : renames) rename_within(source, rename, rename.table, source.root, "");
}

void rename_old_keys(DeckSource& source, std::vector<std::string>& path) {
  for (const Rename& rename : renames) {
    const std::size_t key = place_of_key(rename, path);
    if (!rename.key.empty() || key == path.size()) continue;
    std::string given, table;
    for (const std::string& name : path) given = join_path(given, name);
    for (std::size_t k = 0; k < key; ++k) table = join_path(table, path[k]);
    path[key] = rename.now;
    source.warnings.push_back(warning(rename, "--set " + given, table));
  }
}

}  // namespace scree
