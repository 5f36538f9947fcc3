#include <catch2/catch.hpp>
#include <sstream>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "sample_description.hpp"
#include "support/message_of.hpp"

using scree::Deck;
using scree::InputError;

namespace {

struct Loaded {
  sample::Run run;
  std::string resolved;
};

Loaded load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Loaded loaded;
  Deck deck = Deck::from_text(text, "a.toml", overrides);
  loaded.run.describe(deck.root());
  deck.require_all_read();
  loaded.resolved = deck.resolved();
  return loaded;
}

/// What is said of a wrong deck; empty if it is accepted.
std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return scree::message_of<InputError>([&] { load(text, overrides); });
}

const std::string min_deck = "[simulation]\ndimension = 2\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

/// A letter lost, doubled, replaced, and two swapped.
std::vector<std::string> misspellings(const std::string& word) {
  const std::size_t middle = word.size() / 2;
  std::string lost = word;
  lost.erase(middle, 1);
  std::string doubled = word;
  doubled.insert(middle, 1, word[middle]);
  std::string replaced = word;
  replaced[0] = 'z';
  std::vector<std::string> all{lost, doubled, replaced};
  std::string swapped = word;
  std::swap(swapped[middle - 1], swapped[middle]);
  if (swapped != word) all.push_back(swapped);
  return all;
}

}  // namespace

TEST_CASE("deck: numbers with units arrive in SI and bare ones as they are", "[core]") {
  const sample::Run run = load(sample::full_deck).run;
  CHECK(run.title == "sand \"fine\"");
  CHECK(run.end_time == 90);
  CHECK(run.end_word.empty());
  CHECK(run.sweeps == 4);
  CHECK(run.sweeps_word.empty());
  CHECK_FALSE(run.strict);
  CHECK(run.limit == 7);
  CHECK(run.periodic == std::vector<bool>{true, false});
  CHECK(run.corner == std::vector<double>{-0.004, 0.1});
  CHECK(run.outline == std::vector<std::vector<double>>{{0, 0}, {1, 0}, {0.5, 1}});
  CHECK(run.fields == std::vector<std::string>{"radius"});
  CHECK(run.every == 0.02);
  REQUIRE(run.groups.size() == 2);
  CHECK(run.groups[0].name == "heavy");  // the order of the deck, not of the alphabet
  CHECK(run.groups[0].density == 7200);
  CHECK(dynamic_cast<sample::Plane&>(*run.groups[0].form).tilt == Approx(0.5235987755982988).epsilon(1e-15));
  CHECK(run.groups[1].name == "a b");
  CHECK(dynamic_cast<sample::Disk&>(*run.groups[1].form).radius == 0.003);
  REQUIRE(run.stages.size() == 3);
  CHECK(run.stages[0].duration == 120);
  CHECK(run.stages[0].energy == HUGE_VAL);
  CHECK_FALSE(run.stages[0].form);
  CHECK(run.stages[1].duration == HUGE_VAL);
  CHECK(run.stages[1].energy == 3e-6);
  CHECK(run.stages[2].duration == 3);
  CHECK(dynamic_cast<sample::Disk&>(*run.stages[2].form).radius == 5);
}

TEST_CASE("deck: absent keys keep their defaults and absent optional tables stay absent", "[core]") {
  const Loaded loaded = load(min_deck);
  CHECK(loaded.run.end_time == 1.5);
  CHECK(loaded.run.sweeps_word == "converged");
  CHECK_FALSE(loaded.run.has_output);
  CHECK(loaded.run.groups.empty());
  CHECK(loaded.resolved ==
        "[simulation]\ndimension = 2\nend_time = 1.5\nsweeps = \"converged\"\nstrict = true\n"
        "\n[domain]\nperiodic = [false, true]\ncorner = [0.0, 0.0]\noutside = \"delete\"\n");
}

TEST_CASE("deck: the resolved deck reads back to the same resolved deck", "[core]") {
  for (const std::string& text : {std::string(sample::full_deck), min_deck,
                                  min_deck + "title = \"tab\\t, line\\n, quote' and \\\\ \\u007F é\"\n"
                                             "end_time = 0.1\nlimit = 1e300\nsweeps = 1e6\n"
                                             "[domain]\ncorner = [-0.0, 1e-310]\n[output]\n"}) {
    const std::string first = load(text).resolved;
    const std::string second = load(first).resolved;
    CHECK(second == first);
  }
}

