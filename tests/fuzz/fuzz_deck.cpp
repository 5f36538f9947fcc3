// Decks: parsing, keys, kinds, units, the resolved deck, which must be a deck again.
#include <cstdlib>

#include "core/deck.hpp"
#include "crowd/plan/floor_plan.hpp"
#include "fuzz/reader.hpp"
#include "geometry/obstacle.hpp"

namespace {

using namespace scree;

/// One key of every form that a section knows.
void describe_values(Section& root) {
  root.table("values", {.doc = "One of each"}, [](Section& section) {
    Real length = 1, speed = 0;
    std::int64_t count = 2, sweeps = 3;
    bool is_on = true;
    std::string title, choice = "a", sweeps_word, speed_word;
    std::vector<std::string> words;
    std::vector<Real> numbers;
    std::vector<bool> flags;
    section.real("length", length, {.unit = Unit::length, .range = positive, .doc = "a length"});
    section.integer("count", count, {.range = {.min = 1, .max = 100}, .doc = "a number"});
    section.boolean("is_on", is_on, {.doc = "a switch"});
    section.text("title", title, {.doc = "a text"});
    section.texts("words", words, {.doc = "texts"});
    section.reals("numbers", numbers, -1, {.unit = Unit::angle, .doc = "angles"});
    section.booleans("flags", flags, 2, {.doc = "switches"});
    section.choice("choice", choice, {"a", "b"}, {.doc = "a word"});
    section.integer_or_word("sweeps", sweeps, sweeps_word, {"auto"}, {.doc = "a number or a word"});
    section.real_or_word("speed", speed, speed_word, {"free"}, {.unit = Unit::speed, .doc = "the same"});
    section.optional_table("more", {.doc = "A table"},
                           [&](Section& more) { more.real("length", length, {.doc = "a number"}); });
    section.list("stages", {.doc = "An order"},
                 [&](std::size_t, Section& stage) { stage.text("name", title, {.doc = "a name"}); });
  });
}

template <int D>
void describe_all(Section& root, bool with_plan) {
  describe_values(root);
  ObstacleSet<D> obstacles;
  obstacles.describe(root);
  if (with_plan) FloorPlan().describe(root);
}

template <int D>
std::string resolved(const std::string& text, bool with_plan) {
  Deck deck = Deck::from_text(text, "fuzz.toml");
  describe_all<D>(deck.root(), with_plan);
  deck.require_all_read();
  return deck.resolved();
}

template <int D>
void read_deck(const std::string& text, bool with_plan) {
  std::string first;
  try {
    // What was read is a deck that says the same.
    const std::string once = resolved<D>(text, with_plan);
    if (resolved<D>(once, with_plan) != once) std::abort();
  } catch (const InputError& error) {
    const std::string all = errors_of_deck(text, "fuzz.toml", {}, error.what(),
                                           [&](Section& root) { describe_all<D>(root, with_plan); });
    if (all.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return scree::read_bytes(bytes, size, [](const std::string& text) {
    const bool with_plan = text.find("walkable") != std::string::npos;
    if (with_plan || text.find("normal = [0, 1]") != std::string::npos)
      read_deck<2>(text, with_plan);
    else
      read_deck<3>(text, false);
  });
}
