#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/deck.hpp"
#include "sample_description.hpp"

namespace {

/// A registry of one kind, for numbers of one unit.
template <scree::Unit unit>
struct Amount {
  scree::Real value = 0;
  void describe(scree::Section& section) {
    section.real("value", value, {.unit = unit, .required = true, .doc = "How much."});
  }
};

template <scree::Unit unit>
void describe_amount(scree::Section& root, const char* name) {
  root.table(name, {.doc = "A number."}, [](scree::Section& section) {
    std::unique_ptr<Amount<unit>> amount;
    section.kind("type", amount, {.required = true, .doc = "Kind of it."});
  });
}

}  // namespace

namespace scree {

template <>
std::span<const Entry<Amount<Unit::length>>> registry<Amount<Unit::length>>() {
  static constexpr Entry<Amount<Unit::length>> all[]{
      {"constant", "one value", [] { return std::make_unique<Amount<Unit::length>>(); }}};
  return all;
}
template <>
std::span<const Entry<Amount<Unit::speed>>> registry<Amount<Unit::speed>>() {
  static constexpr Entry<Amount<Unit::speed>> all[]{
      {"constant", "one value", [] { return std::make_unique<Amount<Unit::speed>>(); }}};
  return all;
}

}  // namespace scree

namespace {

/// The sample, with a key that has another size in 3D and a table that exists in 3D only.
scree::DeckDescription sample_in_both() {
  const auto describe = [](scree::Section& root, int dimension) {
    sample::Run run;
    run.describe(root);
    root.table("space", {.doc = "A place."}, [&](scree::Section& section) {
      std::vector<scree::Real> gravity(static_cast<std::size_t>(dimension), 0.0);
      section.reals("gravity", gravity, dimension,
                    {.unit = scree::Unit::acceleration, .doc = "Pulls | down."});
      scree::Real height = 2;
      if (dimension == 3) section.real("height", height, {.unit = scree::Unit::length, .doc = "Upwards."});
    });
  };
  return {[describe](scree::Section& root) { describe(root, 2); },
          [describe](scree::Section& root) { describe(root, 3); }};
}

}  // namespace

TEST_CASE("deck reference: each key stands once with type, default, range and meaning", "[core]") {
  const std::string text = scree::deck_reference(sample_in_both());
  const auto has_once = [&](const std::string& part) {
    const std::size_t place = text.find(part);
    return place != std::string::npos && text.find(part, place + 1) == std::string::npos;
  };
  CHECK(has_once("## `[simulation]`\n\nThe run. Required.\n"));
  CHECK(has_once("| `end_time` | number [s] or \"never\" or \"auto\" | `1.5` | > 0 | When it ends. |"));
  CHECK(has_once("| `dimension` | integer | required | in [2, 3] | Of space. |"));
  CHECK(has_once("| `limit` | number | none | >= 0 | The largest value. |"));
  CHECK(has_once("## `[output]`\n\nFiles. Has an effect only if it is given.\n"));
  CHECK(has_once("## `[particles.NAME]`\n"));
  CHECK(has_once("### `[particles.NAME]` with `type = \"disk\"`\n\nA disk.\n"));
  CHECK(has_once("#### `[particles.NAME.surface]`\n"));
  CHECK(
      has_once("| `gravity` | 2D: list of 2 numbers [m/s2]; 3D: list of 3 numbers [m/s2] | "
               "2D: `[0.0, 0.0]`; 3D: `[0.0, 0.0, 0.0]` |  | Pulls \\| down. |"));
  CHECK(has_once("| `height` | number [m] | `2.0` |  | Upwards. (3D only) |"));
  CHECK(has_once("## `[[stages]]`\n\nWhat happens in turn. Any number of tables, in order.\n"));
  CHECK(has_once("### `[[stages]]` with `gate = \"disk\"`\n"));
  CHECK(has_once("### `[stages.until]`\n\nWhen it ends. Has an effect only if it is given.\n"));
  CHECK(has_once("| `duration` | number [s] | none | > 0 | How long. |"));
  CHECK(text.find("cone") == std::string::npos);
}

namespace {

/// Keys, a table and a kind for users and for the laboratory; two tables have the same kinds, in other units.
scree::DeckDescription with_laboratory() {
  const auto describe = [](scree::Section& root) {
    scree::Real number = 1, rare = 2;
    root.table("solve", {.doc = "A solver."}, [&](scree::Section& section) {
      section.real("tolerance", number, {.doc = "When it ends."});
      section.real("start", rare, {.doc = "Where it starts.", .audience = scree::Audience::laboratory});
      section.for_laboratory([&](scree::Section& keys) { keys.real("weight", rare, {.doc = "Of what."}); });
    });
    root.optional_table("trial", {.doc = "A trial.", .audience = scree::Audience::laboratory},
                        [&](scree::Section& section) { section.real("limit", number, {.doc = "Of it."}); });
  };
  return {describe, describe};
}

}  // namespace