TEST_CASE("deck: every misspelt key and table is rejected with its place and the right name", "[core]") {
  const std::vector<std::string> lines = lines_of(load(sample::full_deck).resolved);
  int n_checked = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line == "[particles.heavy]" || line == "[particles.\"a b\"]") continue;
    if (line == "[stages.surface]" || line == "[stages.until]") continue;
    const bool is_table = line[0] == '[';
    const std::size_t dot = line.rfind('.');
    const std::size_t start = !is_table                  ? 0
                              : dot == std::string::npos ? line.find_first_not_of('[')
                                                         : dot + 1;
    const std::size_t end = line.find(is_table ? ']' : ' ', start);
    const std::string name = line.substr(start, end - start);
    for (const std::string& wrong : misspellings(name)) {
      std::vector<std::string> changed = lines;
      changed[i] = line.substr(0, start) + wrong + line.substr(end);
      const std::string message = complaint(joined(changed));
      INFO(changed[i] << ": " << message);
      const std::string place =
          "a.toml:" + std::to_string(i + 1) + ":" + std::to_string(start + 1) + ": unknown ";
      CHECK(message.starts_with(place + (is_table ? "table '" : "key '") + wrong + "' "));
      CHECK(message.find("did you mean '" + name + "'? ") != std::string::npos);
      ++n_checked;
    }
  }
  CHECK(n_checked > 80);
}

TEST_CASE("deck: of an unknown key the message has the table, the near key and its meaning", "[core]") {
  CHECK(complaint("[simulation]\ndimension = 2\n\n[particles.bed]\n  densitiy = 3\ntype = \"plane\"") ==
        "a.toml:5:3: unknown key 'densitiy' in [particles.bed]; did you mean 'density'? Mass by volume. "
        "(number [kg/m3], > 0, required)");
  CHECK(complaint(min_deck + "[domain]\ncorners = [1, 2]") ==
        "a.toml:4:1: unknown key 'corners' in [domain]; did you mean 'corner'? The lower corner. "
        "(list of 2 numbers [m], default [0.0, 0.0])");
  CHECK(complaint(min_deck + "[domain]\ngravity = 1") ==
        "a.toml:4:1: unknown key 'gravity' in [domain]; valid: periodic, corner, outside, outline");
  CHECK(complaint(min_deck + "[walls.left]\nx = 1") ==
        "a.toml:3:2: unknown table 'walls' at the top level of the deck; valid: simulation, domain, output, "
        "particles, stages");
}

TEST_CASE("deck: the first of several unknown keys is reported", "[core]") {
  CHECK(complaint(min_deck + "zeta = 1\nalpha = 2").starts_with("a.toml:3:1: unknown key 'zeta'"));
}

TEST_CASE("deck: a key of another kind is distinguished from a misspelt one", "[core]") {
  CHECK(complaint(min_deck + "[particles.x]\ndensity = 1\ntype = \"plane\"\nradius = 2") ==
        "a.toml:6:1: 'radius' in [particles.x] is a key of type 'disk', not of 'plane'");
  CHECK(complaint(min_deck + "[particles.x]\ndensity = 1\ntype = \"disk\"\nradius = 2\ntilt = 1") ==
        "a.toml:7:1: 'tilt' in [particles.x] is a key of type 'plane', not of 'disk'");
}

TEST_CASE("deck: an unknown kind lists the valid ones, and one of the other dimension is called so",
          "[core]") {
  const std::string start = min_deck + "[particles.x]\ndensity = 1\n";
  CHECK(complaint(start + "type = \"dsik\"") ==
        "a.toml:5:8: 'type' in [particles.x] must be \"plane\" or \"disk\", not the string \"dsik\"; did you "
        "mean "
        "\"disk\"?");
  CHECK(complaint(start + "type = \"cone\"") ==
        "a.toml:5:8: type \"cone\" exists in the other dimension only; valid here: \"plane\" or \"disk\"");
}

TEST_CASE("deck: what is missing is named at its table", "[core]") {
  CHECK(complaint("") == "a.toml:1:1: missing table 'simulation' at the top level of the deck; The run.");
  CHECK(complaint("\n[simulation]\n") == "a.toml:2:1: missing key 'dimension' in [simulation]; Of space.");
  CHECK(complaint(min_deck + "[particles.x]\ntype = \"plane\"") ==
        "a.toml:3:1: missing key 'density' in [particles.x]; Mass by volume. [kg/m3]");
}

