#include "core/deck.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>
#include <tuple>

#include "core/deck_errors.hpp"
#include "core/declaration.hpp"
#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) edits[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min(
          {edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

/// The name nearest to `name`, or nullptr if none is near enough to be meant: a third of the letters may be
/// wrong.
const std::string* nearest(std::string_view name, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best;
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
  const std::string* near = nearest(word, words);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

namespace {

std::string describe_node(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return fmt::format("the string \"{}\"", *text);
  if (node.is_boolean()) return "a boolean";
  if (node.is_integer()) return fmt::format("the integer {}", *node.value_exact<std::int64_t>());
  if (node.is_floating_point()) return fmt::format("the number {}", *node.value_exact<double>());
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return "a date or time";
}

std::string table_text(const std::string& path) {
  return path.empty() ? "at the top level of the deck" : fmt::format("in [{}]", path);
}

std::string any_unit_text(Unit unit) {
  if (unit == Unit::none) return "a number without a unit";
  const std::string_view article =
      std::string_view("aeiou").find(quantity(unit)[0]) != std::string_view::npos ? "an" : "a";
  return fmt::format("{} {} (a number in {}, or a string with one of the units {})", article, quantity(unit),
                     symbol(unit), unit_names(unit));
}

/// A deck as toml++ parsed it, with the overrides applied.
struct Source {
  std::string name;
  toml::table root;
  struct Override {
    std::string path;   // as paths are written in messages: "stages[0].duration"
    std::string given;  // as the command line writes it: "stages.0.duration"
  };
  std::vector<Override> overridden;  // in the order given

  /// Where the node of this path and region was written: "file:line:col" or "--set path".
  std::string place(const std::string& path, const toml::source_region& region) const {
    for (auto set = overridden.rbegin(); set != overridden.rend(); ++set)
      if (path == set->path || is_within(path, set->path)) return "--set " + set->given;
    if (region.begin.line > 0) return fmt::format("{}:{}:{}", name, region.begin.line, region.begin.column);
    for (const Override& set : overridden)
      if (is_within(set.path, path)) return "--set " + set.given;
    return name + ":1:1";
  }

  static bool is_within(const std::string& path, const std::string& outer) {
    return path.starts_with(outer + '.') || path.starts_with(outer + '[');
  }

  /// Sorts places as a reader meets them: the file from the top, then the overrides.
  std::tuple<bool, std::uint32_t, std::uint32_t> order(const std::string& path,
                                                       const toml::source_region& region) const {
    return {place(path, region).starts_with("--set "), region.begin.line, region.begin.column};
  }
};

/// A key or table that must be there and is not.
class MissingEntry : public InputError {
 public:
  using InputError::InputError;
};

/// What is wrong with a deck. Usually the first error is thrown where it is found; while errors are
/// collected, reading goes on (errors_of_deck).
class Errors {
 public:
  void collect() { collecting_ = true; }
  bool collecting() const { return collecting_; }
  std::size_t size() const { return list_.size(); }
  bool any() const { return !list_.empty(); }

  /// What misses may be due to a mistake before it, so it is told only if all before it are missing, too.
  void add(const InputError& error) {
    const bool is_missing = dynamic_cast<const MissingEntry*>(&error) != nullptr;
    const bool all_missing = std::ranges::all_of(list_, [](const One& one) { return one.is_missing; });
    if (!is_missing || all_missing) put({error.what(), is_missing});
  }
  void add(const std::string& message) { put({message, false}); }
  /// Puts unknown names before the errors from `first` on: they are often the cause of what misses among
  /// these.
  void add_unknown(std::size_t first, const std::vector<std::string>& messages) {
    std::vector<One> after(list_.begin() + static_cast<std::ptrdiff_t>(first), list_.end());
    std::erase_if(after, [](const One& one) { return one.is_missing; });
    list_.resize(first);
    for (const std::string& message : messages) put({message, false});
    for (const One& one : after) put(one);
  }

  std::string text(const std::string& deck) const {
    if (list_.size() == 1) return list_.front().message;
    constexpr std::size_t most_told = 20;
    std::string text = fmt::format("{} errors in {}:", list_.size(), deck);
    for (std::size_t i = 0; i < std::min(most_told, list_.size()); ++i) text += "\n  " + list_[i].message;
    if (list_.size() > most_told) text += fmt::format("\n  and {} more", list_.size() - most_told);
    return text;
  }

 private:
  struct One {
    std::string message;
    bool is_missing = false;
  };
  void put(const One& one) {
    if (std::ranges::none_of(list_, [&](const One& other) { return other.message == one.message; }))
      list_.push_back(one);
  }

  std::vector<One> list_;
  bool collecting_ = false;
};

/// Finds the keys and tables of a deck that are not declared.
class UnknownKeys {
 public:
  explicit UnknownKeys(const Source& source) : source_(source) {}

  /// A message for each unknown entry within `table`, in the order of the deck.
  std::vector<std::string> in(const toml::table& table, const std::list<Declaration>& members,
                              const std::string& path) {
    check_table(table, members, path);
    std::ranges::stable_sort(found_, {}, &Found::order);
    std::vector<std::string> messages;
    for (const Found& found : found_) messages.push_back(found.message);
    return messages;
  }

  std::string message(const toml::key& key, const toml::node& node, const std::string& path,
                      const std::vector<const Declaration*>& declared) const {
    const std::string place = source_.place(join_path(path, key.str()), key.source());
    const std::string_view what = node.is_table() || node.is_array_of_tables() ? "table" : "key";
    std::string text = fmt::format("{}: unknown {} '{}' {}", place, what, key.str(), table_text(path));
    std::vector<std::string> names;
    for (const Declaration* declaration : declared) names.push_back(declaration->name);
    if (const std::string* near = nearest(key.str(), names)) {
      const std::size_t index = static_cast<std::size_t>(near - names.data());
      return text + fmt::format("; did you mean '{}'? {}", *near, meaning_text(*declared[index]));
    }
    if (names.empty()) return text + "; nothing is valid here";
    return text + fmt::format("; valid: {}", fmt::join(names, ", "));
  }

 private:
  struct Found {
    std::tuple<bool, std::uint32_t, std::uint32_t> order;
    std::string message;
  };
  /// A key that belongs to an option which was not chosen.
  struct Foreign {
    const Declaration* kind;
    const Declaration::Option* option;
    std::string chosen;
    std::string key;
  };
  struct Level {
    std::vector<const Declaration*> declared;
    std::vector<Foreign> foreign;
  };

  static void collect(const toml::table& table, const std::list<Declaration>& members, Level& level) {
    for (const Declaration& declaration : members) {
      level.declared.push_back(&declaration);
      if (declaration.form != Declaration::Form::kind) continue;
      const std::string chosen = table[declaration.name].value_or(std::string());
      // A misspelt kind is the mistake to report, so the keys of any kind will do.
      const bool misspelt =
          !chosen.empty() && std::none_of(declaration.options.begin(), declaration.options.end(),
                                          [&](const auto& option) { return option.name == chosen; });
      for (const Declaration::Option& option : declaration.options)
        if (misspelt || option.name == chosen)
          collect(table, option.members, level);
        else
          for (const Declaration& member : option.members)
            level.foreign.push_back({&declaration, &option, chosen, member.name});
    }
  }

  void check_table(const toml::table& table, const std::list<Declaration>& members, const std::string& path) {
    Level level;
    collect(table, members, level);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const auto match =
          std::find_if(level.declared.begin(), level.declared.end(),
                       [&](const Declaration* declaration) { return declaration->name == name; });
      const std::string inner = join_path(path, name);
      if (match == level.declared.end())
        found_.push_back({source_.order(inner, key.source()), unknown(key, node, path, level)});
      else if (node.is_table() && (*match)->form == Declaration::Form::tables)
        check_named(*node.as_table(), (*match)->members, inner);
      else if (node.is_array() && (*match)->form == Declaration::Form::list)
        check_entries(*node.as_array(), (*match)->members, inner);
      else if (node.is_table() && (*match)->is_table() && (*match)->form != Declaration::Form::list)
        check_table(*node.as_table(), (*match)->members, inner);
    }
  }

  void check_named(const toml::table& table, const std::list<Declaration>& members, const std::string& path) {
    for (const auto& [key, node] : table) {
      const auto match =
          std::find_if(members.begin(), members.end(), [name = key.str()](const Declaration& member) {
            return member.name == name || member.name == any_name;
          });
      if (match != members.end() && node.is_table())
        check_table(*node.as_table(), match->members, join_path(path, key.str()));
    }
  }

  /// The entries of a deck that was read are declared one by one, those of a documented one by the first.
  void check_entries(const toml::array& entries, const std::list<Declaration>& members,
                     const std::string& path) {
    auto member = members.begin();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (const toml::table* table = entries[i].as_table())
        check_table(*table, member->members, join_path(path, i));
      if (std::next(member) != members.end()) ++member;
    }
  }

  std::string unknown(const toml::key& key, const toml::node& node, const std::string& path,
                      const Level& level) const {
    std::vector<std::string> owners;
    const Foreign* owner = nullptr;
    for (const Foreign& foreign : level.foreign)
      if (foreign.key == key.str()) {
        owner = &foreign;
        owners.push_back(foreign.option->name);
      }
    if (!owner) return message(key, node, path, level.declared);
    const std::string& kind = owner->kind->name;
    return fmt::format("{}: '{}' {} is a key of {} '{}', {}",
                       source_.place(join_path(path, key.str()), key.source()), key.str(), table_text(path),
                       kind, fmt::join(owners, "', '"),
                       owner->chosen.empty() ? fmt::format("but '{}' is not given", kind)
                                             : fmt::format("not of '{}'", owner->chosen));
  }

  const Source& source_;
  std::vector<Found> found_;
};

/// A table of a deck. Each call reads the value and then declares it, so that the declaration holds the value
/// of the run where a documenting section holds the default.
class ReadingSection final : public DocumentingSection {
 public:
  /// `table` is null where the deck leaves the table out; then `place` is that of the table around it.
  ReadingSection(const Source& source, Errors& errors, const toml::table* table,
                 std::list<Declaration>& members, std::string path, std::string place)
      : DocumentingSection(members, std::move(path)),
        source_(source),
        errors_(errors),
        table_(table),
        declared_(members),
        place_(std::move(place)) {}

  bool reading() const override { return !errors_.any(); }
  bool has(std::string_view key) const override { return table_ && table_->contains(key); }

  std::string where(std::string_view key) const override {
    if (!has(key)) return place_;
    return source_.place(path_of(key), table_->find(key)->first.source());
  }
  [[noreturn]] void fail(std::string_view key, const std::string& message) const override {
    throw InputError(fmt::format("{}: {}", where(key), message));
  }

  void real(std::string_view key, Real& value, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) { value = number(node, entry(key), meaning); });
    DocumentingSection::real(key, value, meaning);
  }

  void integer(std::string_view key, std::int64_t& value, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) { value = whole(node, entry(key), meaning); });
    DocumentingSection::integer(key, value, meaning);
  }

  void boolean(std::string_view key, bool& value, const Key& meaning) override {
    read(key, meaning,
         [&](const toml::node& node) { value = exact<bool>(node, entry(key), "true or false"); });
    DocumentingSection::boolean(key, value, meaning);
  }

  void text(std::string_view key, std::string& value, const Key& meaning) override {
    read(key, meaning,
         [&](const toml::node& node) { value = exact<std::string>(node, entry(key), "a string"); });
    DocumentingSection::text(key, value, meaning);
  }

  void texts(std::string_view key, std::vector<std::string>& values, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      values.clear();
      for_each(node, entry(key), -1, [&](const toml::node& element, const Entry& entry) {
        values.push_back(exact<std::string>(element, entry, "a string"));
      });
    });
    DocumentingSection::texts(key, values, meaning);
  }

  void reals(std::string_view key, std::vector<Real>& values, int count, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) { values = numbers(node, entry(key), count, meaning); });
    DocumentingSection::reals(key, values, count, meaning);
  }

  void booleans(std::string_view key, std::vector<bool>& values, int count, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      std::vector<bool> found;
      for_each(node, entry(key), count, [&](const toml::node& element, const Entry& entry) {
        found.push_back(exact<bool>(element, entry, "true or false"));
      });
      values = std::move(found);
    });
    DocumentingSection::booleans(key, values, count, meaning);
  }

  void points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
              const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      values.clear();
      for_each(node, entry(key), -1, [&](const toml::node& element, const Entry& entry) {
        values.push_back(numbers(element, entry, dimension, meaning));
      });
    });
    DocumentingSection::points(key, values, dimension, meaning);
  }

  void choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
              const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      const auto word = node.value_exact<std::string>();
      if (!word || !is_one_of(*word, choices)) refuse(node, entry(key), quoted_list(choices), choices);
      value = *word;
    });
    DocumentingSection::choice(key, value, choices, meaning);
  }

  void integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                       const std::vector<std::string>& choices, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      word = node.value_or(std::string());
      if (node.is_string() && !is_one_of(word, choices))
        refuse(node, entry(key), "an integer or " + quoted_list(choices), choices);
      if (!node.is_string()) value = whole(node, entry(key), meaning);
    });
    DocumentingSection::integer_or_word(key, value, word, choices, meaning);
  }

  void real_or_word(std::string_view key, Real& value, std::string& word,
                    const std::vector<std::string>& choices, const Key& meaning) override {
    read(key, meaning, [&](const toml::node& node) {
      word = node.value_or(std::string());
      if (is_one_of(word, choices)) return;
      if (node.is_string() && !to_si(word, meaning.unit))
        refuse(node, entry(key), any_unit_text(meaning.unit) + " or " + quoted_list(choices), choices);
      word.clear();
      value = number(node, entry(key), meaning);
    });
    DocumentingSection::real_or_word(key, value, word, choices, meaning);
  }

  void unused(const std::function<void(Section&)>& describe) override {
    in_use_ = false;
    describe(*this);
    in_use_ = true;
  }

  void table(std::string_view key, const Key& meaning,
             const std::function<void(Section&)>& describe) override {
    if (!in_use_ && !has(key)) return;
    const toml::table* inner = nullptr;
    const bool is_fine = collected([&] { inner = find_table(key, meaning); });
    Declaration& declaration = declare(key, Declaration::Form::table, meaning);
    declaration.present = true;
    if (is_fine) read_table(inner, declaration, path_of(key), describe);
  }

  void optional_table(std::string_view key, const Key& meaning,
                      const std::function<void(Section&)>& describe) override {
    const toml::table* inner = nullptr;
    collected([&] { inner = find_table(key, meaning); });
    Declaration& declaration = declare(key, Declaration::Form::optional_table, meaning);
    declaration.present = inner != nullptr;
    if (inner) read_table(inner, declaration, path_of(key), describe);
  }

  void tables(std::string_view key, const Key& meaning,
              const std::function<void(const std::string& name, Section&)>& describe) override {
    const toml::table* named = nullptr;
    collected([&] { named = find_table(key, meaning); });
    Declaration& declaration = declare(key, Declaration::Form::tables, meaning);
    declaration.present = named != nullptr;
    if (!named) return;
    const std::string path = path_of(key);

    std::vector<const toml::key*> in_order;
    for (const auto& [name, node] : *named) {
      const std::string inner = join_path(path, name.str());
      const bool is_fine = collected([&, &key_of_node = name, &content = node] {
        if (!content.is_table())
          throw InputError(fmt::format("{}: '{}' in [{}] must be a table [{}], not {}",
                                       source_.place(inner, key_of_node.source()), key_of_node.str(), path,
                                       inner, describe_node(content)));
      });
      if (is_fine) in_order.push_back(&name);
    }
    const auto order = [&](const toml::key* name) {
      return source_.order(join_path(path, name->str()), name->source());
    };
    std::stable_sort(in_order.begin(), in_order.end(),
                     [&](const toml::key* a, const toml::key* b) { return order(a) < order(b); });

    for (const toml::key* key_of_name : in_order) {
      const std::string name(key_of_name->str());
      auto member = std::find_if(declaration.members.begin(), declaration.members.end(),
                                 [&](const Declaration& other) { return other.name == name; });
      if (member == declaration.members.end()) {
        member = declaration.members.emplace(declaration.members.end());
        member->name = name;
        member->form = Declaration::Form::table;
      }
      member->present = true;
      read_table((*named)[name].as_table(), *member, join_path(path, name),
                 [&](Section& section) { describe(name, section); });
    }
  }

  void list(std::string_view key, const Key& meaning,
            const std::function<void(std::size_t index, Section&)>& describe) override {
    const std::string path = path_of(key);
    const toml::node* node = nullptr;
    const bool is_list = collected([&] {
      node = find(key, meaning, "table");
      if (node && !node->is_array())
        refuse(*node, entry(key), fmt::format("an array of tables, each under a header [[{}]]", path));
      if (node && meaning.required && node->as_array()->empty())
        throw InputError(
            fmt::format("{}: {} is empty; at least one entry is required", where(key), entry(key).words));
    });
    Declaration& declaration = declare(key, Declaration::Form::list, meaning);
    declaration.present = node != nullptr;
    if (!node || !is_list) return;
    const toml::array& entries = *node->as_array();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string inner = join_path(path, i);
      const bool is_table = collected([&] {
        if (!entries[i].is_table())
          refuse(entries[i], {fmt::format("element {} of {}", i + 1, entry(key).words), inner}, "a table");
      });
      Declaration& member = declare_entry(declaration, i);
      member.present = true;
      if (is_table)
        read_table(entries[i].as_table(), member, inner, [&](Section& section) { describe(i, section); });
    }
  }

 protected:
  void kind_by_name(std::string_view key, std::string& name, const std::vector<KindOption>& options,
                    const Key& meaning,
                    const std::function<void(std::size_t index, Section&)>& describe) override {
    std::vector<std::string> names;
    for (const KindOption& option : options)
      if (option.available) names.emplace_back(option.name);
    read(key, meaning, [&](const toml::node& node) {
      const auto word = node.value_exact<std::string>();
      const auto is_elsewhere = [&](const KindOption& option) {
        return word && option.name == *word && !option.available;
      };
      if (std::any_of(options.begin(), options.end(), is_elsewhere))
        throw InputError(fmt::format("{}: {} \"{}\" exists in the other dimension only; valid here: {}",
                                     source_.place(path_of(key), node.source()), key, *word,
                                     quoted_list(names)));
      if (!word || !is_one_of(*word, names)) refuse(node, entry(key), quoted_list(names), names);
      name = *word;
    });

    // All options are declared, so that a key of another one is told from a misspelt one.
    DocumentingSection::kind_by_name(key, name, options, meaning, describe);
    Declaration& declaration = declare(key, Declaration::Form::kind, meaning);
    declaration.chosen.reset();
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (options[i].name != name) continue;
      declaration.chosen = i;
      declaration.options[i].members.clear();
      ReadingSection section(source_, errors_, table_, declaration.options[i].members, path(), place_);
      describe(i, section);
    }
  }

 private:
  /// A value in words and its path, for messages.
  struct Entry {
    std::string words;
    std::string path;
  };
  Entry entry(std::string_view key) const {
    return {fmt::format("'{}' {}", key, table_text(path())), path_of(key)};
  }

  /// Calls work(); false if it throws while errors are collected.
  template <class Work>
  bool collected(const Work& work) {
    if (!errors_.collecting()) {
      work();
      return true;
    }
    try {
      work();
      return true;
    } catch (const InputError& error) {
      errors_.add(error);
      return false;
    }
  }
  /// Calls use(node) if the deck gives the key.
  template <class Use>
  void read(std::string_view key, const Key& meaning, const Use& use) {
    collected([&] {
      if (const toml::node* node = find(key, meaning)) use(*node);
    });
  }

  static bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  [[noreturn]] void refuse(const toml::node& node, const Entry& entry, const std::string& expected,
                           const std::vector<std::string>& words = {}) const {
    const auto text = node.value_exact<std::string>();
    throw InputError(fmt::format("{}: {} must be {}, not {}{}", source_.place(entry.path, node.source()),
                                 entry.words, expected, describe_node(node),
                                 text ? suggestion(*text, words) : ""));
  }

  /// The node of `key`, null if the deck does not give it. Throws if it must.
  const toml::node* find(std::string_view key, const Key& meaning, std::string_view what = "key") const {
    if (has(key)) return table_->get(key);
    if (!meaning.required) return nullptr;
    if (path().empty()) require_no_near_name(key, meaning);
    const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" [{}]", symbol(meaning.unit));
    throw MissingEntry(fmt::format("{}: missing {} '{}' {}; {}{}", place_, what, key, table_text(path()),
                                   meaning.doc, unit));
  }

  /// At the top level nothing knows all names yet when a table is missed: one that is near must be meant.
  void require_no_near_name(std::string_view key, const Key& meaning) const {
    Declaration missing;
    missing.name = key;
    missing.form = Declaration::Form::table;
    missing.required = true;
    missing.doc = meaning.doc;
    for (const auto& [name, node] : *table_) {
      const auto same = [text = name.str()](const Declaration& declaration) {
        return declaration.name == text;
      };
      if (std::none_of(declared_.begin(), declared_.end(), same) && nearest(name.str(), {missing.name}))
        throw InputError(UnknownKeys(source_).message(name, node, path(), {&missing}));
    }
  }

  const toml::table* find_table(std::string_view key, const Key& meaning) const {
    const toml::node* node = find(key, meaning, "table");
    if (node && !node->is_table()) refuse(*node, entry(key), "a table");
    return node ? node->as_table() : nullptr;
  }

  /// Describes `table`. An unknown key is reported instead of what was found wrong after it: it is often the
  /// cause.
  void read_table(const toml::table* table, Declaration& declaration, const std::string& inner_path,
                  const std::function<void(Section&)>& describe) const {
    const std::size_t n_before = errors_.size();
    std::exception_ptr failure;
    {
      ReadingSection section(source_, errors_, table, declaration.members, inner_path,
                             table ? source_.place(inner_path, table->source()) : place_);
      try {
        describe(section);
      } catch (const InputError&) {
        failure = std::current_exception();
      }
    }
    if (!failure && errors_.size() == n_before) return;
    std::vector<std::string> unknown;
    if (table) {
      std::list<Declaration> all;
      DocumentingSection documenting(all, inner_path);
      describe(documenting);
      unknown = UnknownKeys(source_).in(*table, all, inner_path);
      // What was not declared any more is not unknown for that.
      if (failure) {
        for (Declaration& known : declaration.members)
          if (std::ranges::find(all, known.name, &Declaration::name) == all.end())
            all.push_back(std::move(known));
        declaration.members = std::move(all);
      }
    }
    if (!errors_.collecting() && !unknown.empty()) throw InputError(unknown.front());
    if (!errors_.collecting()) std::rethrow_exception(failure);
    if (!unknown.empty()) return errors_.add_unknown(n_before, unknown);
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const InputError& error) {
      errors_.add(error);
    }
  }

  template <class T>
  T exact(const toml::node& node, const Entry& entry, const std::string& expected) const {
    const auto value = node.value_exact<T>();
    if (!value) refuse(node, entry, expected);
    return *value;
  }

  void require_in_range(const toml::node& node, const Entry& entry, const Key& meaning, Real value) const {
    if (contains(meaning.range, value)) return;
    const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" {}", symbol(meaning.unit));
    throw InputError(fmt::format("{}: {} must be {}{}, not {}{}", source_.place(entry.path, node.source()),
                                 entry.words, range_text(meaning.range), unit, value, unit));
  }

  Real number(const toml::node& node, const Entry& entry, const Key& meaning) const {
    std::optional<Real> value;
    if (node.is_number()) value = node.value<Real>();
    if (const auto text = node.value_exact<std::string>()) value = to_si(*text, meaning.unit);
    if (!value) refuse(node, entry, any_unit_text(meaning.unit));
    if (!std::isfinite(*value)) refuse(node, entry, "a finite number");
    require_in_range(node, entry, meaning, *value);
    return *value;
  }

  /// An integer; 1e6, a floating-point number to TOML, will do.
  std::int64_t whole(const toml::node& node, const Entry& entry, const Key& meaning) const {
    constexpr Real exact_below = 0x1p53;
    std::int64_t value = 0;
    const auto real = node.value_exact<Real>();
    if (real && std::abs(*real) < exact_below && std::trunc(*real) == *real)
      value = static_cast<std::int64_t>(*real);
    else
      value = exact<std::int64_t>(node, entry, "an integer");
    require_in_range(node, entry, meaning, static_cast<Real>(value));
    return value;
  }

  /// Visits the elements of an array of `count` entries (any number if < 0).
  void for_each(const toml::node& node, const Entry& entry, int count,
                const std::function<void(const toml::node&, const Entry&)>& visit) const {
    const toml::array* array = node.as_array();
    const std::string expected = count < 0 ? "an array" : fmt::format("an array of {} entries", count);
    if (!array) refuse(node, entry, expected);
    if (count >= 0 && array->size() != static_cast<std::size_t>(count))
      throw InputError(fmt::format("{}: {} must be {}, not of {}", source_.place(entry.path, node.source()),
                                   entry.words, expected, array->size()));
    for (std::size_t i = 0; i < array->size(); ++i)
      visit(*array->get(i), {fmt::format("element {} of {}", i + 1, entry.words), entry.path});
  }

  std::vector<Real> numbers(const toml::node& node, const Entry& entry, int count, const Key& meaning) const {
    std::vector<Real> values;
    for_each(node, entry, count, [&](const toml::node& element, const Entry& element_entry) {
      values.push_back(number(element, element_entry, meaning));
    });
    return values;
  }

  const Source& source_;
  Errors& errors_;
  const toml::table* table_;
  const std::list<Declaration>& declared_;
  std::string place_;
  bool in_use_ = true;
};

