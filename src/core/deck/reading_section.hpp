#pragma once
#include <list>
#include <string>
#include <vector>

#include "core/deck/declaration.hpp"
#include "core/deck/errors.hpp"
#include "core/deck/source.hpp"

namespace scree {

/// A table of a deck. Each call reads the value and then declares it, so that the declaration holds the value
/// of the run where a documenting section holds the default.
class ReadingSection final : public DocumentingSection {
 public:
  /// `table` is null where the deck leaves the table out; then `place` is that of the table around it.
  ReadingSection(const DeckSource& source, DeckErrors& errors, const toml::table* table,
                 std::list<Declaration>& members, std::string path, std::string place)
      : DocumentingSection(members, std::move(path)),
        source_(source),
        errors_(errors),
        table_(table),
        declared_(members),
        place_(std::move(place)) {}

  bool reading() const override { return !errors_.any(); }
  bool has(std::string_view key) const override { return table_ && table_->contains(key); }

  std::string where(std::string_view key) const override;
  [[noreturn]] void fail(std::string_view key, const std::string& message) const override;
  void real(std::string_view key, Real& value, const Key& meaning) override;
  void integer(std::string_view key, std::int64_t& value, const Key& meaning) override;
  void boolean(std::string_view key, bool& value, const Key& meaning) override;
  void text(std::string_view key, std::string& value, const Key& meaning) override;
  void texts(std::string_view key, std::vector<std::string>& values, const Key& meaning) override;
  void reals(std::string_view key, std::vector<Real>& values, int count, const Key& meaning) override;
  void booleans(std::string_view key, std::vector<bool>& values, int count, const Key& meaning) override;
  void points(std::string_view key, std::vector<std::vector<Real>>& values, int dimension,
              const Key& meaning) override;
  void choice(std::string_view key, std::string& value, const std::vector<std::string>& choices,
              const Key& meaning) override;
  void integer_or_word(std::string_view key, std::int64_t& value, std::string& word,
                       const std::vector<std::string>& choices, const Key& meaning) override;
  void real_or_word(std::string_view key, Real& value, std::string& word,
                    const std::vector<std::string>& choices, const Key& meaning) override;
  void unused(const std::function<void(Section&)>& describe) override;
  void table(std::string_view key, const Key& meaning,
             const std::function<void(Section&)>& describe) override;
  void optional_table(std::string_view key, const Key& meaning,
                      const std::function<void(Section&)>& describe) override;
  void tables(std::string_view key, const Key& meaning,
              const std::function<void(const std::string& name, Section&)>& describe) override;
  void list(std::string_view key, const Key& meaning,
            const std::function<void(std::size_t index, Section&)>& describe) override;

 protected:
  void kind_by_name(std::string_view key, std::string& name, const std::vector<KindOption>& options,
                    const Key& meaning,
                    const std::function<void(std::size_t index, Section&)>& describe) override;

 private:
  /// A value in words and its path, for messages.
  struct Entry {
    std::string words;
    std::string path;
  };
  Entry entry(std::string_view key) const;

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

  static bool is_one_of(const std::string& word, const std::vector<std::string>& words);

  [[noreturn]] void refuse(const toml::node& node, const Entry& entry, const std::string& expected,
                           const std::vector<std::string>& words = {}) const;

  /// The node of `key`, null if the deck does not give it. Throws if it must.
  const toml::node* find(std::string_view key, const Key& meaning, std::string_view what = "key") const;

  /// At the top level nothing knows all names yet when a table is missed: one that is near must be meant.
  void require_no_near_name(std::string_view key, const Key& meaning) const;

  const toml::table* find_table(std::string_view key, const Key& meaning) const;

  /// Describes `table`. An unknown key is reported instead of what was found wrong after it: it is often the
  /// cause.
  void read_table(const toml::table* table, Declaration& declaration, const std::string& inner_path,
                  const std::function<void(Section&)>& describe) const;

  template <class T>
  T exact(const toml::node& node, const Entry& entry, const std::string& expected) const {
    const auto value = node.value_exact<T>();
    if (!value) refuse(node, entry, expected);
    return *value;
  }

  void require_in_range(const toml::node& node, const Entry& entry, const Key& meaning, Real value) const;

  Real number(const toml::node& node, const Entry& entry, const Key& meaning) const;

  /// An integer; 1e6, a floating-point number to TOML, will do.
  std::int64_t whole(const toml::node& node, const Entry& entry, const Key& meaning) const;

  /// Visits the elements of an array of `count` entries (any number if < 0).
  void for_each(const toml::node& node, const Entry& entry, int count,
                const std::function<void(const toml::node&, const Entry&)>& visit) const;

  std::vector<Real> numbers(const toml::node& node, const Entry& entry, int count, const Key& meaning) const;

  const DeckSource& source_;
  DeckErrors& errors_;
  const toml::table* table_;
  const std::list<Declaration>& declared_;
  std::string place_;
  bool in_use_ = true;
};

}  // namespace scree