TEST_CASE("deck: wrong types, units, ranges and sizes are refused with what is valid", "[core]") {
  const auto simulation = [](const std::string& line) { return complaint(min_deck + line); };
  const auto domain = [](const std::string& line) { return complaint(min_deck + "[domain]\n" + line); };
  CHECK(simulation("strict = 1") ==
        "a.toml:3:10: 'strict' in [simulation] must be true or false, not the integer 1");
  CHECK(simulation("end_time = \"4 kg\"") ==
        "a.toml:3:12: 'end_time' in [simulation] must be a time (a number in s, or a string with one of the "
        "units "
        "s, ms, us, ns, min, h, d) or \"never\" or \"auto\", not the string \"4 kg\"");
  CHECK(simulation("end_time = \"nevre\"").ends_with("; did you mean \"never\"?"));
  CHECK(simulation("end_time = -1") == "a.toml:3:12: 'end_time' in [simulation] must be > 0 s, not -1 s");
  CHECK(simulation("limit = nan") ==
        "a.toml:3:9: 'limit' in [simulation] must be a finite number, not the number nan");
  CHECK(simulation("limit = -inf").find("must be a finite number") != std::string::npos);
  CHECK(simulation("limit = \"3 m\"").find("must be a number without a unit") != std::string::npos);
  CHECK(simulation("sweeps = 2.5").find("must be an integer, not the number 2.5") != std::string::npos);
  CHECK(simulation("sweeps = \"x\"").find("must be an integer or \"converged\"") != std::string::npos);
  CHECK(complaint("[simulation]\ndimension = 4") ==
        "a.toml:2:13: 'dimension' in [simulation] must be in [2, 3], not 4");
  CHECK(domain("corner = [1, true]") ==
        "a.toml:4:14: element 2 of 'corner' in [domain] must be a length (a number in m, or a string with "
        "one of the "
        "units m, km, cm, mm, um, nm), not a boolean");
  CHECK(domain("corner = [1]") ==
        "a.toml:4:10: 'corner' in [domain] must be an array of 2 entries, not of 1");
  CHECK(domain("outline = [[1, 2], [1, \"2 s\"]]")
            .starts_with("a.toml:4:24: element 2 of element 2 of 'outline' in [domain] must be a length"));
  CHECK(domain("outside = \"eror\"") ==
        "a.toml:4:11: 'outside' in [domain] must be \"delete\" or \"error\", not the string \"eror\"; did "
        "you mean "
        "\"error\"?");
  CHECK(complaint("simulation = 3") ==
        "a.toml:1:14: 'simulation' at the top level of the deck must be a table, not the integer 3");
  CHECK(complaint(min_deck + "[particles]\nbed = 3")
            .starts_with(
                "a.toml:4:1: 'bed' in [particles] must be a table [particles.bed], not the integer 3"));
}

TEST_CASE("deck: entries of an array of tables are distinguished by their place and number", "[core]") {
  const std::string start = min_deck + "[[stages]]\nduration = 1\n[[stages]]\n";
  CHECK(complaint(start + "[stages.until]\nenergy = \"2 s\"")
            .starts_with("a.toml:7:10: 'energy' in [stages[1].until] must be an energy"));
  CHECK(complaint(start + "[stages.until]\n") ==
        "a.toml:6:1: missing key 'energy' in [stages[1].until]; Left. [J]");
  CHECK(complaint(start + "duration = 0") == "a.toml:6:12: 'duration' in [stages[1]] must be > 0 s, not 0 s");
  CHECK(complaint(start + "duraton = 2") ==
        "a.toml:6:1: unknown key 'duraton' in [stages[1]]; did you mean 'duration'? How long. (number [s], > "
        "0)");
  CHECK(complaint(start + "[stages.untill]\nenergy = 2")
            .starts_with("a.toml:6:9: unknown table 'untill' in [stages[1]]; did you mean 'until'?"));
  CHECK(complaint(start + "radius = 2\ngate = \"plane\"") ==
        "a.toml:6:1: 'radius' in [stages[1]] is a key of gate 'disk', not of 'plane'");
  CHECK(complaint(start + "gate = \"dsik\"\nradius = 2")
            .starts_with("a.toml:6:8: 'gate' in [stages[1]] must be \"plane\" or \"disk\""));
}