std::string parse_error_text(const std::string& name, const toml::parse_error& error) {
  return fmt::format("{}:{}:{}: {}", name, error.source().begin.line, error.source().begin.column,
                     error.description());
}

/// How deep the tables and arrays of a TOML text are nested at most, with those that dotted names make:
/// counted without calling itself, unlike the parser and its trees, which would use up the stack.
std::size_t nesting_depth(std::string_view text) {
  std::size_t deepest = 0, dots = 0, dots_around = 0;
  std::vector<std::size_t> around;  // of each open bracket: the dots before it
  const auto skip_string = [&](std::size_t i) {
    const char quote = text[i];
    const std::string triple(3, quote);
    const bool is_long = text.substr(i).starts_with(triple);
    for (i += is_long ? 3 : 1; i < text.size(); ++i) {
      if (quote == '"' && text[i] == '\\')
        ++i;
      else if (is_long ? text.substr(i).starts_with(triple) : text[i] == quote || text[i] == '\n')
        return is_long ? i + 2 : i;
    }
    return i;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(i);
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '[' || c == '{') {
      around.push_back(dots);
      dots_around += dots;
      dots = 0;
    } else if ((c == ']' || c == '}') && !around.empty()) {
      dots = around.back();
      dots_around -= dots;
      around.pop_back();
    } else if (c == ',' || (c == '\n' && around.empty())) {
      dots = 0;
    } else if (c == '.') {
      ++dots;
    }
    deepest = std::max(deepest, around.size() + dots_around + dots);
  }
  return deepest;
}

