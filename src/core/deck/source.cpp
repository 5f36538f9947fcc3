#include "core/deck/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/deck/declaration.hpp"
#include "core/deck/renames.hpp"
#include "core/error.hpp"
#include "core/input_file.hpp"

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

namespace {

/// How deep the tables and arrays of a TOML text are nested at most, with those that dotted names make:
/// counted without calling itself, unlike the parser and its trees, which would use up the stack.
std::size_t nesting_depth(std::string_view text) {
  std::size_t deepest = 0, dots = 0, dots_around = 0;
  std::vector<std::size_t> around;  // of each open bracket: the dots before it
  const auto skip_string = [&](std::size_t i) {
    const char quote = text[i];
    const std::string triple(3, quote);
    const bool is_long = text.substr(i).starts_with(triple);
    for (i += is_long ? 3 : 1; i < text.size(); ++i) {
      if (quote == '"' && text[i] == '\\')
        ++i;
      else if (is_long ? text.substr(i).starts_with(triple) : text[i] == quote || text[i] == '\n')
        return is_long ? i + 2 : i;
    }
    return i;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(i);
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '[' || c == '{') {
      around.push_back(dots);
      dots_around += dots;
      dots = 0;
    } else if ((c == ']' || c == '}') && !around.empty()) {
      dots = around.back();
      dots_around -= dots;
      around.pop_back();
    } else if (c == ',' || (c == '\n' && around.empty())) {
      dots = 0;
    } else if (c == '.') {
      ++dots;
    }
    deepest = std::max(deepest, around.size() + dots_around + dots);
  }
  return deepest;
}

/// Refuses a text whose tables and arrays are nested so deep that the parser would use up the stack.
void require_shallow(std::string_view text, const std::string& what) {
  const std::size_t depth = nesting_depth(text);
  if (depth > max_nested)
    throw InputError(fmt::format("{}: tables and arrays are nested {} deep; at most {} are read", what, depth,
                                 max_nested));
}

/// Where the value of "a.b=value" begins: behind the first '=' that no quotes enclose.
std::size_t value_start(const std::string& override_text) {
  char quote = 0;
  for (std::size_t i = 0; i < override_text.size(); ++i) {
    const char c = override_text[i];
    if (quote == 0 && c == '=') return i + 1;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
  }
  return std::string::npos;
}

/// The table {value = ...} of an override: TOML, or else a bare string.
toml::table override_value(const std::string& text) {
  try {
    toml::table parsed = toml::parse("value = " + text);
    if (parsed.size() == 1) return parsed;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", text}};
}

/// The place in `array` that an override names; arrays keep their length.
std::size_t array_index(const std::string& name, const toml::array& array, const std::string& path,
                        const std::string& text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error == std::errc() && end == name.data() + name.size() && index < array.size()) return index;
  throw InputError(
      fmt::format("--set {}: '{}' is an array of {} entries, which are counted from 0; '{}' is none of them",
                  text, path, array.size(), name));
}

/// "stages[0].name" as "stages.0.name", which TOML can read: messages write entries of lists in brackets.
std::string without_brackets(std::string_view key) {
  std::string result;
  char quote = 0;
  for (const char c : key) {
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    if (quote == 0 && c == ']') continue;
    result += quote == 0 && c == '[' ? '.' : c;
  }
  return result;
}

/// Sets what "a.b=value" says in the deck. Throws InputError.
void apply_override(DeckSource& source, const std::string& text) {
  constexpr std::string_view form = "the form is --set table.key=value";
  const std::size_t start = value_start(text);
  if (start == std::string::npos || text.find_first_not_of(' ', start) == std::string::npos)
    throw InputError(fmt::format("--set {}: a value is missing; {}", text, form));
  require_shallow(text, "--set " + text.substr(0, 40));

  std::vector<std::string> names;
  try {
    const toml::table path = toml::parse(without_brackets(std::string_view(text).substr(0, start)) + "0");
    for (const toml::table* table = &path; table; table = table->begin()->second.as_table())
      names.emplace_back(table->begin()->first.str());
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("--set {}: {}; {}", text, error.description(), form));
  }
  const std::vector<std::string> typed = names;
  rename_old_keys(source, names);

  const toml::table value = override_value(text.substr(text.find_first_not_of(' ', start)));
  toml::node* around = &source.root;
  std::string path;
  std::string given;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string& name = names[k];
    const bool is_last = k + 1 == names.size();
    toml::node* inner = nullptr;
    if (toml::array* array = around->as_array()) {
      const std::size_t index = array_index(name, *array, path, text);
      path = join_path(path, index);
      if (is_last)
        value.get("value")->visit([&](const auto& node) {
          array->replace(array->begin() + static_cast<std::ptrdiff_t>(index), node);
        });
      inner = array->get(index);
    } else if (toml::table* table = around->as_table()) {
      path = join_path(path, name);
      if (is_last) value.get("value")->visit([&](const auto& node) { table->insert_or_assign(name, node); });
      inner = &table->insert(name, toml::table{}).first->second;
    } else {
      throw InputError(fmt::format("--set {}: '{}' is {}, not a table", text, path, describe_node(*around)));
    }
    given = join_path(given, typed[k]);
    around = inner;
  }
  source.overridden.push_back({path, given});
}

}  // namespace

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