TEST_CASE("deck: what is no array of tables is refused with the header to write", "[core]") {
  const std::string expected =
      " at the top level of the deck must be an array of tables, each under a header [[stages]], not ";
  CHECK(complaint(min_deck + "[stages]\nduration = 1") == "a.toml:3:1: 'stages'" + expected + "a table");
  CHECK(complaint("stages = 3\n" + min_deck) == "a.toml:1:10: 'stages'" + expected + "the integer 3");
  CHECK(complaint("stages = [{duration = 1}, 4]\n" + min_deck) ==
        "a.toml:1:27: element 2 of 'stages' at the top level of the deck must be a table, not the integer 4");
  CHECK(complaint("stages = []\n" + min_deck).empty());
  CHECK(load("stages = [{duration = 1}, {duration = 2}]\n" + min_deck).run.stages.size() == 2);
  CHECK(complaint(min_deck + "[[particles]]\ndensity = 1").find("must be a table, not an array") !=
        std::string::npos);

  Deck empty = Deck::from_text("stages = []", "a.toml");
  const auto require_one = [&] {
    empty.root().list("stages", {.required = true, .doc = "In turn."}, [](std::size_t, scree::Section&) {});
  };
  CHECK_THROWS_WITH(
      require_one(),
      "a.toml:1:1: 'stages' at the top level of the deck is empty; at least one entry is required");
}

TEST_CASE("deck: repeated keys and broken TOML are refused with file, line and column", "[core]") {
  CHECK(complaint("[simulation]\ndimension = 2\ndimension = 3").starts_with("a.toml:3:"));
  CHECK(complaint("[simulation\n").starts_with("a.toml:1:"));
}

TEST_CASE("deck: overrides replace and add values and are named in errors", "[core]") {
  const sample::Run run = load(sample::full_deck, {"simulation.end_time=2 s", "particles.heavy.density = 5",
                                                   "domain.corner=[1, \"2 cm\"]", "simulation.title=a=b",
                                                   "particles.\"a b\".radius=1e-3",
                                                   "particles.last={density = 1, type = \"plane\"}"})
                              .run;
  CHECK(run.end_time == 2);
  CHECK(run.title == "a=b");
  CHECK(run.corner == std::vector<double>{1, 0.02});
  REQUIRE(run.groups.size() == 3);
  CHECK(run.groups[0].density == 5);
  CHECK(dynamic_cast<sample::Disk&>(*run.groups[1].form).radius == 1e-3);
  CHECK(run.groups[2].name == "last");

  CHECK(complaint(min_deck, {"domain.conrer=[1, 2]"})
            .starts_with("--set domain.conrer: unknown key 'conrer' in [domain]; did you mean 'corner'?"));
  CHECK(complaint(min_deck, {"particles.new.type=plane"}) ==
        "--set particles.new.type: missing key 'density' in [particles.new]; Mass by volume. [kg/m3]");
  CHECK(complaint(min_deck, {"simulation.limit=-1"})
            .starts_with("--set simulation.limit: 'limit' in [simulation] must be >= 0"));
  CHECK(complaint(min_deck, {"simulation.dimension.x=1"}) ==
        "--set simulation.dimension.x=1: 'simulation.dimension' is the integer 2, not a table");
  CHECK(complaint(min_deck, {"simulation.limit"}).starts_with("--set simulation.limit: a value is missing"));
  CHECK(
      complaint(min_deck, {"simulation.limit="}).starts_with("--set simulation.limit=: a value is missing"));
}

