#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/deck.hpp"
#include "core/declaration.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
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

bool contains(const Range& range, Real value) {
  return (range.least_open ? value > range.least : value >= range.least) &&
         (range.most_open ? value < range.most : value <= range.most);
}

std::string range_text(const Range& range) {
  const bool below = std::isfinite(range.least);
  const bool above = std::isfinite(range.most);
  if (below && above)
    return fmt::format("in {}{}, {}{}", range.least_open ? '(' : '[', range.least, range.most,
                       range.most_open ? ')' : ']');
  if (below) return fmt::format("{} {}", range.least_open ? ">" : ">=", range.least);
  if (above) return fmt::format("{} {}", range.most_open ? "<" : "<=", range.most);
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

namespace {

/// What a key is in each dimension; one of the two is null where it does not exist.
struct Both {
  const Declaration* flat;   // 2D
  const Declaration* solid;  // 3D
  const Declaration& any() const { return flat ? *flat : *solid; }
};

const std::list<Declaration>* members_of(const Declaration* declaration) {
  return declaration ? &declaration->members : nullptr;
}

/// The keys of two lists by name: those of 2D, with those of 3D alone behind the one they follow in 3D.
std::vector<Both> merged(const std::list<Declaration>* flat, const std::list<Declaration>* solid) {
  std::vector<Both> all;
  if (flat)
    for (const Declaration& declaration : *flat) all.push_back({&declaration, nullptr});
  std::size_t next = 0;
  if (solid)
    for (const Declaration& declaration : *solid) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const Both& both) { return both.any().name == declaration.name; });
      if (same != all.end()) {
        same->solid = &declaration;
        next = static_cast<std::size_t>(same - all.begin()) + 1;
      } else {
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(next++), {nullptr, &declaration});
      }
    }
  return all;
}

struct BothOption {
  const Declaration::Option* flat;
  const Declaration::Option* solid;
  const Declaration::Option& any() const { return flat ? *flat : *solid; }
  std::vector<Both> members() const {
    return merged(flat ? &flat->members : nullptr, solid ? &solid->members : nullptr);
  }
};

/// The options of a kind; every registry lists the same names in both dimensions.
std::vector<BothOption> merged_options(const Both& kind) {
  std::vector<BothOption> all;
  const auto add = [&](const Declaration* declaration, const Declaration::Option* BothOption::*side) {
    if (!declaration) return;
    for (const Declaration::Option& option : declaration->options) {
      if (!option.available) continue;
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const BothOption& other) { return other.any().name == option.name; });
      if (same == all.end()) same = all.insert(all.end(), BothOption{nullptr, nullptr});
      (*same).*side = &option;
    }
  };
  add(kind.flat, &BothOption::flat);
  add(kind.solid, &BothOption::solid);
  return all;
}

template <class Pair>
std::string_view dimension_mark(const Pair& both) {
  if (!both.solid) return " (2D only)";
  if (!both.flat) return " (3D only)";
  return "";
}

/// `text(declaration)`, or both texts where 2D and 3D differ.
template <class Function>
std::string in_both(const Both& both, const Function& text) {
  if (!both.flat || !both.solid) return text(both.any());
  const std::string flat = text(*both.flat);
  const std::string solid = text(*both.solid);
  return flat == solid ? flat : fmt::format("2D: {}; 3D: {}", flat, solid);
}

/// Text as a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return escaped;
}

/// A summary or meaning such as "half-space" as a sentence.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.ends_with('.') ? text : text + '.';
}

class Reference {
 public:
  std::string text;

  /// The keys of one table and, behind them, those of its kinds and inner tables.
  void describe_members(const std::vector<Both>& members, const std::string& path, int level) {
    const auto is_key = [](const Both& both) { return !both.any().is_table(); };
    if (std::any_of(members.begin(), members.end(), is_key)) {
      text += "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
      for (const Both& both : members)
        if (is_key(both)) describe_key(both);
      text += '\n';
    }
    for (const Both& both : members) {
      if (both.any().form == Form::kind) describe_options(both, path, level);
      if (both.any().is_table()) describe_table(both, path, level);
    }
  }

