#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/deck/reading_section.hpp"
#include "core/suggestion.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

std::string any_unit_text(Unit unit) {
  if (unit == Unit::none) return "a number without a unit";
  const std::string_view article =
      std::string_view("aeiou").find(quantity(unit)[0]) != std::string_view::npos ? "an" : "a";
  return fmt::format("{} {} (a number in {}, or a string with one of the units {})", article, quantity(unit),
                     symbol(unit), unit_names(unit));
}

}  // namespace

void ReadingSection::real(std::string_view key, Real& value, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) { value = number(node, entry(key), meaning); });
  DocumentingSection::real(key, value, meaning);
}

void ReadingSection::integer(std::string_view key, std::int64_t& value, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) { value = whole(node, entry(key), meaning); });
  DocumentingSection::integer(key, value, meaning);
}

void ReadingSection::boolean(std::string_view key, bool& value, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) { value = exact<bool>(node, entry(key), "true or false"); });
  DocumentingSection::boolean(key, value, meaning);
}

void ReadingSection::text(std::string_view key, std::string& value, const Key& meaning) {
  read(key, meaning,
       [&](const toml::node& node) { value = exact<std::string>(node, entry(key), "a string"); });
  DocumentingSection::text(key, value, meaning);
}

void ReadingSection::texts(std::string_view key, std::vector<std::string>& values, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    values.clear();
    for_each(node, entry(key), -1, [&](const toml::node& element, const Entry& entry) {
      values.push_back(exact<std::string>(element, entry, "a string"));
    });
  });
  DocumentingSection::texts(key, values, meaning);
}

void ReadingSection::reals(std::string_view key, std::vector<Real>& values, int count, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) { values = numbers(node, entry(key), count, meaning); });
  DocumentingSection::reals(key, values, count, meaning);
}

void ReadingSection::booleans(std::string_view key, std::vector<bool>& values, int count,
                              const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    std::vector<bool> found;
    for_each(node, entry(key), count, [&](const toml::node& element, const Entry& entry) {
      found.push_back(exact<bool>(element, entry, "true or false"));
    });
    values = std::move(found);
  });
  DocumentingSection::booleans(key, values, count, meaning);
}

void ReadingSection::points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
                            const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    values.clear();
    for_each(node, entry(key), -1, [&](const toml::node& element, const Entry& entry) {
      values.push_back(numbers(element, entry, dimension, meaning));
    });
  });
  DocumentingSection::points(key, values, dimension, meaning);
}

void ReadingSection::choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
                            const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    const auto word = node.value_exact<std::string>();
    if (!word || !is_one_of(*word, choices)) refuse(node, entry(key), quoted_list(choices), choices);
    value = *word;
  });
  DocumentingSection::choice(key, value, choices, meaning);
}

void ReadingSection::integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                                     const std::vector<std::string>& choices, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    word = node.value_or(std::string());
    if (node.is_string() && !is_one_of(word, choices))
      refuse(node, entry(key), "an integer or " + quoted_list(choices), choices);
    if (!node.is_string()) value = whole(node, entry(key), meaning);
  });
  DocumentingSection::integer_or_word(key, value, word, choices, meaning);
}

void ReadingSection::real_or_word(std::string_view key, Real& value, std::string& word,
                                  const std::vector<std::string>& choices, const Key& meaning) {
  read(key, meaning, [&](const toml::node& node) {
    word = node.value_or(std::string());
    if (is_one_of(word, choices)) return;
    if (node.is_string() && !to_si(word, meaning.unit))
      refuse(node, entry(key), any_unit_text(meaning.unit) + " or " + quoted_list(choices), choices);
    word.clear();
    value = number(node, entry(key), meaning);
  });
  DocumentingSection::real_or_word(key, value, word, choices, meaning);
}

ReadingSection::Entry ReadingSection::entry(std::string_view key) const {
  return {fmt::format("'{}' {}", key, table_text(path())), path_of(key)};
}

bool ReadingSection::is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void ReadingSection::refuse(const toml::node& node, const Entry& entry, const std::string& expected,
                            const std::vector<std::string>& words) const {
  const auto text = node.value_exact<std::string>();
  throw InputError(fmt::format("{}: {} must be {}, not {}{}", source_.place(entry.path, node.source()),
                               entry.words, expected, describe_node(node),
                               text ? suggestion(*text, words) : ""));
}

void ReadingSection::require_in_range(const toml::node& node, const Entry& entry, const Key& meaning,
                                      Real value) const {
  if (contains(meaning.range, value)) return;
  const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" {}", symbol(meaning.unit));
  throw InputError(fmt::format("{}: {} must be {}{}, not {}{}", source_.place(entry.path, node.source()),
                               entry.words, range_text(meaning.range), unit, value, unit));
}

Real ReadingSection::number(const toml::node& node, const Entry& entry, const Key& meaning) const {
  std::optional<Real> value;
  if (node.is_number()) value = node.value<Real>();
  if (const auto text = node.value_exact<std::string>()) value = to_si(*text, meaning.unit);
  if (!value) refuse(node, entry, any_unit_text(meaning.unit));
  if (!std::isfinite(*value)) refuse(node, entry, "a finite number");
  require_in_range(node, entry, meaning, *value);
  return *value;
}

std::int64_t ReadingSection::whole(const toml::node& node, const Entry& entry, const Key& meaning) const {
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

void ReadingSection::for_each(const toml::node& node, const Entry& entry, int count,
                              const std::function<void(const toml::node&, const Entry&)>& visit) const {
  const toml::array* array = node.as_array();
  const std::string expected = count < 0 ? "an array" : fmt::format("an array of {} entries", count);
  if (!array) refuse(node, entry, expected);
  if (count >= 0 && array->size() != static_cast<std::size_t>(count))
    throw InputError(fmt::format("{}: {} must be {}, not of {}", source_.place(entry.path, node.source()),
                                 entry.words, expected, array->size()));
  for (std::size_t i = 0; i < array->size(); ++i)
    visit(*array->get(i), {fmt::format("element {} of {}", i + 1, entry.words), entry.path});
}

std::vector<Real> ReadingSection::numbers(const toml::node& node, const Entry& entry, int count,
                                          const Key& meaning) const {
  std::vector<Real> values;
  for_each(node, entry, count, [&](const toml::node& element, const Entry& element_entry) {
    values.push_back(number(element, element_entry, meaning));
  });
  return values;
}

}  // namespace scree
