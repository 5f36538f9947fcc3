#include "core/deck/source.hpp"

#include <fmt/format.h>

#include "core/deck/overrides.hpp"
#include "core/deck/renames.hpp"
#include "core/error.hpp"

namespace scree {

namespace {

bool is_within(const std::string& path, const std::string& outer) {
  return path.starts_with(outer + '.') || path.starts_with(outer + '[');
}

}  // namespace

std::string describe_node(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return fmt::format("the string \"{}\"", *text);
  if (node.is_boolean()) return "a boolean";
  if (node.is_integer()) return fmt::format("the integer {}", *node.value_exact<std::int64_t>());
  if (node.is_floating_point()) return fmt::format("the number {}", *node.value_exact<double>());
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return "a date or time";
}

std::string table_text(const std::string& path) {
  return path.empty() ? "at the top level of the deck" : fmt::format("in [{}]", path);
}

std::string DeckSource::place(const std::string& path, const toml::source_region& region) const {
  for (auto set = overridden.rbegin(); set != overridden.rend(); ++set)
    if (path == set->path || is_within(path, set->path)) return "--set " + set->given;
  if (region.begin.line > 0) return fmt::format("{}:{}:{}", name, region.begin.line, region.begin.column);
  for (const Override& set : overridden)
    if (is_within(set.path, path)) return "--set " + set.given;
  return name + ":1:1";
}

std::tuple<bool, std::uint32_t, std::uint32_t> DeckSource::order(const std::string& path,
                                                                 const toml::source_region& region) const {
  return {place(path, region).starts_with("--set "), region.begin.line, region.begin.column};
}

DeckSource DeckSource::parse(const std::string& text, const std::string& name,
                             const std::vector<std::string>& overrides) {
  require_shallow(text, name);
  DeckSource source;
  source.name = name;
  try {
    source.root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}:{}: {}", name, error.source().begin.line, error.source().begin.column,
                                 error.description()));
  }
  rename_old_keys(source);
  for (const std::string& given : overrides) apply_override(source, given);
  rename_old_keys(source);  // what overrides brought
  return source;
}

}  // namespace scree
