#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/deck/deck_table.hpp"
#include "core/suggestion.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

using ValueName = DeckTable::ValueName;
using Form = Declaration::Form;
using Words = std::vector<std::string>;

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
  return toml_string(value);
}
template <class T>
std::string toml_text(const std::vector<T>& values) {
  Words texts;
  for (const auto& value : values) texts.push_back(toml_text(static_cast<const T&>(value)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

bool is_valid(const Key& meaning, Real value) {
  return std::isfinite(value) && contains(meaning.range, value);
}

template <class T>
bool has_count(const std::vector<T>& values, int count) {
  return !values.empty() && (count < 0 || values.size() == static_cast<std::size_t>(count));
}

bool are_valid(const Key& meaning, int count, const std::vector<Real>& values) {
  return has_count(values, count) &&
         std::ranges::all_of(values, [&](Real value) { return is_valid(meaning, value); });
}

bool is_one_of(const std::string& word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

std::string any_unit_text(Unit unit) {
  if (unit == Unit::none) return "a number without a unit";
  const std::string_view article =
      std::string_view("aeiou").find(quantity(unit)[0]) != std::string_view::npos ? "an" : "a";
  return fmt::format("{} {} (a number in {}, or a string with one of the units {})", article, quantity(unit),
                     symbol(unit), unit_names(unit));
}

}  // namespace

void Section::real(std::string_view key, Real& value, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    value = table_->number(node, entry, meaning);
  });
  table_->declare(key, Form::real, meaning, is_valid(meaning, value), toml_text(value));
}

void Section::integer(std::string_view key, std::int64_t& value, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    value = table_->whole(node, entry, meaning);
  });
  table_->declare(key, Form::integer, meaning, is_valid(meaning, static_cast<Real>(value)), toml_text(value));
}

void Section::boolean(std::string_view key, bool& value, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    value = table_->exact<bool>(node, entry, "true or false");
  });
  table_->declare(key, Form::boolean, meaning, true, toml_text(value));
}

void Section::text(std::string_view key, std::string& value, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    value = table_->exact<std::string>(node, entry, "a string");
  });
  table_->declare(key, Form::text, meaning, !value.empty(), toml_text(value));
}

void Section::texts(std::string_view key, std::vector<std::string>& values, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    values = table_->list(node, entry, -1, [&](const toml::node& element, const ValueName& its_entry) {
      return table_->exact<std::string>(element, its_entry, "a string");
    });
  });
  table_->declare(key, Form::texts, meaning, !values.empty(), toml_text(values));
}

void Section::reals(std::string_view key, std::vector<Real>& values, int count, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    values = table_->numbers(node, entry, count, meaning);
  });
  table_->declare(key, Form::reals, meaning, are_valid(meaning, count, values), toml_text(values)).count =
      count;
}

void Section::booleans(std::string_view key, std::vector<bool>& values, int count, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    values = table_->list(node, entry, count, [&](const toml::node& element, const ValueName& its_entry) {
      return table_->exact<bool>(element, its_entry, "true or false");
    });
  });
  table_->declare(key, Form::booleans, meaning, has_count(values, count), toml_text(values)).count = count;
}

void Section::points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
                     const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    values = table_->list(node, entry, -1, [&](const toml::node& element, const ValueName& its_entry) {
      return table_->numbers(element, its_entry, dimension, meaning);
    });
  });
  const auto valid = [&](const std::vector<Real>& point) { return are_valid(meaning, dimension, point); };
  table_
      ->declare(key, Form::points, meaning, !values.empty() && std::ranges::all_of(values, valid),
                toml_text(values))
      .count = dimension;
}

void Section::choice(std::string_view key, std::string& value, const Words& choices, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    const auto word = node.value_exact<std::string>();
    if (!word || !is_one_of(*word, choices)) table_->refuse(node, entry, quoted_list(choices), choices);
    value = *word;
  });
  table_->declare(key, Form::choice, meaning, is_one_of(value, choices), toml_text(value)).choices = choices;
}

