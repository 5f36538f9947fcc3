#include <fmt/format.h>

#include <algorithm>

#include "core/deck/deck_impl.hpp"
#include "core/deck/deck_table.hpp"

namespace scree {

namespace {

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
  SettingsList(const DeckSource& source, std::vector<Deck::Setting>& list) : source_(source), list_(list) {}

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

  const DeckSource& source_;
  std::vector<Deck::Setting>& list_;
};

/// Adds the settings of a table that are not for users and differ from `standard`, its keys as documented.
void add_laboratory(const std::list<Declaration>& members, const std::list<Declaration>& standard,
                    const std::string& path, std::vector<std::string>& found) {
  for (const Declaration& member : members) {
    const auto named = std::ranges::find(standard, member.name, &Declaration::name);
    // Of named tables and lists one is documented.
    const Declaration& usual = named == standard.end() ? standard.front() : *named;
    const std::string inner = join_path(path, member.name);
    const bool is_special =
        member.audience == Audience::laboratory ||
        (member.chosen && member.options[*member.chosen].audience == Audience::laboratory);
    if (is_special && member.form == Declaration::Form::optional_table) {
      if (member.present) found.push_back("[" + inner + "]");
      continue;
    }
    if (is_special && !member.value.empty() && member.value != usual.value)
      found.push_back(inner + " = " + member.value);
    if (member.chosen && !is_special)
      add_laboratory(member.options[*member.chosen].members, usual.options[*member.chosen].members, path,
                     found);
    if (member.present && !usual.members.empty()) add_laboratory(member.members, usual.members, inner, found);
  }
}

}  // namespace

std::vector<std::string> Deck::laboratory_settings(const std::function<void(Section&)>& describe) const {
  std::list<Declaration> standard;
  Section documented(std::make_unique<DeckTable>(standard, ""));
  describe(documented);
  std::vector<std::string> found;
  add_laboratory(impl_->declared, standard, "", found);
  return found;
}

std::string Deck::resolved() const {
  std::string text;
  write_values(impl_->declared, text);
  write_tables(impl_->declared, "", text);
  return text;
}

std::vector<Deck::Setting> Deck::settings() const {
  std::vector<Setting> list;
  const DeckSource& source = impl_->source;
  const std::string place = source.name + ":1:1";
  SettingsList settings(source, list);
  settings.add_values(impl_->declared, "", &source.root, place);
  settings.add_tables(impl_->declared, "", &source.root, place);
  return list;
}

}  // namespace scree
