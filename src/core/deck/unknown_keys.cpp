#include "core/deck/unknown_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggestion.hpp"

namespace scree {

std::string unknown_key(const DeckSource& source, const toml::key& key, const toml::node& node,
                        const std::string& path, const std::vector<const Declaration*>& declared) {
  const std::string place = source.place(join_path(path, key.str()), key.source());
  const std::string_view what = node.is_table() || node.is_array_of_tables() ? "table" : "key";
  std::string text = fmt::format("{}: unknown {} '{}' {}", place, what, key.str(), table_text(path));
  std::vector<std::string> names, of_users;
  for (const Declaration* declaration : declared) {
    names.push_back(declaration->name);
    // Several kinds of a table may have the same key.
    if (declaration->audience == Audience::users &&
        std::ranges::find(of_users, names.back()) == of_users.end())
      of_users.push_back(names.back());
  }
  if (const std::string* near = nearest(key.str(), names)) {
    const std::size_t index = static_cast<std::size_t>(near - names.data());
    return text + fmt::format("; did you mean '{}'? {}", *near, meaning_text(*declared[index]));
  }
  if (of_users.empty()) return text + "; nothing is valid here";
  return text + fmt::format("; valid: {}", fmt::join(of_users, ", "));
}

namespace {

/// Finds the keys and tables of a deck that are not declared.
class UnknownKeys {
 public:
  explicit UnknownKeys(const DeckSource& source) : source_(source) {}

  /// A message for each unknown entry within `table`, in the order of the deck.
  std::vector<std::string> in(const toml::table& table, const std::list<Declaration>& members,
                              const std::string& path) {
    check_table(table, members, path);
    std::ranges::stable_sort(found_, {}, &UnknownKey::order);
    std::vector<std::string> messages;
    for (const UnknownKey& found : found_) messages.push_back(found.message);
    return messages;
  }

 private:
  struct UnknownKey {
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
      std::string chosen = table[declaration.name].value_or(std::string());
      if (!table.contains(declaration.name))
        for (const Declaration::Option& option : declaration.options)
          if (toml_string(option.name) == declaration.value) chosen = option.name;  // the usual one
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
    if (!owner) return unknown_key(source_, key, node, path, level.declared);
    const std::string& kind = owner->kind->name;
    return fmt::format("{}: '{}' {} is a key of {} '{}', {}",
                       source_.place(join_path(path, key.str()), key.source()), key.str(), table_text(path),
                       kind, fmt::join(owners, "', '"),
                       owner->chosen.empty() ? fmt::format("but '{}' is not given", kind)
                                             : fmt::format("not of '{}'", owner->chosen));
  }

  const DeckSource& source_;
  std::vector<UnknownKey> found_;
};

}  // namespace

std::vector<std::string> unknown_keys(const DeckSource& source, const toml::table& table,
                                      const std::list<Declaration>& members, const std::string& path) {
  return UnknownKeys(source).in(table, members, path);
}

}  // namespace scree