 private:
  void heading(int level, const std::string& title) {
    constexpr int deepest = 6;
    text += std::string(static_cast<std::size_t>(std::min(level, deepest)), '#') + ' ' + title + "\n\n";
  }

  void describe_key(const Both& both) {
    const auto default_text = [](const Declaration& declaration) {
      if (declaration.required) return std::string("required");
      return declaration.value.empty() ? std::string("none") : '`' + declaration.value + '`';
    };
    const std::string range = range_text(both.any().range);
    // Options have sections of their own, which say what exists where.
    const std::string type =
        both.any().form == Form::kind ? "one of the kinds below" : in_both(both, type_text);
    text += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", toml_key(both.any().name), cell(type),
                        cell(in_both(both, default_text)), range, cell(both.any().doc), dimension_mark(both));
  }

  void describe_options(const Both& kind, const std::string& path, int level) {
    for (const BothOption& option : merged_options(kind)) {
      heading(level, fmt::format("`{}` with `{} = \"{}\"`{}", header(path), kind.any().name,
                                 option.any().name, dimension_mark(option)));
      text += sentence(option.any().summary) + "\n\n";
      describe_members(option.members(), path, level + 1);
    }
  }

  void describe_table(const Both& both, const std::string& path, int level) {
    const Declaration& table = both.any();
    const std::string inner = join_path(path, table.name);
    std::vector<Both> members = merged(members_of(both.flat), members_of(both.solid));
    if (table.form == Form::list) {
      lists_.insert(inner);
      const Both entry = members.front();
      heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
      text += fmt::format("{} Any number of tables, in order{}.\n\n", sentence(table.doc),
                          table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(entry.flat), members_of(entry.solid)), inner, level + 1);
      return;
    }
    if (table.form == Form::tables) {
      const Both named = members.front();
      heading(level, fmt::format("`[{}.{}]`{}", inner, any_name, dimension_mark(both)));
      text += fmt::format("{} Any number of tables, each with a name of your choice{}.\n\n",
                          sentence(table.doc), table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(named.flat), members_of(named.solid)), join_path(inner, any_name),
                       level + 1);
      return;
    }
    heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
    text += sentence(table.doc);
    if (table.required) text += " Required.";
    if (table.form == Form::optional_table) text += " Has an effect only if it is given.";
    text += "\n\n";
    describe_members(members, inner, level + 1);
  }

  /// How a deck opens the table `path`.
  std::string header(const std::string& path) const {
    return fmt::format(fmt::runtime(lists_.contains(path) ? "[[{}]]" : "[{}]"), path);
  }

  std::set<std::string> lists_;
};

struct Documented {
  std::list<Declaration> flat;
  std::list<Declaration> solid;
  explicit Documented(const DeckDescription& description) {
    DocumentingSection flat_root(flat, "");
    description.in_2d(flat_root);
    DocumentingSection solid_root(solid, "");
    description.in_3d(solid_root);
  }
};

std::string unit_table() {
  std::string text = "| quantity | SI | units a string may carry |\n|---|---|---|\n";
  for (const Unit unit : all_units())
    if (unit != Unit::none)
      text += fmt::format("| {}{} | {} | {} |\n", quantity(unit),
                          unit == Unit::frequency ? " of a repetition" : "", symbol(unit), unit_names(unit));
  return text;
}

Json number_schema(const Declaration& declaration, const char* type) {
  Json schema = {{"type", type}};
  const Range& range = declaration.range;
  if (std::isfinite(range.least)) schema[range.least_open ? "exclusiveMinimum" : "minimum"] = range.least;
  if (std::isfinite(range.most)) schema[range.most_open ? "exclusiveMaximum" : "maximum"] = range.most;
  return schema;
}

/// A number or, where it has a unit, a string that carries one.
Json quantity_schema(const Declaration& declaration) {
  Json number = number_schema(declaration, "number");
  if (declaration.unit == Unit::none) return number;
  return {{"anyOf", {number, {{"type", "string"}, {"pattern", "^ *[-+]?[0-9.]"}}}}};
}