void require_shallow(std::string_view text, const std::string& what) {
  const std::size_t depth = nesting_depth(text);
  if (depth > most_nested)
    throw InputError(fmt::format("{}: tables and arrays are nested {} deep; at most {} are read", what, depth,
                                 most_nested));
}

/// Where the value of "a.b=value" begins: behind the first '=' that no quotes enclose.
std::size_t value_start(const std::string& override_text) {
  char quote = 0;
  for (std::size_t i = 0; i < override_text.size(); ++i) {
    const char c = override_text[i];
    if (quote == 0 && c == '=') return i + 1;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
  }
  return std::string::npos;
}

/// The table {value = ...} of an override: TOML, or else a bare string.
toml::table override_value(const std::string& text) {
  try {
    toml::table parsed = toml::parse("value = " + text);
    if (parsed.size() == 1) return parsed;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", text}};
}

/// The place in `array` that an override names; arrays keep their length.
std::size_t array_index(const std::string& name, const toml::array& array, const std::string& path,
                        const std::string& text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error == std::errc() && end == name.data() + name.size() && index < array.size()) return index;
  throw InputError(
      fmt::format("--set {}: '{}' is an array of {} entries, which are counted from 0; '{}' is none of them",
                  text, path, array.size(), name));
}

/// "stages[0].name" as "stages.0.name", which TOML can read: messages write entries of lists in brackets.
std::string without_brackets(std::string_view key) {
  std::string result;
  char quote = 0;
  for (const char c : key) {
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    if (quote == 0 && c == ']') continue;
    result += quote == 0 && c == '[' ? '.' : c;
  }
  return result;
}

