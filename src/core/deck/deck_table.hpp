#pragma once
#include <list>
#include <string>
#include <vector>

#include "core/deck/declaration.hpp"
#include "core/deck/errors.hpp"
#include "core/deck/source.hpp"

namespace scree {

/// What a Section works on: the declarations of one table and, unless it only documents, what a deck gives.
/// Each key is read and then declared, so that the declaration holds the value of the run, or the default.
class DeckTable {
 public:
  /// A value in words and its path, for messages.
  struct ValueName {
    std::string words;
    std::string path;
  };

  /// Declares and reads nothing. Adds to `members`, which must outlive this.
  DeckTable(std::list<Declaration>& members, std::string its_path)
      : path(std::move(its_path)), members_(members) {}
  /// Of a deck. `table` is null where the deck leaves the table out; then `place` is that of the table around
  /// it.
  DeckTable(std::list<Declaration>& members, std::string its_path, const DeckSource& source,
            DeckErrors& errors, const toml::table* given, std::string its_place)
      : path(std::move(its_path)),
        table(given),
        place(std::move(its_place)),
        source_(&source),
        errors_(&errors),
        members_(members) {}

  bool documents() const { return source_ == nullptr; }
  bool reading() const { return source_ && !errors_->any(); }
  bool has(std::string_view key) const { return table && table->contains(key); }
  std::string path_of(std::string_view key) const { return join_path(path, key); }
  ValueName entry(std::string_view key) const;
  const DeckSource& source() const { return *source_; }

  /// The declaration of `key` in this table, new unless the table was described before.
  Declaration& declare(std::string_view key, Declaration::Form form, const Key& meaning);
  /// The same with a value. A default that the key itself would refuse (empty, not finite, out of range)
  /// stands for "none".
  Declaration& declare(std::string_view key, Declaration::Form form, const Key& meaning, bool valid,
                       const std::string& value);

  /// Calls work(); false if it throws while errors are collected.
  template <class Work>
  bool collected(const Work& work) {
    try {
      work();
      return true;
    } catch (const InputError& error) {
      if (documents() || !errors_->collecting()) throw;
      errors_->add(error);
      return false;
    }
  }
  /// Calls use(node, entry) if the deck gives the key.
  template <class Use>
  void read(std::string_view key, const Key& meaning, const Use& use) {
    collected([&] {
      if (const toml::node* node = find(key, meaning)) use(*node, entry(key));
    });
  }

  /// The node of `key`, null if the deck does not give it. Throws if it must.
  const toml::node* find(std::string_view key, const Key& meaning, std::string_view what = "key") const;
  const toml::table* find_table(std::string_view key, const Key& meaning) const;
  [[noreturn]] void refuse(const toml::node& node, const ValueName& entry, const std::string& expected,
                           const std::vector<std::string>& words = {}) const;
  Real number(const toml::node& node, const ValueName& entry, const Key& meaning) const;
  std::vector<Real> numbers(const toml::node& node, const ValueName& entry, int count,
                            const Key& meaning) const;
  /// An integer; 1e6, a floating-point number to TOML, will do.
  std::int64_t whole(const toml::node& node, const ValueName& entry, const Key& meaning) const;
  template <class T>
  T exact(const toml::node& node, const ValueName& entry, const std::string& expected) const {
    const auto value = node.value_exact<T>();
    if (!value) refuse(node, entry, expected);
    return *value;
  }
  /// What get(element, entry) gives of the elements of an array of `count` entries (any number if < 0).
  template <class Get>
  auto list(const toml::node& node, const ValueName& entry, int count, const Get& get) const {
    const toml::array& array = array_of(node, entry, count);
    std::vector<decltype(get(node, entry))> values;
    for (std::size_t i = 0; i < array.size(); ++i) values.push_back(get(array[i], element(i, entry)));
    return values;
  }
  static ValueName element(std::size_t i, const ValueName& entry);

  /// Describes [key], which may be absent.
  void describe_table(std::string_view key, Declaration::Form form, const Key& meaning,
                      const std::function<void(Section&)>& describe);
  /// Describes `inner`, a table within this one. An unknown key is reported instead of what was found wrong
  /// after it: it is often the cause.
  void describe_inner(const toml::table* inner, Declaration& declaration, const std::string& inner_path,
                      const std::function<void(Section&)>& describe) const;
  /// The section of this table again, with declarations of its own: those of a kind.
  Section with_members(std::list<Declaration>& members, bool only_documents) const;

  const std::string path;
  const toml::table* const table = nullptr;
  const std::string place{};
  bool in_use = true;
  Audience audience = Audience::users;  ///< of what is declared now

 private:
  const toml::array& array_of(const toml::node& node, const ValueName& entry, int count) const;
  void require_in_range(const toml::node& node, const ValueName& entry, const Key& meaning, Real value) const;
  /// At the top level nothing knows all names yet when a table is missed: one that is near must be meant.
  void require_no_near_name(std::string_view key, const Key& meaning) const;

  const DeckSource* source_ = nullptr;  ///< null: this only documents
  DeckErrors* errors_ = nullptr;
  std::list<Declaration>& members_;
};

}  // namespace scree
