// Old names of deck keys: they are read as the new ones, with a warning.
#include <catch2/catch.hpp>

#include "core/deck.hpp"
#include "core/error.hpp"

using scree::Deck;
using scree::InputError;
using scree::Real;
using scree::Section;

namespace {

struct Read {
  std::vector<std::string> inlets;
  std::string measure, fit;
  Real slop = 0, margin = 0, creep_speed = 0, clearance = 0, rounding_radius = 0;
  std::vector<std::string> warnings;
  std::string resolved;
};

Read read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Deck deck = Deck::from_text(text, "a.toml", overrides);
  Read found;
  deck.root().tables("inlets", {.doc = ""}, [&](const std::string& name, Section& section) {
    Real rate = 0;
    section.real("rate", rate, {.range = scree::positive, .doc = ""});
    found.inlets.push_back(name + " " + std::to_string(static_cast<int>(rate)));
  });
  deck.root().table("nonsmooth", {.doc = ""}, [&](Section& section) {
    section.real("speculative_margin", found.margin, {.doc = ""});
    section.real("contact_slop", found.slop, {.doc = ""});
  });
  deck.root().tables("measures", {.doc = ""}, [&](const std::string&, Section& section) {
    section.choice("type", found.measure, {"inlets", "speed"}, {.doc = ""});
  });
  deck.root().tables("agents", {.doc = ""}, [&](const std::string&, Section& section) {
    section.real("creep_speed", found.creep_speed, {.doc = ""});
  });
  deck.root().table("crowd", {.doc = ""}, [&](Section& section) {
    section.optional_table("avoidance", {.doc = ""}, [&](Section& avoidance) {
      avoidance.real("lateral_clearance", found.clearance, {.doc = ""});
    });
  });
  deck.root().tables("shapes", {.doc = ""}, [&](const std::string&, Section& section) {
    section.real("rounding_radius", found.rounding_radius, {.doc = ""});
  });
  deck.root().tables("particles", {.doc = ""}, [&](const std::string&, Section& section) {
    section.table("source", {.doc = ""}, [&](Section& source) {
      source.choice("fit", found.fit, {"sphere", "shape"}, {.doc = ""});
    });
  });
  deck.root().table("solver", {.doc = ""}, [&](Section& section) {
    Real tolerance = 1;
    section.real("tolerance", tolerance, {.doc = ""});
  });
  deck.require_all_read();
  found.warnings = deck.warnings();
  found.resolved = deck.resolved();
  return found;
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("renames: old tables, keys and words are read as the new ones, each with a warning", "[core]") {
  const Read old = read(
      "[feeders.b]\nrate = 2\n[feeders.a]\nrate = 1\n[nonsmooth]\ntouching_range = 0.5\n"
      "[measures.made]\ntype = \"feeders\"\n");
  CHECK(old.inlets == std::vector<std::string>{"b 2", "a 1"});
  CHECK(old.slop == 0.5);
  CHECK(old.measure == "inlets");
  REQUIRE(old.warnings.size() == 3);
  CHECK_THAT(old.warnings[0],
             Catch::StartsWith("a.toml:1:2: 'feeders' at the top level of the deck is now called 'inlets'"));
  CHECK_THAT(old.warnings[1],
             Catch::StartsWith("a.toml:8:1: type = \"feeders\" in [measures.made] is now called \"inlets\""));
  CHECK_THAT(old.warnings[2],
             Catch::StartsWith("a.toml:6:1: 'touching_range' in [nonsmooth] is now called 'contact_slop'"));
  CHECK(old.resolved.find("feeders") == std::string::npos);
  CHECK(read(old.resolved).warnings.empty());
  CHECK(read(old.resolved).resolved == old.resolved);
}

TEST_CASE("renames: of shapes and of what random packings keep apart", "[core]") {
  const Read old = read("[shapes.brick]\nrounding = 0.02\n[particles.a.source]\nfit = \"ball\"\n");
  CHECK(old.rounding_radius == 0.02);
  CHECK(old.fit == "sphere");
  REQUIRE(old.warnings.size() == 2);
  CHECK_THAT(old.warnings[0],
             Catch::StartsWith("a.toml:2:1: 'rounding' in [shapes.brick] is now called 'rounding_radius'"));
  CHECK_THAT(
      old.warnings[1],
      Catch::StartsWith("a.toml:4:1: fit = \"ball\" in [particles.a.source] is now called \"sphere\""));
}

TEST_CASE("renames: a key that has no effect any more is left out with a warning", "[core]") {
  const Read old = read("[solver]\nvariant = \"nt\"\neps_T = 1e-7\n");
  REQUIRE(old.warnings.size() == 2);
  CHECK_THAT(old.warnings[0], Catch::StartsWith("a.toml:2:1: 'variant' in [solver] has no effect any more"));
  CHECK_THAT(old.warnings[1], Catch::StartsWith("a.toml:3:1: 'eps_T' in [solver] has no effect any more"));
  CHECK(old.resolved.find("variant") == std::string::npos);
}

TEST_CASE("renames: old keys of inner tables, of one name and of any, are read as the new ones", "[core]") {
  const Read old = read("[agents.slow]\npush_speed = 0.1\n[crowd.avoidance]\nside_room = 0.3\n");
  CHECK((old.creep_speed == 0.1 && old.clearance == 0.3));
  REQUIRE(old.warnings.size() == 2);
  CHECK_THAT(old.warnings[0],
             Catch::StartsWith("a.toml:2:1: 'push_speed' in [agents.slow] is now called 'creep_speed'"));
  CHECK_THAT(
      old.warnings[1],
      Catch::StartsWith("a.toml:4:1: 'side_room' in [crowd.avoidance] is now called 'lateral_clearance'"));

  const Read set = read("[agents.slow]\ncreep_speed = 0.2\n",
                        {"agents.slow.push_speed=0.1", "crowd.avoidance.side_room=0.4"});
  CHECK((set.creep_speed == 0.1 && set.clearance == 0.4));
  REQUIRE(set.warnings.size() == 2);
  CHECK_THAT(set.warnings[0],
             Catch::StartsWith("--set agents.slow.push_speed: 'push_speed' in [agents.slow] is now called"));
  CHECK_THAT(set.warnings[1], Catch::StartsWith("--set crowd.avoidance.side_room: 'side_room'"));
  CHECK(read("", {"crowd.avoidance={ side_room = 0.5 }"}).clearance == 0.5);
  CHECK(complaint("[crowd]\nside_room = 1\n").starts_with("a.toml:2:1: unknown key 'side_room' in [crowd]"));
}

TEST_CASE("renames: mistakes in a table of the old name keep their place", "[core]") {
  CHECK(complaint("[feeders.a]\nrate = -1\n").starts_with("a.toml:2:8: 'rate' in [inlets.a] must be > 0"));
  CHECK(complaint("[feeders.a]\nrat = 1\n").starts_with("a.toml:2:1: unknown key 'rat' in [inlets.a]"));
}

TEST_CASE("renames: the old and the new name together are an error", "[core]") {
  CHECK(complaint("[inlets.a]\nrate = 1\n[feeders.b]\nrate = 1\n") ==
        "a.toml:3:2: 'feeders' at the top level of the deck is the old name of 'inlets', which is given as "
        "well "
        "(a.toml:1:2): keep 'inlets'");
  CHECK_THAT(complaint("[nonsmooth]\ncontact_range = 1\nspeculative_margin = 1\n"),
             Catch::StartsWith("a.toml:2:1: 'contact_range' in [nonsmooth] is the old name of"));
}

TEST_CASE("renames: overrides may use old and new names of what the deck gives", "[core]") {
  for (const std::string in_deck : {"feeders", "inlets"})
    for (const std::string in_override : {"feeders", "inlets"}) {
      const Read changed = read("[" + in_deck + ".a]\nrate = 1\n", {in_override + ".a.rate=3"});
      CHECK(changed.inlets == std::vector<std::string>{"a 3"});
      CHECK(changed.warnings.size() ==
            std::size_t{in_deck == "feeders"} + std::size_t{in_override == "feeders"});
    }
  const Read set = read("", {"nonsmooth.contact_range=2", "nonsmooth.contact_slop=1"});
  CHECK((set.margin == 2 && set.slop == 1));
  CHECK_THAT(set.warnings.at(0), Catch::StartsWith("--set nonsmooth.contact_range: 'contact_range'"));
  CHECK(read("", {"nonsmooth={ touching_range = 4 }"}).slop == 4);
  CHECK(complaint("", {"feeders.a.rate=-1"}).starts_with("--set feeders.a.rate: 'rate' in [inlets.a]"));
}