void apply_override(Source& source, const std::string& text) {
  constexpr std::string_view form = "the form is --set table.key=value";
  const std::size_t start = value_start(text);
  if (start == std::string::npos || text.find_first_not_of(' ', start) == std::string::npos)
    throw InputError(fmt::format("--set {}: a value is missing; {}", text, form));
  require_shallow(text, "--set " + text.substr(0, 40));

  std::vector<std::string> names;
  try {
    const toml::table path = toml::parse(without_brackets(std::string_view(text).substr(0, start)) + "0");
    for (const toml::table* table = &path; table; table = table->begin()->second.as_table())
      names.emplace_back(table->begin()->first.str());
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("--set {}: {}; {}", text, error.description(), form));
  }

  const toml::table value = override_value(text.substr(text.find_first_not_of(' ', start)));
  toml::node* around = &source.root;
  std::string path;
  std::string given;
  for (const std::string& name : names) {
    const bool is_last = &name == &names.back();
    toml::node* inner = nullptr;
    if (toml::array* array = around->as_array()) {
      const std::size_t index = array_index(name, *array, path, text);
      path = join_path(path, index);
      if (is_last)
        value.get("value")->visit([&](const auto& node) {
          array->replace(array->begin() + static_cast<std::ptrdiff_t>(index), node);
        });
      inner = array->get(index);
    } else if (toml::table* table = around->as_table()) {
      path = join_path(path, name);
      if (is_last) value.get("value")->visit([&](const auto& node) { table->insert_or_assign(name, node); });
      inner = &table->insert(name, toml::table{}).first->second;
    } else {
      throw InputError(fmt::format("--set {}: '{}' is {}, not a table", text, path, describe_node(*around)));
    }
    given = join_path(given, name);
    around = inner;
  }
  source.overridden.push_back({path, given});
}

