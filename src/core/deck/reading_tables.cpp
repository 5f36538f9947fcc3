#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/deck/reading_section.hpp"
#include "core/deck/unknown_keys.hpp"
#include "core/suggestion.hpp"

namespace scree {

std::string ReadingSection::where(std::string_view key) const {
  if (!has(key)) return place_;
  return source_.place(path_of(key), table_->find(key)->first.source());
}

void ReadingSection::fail(std::string_view key, const std::string& message) const {
  throw InputError(fmt::format("{}: {}", where(key), message));
}

void ReadingSection::unused(const std::function<void(Section&)>& describe) {
  in_use_ = false;
  describe(*this);
  in_use_ = true;
}

void ReadingSection::table(std::string_view key, const Key& meaning,
                           const std::function<void(Section&)>& describe) {
  if (!in_use_ && !has(key)) return;
  const toml::table* inner = nullptr;
  const bool is_fine = collected([&] { inner = find_table(key, meaning); });
  Declaration& declaration = declare(key, Declaration::Form::table, meaning);
  declaration.present = true;
  if (is_fine) read_table(inner, declaration, path_of(key), describe);
}

void ReadingSection::optional_table(std::string_view key, const Key& meaning,
                                    const std::function<void(Section&)>& describe) {
  const toml::table* inner = nullptr;
  collected([&] { inner = find_table(key, meaning); });
  Declaration& declaration = declare(key, Declaration::Form::optional_table, meaning);
  declaration.present = inner != nullptr;
  if (inner) read_table(inner, declaration, path_of(key), describe);
}

void ReadingSection::tables(std::string_view key, const Key& meaning,
                            const std::function<void(const std::string& name, Section&)>& describe) {
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

void ReadingSection::list(std::string_view key, const Key& meaning,
                          const std::function<void(std::size_t index, Section&)>& describe) {
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

void ReadingSection::kind_by_name(std::string_view key, std::string& name,
                                  const std::vector<KindOption>& options, const Key& meaning,
                                  const std::function<void(std::size_t index, Section&)>& describe) {
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

const toml::node* ReadingSection::find(std::string_view key, const Key& meaning,
                                       std::string_view what) const {
  if (has(key)) return table_->get(key);
  if (!meaning.required) return nullptr;
  if (path().empty()) require_no_near_name(key, meaning);
  const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" [{}]", symbol(meaning.unit));
  throw MissingEntry(
      fmt::format("{}: missing {} '{}' {}; {}{}", place_, what, key, table_text(path()), meaning.doc, unit));
}

void ReadingSection::require_no_near_name(std::string_view key, const Key& meaning) const {
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
      throw InputError(unknown_key(source_, name, node, path(), {&missing}));
  }
}

const toml::table* ReadingSection::find_table(std::string_view key, const Key& meaning) const {
  const toml::node* node = find(key, meaning, "table");
  if (node && !node->is_table()) refuse(*node, entry(key), "a table");
  return node ? node->as_table() : nullptr;
}

void ReadingSection::read_table(const toml::table* table, Declaration& declaration,
                                const std::string& inner_path,
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
    unknown = unknown_keys(source_, *table, all, inner_path);
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

}  // namespace scree
