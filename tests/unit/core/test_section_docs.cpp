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
      std::vector<scree::Real> gravity(dimension, 0.0);
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

TEST_CASE("deck keys: each stands once with type, default, range and meaning", "[core]") {
  const auto all = nlohmann::json::parse(scree::deck_keys(sample_in_both()));
  CHECK(all["units"].size() > 10);
  const auto of = [](const nlohmann::json& table, const std::string& name) {
    std::vector<nlohmann::json> found;
    for (const auto& key : table)
      if (key["name"] == name) found.push_back(key);
    REQUIRE(found.size() == 1);
    return found.front();
  };
  const auto simulation = of(all["keys"], "simulation");
  CHECK((simulation["form"] == "table" && simulation["required"] == true));
  const auto end_time = of(simulation["members"], "end_time");
  CHECK(end_time["type"] == "number [s] or \"never\" or \"auto\"");
  CHECK((end_time["default"] == "`1.5`" && end_time["range"] == "> 0" && end_time["unit"] == "s"));
  CHECK(end_time["hint"] == "When it ends. (number [s] or \"never\" or \"auto\", > 0, default 1.5)");
  CHECK((end_time["form"] == "real_or_word" && end_time["above"] == 0 && !end_time.contains("max")));
  const auto dimension = of(simulation["members"], "dimension");
  CHECK((dimension["default"] == "required" && dimension["form"] == "integer"));
  CHECK((dimension["min"] == 2 && dimension["max"] == 3));
  CHECK(of(simulation["members"], "limit")["default"] == "none");
  CHECK(of(all["keys"], "output")["form"] == "optional_table");
  const auto space = of(all["keys"], "space");
  CHECK(of(space["members"], "gravity")["type"] ==
        "2D: list of 2 numbers [m/s2]; 3D: list of 3 numbers [m/s2]");
  CHECK(of(space["members"], "gravity")["default"] == "2D: `[0.0, 0.0]`; 3D: `[0.0, 0.0, 0.0]`");
  CHECK(of(space["members"], "gravity")["count"] == nlohmann::json{2, 3});
  CHECK(of(space["members"], "height")["where"] == " (3D only)");
  const auto particles = of(all["keys"], "particles");
  CHECK(particles["form"] == "tables");
  const auto kinds = of(particles["members"], "type")["kinds"];
  CHECK(kinds.size() == 2);  // a cone exists in no dimension
  CHECK((of(kinds, "disk")["summary"] == "a disk" && of(kinds, "disk")["members"].size() == 2));
  const auto stages = of(all["keys"], "stages");
  CHECK((stages["form"] == "list" && of(stages["members"], "until")["form"] == "optional_table"));
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

TEST_CASE("deck keys: what is for the laboratory says so", "[core]") {
  const auto keys = nlohmann::json::parse(scree::deck_keys(with_laboratory()))["keys"];
  CHECK((keys[0]["for_laboratory"] == false && keys[1]["for_laboratory"] == true));
  std::vector<bool> flags;
  for (const auto& key : keys[0]["members"]) flags.push_back(key["for_laboratory"]);
  CHECK(flags == std::vector<bool>{false, true, true});
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