/// The deck as parsed, with the overrides applied; throws InputError.
Source source_of(const std::string& text, const std::string& name,
                 const std::vector<std::string>& overrides) {
  require_shallow(text, name);
  Source source;
  source.name = name;
  try {
    source.root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError(parse_error_text(name, error));
  }
  for (const std::string& given : overrides) apply_override(source, given);
  return source;
}

void write_values(const std::list<Declaration>& members, std::string& text) {
  for (const Declaration& declaration : members) {
    if (!declaration.value.empty()) text += toml_key(declaration.name) + " = " + declaration.value + '\n';
    if (declaration.chosen) write_values(declaration.options[*declaration.chosen].members, text);
  }
}

void write_tables(const std::list<Declaration>& members, const std::string& path, std::string& text) {
  for (const Declaration& declaration : members) {
    if (declaration.chosen) write_tables(declaration.options[*declaration.chosen].members, path, text);
    if (!declaration.present) continue;
    const std::string inner = join_path(path, declaration.name);
    if (declaration.form == Declaration::Form::list) {
      for (const Declaration& entry : declaration.members) {
        text += fmt::format("{}[[{}]]\n", text.empty() ? "" : "\n", inner);
        write_values(entry.members, text);
        write_tables(entry.members, inner, text);
      }
      continue;
    }
    if (declaration.form != Declaration::Form::tables) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", inner);
      write_values(declaration.members, text);
    }
    write_tables(declaration.members, inner, text);
  }
}

