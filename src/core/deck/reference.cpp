#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/deck/both_dimensions.hpp"
#include "core/units.hpp"

namespace scree {

namespace {

using namespace detail;
using Form = Declaration::Form;

/// Text as a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return escaped;
}

/// A summary or meaning such as "half-space" as a sentence.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.ends_with('.') ? text : text + '.';
}

class Reference {
 public:
  std::string text;

  /// The keys of one table and, behind them, those of its kinds and inner tables.
  void describe_members(const std::vector<Both>& members, const std::string& path, int level) {
    const auto is_key = [](const Both& both) { return !both.any().is_table(); };
    if (std::any_of(members.begin(), members.end(), is_key)) {
      text += "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
      for (const Both& both : members)
        if (is_key(both)) describe_key(both);
      text += '\n';
    }
    for (const Both& both : members) {
      if (both.any().form == Form::kind) describe_options(both, path, level);
      if (both.any().is_table()) describe_table(both, path, level);
    }
  }

 private:
  void heading(int level, const std::string& title) {
    constexpr int deepest = 6;
    text += std::string(static_cast<std::size_t>(std::min(level, deepest)), '#') + ' ' + title + "\n\n";
  }

  void describe_key(const Both& both) {
    const auto default_text = [](const Declaration& declaration) {
      if (declaration.required) return std::string("required");
      return declaration.value.empty() ? std::string("none") : '`' + declaration.value + '`';
    };
    const std::string range = range_text(both.any().range);
    // Options have sections of their own, which say what exists where.
    const std::string type =
        both.any().form == Form::kind ? "one of the kinds below" : in_both(both, type_text);
    text += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", toml_key(both.any().name), cell(type),
                        cell(in_both(both, default_text)), range, cell(both.any().doc), dimension_mark(both));
  }

  void describe_options(const Both& kind, const std::string& path, int level) {
    for (const BothOption& option : merged_options(kind)) {
      heading(level, fmt::format("`{}` with `{} = \"{}\"`{}", header(path), kind.any().name,
                                 option.any().name, dimension_mark(option)));
      text += sentence(option.any().summary) + "\n\n";
      describe_members(option.members(), path, level + 1);
    }
  }

  void describe_table(const Both& both, const std::string& path, int level) {
    const Declaration& table = both.any();
    const std::string inner = join_path(path, table.name);
    std::vector<Both> members = merged(members_of(both.flat), members_of(both.solid));
    if (table.form == Form::list) {
      lists_.insert(inner);
      const Both entry = members.front();
      heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
      text += fmt::format("{} Any number of tables, in order{}.\n\n", sentence(table.doc),
                          table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(entry.flat), members_of(entry.solid)), inner, level + 1);
      return;
    }
    if (table.form == Form::tables) {
      const Both named = members.front();
      heading(level, fmt::format("`[{}.{}]`{}", inner, any_name, dimension_mark(both)));
      text += fmt::format("{} Any number of tables, each with a name of your choice{}.\n\n",
                          sentence(table.doc), table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(named.flat), members_of(named.solid)), join_path(inner, any_name),
                       level + 1);
      return;
    }
    heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
    text += sentence(table.doc);
    if (table.required) text += " Required.";
    if (table.form == Form::optional_table) text += " Has an effect only if it is given.";
    text += "\n\n";
    describe_members(members, inner, level + 1);
  }

  /// How a deck opens the table `path`.
  std::string header(const std::string& path) const {
    return fmt::format(fmt::runtime(lists_.contains(path) ? "[[{}]]" : "[{}]"), path);
  }

  std::set<std::string> lists_;
};
std::string unit_table() {
  std::string text = "| quantity | SI | units a string may carry |\n|---|---|---|\n";
  for (const Unit unit : all_units())
    if (unit != Unit::none)
      text += fmt::format("| {}{} | {} | {} |\n", quantity(unit),
                          unit == Unit::frequency ? " of a repetition" : "", symbol(unit), unit_names(unit));
  return text;
}

}  // namespace

std::string deck_reference(const DeckDescription& description) {
  const Documented documented(description);
  Reference reference;
  reference.text =
      "# Deck reference\n\n"
      "Every table and key a deck may contain, printed by the program from the same lines that read them. A "
      "deck is a\n"
      "TOML file. A bare number is in SI units, which the type column names; a string may carry another unit "
      "of the\n"
      "same quantity, such as `\"4 mm\"` or `\"60 rpm\"`. Unknown and repeated keys stop the run.\n"
      "`docs/combinations.md` tells which of these features go with which others.\n\n" +
      unit_table() + '\n';
  reference.describe_members(merged(&documented.flat, &documented.solid), "", 2);
  while (reference.text.ends_with("\n\n")) reference.text.pop_back();
  return reference.text;
}

}  // namespace scree
