#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/deck/deck_table.hpp"
#include "core/json.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

using Form = Declaration::Form;

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

struct Documented {
  std::list<Declaration> flat;
  std::list<Declaration> solid;
  explicit Documented(const DeckDescription& description) {
    Section flat_root(std::make_unique<DeckTable>(flat, ""));
    description.in_2d(flat_root);
    Section solid_root(std::make_unique<DeckTable>(solid, ""));
    description.in_3d(solid_root);
  }
};

std::string default_text(const Declaration& declaration) {
  if (declaration.required) return "required";
  return declaration.value.empty() ? std::string("none") : '`' + declaration.value + '`';
}

/// The forms in their order, as postprocess/scree/pages knows them.
constexpr std::array form_names{
    "real",   "integer",         "boolean",      "text", "texts", "reals",          "booleans", "points",
    "choice", "integer_or_word", "real_or_word", "kind", "table", "optional_table", "tables",   "list"};
static_assert(form_names.size() == static_cast<std::size_t>(Form::list) + 1);

/// What a key takes.
void add_value(Json& key, const Both& both) {
  const Declaration& declaration = both.any();
  const Range& range = declaration.range;
  const auto [min_count, max_count] =
      std::minmax(declaration.count, (both.solid ? *both.solid : declaration).count);
  key["type"] = in_both(both, type_text);
  key["default"] = in_both(both, default_text);
  key["value"] = declaration.value;
  key["range"] = range_text(range);
  if (std::isfinite(range.min)) key[range.min_open ? "above" : "min"] = range.min;
  if (std::isfinite(range.max)) key[range.max_open ? "below" : "max"] = range.max;
  key["unit"] = declaration.unit == Unit::none ? "" : symbol(declaration.unit);
  key["count"] = {min_count, max_count};
  key["choices"] = declaration.choices;
}

Json keys_of(const std::vector<Both>& members);

/// The keys of a table, or of one of many tables.
Json inner_keys(const Both& table) {
  const std::vector<Both> members = merged(members_of(table.flat), members_of(table.solid));
  const Form form = table.any().form;
  return form == Form::tables || form == Form::list ? inner_keys(members.front()) : keys_of(members);
}

Json kinds_of(const Both& kind) {
  Json kinds = Json::array();
  for (const BothOption& option : merged_options(kind))
    kinds.push_back({{"name", option.any().name},
                     {"summary", option.any().summary},
                     {"where", dimension_mark(option)},
                     {"for_laboratory", option.any().audience == Audience::laboratory},
                     {"members", keys_of(option.members())}});
  return kinds;
}

Json keys_of(const std::vector<Both>& members) {
  Json keys = Json::array();
  for (const Both& both : members) {
    const Declaration& declaration = both.any();
    Json key{{"name", toml_key(declaration.name)},
             {"form", form_names[static_cast<std::size_t>(declaration.form)]},
             {"where", dimension_mark(both)},
             {"for_laboratory", declaration.audience == Audience::laboratory},
             {"required", declaration.required},
             {"meaning", declaration.doc},
             {"hint", in_both(both, meaning_text)}};
    if (declaration.is_table())
      key["members"] = inner_keys(both);
    else
      add_value(key, both);
    if (declaration.form == Form::kind) key["kinds"] = kinds_of(both);
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

std::string deck_keys(const DeckDescription& description) {
  const Documented documented(description);
  Json units = Json::array();
  for (const Unit unit : all_units())
    if (unit != Unit::none)
      units.push_back({{"quantity", fmt::format("{}{}", quantity(unit),
                                                unit == Unit::frequency ? " of a repetition" : "")},
                       {"symbol", symbol(unit)},
                       {"names", unit_names(unit)}});
  return Json{{"units", units}, {"keys", keys_of(merged(&documented.flat, &documented.solid))}}.dump() + '\n';
}

}  // namespace scree