Json array_schema(const Json& items, const Both& both) {
  Json schema = {{"type", "array"}, {"items", items}};
  const auto [least, most] =
      std::minmax({both.any().count, both.solid ? both.solid->count : both.any().count});
  if (least >= 0) {
    schema["minItems"] = least;
    schema["maxItems"] = most;
  }
  return schema;
}

Json object_schema(const std::vector<Both>& members);

Json value_schema(const Both& both) {
  const Declaration& declaration = both.any();
  switch (declaration.form) {
    case Form::real:
      return quantity_schema(declaration);
    case Form::integer:
      return number_schema(declaration, "integer");
    case Form::boolean:
      return {{"type", "boolean"}};
    case Form::text:
      return {{"type", "string"}};
    case Form::texts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Form::reals:
      return array_schema(quantity_schema(declaration), both);
    case Form::booleans:
      return array_schema({{"type", "boolean"}}, both);
    case Form::points:
      return {{"type", "array"}, {"items", array_schema(quantity_schema(declaration), both)}};
    case Form::choice:
      return {{"enum", declaration.choices}};
    case Form::integer_or_word:
      return {{"anyOf", {number_schema(declaration, "integer"), {{"enum", declaration.choices}}}}};
    case Form::real_or_word:
      return {{"anyOf", {quantity_schema(declaration), {{"enum", declaration.choices}}}}};
    case Form::kind: {
      Json names = Json::array();
      for (const BothOption& option : merged_options(both)) names.push_back(option.any().name);
      return {{"enum", names}};
    }
    case Form::table:
    case Form::optional_table:
      return object_schema(merged(members_of(both.flat), members_of(both.solid)));
    case Form::tables: {
      const Both named = merged(members_of(both.flat), members_of(both.solid)).front();
      return {
          {"type", "object"},
          {"additionalProperties", object_schema(merged(members_of(named.flat), members_of(named.solid)))}};
    }
    case Form::list: {
      const Both entry = merged(members_of(both.flat), members_of(both.solid)).front();
      Json schema = {{"type", "array"},
                     {"items", object_schema(merged(members_of(entry.flat), members_of(entry.solid)))}};
      if (declaration.required) schema["minItems"] = 1;
      return schema;
    }
  }
  return {};
}

/// The members of a table; the keys of a kind apply if the kind is chosen.
Json object_schema(const std::vector<Both>& members) {
  Json properties = Json::object();
  Json required = Json::array();
  Json conditions = Json::array();
  for (const Both& both : members) {
    const Declaration& declaration = both.any();
    Json property = value_schema(both);
    property["description"] = in_both(both, meaning_text) + std::string(dimension_mark(both));
    properties[declaration.name] = property;
    if (declaration.required && both.flat && both.solid) required.push_back(declaration.name);
    if (declaration.form != Form::kind) continue;
    for (const BothOption& option : merged_options(both)) {
      Json branch = object_schema(option.members());
      branch.erase("type");
      branch.erase("unevaluatedProperties");
      conditions.push_back({{"if",
                             {{"properties", {{declaration.name, {{"const", option.any().name}}}}},
                              {"required", {declaration.name}}}},
                            {"then", branch}});
    }
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  if (!conditions.empty()) schema["allOf"] = conditions;
  schema["unevaluatedProperties"] = false;
  return schema;
}

}  // namespace

std::string deck_reference(const DeckDescription& description) {
  const Documented documented(description);
  Reference reference;
  reference.text =
      "# Deck reference\n\n"
      "Every table and key a deck may contain, printed by the program from the same lines that read them. A "
      "deck is a\n"
      "TOML file. A bare number is in SI units, which the type column names; a string may carry another unit "
      "of the\n"
      "same quantity, such as `\"4 mm\"` or `\"60 rpm\"`. Unknown and repeated keys stop the run.\n\n" +
      unit_table() + '\n';
  reference.describe_members(merged(&documented.flat, &documented.solid), "", 2);
  while (reference.text.ends_with("\n\n")) reference.text.pop_back();
  return reference.text;
}

std::string deck_schema(const DeckDescription& description) {
  constexpr int indent = 2;
  const Documented documented(description);
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "scree deck"}};
  schema.update(object_schema(merged(&documented.flat, &documented.solid)));
  return schema.dump(indent) + '\n';
}

}  // namespace scree
