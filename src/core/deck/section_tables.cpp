#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/deck/deck_table.hpp"
#include "core/deck/unknown_keys.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

using Form = Declaration::Form;

/// Entry `index` of a list, new unless it was described before.
Declaration& entry_of(Declaration& list, std::size_t index) {
  while (list.members.size() <= index) list.members.emplace_back().form = Form::table;
  return *std::next(list.members.begin(), static_cast<std::ptrdiff_t>(index));
}

/// The declaration of this name, new unless there is one.
Declaration& named(std::list<Declaration>& members, std::string_view name) {
  auto place = std::ranges::find(members, name, &Declaration::name);
  if (place == members.end()) place = members.emplace(members.end());
  place->name = name;
  return *place;
}

}  // namespace

Section::Section(std::unique_ptr<DeckTable> table) : table_(std::move(table)) {}
Section::~Section() = default;

bool Section::reading() const {
  return table_->reading();
}

bool Section::has(std::string_view key) const {
  return table_->has(key);
}

std::string Section::path() const {
  return table_->path;
}

std::string Section::where(std::string_view key) const {
  if (table_->documents()) return table_->path_of(key);
  if (!has(key)) return table_->place;
  return table_->source().place(table_->path_of(key), table_->table->find(key)->first.source());
}

void Section::fail(std::string_view key, const std::string& message) const {
  throw InputError(fmt::format("{}: {}", where(key), message));
}

void Section::unused(const std::function<void(Section&)>& describe) {
  table_->in_use = table_->documents();
  describe(*this);
  table_->in_use = true;
}

void Section::for_laboratory(const std::function<void(Section&)>& describe) {
  table_->audience = Audience::laboratory;
  describe(*this);
  table_->audience = Audience::users;
}

void Section::table(std::string_view key, const Key& meaning, const std::function<void(Section&)>& describe) {
  if (table_->in_use || has(key)) table_->describe_table(key, Form::table, meaning, describe);
}

void Section::optional_table(std::string_view key, const Key& meaning,
                             const std::function<void(Section&)>& describe) {
  table_->describe_table(key, Form::optional_table, meaning, describe);
}