void Section::integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                              const Words& choices, const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    word = node.value_or(std::string());
    if (node.is_string() && !is_one_of(word, choices))
      table_->refuse(node, entry, "an integer or " + quoted_list(choices), choices);
    if (!node.is_string()) value = table_->whole(node, entry, meaning);
  });
  const bool valid = word.empty() ? is_valid(meaning, static_cast<Real>(value)) : is_one_of(word, choices);
  table_
      ->declare(key, Form::integer_or_word, meaning, valid, word.empty() ? toml_text(value) : toml_text(word))
      .choices = choices;
}

void Section::real_or_word(std::string_view key, Real& value, std::string& word, const Words& choices,
                           const Key& meaning) {
  table_->read(key, meaning, [&](const toml::node& node, const ValueName& entry) {
    word = node.value_or(std::string());
    if (is_one_of(word, choices)) return;
    if (node.is_string() && !to_si(word, meaning.unit))
      table_->refuse(node, entry, any_unit_text(meaning.unit) + " or " + quoted_list(choices), choices);
    word.clear();
    value = table_->number(node, entry, meaning);
  });
  const bool valid = word.empty() ? is_valid(meaning, value) : is_one_of(word, choices);
  table_->declare(key, Form::real_or_word, meaning, valid, word.empty() ? toml_text(value) : toml_text(word))
      .choices = choices;
}

DeckTable::ValueName DeckTable::entry(std::string_view key) const {
  return {fmt::format("'{}' {}", key, table_text(path)), path_of(key)};
}

DeckTable::ValueName DeckTable::element(std::size_t i, const ValueName& entry) {
  return {fmt::format("element {} of {}", i + 1, entry.words), entry.path};
}

void DeckTable::refuse(const toml::node& node, const ValueName& entry, const std::string& expected,
                       const Words& words) const {
  const auto text = node.value_exact<std::string>();
  throw InputError(fmt::format("{}: {} must be {}, not {}{}", source_->place(entry.path, node.source()),
                               entry.words, expected, describe_node(node),
                               text ? suggestion(*text, words) : ""));
}

void DeckTable::require_in_range(const toml::node& node, const ValueName& entry, const Key& meaning,
                                 Real value) const {
  if (contains(meaning.range, value)) return;
  const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" {}", symbol(meaning.unit));
  throw InputError(fmt::format("{}: {} must be {}{}, not {}{}", source_->place(entry.path, node.source()),
                               entry.words, range_text(meaning.range), unit, value, unit));
}

Real DeckTable::number(const toml::node& node, const ValueName& entry, const Key& meaning) const {
  std::optional<Real> value;
  if (node.is_number()) value = node.value<Real>();
  if (const auto text = node.value_exact<std::string>()) value = to_si(*text, meaning.unit);
  if (!value) refuse(node, entry, any_unit_text(meaning.unit));
  if (!std::isfinite(*value)) refuse(node, entry, "a finite number");
  require_in_range(node, entry, meaning, *value);
  return *value;
}

std::int64_t DeckTable::whole(const toml::node& node, const ValueName& entry, const Key& meaning) const {
  constexpr Real exact_below = 0x1p53;
  std::int64_t value = 0;
  const auto real = node.value_exact<Real>();
  if (real && std::abs(*real) < exact_below && std::trunc(*real) == *real)
    value = static_cast<std::int64_t>(*real);
  else
    value = exact<std::int64_t>(node, entry, "an integer");
  require_in_range(node, entry, meaning, static_cast<Real>(value));
  return value;
}

std::vector<Real> DeckTable::numbers(const toml::node& node, const ValueName& entry, int count,
                                     const Key& meaning) const {
  return list(node, entry, count, [&](const toml::node& element, const ValueName& its_entry) {
    return number(element, its_entry, meaning);
  });
}

const toml::array& DeckTable::array_of(const toml::node& node, const ValueName& entry, int count) const {
  const toml::array* array = node.as_array();
  const std::string expected = count < 0 ? "an array" : fmt::format("an array of {} entries", count);
  if (!array) refuse(node, entry, expected);
  if (count >= 0 && array->size() != static_cast<std::size_t>(count))
    throw InputError(fmt::format("{}: {} must be {}, not of {}", source_->place(entry.path, node.source()),
                                 entry.words, expected, array->size()));
  return *array;
}

}  // namespace scree