TEST_CASE("deck: overrides reach the entries of arrays by their number", "[core]") {
  const Loaded loaded = load(sample::full_deck, {"stages.0.duration=5 s", "stages.2={duration = 8}",
                                                 "stages.1.until.energy=4", "domain.corner.1=3 cm"});
  REQUIRE(loaded.run.stages.size() == 3);
  CHECK(loaded.run.stages[0].duration == 5);
  CHECK(loaded.run.stages[1].energy == 4);
  CHECK(loaded.run.stages[2].duration == 8);
  CHECK_FALSE(loaded.run.stages[2].form);
  CHECK(loaded.run.corner == std::vector<double>{-0.004, 0.03});
  CHECK(load(loaded.resolved).resolved == loaded.resolved);
  CHECK(load(sample::full_deck, {"stages=[{duration = 8}]"}).run.stages.size() == 1);
  // As messages write them.
  CHECK(load(sample::full_deck, {"stages[1].until.energy=4"}).run.stages[1].energy == 4);
  CHECK(complaint(sample::full_deck, {"stages[0].duration=-1"}).find("'duration' in [stages[0]]") !=
        std::string::npos);

  CHECK(complaint(sample::full_deck, {"stages.0.duration=-1"}) ==
        "--set stages.0.duration: 'duration' in [stages[0]] must be > 0 s, not -1 s");
  CHECK(complaint(sample::full_deck, {"stages.0.duraton=1"})
            .starts_with("--set stages.0.duraton: unknown key 'duraton' in [stages[0]]; did you mean"));
  CHECK(complaint(sample::full_deck, {"stages=[{duration = 1}, {duration = -1}]"})
            .starts_with("--set stages: 'duration' in [stages[1]] must be > 0 s"));
  CHECK(complaint(sample::full_deck, {"domain.corner.1=x"})
            .starts_with("--set domain.corner.1: element 2 of 'corner' in [domain] must be a length"));
  CHECK(complaint(sample::full_deck, {"stages.3.duration=1"}) ==
        "--set stages.3.duration=1: 'stages' is an array of 3 entries, which are counted from 0; '3' is none "
        "of them");
  CHECK(complaint(sample::full_deck, {"stages.last.duration=1"}).find("'last' is none of them") !=
        std::string::npos);
}

TEST_CASE("deck: a table may be described twice", "[core]") {
  Deck deck = Deck::from_text(sample::full_deck, "a.toml");
  sample::Run first;
  first.describe(deck.root());
  const std::string resolved = deck.resolved();
  sample::Run second;
  second.describe(deck.root());
  CHECK_NOTHROW(deck.require_all_read());
  CHECK(deck.resolved() == resolved);
}

TEST_CASE("deck: where() gives the place of a key, or of its table if the key is absent", "[core]") {
  Deck deck = Deck::from_text("\n[domain]\n corner = [1, 2]\n", "a.toml");
  deck.root().table("domain", {}, [](scree::Section& section) {
    CHECK(section.path() == "domain");
    CHECK(section.where("corner") == "a.toml:3:2");
    CHECK(section.where("outside") == "a.toml:2:1");
    CHECK_THROWS_WITH(section.fail("corner", "too far"), "a.toml:3:2: too far");
  });
}

TEST_CASE("deck: a file that is not there or is a folder is an InputError", "[core]") {
  const scree::Comm world;
  CHECK_THROWS_WITH(Deck::read(world, "no/such.toml", {}),
                    "no/such.toml: cannot read the deck: No such file or directory");
  CHECK_THROWS_AS(Deck::read(world, "no/such.toml", {}), InputError);
  CHECK_THROWS_WITH(Deck::read(world, ".", {}), ".: cannot read the deck: it is a folder");
}

TEST_CASE("deck: settings are all keys of the resolved deck, each with its place", "[core]") {
  sample::Run run;
  Deck deck = Deck::from_text(sample::full_deck, "a.toml", {"stages.1.until.energy=7"});
  run.describe(deck.root());
  const std::vector<Deck::Setting> settings = deck.settings();
  std::size_t n_keys = 0;
  for (const std::string& line : lines_of(deck.resolved())) n_keys += line.find(" = ") != std::string::npos;
  CHECK(settings.size() == n_keys);
  const auto find = [&](const std::string& table, const std::string& key) {
    for (const Deck::Setting& setting : settings)
      if (setting.table == table && setting.key == key) return setting.value + " at " + setting.where;
    return std::string("none");
  };
  const std::vector<std::string> lines = lines_of(sample::full_deck);
  const auto line_of = [&](const std::string& start) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].starts_with(start)) return std::to_string(i + 1);
    return std::string("0");
  };
  CHECK(find("simulation", "end_time") == "90.0 at a.toml:" + line_of("end_time") + ":1");
  CHECK(find("stages[1].until", "energy") == "7.0 at --set stages.1.until.energy");
}