void Section::tables(std::string_view key, const Key& meaning,
                     const std::function<void(const std::string& name, Section&)>& describe) {
  const toml::table* all = nullptr;
  table_->collected([&] { all = table_->find_table(key, meaning); });
  Declaration& declaration = table_->declare(key, Form::tables, meaning);
  declaration.present = all != nullptr;
  const std::string path = table_->path_of(key);
  const auto describe_one = [&](const std::string& name, const toml::table* content) {
    Declaration& member = named(declaration.members, name);
    member.form = Form::table;
    member.present = content != nullptr;
    table_->describe_inner(content, member, join_path(path, name),
                           [&](Section& section) { describe(name, section); });
  };
  if (table_->documents()) describe_one(std::string(any_name), nullptr);
  if (!all) return;

  std::vector<const toml::key*> in_order;
  for (const auto& [name, node] : *all) {
    const bool is_fine = table_->collected([&, &key_of_node = name, &content = node] {
      const std::string inner = join_path(path, key_of_node.str());
      // Names go into tables, messages and lists of names.
      if (std::ranges::any_of(key_of_node.str(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        throw InputError(fmt::format("{}: a name in [{}] has a control character, such as an end of line",
                                     table_->source().place(path, key_of_node.source()), path));
      if (!content.is_table())
        throw InputError(fmt::format("{}: '{}' in [{}] must be a table [{}], not {}",
                                     table_->source().place(inner, key_of_node.source()), key_of_node.str(),
                                     path, inner, describe_node(content)));
    });
    if (is_fine) in_order.push_back(&name);
  }
  std::ranges::stable_sort(in_order, {}, [&](const toml::key* name) {
    return table_->source().order(join_path(path, name->str()), name->source());
  });
  for (const toml::key* name : in_order) describe_one(std::string(name->str()), (*all)[*name].as_table());
}

void Section::list(std::string_view key, const Key& meaning,
                   const std::function<void(std::size_t index, Section&)>& describe) {
  const std::string path = table_->path_of(key);
  const DeckTable::ValueName whole = table_->entry(key);
  const toml::array* entries = nullptr;
  bool is_given = false;
  table_->collected([&] {
    const toml::node* node = table_->find(key, meaning, "table");
    is_given = node != nullptr;
    if (!node) return;
    if (!node->is_array())
      table_->refuse(*node, whole, fmt::format("an array of tables, each under a header [[{}]]", path));
    if (meaning.required && node->as_array()->empty())
      throw InputError(
          fmt::format("{}: {} is empty; at least one entry is required", where(key), whole.words));
    entries = node->as_array();
  });
  Declaration& declaration = table_->declare(key, Form::list, meaning);
  declaration.present = is_given;
  const auto describe_one = [&](std::size_t i, const toml::table* content) {
    table_->describe_inner(content, entry_of(declaration, i), join_path(path, i),
                           [&](Section& section) { describe(i, section); });
  };
  if (table_->documents()) describe_one(0, nullptr);
  if (!entries) return;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const toml::node& entry = (*entries)[i];
    const bool is_table = table_->collected([&] {
      if (!entry.is_table())
        table_->refuse(entry, {DeckTable::element(i, whole).words, join_path(path, i)}, "a table");
    });
    entry_of(declaration, i).present = true;
    if (is_table) describe_one(i, entry.as_table());
  }
}

void Section::kind_by_name(std::string_view key, std::string& name, const std::vector<KindOption>& options,
                           const Key& meaning,
                           const std::function<void(std::size_t index, Section&)>& describe) {
  std::vector<std::string> names, of_users;
  for (const KindOption& option : options) {
    if (!option.available) continue;
    names.emplace_back(option.name);
    if (option.audience == Audience::users) of_users.emplace_back(option.name);
  }
  table_->read(key, meaning, [&](const toml::node& node, const DeckTable::ValueName& entry) {
    const auto word = node.value_exact<std::string>();
    const auto is_elsewhere = [&](const KindOption& option) {
      return word && option.name == *word && !option.available;
    };
    if (std::ranges::any_of(options, is_elsewhere))
      throw InputError(fmt::format("{}: {} \"{}\" exists in the other dimension only; valid here: {}",
                                   table_->source().place(entry.path, node.source()), key, *word,
                                   quoted_list(of_users)));
    if (!word || std::ranges::find(names, *word) == names.end())
      table_->refuse(node, entry, quoted_list(of_users), names);
    name = *word;
  });

  Declaration& declaration = table_->declare(key, Form::kind, meaning, !name.empty(), toml_string(name));
  declaration.choices = of_users;
  declaration.options.clear();
  declaration.options.reserve(options.size());
  declaration.chosen.reset();
  for (std::size_t i = 0; i < options.size(); ++i) {
    declaration.options.push_back({std::string(options[i].name),
                                   std::string(options[i].summary),
                                   options[i].available,
                                   options[i].audience,
                                   {}});
    if (!options[i].available) continue;
    // All options are declared, so that a key of another one is not taken for a misspelt one.
    const bool chosen = !table_->documents() && options[i].name == name;
    Section section = table_->with_members(declaration.options.back().members, !chosen);
    if (chosen) declaration.chosen = i;
    describe(i, section);
  }
}

Declaration& DeckTable::declare(std::string_view key, Form form, const Key& meaning) {
  Declaration& declaration = named(members_, key);
  declaration.form = form;
  declaration.unit = meaning.unit;
  declaration.range = meaning.range;
  declaration.required = meaning.required;
  declaration.doc = meaning.doc;
  declaration.audience = std::max(meaning.audience, audience);
  return declaration;
}

Declaration& DeckTable::declare(std::string_view key, Form form, const Key& meaning, bool valid,
                                const std::string& value) {
  Declaration& declaration = declare(key, form, meaning);
  declaration.value = valid || has(key) ? value : "";
  return declaration;
}

const toml::node* DeckTable::find(std::string_view key, const Key& meaning, std::string_view what) const {
  if (has(key)) return table->get(key);
  if (documents() || !meaning.required) return nullptr;
  if (path.empty()) require_no_near_name(key, meaning);
  const std::string unit = meaning.unit == Unit::none ? "" : fmt::format(" [{}]", symbol(meaning.unit));
  throw MissingEntry(
      fmt::format("{}: missing {} '{}' {}; {}{}", place, what, key, table_text(path), meaning.doc, unit));
}

void DeckTable::require_no_near_name(std::string_view key, const Key& meaning) const {
  Declaration missing;
  missing.name = key;
  missing.form = Form::table;
  missing.required = true;
  missing.doc = meaning.doc;
  for (const auto& [name, node] : *table)
    if (std::ranges::find(members_, name.str(), &Declaration::name) == members_.end() &&
        nearest(name.str(), {missing.name}))
      throw InputError(unknown_key(*source_, name, node, path, {&missing}));
}

const toml::table* DeckTable::find_table(std::string_view key, const Key& meaning) const {
  const toml::node* node = find(key, meaning, "table");
  if (node && !node->is_table()) refuse(*node, entry(key), "a table");
  return node ? node->as_table() : nullptr;
}

void DeckTable::describe_table(std::string_view key, Form form, const Key& meaning,
                               const std::function<void(Section&)>& describe) {
  const toml::table* inner = nullptr;
  const bool is_fine = collected([&] { inner = find_table(key, meaning); });
  Declaration& declaration = declare(key, form, meaning);
  declaration.present = inner || form == Form::table;
  if (is_fine && (declaration.present || documents()))
    describe_inner(inner, declaration, path_of(key), describe);
}

Section DeckTable::with_members(std::list<Declaration>& members, bool only_documents) const {
  return Section(only_documents
                     ? std::make_unique<DeckTable>(members, path)
                     : std::make_unique<DeckTable>(members, path, *source_, *errors_, table, place));
}

void DeckTable::describe_inner(const toml::table* inner, Declaration& declaration,
                               const std::string& inner_path,
                               const std::function<void(Section&)>& describe) const {
  const auto document = [&](std::list<Declaration>& members) {
    Section section(std::make_unique<DeckTable>(members, inner_path));
    describe(section);
  };
  if (documents()) return document(declaration.members);
  const std::size_t n_before = errors_->size();
  std::exception_ptr failure;
  try {
    Section section(std::make_unique<DeckTable>(declaration.members, inner_path, *source_, *errors_, inner,
                                                inner ? source_->place(inner_path, inner->source()) : place));
    describe(section);
  } catch (const InputError&) {
    failure = std::current_exception();
  }
  if (!failure && errors_->size() == n_before) return;
  std::vector<std::string> unknown;
  if (inner) {
    std::list<Declaration> all;
    document(all);
    unknown = unknown_keys(*source_, *inner, all, inner_path);
    // What was not declared any more is not unknown for that.
    if (failure) {
      for (Declaration& known : declaration.members)
        if (std::ranges::find(all, known.name, &Declaration::name) == all.end())
          all.push_back(std::move(known));
      declaration.members = std::move(all);
    }
  }
  if (!errors_->collecting() && !unknown.empty()) throw InputError(unknown.front());
  if (!errors_->collecting()) std::rethrow_exception(failure);
  if (!unknown.empty()) return errors_->add_unknown(n_before, unknown);
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const InputError& error) {
    errors_->add(error);
  }
}

}  // namespace scree