/// The settings of a table and of the tables in it; `node` is null where the deck leaves the table out.
class SettingsList {
 public:
  SettingsList(const Source& source, std::vector<Deck::Setting>& list) : source_(source), list_(list) {}

  void add_values(const std::list<Declaration>& members, const std::string& path, const toml::table* node,
                  const std::string& place) {
    for (const Declaration& declaration : members) {
      if (!declaration.value.empty())
        list_.push_back(
            {path, declaration.name, declaration.value, place_of(declaration.name, path, node, place)});
      if (declaration.chosen) add_values(declaration.options[*declaration.chosen].members, path, node, place);
    }
  }

  void add_tables(const std::list<Declaration>& members, const std::string& path, const toml::table* node,
                  const std::string& place) {
    for (const Declaration& declaration : members) {
      if (declaration.chosen) add_tables(declaration.options[*declaration.chosen].members, path, node, place);
      if (!declaration.present) continue;
      const std::string inner = join_path(path, declaration.name);
      const toml::node* inner_node = node ? node->get(declaration.name) : nullptr;
      const std::string inner_place = place_of(declaration.name, path, node, place);
      if (declaration.form == Declaration::Form::list) {
        const toml::array* array = inner_node ? inner_node->as_array() : nullptr;
        std::size_t i = 0;
        for (const Declaration& entry : declaration.members) {
          const toml::node* of_entry = array ? array->get(i) : nullptr;
          const std::string its_path = join_path(inner, i++);
          add_table(entry.members, its_path, of_entry ? of_entry->as_table() : nullptr,
                    of_entry ? source_.place(its_path, of_entry->source()) : inner_place);
        }
      } else if (declaration.form == Declaration::Form::tables) {
        add_tables(declaration.members, inner, inner_node ? inner_node->as_table() : nullptr, inner_place);
      } else {
        add_table(declaration.members, inner, inner_node ? inner_node->as_table() : nullptr, inner_place);
      }
    }
  }

