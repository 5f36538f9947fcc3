#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/plugin.hpp"
#include "core/types.hpp"

namespace scree {

/// What a number in a deck measures. A bare number is SI; a string carries a unit of this kind ("4 mm").
enum class Unit {
  none,               // -
  length,             // m
  time,               // s
  mass,               // kg
  speed,              // m/s
  acceleration,       // m/s2
  angle,              // rad
  angular_speed,      // rad/s
  rate,               // 1/s
  frequency,          // 1/s, also "Hz"
  force,              // N
  pressure,           // Pa
  density,            // kg/m3
  stiffness,          // N/m
  energy,             // J
  mass_rate,          // kg/s
  torque,             // N m
  area,               // m2
  moment_of_inertia,  // kg m2
};
std::string_view symbol(Unit unit);

/// The values a key may take, as a closed or open interval.
struct Range {
  Real min = -HUGE_VAL;
  Real max = HUGE_VAL;
  bool min_open = false;
  bool max_open = false;
};
inline constexpr Range any_number{};
inline constexpr Range positive{.min = 0, .min_open = true};
inline constexpr Range non_negative{.min = 0};
inline constexpr Range unit_interval{.min = 0, .max = 1};

/// What a deck key means. `doc` is one sentence without the unit and the default: both are printed from here.
struct Key {
  Unit unit = Unit::none;
  Range range = any_number;
  bool required = false;
  std::string_view doc;
  Audience audience = Audience::users;
  std::string_view usual = {};  ///< of a kind: the one of decks that name none
};

/// A word of a deck and what it stands for.
template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

class DeckTable;

/// One table of a deck, seen by the code that uses it. Every call below declares a key and reads it at once:
/// a key that is absent leaves `value` as it was, so the member initialiser is the default, printed by
/// `scree info --resolved` and in docs/decks.md. The same calls, run on a documenting section, make that file
/// and the list of valid names that error messages suggest from. A describe() function must therefore make
/// the same calls whatever it reads (except where a kind was chosen) and compute nothing from the values
/// before `reading()` is true. It also runs on a documenting section while a deck is read, to find out which
/// keys exist.
///
/// Errors: every call throws InputError "file:line:col: ..." for a wrong type, unit, range or missing key.
/// The deck is the same on all ranks, so all ranks throw together.
class Section {
 public:
  /// Only decks and their reference make sections.
  explicit Section(std::unique_ptr<DeckTable> table);
  ~Section();

  /// False while documentation is generated: then no value is meaningful.
  bool reading() const;
  /// True if the deck gives this key. A resolved deck gives every key that has a default: to distinguish
  /// "not given" from "given", start from a value that the key refuses (empty, not finite, out of range),
  /// which is printed as "none".
  bool has(std::string_view key) const;
  /// Full name of this table, such as "particles.bed" or "stages[0].until".
  std::string path() const;