TEST_CASE("deck reference: keys of the laboratory are on a page of their own, and only there", "[core]") {
  const std::string users = scree::deck_reference(with_laboratory());
  const std::string laboratory = scree::deck_reference(with_laboratory(), scree::Audience::laboratory);
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(users, "| `tolerance` |"));
  for (const char* key : {"| `start` |", "| `weight` |", "## `[trial]`", "| `limit` |"}) {
    CHECK(!has(users, key));
    CHECK(has(laboratory, key));
  }
  CHECK(has(laboratory, "## `[solve]`"));
  CHECK(!has(laboratory, "| `tolerance` |"));
}

TEST_CASE("deck reference: tables with the same kinds refer to the first, with their own unit", "[core]") {
  const auto describe = [](scree::Section& root) {
    describe_amount<scree::Unit::length>(root, "size");
    describe_amount<scree::Unit::speed>(root, "pace");
  };
  const std::string text = scree::deck_reference({describe, describe});
  CHECK(text.find("### `[size]` with `type = \"constant\"`") != std::string::npos);
  CHECK(text.find("Kinds, with their keys: those of [`[size]`](#size), in m/s.") != std::string::npos);
  CHECK(text.find("`[pace]` with") == std::string::npos);
}

TEST_CASE("deck schema: keys of the laboratory are valid, but editors do not offer them", "[core]") {
  const auto schema = nlohmann::json::parse(scree::deck_schema(with_laboratory()));
  const auto& keys = schema["properties"]["solve"]["properties"];
  CHECK(!keys["tolerance"].contains("doNotSuggest"));
  CHECK(keys["start"]["doNotSuggest"] == true);
  CHECK(keys["weight"]["doNotSuggest"] == true);
}

TEST_CASE("a deck says which of its settings are for the laboratory, unless they are the default", "[core]") {
  const auto settings_of = [](const std::string& text) {
    const scree::DeckDescription description = with_laboratory();
    scree::Deck deck = scree::Deck::from_text(text, "test.toml");
    description.in_2d(deck.root());
    return deck.laboratory_settings(description.in_2d);
  };
  CHECK(settings_of("[solve]\ntolerance = 3\n").empty());
  CHECK(settings_of("[solve]\nstart = 2\n").empty());
  CHECK(settings_of("[solve]\nstart = 3\nweight = 5\n[trial]\n") ==
        std::vector<std::string>{"solve.start = 3.0", "solve.weight = 5.0", "[trial]"});
}

TEST_CASE("an unknown key: keys of the laboratory are not among the valid ones that a message lists",
          "[core]") {
  scree::Deck deck = scree::Deck::from_text("[solve]\nxyzzyx = 3\n", "test.toml");
  with_laboratory().in_2d(deck.root());
  CHECK_THROWS_WITH(deck.require_all_read(),
                    Catch::Contains("valid: tolerance") && !Catch::Contains("weight"));
}

TEST_CASE("deck schema: names, types, ranges and the keys of a kind", "[core]") {
  const auto schema = nlohmann::json::parse(scree::deck_schema(sample_in_both()));
  CHECK(schema["required"] == nlohmann::json{"simulation"});
  CHECK(schema["unevaluatedProperties"] == false);
  const auto& dimension = schema["properties"]["simulation"]["properties"]["dimension"];
  CHECK(dimension["type"] == "integer");
  CHECK(dimension["minimum"] == 2);
  CHECK(dimension["maximum"] == 3);
  const auto& gravity = schema["properties"]["space"]["properties"]["gravity"];
  CHECK(gravity["minItems"] == 2);
  CHECK(gravity["maxItems"] == 3);
  const auto& group = schema["properties"]["particles"]["additionalProperties"];
  CHECK(group["properties"]["type"]["enum"] == nlohmann::json{"plane", "disk"});
  CHECK(group["allOf"][1]["if"]["properties"]["type"]["const"] == "disk");
  CHECK(group["allOf"][1]["then"]["required"] == nlohmann::json{"radius"});
  CHECK(group["allOf"][1]["then"]["properties"].contains("surface"));
  const auto& stages = schema["properties"]["stages"];
  CHECK(stages["type"] == "array");
  CHECK(stages["items"]["type"] == "object");
  CHECK(stages["items"]["properties"]["until"]["required"] == nlohmann::json{"energy"});
  CHECK(stages["items"]["unevaluatedProperties"] == false);
}
