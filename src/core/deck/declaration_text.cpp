#include <fmt/format.h>

#include <algorithm>

#include "core/deck/declaration.hpp"
#include "core/units.hpp"

namespace scree {

using Form = Declaration::Form;

std::string toml_string(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      text += fmt::format("\\u{:04X}", static_cast<int>(c));
    else
      text += c;
  }
  return text + '"';
}

std::string toml_key(std::string_view name) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), is_bare);
  return bare ? std::string(name) : toml_string(std::string(name));
}

std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? toml_key(name) : path + '.' + toml_key(name);
}

std::string join_path(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

bool contains(const Range& range, Real value) {
  return (range.min_open ? value > range.min : value >= range.min) &&
         (range.max_open ? value < range.max : value <= range.max);
}

std::string range_text(const Range& range) {
  const bool below = std::isfinite(range.min);
  const bool above = std::isfinite(range.max);
  if (below && above)
    return fmt::format("in {}{}, {}{}", range.min_open ? '(' : '[', range.min, range.max,
                       range.max_open ? ')' : ']');
  if (below) return fmt::format("{} {}", range.min_open ? ">" : ">=", range.min);
  if (above) return fmt::format("{} {}", range.max_open ? "<" : "<=", range.max);
  return "";
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return text;
}

std::string type_text(const Declaration& declaration) {
  const std::string unit =
      declaration.unit == Unit::none ? "" : fmt::format(" [{}]", symbol(declaration.unit));
  const std::string count = declaration.count < 0 ? "" : fmt::format("{} ", declaration.count);
  switch (declaration.form) {
    case Form::real:
      return "number" + unit;
    case Form::integer:
      return "integer";
    case Form::boolean:
      return "true or false";
    case Form::text:
      return "string";
    case Form::texts:
      return "list of strings";
    case Form::reals:
      return "list of " + count + "numbers" + unit;
    case Form::booleans:
      return "list of " + count + "booleans";
    case Form::points:
      return "list of points of " + count + "numbers" + unit;
    case Form::choice:
    case Form::kind:
      return quoted_list(declaration.choices);
    case Form::integer_or_word:
      return "integer or " + quoted_list(declaration.choices);
    case Form::real_or_word:
      return "number" + unit + " or " + quoted_list(declaration.choices);
    case Form::table:
    case Form::optional_table:
      return "table";
    case Form::tables:
      return "named tables";
    case Form::list:
      return "array of tables";
  }
  return "";
}

std::string meaning_text(const Declaration& declaration) {
  std::string text = declaration.doc + " (" + type_text(declaration);
  if (const std::string range = range_text(declaration.range); !range.empty()) text += ", " + range;
  if (declaration.required)
    text += ", required";
  else if (!declaration.value.empty())
    text += ", default " + declaration.value;
  return text + ")";
}

}  // namespace scree