  void real(std::string_view key, Real& value, const Key& meaning);
  void integer(std::string_view key, std::int64_t& value, const Key& meaning);
  void boolean(std::string_view key, bool& value, const Key& meaning);
  void text(std::string_view key, std::string& value, const Key& meaning);
  void texts(std::string_view key, std::vector<std::string>& values, const Key& meaning);
  /// An array of numbers, of `count` entries if count >= 0.
  void reals(std::string_view key, std::vector<Real>& values, int count, const Key& meaning);
  void booleans(std::string_view key, std::vector<bool>& values, int count, const Key& meaning);
  /// An array of points, each an array of `dimension` numbers; a polygon, say.
  void points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
              const Key& meaning);
  /// One of the words in `choices`.
  void choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
              const Key& meaning);
  /// The same for what the words stand for: {{"warn", FailureAction::warn}, ...}, {{"x", 0}, {"y", 1}}.
  template <class Value>
  requires(!std::is_same_v<Value, std::string>) void choice(std::string_view key, Value& value,
                                                            const std::vector<Word<Value>>& words,
                                                            const Key& meaning) {
    std::vector<std::string> choices;
    std::string word;
    for (const Word<Value>& one : words) {
      choices.emplace_back(one.word);
      if (one.value == value) word = one.word;
    }
    choice(key, word, choices, meaning);
    for (const Word<Value>& one : words)
      if (one.word == word) value = one.value;
  }
  /// An integer, or one of the words in `choices`: sweeps = 4, sweeps = "converged". `word` is empty for a
  /// number.
  void integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                       const std::vector<std::string>& choices, const Key& meaning);
  /// A number, or one of the words in `choices`: end_time = "5 s", skin = "auto". `word` is empty for a
  /// number.
  void real_or_word(std::string_view key, Real& value, std::string& word,
                    const std::vector<std::string>& choices, const Key& meaning);

  /// A table within this one; `describe` runs once, also when the deck does not give it (an absent, optional
  /// table has all its defaults). With meaning.required an absent table is an error.
  void table(std::string_view key, const Key& meaning, const std::function<void(Section&)>& describe);
  /// A table within this one that may be absent: `describe` runs only if the deck gives it (and when
  /// documenting).
  void optional_table(std::string_view key, const Key& meaning,
                      const std::function<void(Section&)>& describe);
  /// Named tables [key.NAME], in the order of the deck.
  void tables(std::string_view key, const Key& meaning,
              const std::function<void(const std::string& name, Section&)>& describe);
  /// An array of tables [[key]], for what happens in an order: `describe` runs once per entry, in the order
  /// of the deck, `index` counted from 0 (and once with index 0 when documenting).
  void list(std::string_view key, const Key& meaning,
            const std::function<void(std::size_t index, Section&)>& describe);

  /// Runs `describe` for code that is not in use in this run: of the tables that it declares in this one only
  /// those that the deck gives are read, and none is required.
  void unused(const std::function<void(Section&)>& describe);

  /// Runs `describe`: the keys and tables that it declares in this one are for the laboratory.
  void for_laboratory(const std::function<void(Section&)>& describe);

  /// Stops with "file:line:col: message" at this key (or at the table, if the deck does not give the key).
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;
  /// "file:line:col" of this key, for messages that are found out later (an overlapping start, say).
  std::string where(std::string_view key) const;

  /// A point of D numbers.
  template <int D>
  void point(std::string_view key, Vec<D>& value, const Key& meaning) {
    std::vector<Real> list(value.component.begin(), value.component.end());
    reals(key, list, D, meaning);
    for (int k = 0; k < D; ++k) value[k] = list[k];
  }

  /// The kind of Base named by `key`, which then declares the other keys of this table:
  ///     type = "plane"          chooses the entry "plane" of registry<Base>()
  ///     point = ..., normal =   declared by Plane::describe(section, context...)
  template <class Base, class... Context>
  void kind(std::string_view key, std::unique_ptr<Base>& chosen, const Key& meaning,
            const Context&... context) {
    std::vector<KindOption> options;
    for (const Entry<Base>& entry : registry<Base>())
      options.push_back({entry.name, entry.summary, entry.make != nullptr, entry.audience});
    std::string name(meaning.usual);
    kind_by_name(key, name, options, meaning, [&](std::size_t i, Section& section) {
      std::unique_ptr<Base> made = registry<Base>()[i].make();
      made->describe(section, context...);
      if (section.reading()) chosen = std::move(made);
    });
  }

  struct KindOption {
    std::string_view name;
    std::string_view summary;
    bool available;  ///< false: exists in the other dimension only
    Audience audience = Audience::users;
  };

 private:
  /// Chooses an option by name and runs `describe(index, section)`; when documenting, runs it for every
  /// option under a heading of its own. With meaning.required = false the key may be absent: then the usual
  /// one is chosen, if there is one.
  void kind_by_name(std::string_view key, std::string& name, const std::vector<KindOption>& options,
                    const Key& meaning, const std::function<void(std::size_t index, Section&)>& describe);

  std::unique_ptr<DeckTable> table_;
};

}  // namespace scree
