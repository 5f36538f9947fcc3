#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/deck.hpp"
#include "sample_description.hpp"

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
