#include "core/deck/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

using Form = Declaration::Form;

std::string toml_text(Real value) {
  std::string text = fmt::format("{}", value);  // the shortest text that reads back as the same bits
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string toml_text(bool value) {
  return value ? "true" : "false";
}

std::string toml_text(const std::string& value) {
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

template <class T>
std::string toml_text(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(toml_text(static_cast<const T&>(value)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

bool is_valid(const Key& meaning, Real value) {
  return std::isfinite(value) && contains(meaning.range, value);
}

bool are_valid(const Key& meaning, int count, const std::vector<Real>& values) {
  return !values.empty() && (count < 0 || values.size() == static_cast<std::size_t>(count)) &&
         std::all_of(values.begin(), values.end(), [&](Real value) { return is_valid(meaning, value); });
}

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string toml_key(std::string_view name) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), is_bare);
  return bare ? std::string(name) : toml_text(std::string(name));
}

std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? toml_key(name) : path + '.' + toml_key(name);
}

std::string join_path(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}
Declaration& DocumentingSection::declare(std::string_view key, Form form, const Key& meaning) {
  auto place = std::find_if(members_.begin(), members_.end(),
                            [&](const Declaration& declaration) { return declaration.name == key; });
  if (place == members_.end()) place = members_.emplace(members_.end());
  place->name = key;
  place->form = form;
  place->unit = meaning.unit;
  place->range = meaning.range;
  place->required = meaning.required;
  place->doc = meaning.doc;
  return *place;
}

/// A default that the key itself would refuse (empty, not finite, out of range) stands for "none".
Declaration& DocumentingSection::declare_value(std::string_view key, Form form, const Key& meaning,
                                               bool valid, const std::string& value) {
  Declaration& declaration = declare(key, form, meaning);
  declaration.value = valid || has(key) ? value : "";
  return declaration;
}

std::string DocumentingSection::path_of(std::string_view key) const {
  return join_path(path_, key);
}

void DocumentingSection::real(std::string_view key, Real& value, const Key& meaning) {
  declare_value(key, Form::real, meaning, is_valid(meaning, value), toml_text(value));
}

void DocumentingSection::integer(std::string_view key, std::int64_t& value, const Key& meaning) {
  declare_value(key, Form::integer, meaning, is_valid(meaning, static_cast<Real>(value)), toml_text(value));
}

void DocumentingSection::boolean(std::string_view key, bool& value, const Key& meaning) {
  declare_value(key, Form::boolean, meaning, true, toml_text(value));
}

void DocumentingSection::text(std::string_view key, std::string& value, const Key& meaning) {
  declare_value(key, Form::text, meaning, !value.empty(), toml_text(value));
}

void DocumentingSection::texts(std::string_view key, std::vector<std::string>& values, const Key& meaning) {
  declare_value(key, Form::texts, meaning, !values.empty(), toml_text(values));
}

void DocumentingSection::reals(std::string_view key, std::vector<Real>& values, int count,
                               const Key& meaning) {
  declare_value(key, Form::reals, meaning, are_valid(meaning, count, values), toml_text(values)).count =
      count;
}

void DocumentingSection::booleans(std::string_view key, std::vector<bool>& values, int count,
                                  const Key& meaning) {
  const bool valid = !values.empty() && (count < 0 || values.size() == static_cast<std::size_t>(count));
  declare_value(key, Form::booleans, meaning, valid, toml_text(values)).count = count;
}

void DocumentingSection::points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
                                const Key& meaning) {
  const auto valid = [&](const std::vector<Real>& point) { return are_valid(meaning, dimension, point); };
  declare_value(key, Form::points, meaning,
                !values.empty() && std::all_of(values.begin(), values.end(), valid), toml_text(values))
      .count = dimension;
}

void DocumentingSection::choice(std::string_view key, std::string& value,
                                const std::vector<std::string>& choices, const Key& meaning) {
  declare_value(key, Form::choice, meaning, is_one_of(value, choices), toml_text(value)).choices = choices;
}

void DocumentingSection::integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                                         const std::vector<std::string>& choices, const Key& meaning) {
  const bool valid = word.empty() ? is_valid(meaning, static_cast<Real>(value)) : is_one_of(word, choices);
  declare_value(key, Form::integer_or_word, meaning, valid, word.empty() ? toml_text(value) : toml_text(word))
      .choices = choices;
}

void DocumentingSection::real_or_word(std::string_view key, Real& value, std::string& word,
                                      const std::vector<std::string>& choices, const Key& meaning) {
  const bool valid = word.empty() ? is_valid(meaning, value) : is_one_of(word, choices);
  declare_value(key, Form::real_or_word, meaning, valid, word.empty() ? toml_text(value) : toml_text(word))
      .choices = choices;
}

void DocumentingSection::table(std::string_view key, const Key& meaning,
                               const std::function<void(Section&)>& describe) {
  DocumentingSection inner(declare(key, Form::table, meaning).members, path_of(key));
  describe(inner);
}

void DocumentingSection::optional_table(std::string_view key, const Key& meaning,
                                        const std::function<void(Section&)>& describe) {
  DocumentingSection inner(declare(key, Form::optional_table, meaning).members, path_of(key));
  describe(inner);
}

void DocumentingSection::tables(std::string_view key, const Key& meaning,
                                const std::function<void(const std::string& name, Section&)>& describe) {
  DocumentingSection any(declare(key, Form::tables, meaning).members, path_of(key));
  any.table(any_name, Key{}, [&](Section& section) { describe(std::string(any_name), section); });
}

Declaration& DocumentingSection::declare_entry(Declaration& list, std::size_t index) {
  while (list.members.size() <= index) list.members.emplace_back().form = Form::table;
  return *std::next(list.members.begin(), static_cast<std::ptrdiff_t>(index));
}

void DocumentingSection::list(std::string_view key, const Key& meaning,
                              const std::function<void(std::size_t index, Section&)>& describe) {
  DocumentingSection entry(declare_entry(declare(key, Form::list, meaning), 0).members,
                           join_path(path_of(key), 0));
  describe(0, entry);
}

void DocumentingSection::kind_by_name(std::string_view key, std::string& name,
                                      const std::vector<KindOption>& options, const Key& meaning,
                                      const std::function<void(std::size_t index, Section&)>& describe) {
  Declaration& declaration = declare_value(key, Form::kind, meaning, !name.empty(), toml_text(name));
  declaration.options.clear();
  declaration.choices.clear();
  for (std::size_t i = 0; i < options.size(); ++i) {
    declaration.options.push_back(
        {std::string(options[i].name), std::string(options[i].summary), options[i].available, {}});
    if (!options[i].available) continue;
    declaration.choices.emplace_back(options[i].name);
    DocumentingSection section(declaration.options.back().members, path_);
    describe(i, section);
  }
}

void DocumentingSection::fail(std::string_view key, const std::string& message) const {
  throw InputError(fmt::format("{}: {}", where(key), message));
}

std::string DocumentingSection::where(std::string_view key) const {
  return path_of(key);
}

}  // namespace scree