 private:
  void add_table(const std::list<Declaration>& members, const std::string& path, const toml::table* node,
                 const std::string& place) {
    add_values(members, path, node, place);
    add_tables(members, path, node, place);
  }
  std::string place_of(const std::string& name, const std::string& path, const toml::table* node,
                       const std::string& otherwise) const {
    if (!node || !node->contains(name)) return otherwise;
    return source_.place(join_path(path, name), node->find(name)->first.source());
  }

  const Source& source_;
  std::vector<Deck::Setting>& list_;
};

}  // namespace

struct Deck::Content {
  Source source;
  std::string text;
  std::vector<std::string> overrides;
  std::list<Declaration> declared;
  Errors errors;
  std::optional<ReadingSection> root;
};

Deck::Deck(std::unique_ptr<Content> content) : content_(std::move(content)) {}
Deck::~Deck() = default;
Deck::Deck(Deck&&) noexcept = default;
Deck& Deck::operator=(Deck&&) noexcept = default;

Deck Deck::read(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides) {
  std::string text;
  share_errors(comm, [&] {
    if (!comm.is_root()) return;
    if (const std::string obstacle = obstacle_to_read(path); !obstacle.empty())
      throw InputError(fmt::format("{}: cannot read the deck: {}", path, obstacle));
    text = read_input(path);
  });
  comm.broadcast(text);
  return from_text(text, path, overrides);
}

