#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
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

/// Whether something in it is not for users.
bool has_laboratory(const Declaration& declaration) {
  const auto in_option = [](const Declaration::Option& option) {
    return option.audience == Audience::laboratory || std::ranges::any_of(option.members, has_laboratory);
  };
  return declaration.audience == Audience::laboratory ||
         std::ranges::any_of(declaration.options, in_option) ||
         std::ranges::any_of(declaration.members, has_laboratory);
}

bool has_laboratory(const BothOption& option) {
  return option.any().audience == Audience::laboratory ||
         std::ranges::any_of(option.any().members,
                             [](const Declaration& member) { return has_laboratory(member); });
}

/// The anchor of a heading, as GitHub makes it.
std::string anchor_of(const std::string& title) {
  std::string anchor;
  for (const char c : title)
    if (c == ' ')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

/// The unit of the first number among keys; empty if none has one.
std::string unit_in(const std::vector<BothOption>& options) {
  for (const BothOption& option : options)
    for (const Declaration& member : option.any().members)
      if (member.unit != Unit::none) return std::string(symbol(member.unit));
  return "";
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = 0; !part.empty() && (at = text.find(part, at)) != std::string::npos;)
    text.erase(at, part.size());
  return text;
}

class Reference {
 public:
  explicit Reference(Audience audience) : audience_(audience) {}

  std::string text;

  /// The keys of one table and, behind them, those of its kinds and inner tables. `all`: what surrounds them
  /// is for the laboratory, and so are they.
  void describe_members(const std::vector<Both>& members, const std::string& path, int level,
                        bool all = false) {
    const std::string title = title_;
    std::vector<Both> shown, keys;
    std::ranges::copy_if(members, std::back_inserter(shown),
                         [&](const Both& both) { return shows(both.any(), all); });
    std::ranges::copy_if(shown, std::back_inserter(keys),
                         [](const Both& both) { return !both.any().is_table(); });
    if (!keys.empty()) {
      text += "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
      for (const Both& both : keys) describe_key(both);
      text += '\n';
    }
    for (const Both& both : shown) {
      const bool inner = all || (laboratory() && both.any().audience == Audience::laboratory);
      if (both.any().form == Form::kind) describe_kinds(both, path, level, title, inner);
      if (both.any().is_table()) describe_table(both, path, level, inner);
    }
  }

 private:
  bool laboratory() const { return audience_ == Audience::laboratory; }
  bool shows(const Declaration& declaration, bool all) const {
    if (!laboratory()) return declaration.audience == Audience::users;
    return all || has_laboratory(declaration);
  }

  void heading(int level, const std::string& title) {
    constexpr int deepest = 6;
    text += std::string(static_cast<std::size_t>(std::min(level, deepest)), '#') + ' ' + title + "\n\n";
    title_ = title;
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

  /// The kinds, or where they are if another table, under `title`, has the same but for the unit.
  void describe_kinds(const Both& kind, const std::string& path, int level, const std::string& title,
                      bool all) {
    std::vector<BothOption> options;
    std::ranges::copy_if(merged_options(kind), std::back_inserter(options), [&](const BothOption& option) {
      return laboratory() ? all || has_laboratory(option) : option.any().audience == Audience::users;
    });
    const std::string unit = unit_in(options);
    Reference anywhere(audience_);
    anywhere.describe_options(kind, options, "", 1, all);
    const std::string without_unit = without(anywhere.text, unit.empty() ? "" : fmt::format(" [{}]", unit));
    const auto [first, is_new] =
        kinds_.try_emplace(without(without_unit, " (2D only)"), FirstKinds{title, unit});
    if (is_new) return describe_options(kind, options, path, level, all);
    text += fmt::format("Kinds, with their keys: those of [{}](#{}){}.\n\n",
                        first->second.title.substr(0, first->second.title.rfind('`') + 1),
                        anchor_of(first->second.title),
                        first->second.unit == unit || unit.empty() ? "" : fmt::format(", in {}", unit));
  }

  void describe_options(const Both& kind, const std::vector<BothOption>& options, const std::string& path,
                        int level, bool all) {
    for (const BothOption& option : options) {
      heading(level, fmt::format("`{}` with `{} = \"{}\"`{}", header(path), kind.any().name,
                                 option.any().name, dimension_mark(option)));
      text += sentence(option.any().summary) + "\n\n";
      describe_members(option.members(), path, level + 1,
                       all || (laboratory() && option.any().audience == Audience::laboratory));
    }
  }

  void describe_table(const Both& both, const std::string& path, int level, bool all) {
    const Declaration& table = both.any();
    const std::string inner = join_path(path, table.name);
    std::vector<Both> members = merged(members_of(both.flat), members_of(both.solid));
    if (table.form == Form::list) {
      lists_.insert(inner);
      const Both entry = members.front();
      heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
      text += fmt::format("{} Any number of tables, in order{}.\n\n", sentence(table.doc),
                          table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(entry.flat), members_of(entry.solid)), inner, level + 1, all);
      return;
    }
    if (table.form == Form::tables) {
      const Both named = members.front();
      heading(level, fmt::format("`[{}.{}]`{}", inner, any_name, dimension_mark(both)));
      text += fmt::format("{} Any number of tables, each with a name of your choice{}.\n\n",
                          sentence(table.doc), table.required ? "; at least one is required" : "");
      describe_members(merged(members_of(named.flat), members_of(named.solid)), join_path(inner, any_name),
                       level + 1, all);
      return;
    }
    heading(level, fmt::format("`{}`{}", header(inner), dimension_mark(both)));
    text += sentence(table.doc);
    if (table.required) text += " Required.";
    if (table.form == Form::optional_table) text += " Has an effect only if it is given.";
    text += "\n\n";
    describe_members(members, inner, level + 1, all);
  }

  /// How a deck opens the table `path`.
  std::string header(const std::string& path) const {
    return fmt::format(fmt::runtime(lists_.contains(path) ? "[[{}]]" : "[{}]"), path);
  }

  /// Where kinds are described for the first time.
  struct FirstKinds {
    std::string title, unit;
  };

  Audience audience_;
  std::string title_;  ///< of the last heading
  std::set<std::string> lists_;
  std::map<std::string, FirstKinds> kinds_;  ///< by their text without table and unit
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

std::string deck_reference(const DeckDescription& description, Audience audience) {
  const Documented documented(description);
  Reference reference(audience);
  if (audience == Audience::laboratory)
    reference.text =
        "# Deck reference: the laboratory\n\n"
        "Keys and kinds that compare methods with each other, or reach into one, printed by the program from "
        "the "
        "same lines\n"
        "that read them. A run that uses one says so in a line of its log; they may change in any version. "
        "The "
        "keys for users\n"
        "are in the [deck reference](decks.md).\n\n";
  else
    reference.text =
        "# Deck reference\n\n"
        "Every table and key a deck may contain, printed by the program from the same lines that read them. "
        "A "
        "deck is a\n"
        "TOML file. A bare number is in SI units, which the type column names; a string may carry another "
        "unit "
        "of the\n"
        "same quantity, such as `\"4 mm\"` or `\"60 rpm\"`. Unknown and repeated keys stop the run.\n"
        "[combinations](combinations.md) tells which of these features go with which others; keys that "
        "compare "
        "methods are in\n"
        "[the laboratory](decks-laboratory.md).\n\n" +
        unit_table() + '\n';
  reference.describe_members(merged(&documented.flat, &documented.solid), "", 2);
  while (reference.text.ends_with("\n\n")) reference.text.pop_back();
  return reference.text;
}

}  // namespace scree
