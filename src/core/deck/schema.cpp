#include <algorithm>

#include "core/deck/both_dimensions.hpp"

#include "core/json.hpp"

namespace scree {

namespace {

using namespace detail;
using Form = Declaration::Form;
Json number_schema(const Declaration& declaration, const char* type) {
  Json schema = {{"type", type}};
  const Range& range = declaration.range;
  if (std::isfinite(range.min)) schema[range.min_open ? "exclusiveMinimum" : "minimum"] = range.min;
  if (std::isfinite(range.max)) schema[range.max_open ? "exclusiveMaximum" : "maximum"] = range.max;
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
  const auto [min, max] = std::minmax({both.any().count, both.solid ? both.solid->count : both.any().count});
  if (min >= 0) {
    schema["minItems"] = min;
    schema["maxItems"] = max;
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
    // Editors accept these keys, but do not offer them: the first is a word of VS Code, the second of taplo.
    if (declaration.audience == Audience::laboratory) {
      property["doNotSuggest"] = true;
      property["x-taplo"] = {{"hidden", true}};
    }
    properties[declaration.name] = property;
    if (declaration.required && both.flat && both.solid) required.push_back(declaration.name);
    if (declaration.form != Form::kind) continue;
    for (const BothOption& option : merged_options(both)) {
      Json branch = object_schema(option.members());
      branch.erase("type");
      branch.erase("unevaluatedProperties");
      Json condition = {{"properties", {{declaration.name, {{"const", option.any().name}}}}}};
      if (toml_string(option.any().name) != declaration.value) condition["required"] = {declaration.name};
      conditions.push_back({{"if", condition}, {"then", branch}});
    }
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  if (!conditions.empty()) schema["allOf"] = conditions;
  schema["unevaluatedProperties"] = false;
  return schema;
}

}  // namespace

std::string deck_schema(const DeckDescription& description) {
  constexpr int indent = 2;
  const Documented documented(description);
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "scree deck"}};
  schema.update(object_schema(merged(&documented.flat, &documented.solid)));
  return schema.dump(indent) + '\n';
}

}  // namespace scree