Deck Deck::from_text(const std::string& text, const std::string& name,
                     const std::vector<std::string>& overrides) {
  auto content = std::make_unique<Content>();
  content->source = source_of(text, name, overrides);
  content->text = text;
  content->overrides = overrides;
  content->root.emplace(content->source, content->errors, &content->source.root, content->declared, "",
                        name + ":1:1");
  return Deck(std::move(content));
}

Section& Deck::root() {
  return *content_->root;
}

void Deck::require_all_read() const {
  const std::vector<std::string> unknown =
      UnknownKeys(content_->source).in(content_->source.root, content_->declared, "");
  if (!unknown.empty()) throw InputError(unknown.front());
}

std::string errors_of_deck(const std::string& text, const std::string& name,
                           const std::vector<std::string>& overrides, const std::string& first,
                           const std::function<void(Section&)>& describe) {
  Errors errors;
  errors.collect();
  try {
    const Source source = source_of(text, name, overrides);
    std::list<Declaration> declared;
    ReadingSection root(source, errors, &source.root, declared, "", name + ":1:1");
    describe(root);
    for (const std::string& message : UnknownKeys(source).in(source.root, declared, "")) errors.add(message);
  } catch (const InputError& error) {
    errors.add(error);
  }
  return errors.any() ? errors.text(name) : first;
}

const std::string& Deck::name() const {
  return content_->source.name;
}
const std::string& Deck::text() const {
  return content_->text;
}
const std::vector<std::string>& Deck::overrides() const {
  return content_->overrides;
}

std::string Deck::resolved() const {
  std::string text;
  write_values(content_->declared, text);
  write_tables(content_->declared, "", text);
  return text;
}

std::vector<Deck::Setting> Deck::settings() const {
  std::vector<Setting> list;
  const Source& source = content_->source;
  const std::string place = source.name + ":1:1";
  SettingsList settings(source, list);
  settings.add_values(content_->declared, "", &source.root, place);
  settings.add_tables(content_->declared, "", &source.root, place);
  return list;
}

}  // namespace scree
